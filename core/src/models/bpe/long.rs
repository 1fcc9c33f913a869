//! Pieces of more symbols than are merged on the stack.

use super::super::merging::merge_long;
use super::super::merging::queue::{BucketQueue, HeapQueue};
use super::{Bpe, BpeScratch};
use crate::error::Result;

/// Symbols of a window over a piece in which some token is longer than a window on the stack.
const LONG_WINDOW: usize = 1 << 14;

/// How a window is merged, and how much of it is kept: the next way is taken where one does not lead on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// On the stack; most is kept.
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

impl Bpe {
    /// Appends the ids of a long piece.
    #[inline(never)]
    pub(super) fn merge_long_piece(
        &self,
        piece: &[u8],
        scratch: &mut BpeScratch,
        out: &mut Vec<u32>,
    ) -> Result<()> {
        if self.merge_by_windows(piece, scratch, out)? {
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
    /// Complexity: linear.
    pub(super) fn merge_by_windows(
        &self,
        piece: &[u8],
        scratch: &mut BpeScratch,
        out: &mut Vec<u32>,
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
        loop {
            let from = begin.offset;
            let end = match way {
                Way::Long => self.merge_by_queue::<LONG_WINDOW>(piece, from, scratch, out)?,
                _ => self.merge_on_stack(piece, from, scratch, out)?,
            };
            let is_expected = begin.expected.is_none_or(|id| out[begin.ids] == id);
            if is_expected && end == piece.len() {
                return Ok(true);
            }
            // What begins behind this may become something else with what comes there.
            let limit = from
                + match way {
                    Way::Boldly => (end - from) * 4 / 5,
                    Way::Carefully => (end - from) * 2 / 3,
                    Way::Long => (end - from) * 2 / 3,
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
                // Where boldness failed once, as in runs of line ends, it would fail again.
                begin = next;
                if way == Way::Long {
                    way = Way::Carefully;
                }
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
                Way::Boldly => Way::Carefully,
                Way::Carefully => Way::Long,
                Way::Long => {
                    out.truncate(before);
                    return Ok(false);
                }
            };
            out.truncate(begin.ids);
        }
    }

    /// Appends the ids of a window that begins at an offset, and says where it ends.
    fn merge_on_stack(
        &self,
        piece: &[u8],
        from: usize,
        scratch: &mut BpeScratch,
        out: &mut Vec<u32>,
    ) -> Result<usize> {
        let end = self.lay_out(piece, from, &mut scratch.short)?;
        scratch.short.merge(&self.merges);
        scratch.short.append_to(out);
        Ok(end)
    }

    /// The same for a window of up to about so many symbols. Complexity: that of the queue.
    pub(super) fn merge_by_queue<const MOST: usize>(
        &self,
        piece: &[u8],
        from: usize,
        scratch: &mut BpeScratch,
        out: &mut Vec<u32>,
    ) -> Result<usize> {
        let BpeScratch { starts, chain, .. } = scratch;
        starts.clear();
        let mut end = from;
        while end < piece.len() && starts.len() < MOST {
            let start = self.start(piece, end)?;
            starts.push(start.first);
            starts.extend(start.second);
            end += start.length;
        }
        let start = |place| Ok(starts[place]);
        if self.merges.monotone() {
            let queue = BucketQueue::default();
            merge_long(&self.merges, starts.len(), start, queue, chain, out)?;
        } else {
            let queue = HeapQueue::default();
            merge_long(&self.merges, starts.len(), start, queue, chain, out)?;
        }
        Ok(end)
    }
}
