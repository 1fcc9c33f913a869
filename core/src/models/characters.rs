//! What the models that merge characters have in common.

use std::ops::Range;

use super::chain::Chain;
use super::dropout::Dropout;
use super::merging::{Merges, Variant, merge_by_steps, merge_varied};
use super::model::Border;
use super::short::ShortPiece;
use crate::error::Result;
use crate::random::Draw;
use crate::tables::{NONE, PieceTable, TokenTable};
use crate::text::read_char;

/// The character that stands for a blank (U+2581).
const MARK: char = '▁';

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
pub struct Scratch {
    /// What merging begins with.
    pub symbols: Vec<Symbol>,
    /// A character with what is written before and after it.
    pub text: Vec<u8>,
    pub(super) short: ShortPiece,
    pub(super) chain: Chain,
    /// Symbols after merging, and the place of the first that each was merged from.
    pub(super) merged: Vec<(u32, u32)>,
}

impl Scratch {
    /// Takes the symbols that merging begins with.
    pub fn spell(&mut self, symbols: impl Iterator<Item = Symbol>) {
        self.symbols.clear();
        self.symbols.extend(symbols);
    }

    /// Merges the symbols by steps, see [`merge_by_steps`]; [`Scratch::merged`] gives what is left.
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

/// Where texts can be cut before merging: before (or after) every run of marks, provided that the mark is
/// a token and that no token goes on across such a place.
///
/// This changes no token. Whatever merging makes is a token, so nothing is made that has a mark after
/// (before) another character: no merge crosses the place, those on its two sides do not touch each
/// other's symbols, and which of them comes first is all the same. An unknown character that reaches
/// across (when neighbours are fused) would have to hold the mark, and that is known.
pub fn border<'a>(texts: impl Iterator<Item = &'a [u8]>) -> Option<Border> {
    let (mut known, mut inside, mut before) = (false, false, false);
    for text in texts {
        known |= text == MARK.to_string().as_bytes();
        let mut last = None;
        let mut at = 0;
        while at < text.len() {
            let (character, length) = read_char(text, at);
            let is_mark = character == Some(MARK);
            inside |= is_mark && last == Some(false);
            before |= !is_mark && last == Some(true);
            last = Some(is_mark);
            at += length;
        }
    }
    if !known {
        None
    } else if !inside {
        Some(Border::Before(MARK))
    } else if !before {
        Some(Border::After(MARK))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_where_no_token_goes_on() {
        let of = |texts: &[&str]| border(texts.iter().map(|text| text.as_bytes()));
        assert_eq!(of(&["▁", "▁▁", "▁a", "ab"]), Some(Border::Before('▁')));
        assert_eq!(of(&["▁", "▁▁", "a▁", "ab"]), Some(Border::After('▁')));
        assert_eq!(of(&["▁", "▁a", "a▁"]), None);
        assert_eq!(of(&["▁", "a▁a"]), None);
        assert_eq!(
            of(&["▁a"]),
            None,
            "a mark that is unknown could be fused with its neighbour"
        );
        assert_eq!(of(&["▁"]), Some(Border::Before('▁')));
    }
}
