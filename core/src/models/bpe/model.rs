//! Byte pairs as one of many models; [`crate::encode::plain`] has a shorter way to them.

use super::{Bpe, BpeScratch};
use crate::error::Result;
use crate::models::merging::dropout::Dropout;
use crate::models::model::{Found, Model};
use crate::models::scratch::Scratch;
use crate::random::{Draw, Sampling};
use crate::tables::TokenTable;

/// Working memory, and plain ids on their way to become [`Found`].
type Own = (BpeScratch, Vec<u32>);

impl Model for Bpe {
    fn tokens(&self) -> &TokenTable<'static> {
        self.tokens()
    }

    fn reads_bytes(&self) -> bool {
        true
    }

    /// Nothing is joined across pieces.
    fn fuses(&self) -> Option<u32> {
        None
    }

    fn encode_piece(
        &self,
        piece: &[u8],
        scratch: &mut Scratch,
        out: &mut Vec<Found>,
    ) -> Result<()> {
        let (memory, ids) = scratch.own.of::<Own>();
        ids.clear();
        self.encode_piece(piece, memory, ids)?;
        place(ids, self.tokens(), out);
        Ok(())
    }

    fn encode_ids(&self, piece: &[u8], scratch: &mut Scratch, ids: &mut Vec<u32>) -> Result<()> {
        let (memory, _) = scratch.own.of::<Own>();
        self.encode_piece(piece, memory, ids)
    }

    fn count_ids(&self, piece: &[u8], scratch: &mut Scratch) -> Result<u64> {
        let (memory, _) = scratch.own.of::<Own>();
        self.count_piece(piece, memory)
    }

    fn sample_piece(
        &self,
        piece: &[u8],
        sampling: Sampling,
        draw: &mut Draw,
        scratch: &mut Scratch,
        out: &mut Vec<Found>,
    ) -> Result<()> {
        let (memory, ids) = scratch.own.of::<Own>();
        ids.clear();
        match Dropout::of(sampling)? {
            Some(dropout) => self.sample_piece(piece, dropout, draw, memory, ids)?,
            None => self.encode_piece(piece, memory, ids)?,
        }
        place(ids, self.tokens(), out);
        Ok(())
    }
}

/// Gives each id the bytes of the piece that are its token's.
fn place(ids: &[u32], tokens: &TokenTable<'_>, out: &mut Vec<Found>) {
    let mut start = 0;
    out.extend(ids.iter().map(|&id| {
        let end = start + tokens.get(id).len() as u32;
        let found = Found { id, start, end };
        start = end;
        found
    }));
}
