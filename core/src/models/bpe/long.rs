//! Pieces of more symbols than are merged on the stack.

use super::super::merging::merge_long;
use super::super::merging::queue::{BucketQueue, HeapQueue};
use super::{Bpe, BpeScratch};
use crate::error::Result;
use crate::threads::going_on;

/// Symbols of a window over a piece in which some token is longer than a window on the stack.
const LONG_WINDOW: usize = 1 << 14;

/// How a window is merged, and how much of it is kept: the next way is taken where one does not lead on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// On the stack; seven eighths are kept.
    Boldly,
    /// On the stack; two thirds are kept.
    Carefully,
    /// Over a queue, for tokens that are longer than a window on the stack.
    Long,
}

/// The beginning of a window: its offset, how many ids there were before it, and the first one that it must have.
#[derive(Clone, Copy, Debug)]
struct Begin {
    offset: usize,
    ids: usize,
    expected: Option<u32>,
}

/// How many times as many windows must be merged boldly as boldness fails.
const BOLD_ENOUGH: usize = 8;

/// More ids than are held while they are only counted.
const MANY: usize = 1 << 12;

/// Where the last window of a kind lies: the next one may have the same bytes, as in a run of blanks.
#[derive(Clone, Copy, Debug, Default)]
struct Last {
    from: usize,
    end: usize,
}

impl Last {
    /// The end of a window at an offset, if it begins as the last one did and so becomes the same.
    fn again(self, piece: &[u8], from: usize) -> Option<usize> {
        let end = from + (self.end - self.from);
        (end > from && piece.get(from..end)? == &piece[self.from..self.end]).then_some(end)
    }
}

impl Bpe {
    /// The number of a giant piece's ids, of which no more than a few windows' are held at a time.
    ///
    /// # Errors
    /// As [`Bpe::encode_piece`].
    pub fn count_piece(&self, piece: &[u8], scratch: &mut BpeScratch) -> Result<u64> {
        let mut ids = Vec::new();
        let mut counted = 0;
        let is_whole = self.whole_piece(piece, scratch).is_some();
        if is_whole || !self.merge_by_windows(piece, scratch, &mut ids, Some(&mut counted))? {
            (ids, counted) = (Vec::new(), 0);
            self.encode_piece(piece, scratch, &mut ids)?;
        }
        Ok(counted + ids.len() as u64)
    }

    /// Appends the ids of a long piece.
    #[inline(never)]
    pub(super) fn merge_long_piece(
        &self,
        piece: &[u8],
        scratch: &mut BpeScratch,
        out: &mut Vec<u32>,
    ) -> Result<()> {
        if self.merge_by_windows(piece, scratch, out, None)? {
            return Ok(());
        }
        self.merge_by_queue::<{ usize::MAX }>(piece, 0, scratch, out)
            .map(|_| ())
    }

    /// Merges a piece window by window, or says that this does not lead to an end, as where a token is
    /// longer than all windows; nothing is appended then.
    ///
    /// Each window begins with a token of the one before, and must find it again; if it does not, the one before was
    /// too short, and is merged again in the next way. Why this is right: see `models::merging::windows`.
    /// With `counted`, all ids but those at the end are taken out again, and their number is added to it.
    /// Complexity: linear.
    pub(super) fn merge_by_windows(
        &self,
        piece: &[u8],
        scratch: &mut BpeScratch,
        out: &mut Vec<u32>,
        mut counted: Option<&mut u64>,
    ) -> Result<bool> {
        let before = out.len();
        let mut begin = Begin {
            offset: 0,
            ids: before,
            expected: None,
        };
        let mut last = begin;
        let mut way = Way::Boldly;
        let mut last_way = way;
        let (mut windows, mut failed) = (0, 0);
        let (mut on_stack, mut long) = (Last::default(), Last::default());
        let mut long_ids = Vec::new();
        loop {
            going_on::check()?;
            let from = begin.offset;
            let end = if way != Way::Long {
                if let Some(end) = on_stack.again(piece, from) {
                    scratch.short.append_to(out);
                    end
                } else {
                    let end = self.merge_on_stack(piece, from, scratch)?;
                    scratch.short.append_to(out);
                    on_stack = Last { from, end };
                    end
                }
            } else if let Some(end) = long.again(piece, from) {
                out.extend_from_slice(&long_ids);
                end
            } else {
                let end = self.merge_by_queue::<LONG_WINDOW>(piece, from, scratch, out)?;
                long = Last { from, end };
                long_ids.clear();
                long_ids.extend_from_slice(&out[begin.ids..]);
                end
            };
            let is_expected = begin.expected.is_none_or(|id| out[begin.ids] == id);
            if is_expected && end == piece.len() {
                return Ok(true);
            }
            // What begins behind this may become something else with what comes there.
            let limit = from
                + match way {
                    Way::Boldly => (end - from) * 7 / 8,
                    Way::Carefully | Way::Long => (end - from) * 2 / 3,
                };
            let mut next = Begin {
                offset: from,
                ids: begin.ids,
                expected: None,
            };
            while is_expected
                && let after = next.offset + self.tokens.get(out[next.ids]).len()
                && after <= limit
            {
                (next.offset, next.ids) = (after, next.ids + 1);
            }
            if next.ids > begin.ids {
                next.expected = Some(out[next.ids]);
                out.truncate(next.ids);
                (last, last_way) = (begin, way);
                begin = next;
                if let Some(counted) = &mut counted
                    && last.ids - before > MANY
                {
                    // No window before the last one is merged again.
                    let settled = last.ids - before;
                    out.drain(before..last.ids);
                    **counted += settled as u64;
                    last.ids -= settled;
                    begin.ids -= settled;
                }
                windows += 1;
                way = if failed * BOLD_ENOUGH <= windows + BOLD_ENOUGH {
                    Way::Boldly
                } else {
                    Way::Carefully
                };
                continue;
            }
            if !is_expected && way != Way::Long && last_way == Way::Long {
                // The one before was long enough, so this one is too short.
                way = Way::Long;
                out.truncate(begin.ids);
                continue;
            }
            if !is_expected {
                (begin, way) = (last, last_way);
                last_way = Way::Long; // there is no other window to go back to
            }
            way = match way {
                Way::Boldly => {
                    failed += 1;
                    Way::Carefully
                }
                Way::Carefully => Way::Long,
                Way::Long => {
                    out.truncate(before);
                    return Ok(false);
                }
            };
            out.truncate(begin.ids);
        }
    }

    /// Appends the ids of a window that begins at an offset, of up to about so many symbols, and says where it ends. Complexity: that of the queue.
    pub(super) fn merge_by_queue<const MOST: usize>(
        &self,
        piece: &[u8],
        from: usize,
        scratch: &mut BpeScratch,
        out: &mut Vec<u32>,
    ) -> Result<usize> {
        let BpeScratch { starts, chain, .. } = scratch;
        let (merges, characters) = (self.merges(), self.characters());
        starts.clear();
        let mut end = from;
        while end < piece.len() && starts.len() < MOST {
            let start = self.start(characters, piece, end)?;
            starts.push(start.first);
            starts.extend(start.second);
            end += start.length;
        }
        let start = |place| Ok(starts[place]);
        if merges.monotone() {
            let queue = BucketQueue::default();
            merge_long(merges, starts.len(), start, queue, chain, out)?;
        } else {
            let queue = HeapQueue::default();
            merge_long(merges, starts.len(), start, queue, chain, out)?;
        }
        Ok(end)
    }
}
