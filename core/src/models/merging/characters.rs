//! What the models that merge characters have in common.

use std::ops::Range;

use super::chain::Chain;
use super::dropout::Dropout;
use super::short::ShortPiece;
use super::table::Merges;
use super::{Variant, merge_by_steps, merge_varied};
use crate::error::Result;
use crate::random::Draw;
use crate::tables::{NONE, PieceTable, TokenTable};

/// A symbol that merging begins with, and the bytes of the piece that it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    pub(super) short: ShortPiece,
    pub(super) chain: Chain,
    /// Symbols after merging, and the place of the first that each was merged from.
    pub merged: Vec<(u32, u32)>,
}

impl MergeScratch {
    /// Takes the symbols that merging begins with.
    pub fn spell(&mut self, symbols: impl Iterator<Item = Symbol>) {
        self.symbols.clear();
        self.symbols.extend(symbols);
    }

    /// Merges the symbols by steps, see [`merge_by_steps`]; [`MergeScratch::merged`] gives what is left.
    pub fn merge_by_steps(&mut self, merges: &impl Merges) -> Result<()> {
        let Self { symbols, chain, .. } = self;
        let symbol = |place: usize| Ok(symbols[place].id);
        self.merged.clear();
        let sink = &mut self.merged;
        merge_by_steps(merges, symbols.len(), symbol, chain, sink)
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
        let sink = &mut self.merged;
        match variation {
            Some((dropout, draw)) => {
                let variant = dropout.variant(draw, unwanted);
                merge_varied(merges, symbols.len(), symbol, variant, chain, sink)
            }
            None => {
                let variant = Variant {
                    drops: || false,
                    lasting: false,
                    unwanted,
                };
                merge_varied(merges, symbols.len(), symbol, variant, chain, sink)
            }
        }
    }

    /// The symbols after merging, with the bytes of the piece that each stands for, and the places of the
    /// symbols that it was merged from.
    pub fn merged(&self) -> impl Iterator<Item = (Range<usize>, Symbol)> {
        let firsts = self.merged.iter().map(|&(_, first)| first as usize);
        let lasts = firsts.skip(1).chain([self.symbols.len()]);
        self.merged.iter().zip(lasts).map(|(&(id, first), after)| {
            let places = first as usize..after;
            let symbol = Symbol {
                id,
                start: self.symbols[places.start].start,
                end: self.symbols[after - 1].end,
            };
            (places, symbol)
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
