//! What the models that merge characters have in common.

use super::chain::Chain;
use super::dropout::Dropout;
use super::queue::{BucketQueue, HeapQueue};
use super::table::Merges;
use super::{Placed, SHORT, Variant, merge_by_steps, merge_long, merge_short, merge_varied};
use crate::error::Result;
use crate::random::Draw;
use crate::tables::{NONE, PieceTable, TokenTable};

/// A symbol that merging begins with, and the bytes of the piece that it stands for.
#[derive(Clone, Copy, Debug)]
pub struct Symbol {
    /// An id, or another number that the model gives.
    pub id: u32,
    /// Where it begins in the piece.
    pub start: u32,
    /// Where it ends (exclusive).
    pub end: u32,
}

/// Working memory that is used again from piece to piece.
#[derive(Debug, Default)]
pub struct MergeScratch {
    /// What merging begins with.
    pub symbols: Vec<Symbol>,
    /// A character with what is written before and after it.
    pub text: Vec<u8>,
    chain: Chain,
    merged: Vec<(u32, u32)>,
}

impl MergeScratch {
    /// Merges the symbols; [`MergeScratch::merged`] gives what is left. `monotone` as in `queue`.
    pub fn merge(&mut self, merges: &impl Merges, monotone: bool) -> Result<()> {
        let Self { symbols, chain, .. } = self;
        let symbol = |place: usize| Ok(symbols[place].id);
        self.merged.clear();
        let mut sink = Placed::new(&mut self.merged);
        if symbols.len() <= SHORT {
            merge_short(merges, symbols.len(), symbol, &mut sink)
        } else if monotone {
            let queue = BucketQueue::default();
            merge_long(merges, symbols.len(), symbol, queue, chain, &mut sink)
        } else {
            let queue = HeapQueue::default();
            merge_long(merges, symbols.len(), symbol, queue, chain, &mut sink)
        }
    }

    /// The same by steps, see [`merge_by_steps`].
    pub fn merge_by_steps(&mut self, merges: &impl Merges) -> Result<()> {
        let Self { symbols, chain, .. } = self;
        let symbol = |place: usize| Ok(symbols[place].id);
        self.merged.clear();
        let mut sink = Placed::new(&mut self.merged);
        merge_by_steps(merges, symbols.len(), symbol, chain, &mut sink)
    }

    /// The same with dropout, if any, and with the merges of `unwanted` symbols taken back.
    pub fn merge_varied(
        &mut self,
        merges: &impl Merges,
        variation: Option<(Dropout, &mut Draw)>,
        unwanted: impl Fn(u32) -> bool,
    ) -> Result<()> {
        let Self { symbols, chain, .. } = self;
        let symbol = |place: usize| Ok(symbols[place].id);
        self.merged.clear();
        let mut sink = Placed::new(&mut self.merged);
        match variation {
            Some((dropout, draw)) => {
                let variant = dropout.variant(draw, unwanted);
                merge_varied(merges, symbols.len(), symbol, variant, chain, &mut sink)
            }
            None => {
                let variant = Variant {
                    drops: || false,
                    lasting: false,
                    unwanted,
                };
                merge_varied(merges, symbols.len(), symbol, variant, chain, &mut sink)
            }
        }
    }

    /// The symbols after merging, with the bytes of the piece that each stands for.
    pub fn merged(&self) -> impl Iterator<Item = Symbol> {
        let firsts = self.merged.iter().map(|&(_, first)| first as usize);
        let lasts = firsts.skip(1).chain([self.symbols.len()]);
        self.merged
            .iter()
            .zip(lasts)
            .map(|(&(id, first), after)| Symbol {
                id,
                start: self.symbols[first as usize].start,
                end: self.symbols[after - 1].end,
            })
    }
}

/// The tokens `<0x00>` to `<0xFF>`; [`NONE`] where there is none.
pub fn byte_tokens(pieces: &PieceTable<'_>, tokens: &TokenTable<'_>) -> Box<[u32; 256]> {
    Box::new(std::array::from_fn(|byte| {
        pieces
            .get(format!("<0x{byte:02X}>").as_bytes(), tokens)
            .unwrap_or(NONE)
    }))
}
