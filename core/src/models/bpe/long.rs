//! Pieces of more symbols than are merged on the stack.

use super::super::merging::merge_long;
use super::super::merging::queue::{BucketQueue, HeapQueue};
use super::{Bpe, BpeScratch};
use crate::error::Result;

/// Symbols of a window over a piece in which some token is longer than a window on the stack.
const LONG_WINDOW: usize = 1 << 14;

impl Bpe {
    /// Appends the ids of a long piece.
    #[inline(never)]
    pub(super) fn merge_long_piece(
        &self,
        piece: &[u8],
        scratch: &mut BpeScratch,
        out: &mut Vec<u32>,
    ) -> Result<()> {
        if self.merges.monotone()
            && (self.merge_by_windows(piece, scratch, out, Self::merge_on_stack)?
                || self.merge_by_windows(
                    piece,
                    scratch,
                    out,
                    Self::merge_by_queue::<LONG_WINDOW>,
                )?)
        {
            return Ok(());
        }
        self.merge_by_queue::<{ usize::MAX }>(piece, 0, scratch, out)
            .map(|_| ())
    }

    /// Merges a piece window by window, or says that this does not lead to an end, as where a token is
    /// longer than a window; nothing is appended then.
    ///
    /// Under monotone merges, tokens are those of a text if each two neighbours are what their own bytes
    /// become: the first merge across an edge between tokens would come up in those bytes as well. Each
    /// window begins with a token of the one before, and must find it again: so all neighbours are
    /// neighbours in some window, where no merge crossed their edge. Complexity: linear.
    pub(super) fn merge_by_windows(
        &self,
        piece: &[u8],
        scratch: &mut BpeScratch,
        out: &mut Vec<u32>,
        merge: impl Fn(&Self, &[u8], usize, &mut BpeScratch, &mut Vec<u32>) -> Result<usize>,
    ) -> Result<bool> {
        let before = out.len();
        let mut from = 0;
        let mut expected = None;
        loop {
            let first = out.len();
            let end = merge(self, piece, from, scratch, out)?;
            if expected.is_some_and(|expected| out[first] != expected) {
                break;
            }
            if end == piece.len() {
                return Ok(true);
            }
            // What begins in the last third may become something else with what comes behind it.
            let limit = from + (end - from) * 2 / 3;
            let mut kept = first;
            let next = |from: usize, id: u32| from + self.tokens.get(id).len();
            while next(from, out[kept]) <= limit {
                from = next(from, out[kept]);
                kept += 1;
            }
            if kept == first {
                break;
            }
            expected = Some(out[kept]);
            out.truncate(kept);
        }
        out.truncate(before);
        Ok(false)
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
