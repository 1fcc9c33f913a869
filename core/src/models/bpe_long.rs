//! Pieces of more symbols than are merged on the stack.

use super::super::merging::merge_long;
use super::super::queue::{BucketQueue, HeapQueue};
use super::super::short::{MAX_SYMBOLS, ShortPiece};
use super::{Bpe, Scratch};
use crate::error::Result;

/// Of a window over a longer piece, tokens that begin at a later symbol are merged again in the next.
const KEPT: usize = MAX_SYMBOLS * 2 / 3;

/// Symbols of a window over a piece in which some token is longer than a window on the stack.
const LONG_WINDOW: usize = 1 << 14;

impl Bpe {
    /// Appends the ids of a long piece.
    #[inline(never)]
    pub(super) fn merge_long_piece(
        &self,
        piece: &[u8],
        scratch: &mut Scratch,
        out: &mut Vec<u32>,
    ) -> Result<()> {
        let before = out.len();
        if self.merges.monotone() {
            if self.merge_by_windows(piece, &mut scratch.short, out)? {
                return Ok(());
            }
            out.truncate(before);
            if self.merge_by_long_windows(piece, scratch, out)? {
                return Ok(());
            }
            out.truncate(before);
        }
        scratch.starts.clear();
        self.start_at(piece, 0, usize::MAX, &mut scratch.starts)?;
        self.merge_starts(scratch, out)
    }

    /// Merges a long piece window by window; false if that does not lead to an end, as where a token is
    /// longer than a window.
    ///
    /// Under monotone merges, tokens are those of a text if each two neighbours are what their own bytes
    /// become: the first merge across an edge between tokens would come up in those bytes as well. Each
    /// window begins with a token of the one before, and must find it again: so all neighbours are
    /// neighbours in some window, where no merge crossed their edge. Complexity: linear.
    #[inline(never)]
    fn merge_by_windows(
        &self,
        piece: &[u8],
        short: &mut ShortPiece,
        out: &mut Vec<u32>,
    ) -> Result<bool> {
        let mut from = 0;
        let mut expected = None;
        loop {
            let end = self.lay_out(piece, from, short)?;
            short.merge(&self.merges);
            if expected.is_some() && expected != short.first() {
                return Ok(false);
            }
            if end == piece.len() {
                short.append_to(out);
                return Ok(true);
            }
            let before = out.len();
            expected = short.append_before(KEPT, out);
            if out.len() == before {
                return Ok(false);
            }
            let bytes = out[before..].iter().map(|&id| self.tokens.get(id).len());
            from += bytes.sum::<usize>();
        }
    }

    /// The same with windows that are merged by a queue, so that memory does not grow with the piece.
    pub(super) fn merge_by_long_windows(
        &self,
        piece: &[u8],
        scratch: &mut Scratch,
        out: &mut Vec<u32>,
    ) -> Result<bool> {
        let mut from = 0;
        let mut expected = None;
        let mut window = Vec::new();
        loop {
            scratch.starts.clear();
            let end = self.start_at(piece, from, LONG_WINDOW, &mut scratch.starts)?;
            window.clear();
            self.merge_starts(scratch, &mut window)?;
            if expected.is_some() && expected != window.first().copied() {
                return Ok(false);
            }
            if end == piece.len() {
                out.append(&mut window);
                return Ok(true);
            }
            // What begins in the last third may become something else with what comes behind it.
            let limit = (end - from) * 2 / 3;
            let (mut at, mut kept) = (0, 0);
            for (number, &id) in window.iter().enumerate() {
                let next = at + self.tokens.get(id).len();
                if next > limit {
                    kept = number;
                    break;
                }
                at = next;
            }
            if kept == 0 {
                return Ok(false);
            }
            expected = Some(window[kept]);
            out.extend_from_slice(&window[..kept]);
            from += at;
        }
    }

    /// Appends the symbols with which a piece begins after an offset, up to about so many, and says where
    /// they end.
    fn start_at(
        &self,
        piece: &[u8],
        from: usize,
        most: usize,
        starts: &mut Vec<u32>,
    ) -> Result<usize> {
        let mut at = from;
        while at < piece.len() && starts.len() < most {
            if let Some(start) = self.characters.start(piece, at) {
                starts.push(start.first);
                starts.extend(start.second);
                at += start.length;
            } else {
                starts.push(self.id_of_byte(piece, at)?);
                at += 1;
            }
        }
        Ok(at)
    }

    /// Merges the symbols in `starts` in one go. Complexity: that of the queue.
    fn merge_starts(&self, scratch: &mut Scratch, out: &mut Vec<u32>) -> Result<()> {
        let Scratch { starts, chain, .. } = scratch;
        let start = |place| Ok(starts[place]);
        if self.merges.monotone() {
            let queue = BucketQueue::default();
            merge_long(&self.merges, starts.len(), start, queue, chain, out)
        } else {
            let queue = HeapQueue::default();
            merge_long(&self.merges, starts.len(), start, queue, chain, out)
        }
    }
}
