//! Byte-pair encoding over characters.
//!
//! Source: Sennrich, Haddow and Birch, "Neural Machine Translation of Rare Words with Subword Units",
//! arXiv:1508.07909. A piece's characters are the first symbols; all but the first may be written with
//! a prefix, the last one with a suffix, and merges join neighbours in the order of a list.
//!
//! Invariant: spans ascend, and a token's span is that of the characters it was merged from.

use serde::Deserialize;

use super::merging::characters::{MergeScratch, Symbol, byte_tokens};
use super::merging::dropout::Dropout;
use super::merging::table::MergeTable;
use super::model::{Counted, Found, Model, Tokens, check_unknown};
use super::scratch::Scratch;
use crate::boundaries::seams::{Border, Joints, Seams};
use crate::error::{Result, ensure};
use crate::random::{Draw, Sampling};
use crate::tables::{NONE, PieceTable, TokenTable};
use crate::text::characters as characters_of;

/// What the model is told besides its tables.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The token for a character that has none; without it such a character is left out.
    pub unk_id: Option<u32>,
    /// Whether neighbouring unknown characters become one token.
    pub fuse_unk: bool,
    /// Whether an unknown character becomes the tokens of its bytes, if all of them have one.
    pub byte_fallback: bool,
    /// Whether a piece that is a token is taken as it is.
    pub ignore_merges: bool,
    /// Written before each character but the first.
    pub continuing_subword_prefix: String,
    /// Written after the last character.
    pub end_of_word_suffix: String,
    /// Whether the suffix is a symbol of its own until a merge takes it (subword-nmt 0.1).
    pub separate_suffix: bool,
    /// A character of which a piece of nothing else is taken as it is, if it is a token; none if empty.
    #[serde(default)]
    pub whole_runs_of: String,
    /// Whether each step takes a merge at all of its places, as subword-nmt does it
    /// ([`super::merging::merge_by_steps`]).
    #[serde(default)]
    pub by_steps: bool,
}

/// A model that merges pairs of characters.
#[derive(Debug)]
pub struct CharacterPairs {
    tokens: TokenTable<'static>,
    pieces: PieceTable<'static>,
    merges: MergeTable,
    settings: Settings,
    byte_ids: Option<Box<[u32; 256]>>,
    border: Option<Border>,
    /// Ids that merges make, if characters become nothing but tokens of their own or of their bytes, and
    /// those of bytes are in no merge.
    products: Option<Vec<u32>>,
}

impl CharacterPairs {
    /// Builds a model from merges (left, right, product) in order of priority; of merges of the same
    /// pair the first counts.
    ///
    /// # Errors
    /// A sentence that names the first merge whose parts and product do not fit together, two tokens
    /// that are the same text, or an unknown token's id that is too large.
    pub fn new(
        tokens: TokenTable<'static>,
        merges: &[[u32; 3]],
        settings: Settings,
    ) -> Result<Self> {
        check_unknown(settings.unk_id)?;
        let pieces = PieceTable::build(&tokens)?;
        let mut entries = Vec::with_capacity(merges.len());
        for (number, &[left, right, product]) in merges.iter().enumerate() {
            ensure!(
                fits(
                    &tokens,
                    [left, right, product],
                    settings.continuing_subword_prefix.as_bytes()
                ),
                "merge {number} joins ids {left} and {right} to {product}, whose text is not theirs joined"
            );
            entries.push((left, right, number as u32));
        }
        let products = merges.iter().map(|merge| merge[2]).collect::<Vec<_>>();
        let plain = settings.continuing_subword_prefix.is_empty()
            && settings.end_of_word_suffix.is_empty()
            && !settings.ignore_merges;
        let byte_ids = settings
            .byte_fallback
            .then(|| byte_tokens(&pieces, &tokens));
        let runs = !settings.whole_runs_of.is_empty();
        let apart = byte_ids.as_ref().is_some_and(|ids| {
            let is_byte = |id: &u32| ids.contains(id);
            !ids.contains(&NONE) && !merges.iter().flat_map(|merge| &merge[..2]).any(is_byte)
        });
        Ok(Self {
            merges: MergeTable::new(&entries, products.clone().into(), tokens.len())?,
            byte_ids,
            products: (plain && apart && !runs).then_some(products),
            border: (plain && !runs)
                .then(|| Border::of(tokens.iter().map(|(_, text)| text)))
                .flatten(),
            tokens,
            pieces,
            settings,
        })
    }

    /// Whether a piece is a run that is looked up as a whole.
    fn is_whole_run(&self, piece: &[u8]) -> bool {
        let character = self.settings.whole_runs_of.as_bytes();
        !character.is_empty() && piece.chunks(character.len()).all(|part| part == character)
    }

    /// Spells a piece in symbols: what is returned adds those of the next character each time, and says
    /// whether there was one.
    fn spell<'a>(&'a self, piece: &'a [u8]) -> impl FnMut(&mut Vec<Symbol>) -> bool + 'a {
        let prefix = self.settings.continuing_subword_prefix.as_bytes();
        let suffix = self.settings.end_of_word_suffix.as_bytes();
        let separate_suffix = self.settings.separate_suffix;
        let mut characters = characters_of(piece);
        let mut ends = separate_suffix && !suffix.is_empty();
        let mut unknown = false; // the last symbol is the unknown token
        let mut text = Vec::new();
        move |symbols| {
            let Some((start, character)) = characters.next() else {
                if ends {
                    self.add([&[], &[], suffix], piece.len(), unknown, symbols, &mut text);
                }
                return std::mem::take(&mut ends);
            };
            let prefix = if start == 0 { &[] } else { prefix };
            let last = start + character.len() == piece.len() && !separate_suffix;
            let suffix = if last { suffix } else { &[] };
            unknown = self.add(
                [prefix, character, suffix],
                start,
                unknown,
                symbols,
                &mut text,
            );
            true
        }
    }

    /// Spells all of a piece for those who merge it at once.
    fn spell_all(&self, piece: &[u8], scratch: &mut MergeScratch) {
        let mut spell = self.spell(piece);
        scratch.symbols.clear();
        while spell(&mut scratch.symbols) {}
    }

    /// Adds a character, with what is written before and after it, and says whether it became the
    /// unknown token.
    fn add(
        &self,
        parts: [&[u8]; 3],
        start: usize,
        after_unknown: bool,
        symbols: &mut Vec<Symbol>,
        text: &mut Vec<u8>,
    ) -> bool {
        let [prefix, character, suffix] = parts;
        let end = start + character.len();
        let id = if prefix.is_empty() && suffix.is_empty() {
            self.pieces.get(character, &self.tokens)
        } else {
            text.clear();
            parts.iter().for_each(|part| text.extend_from_slice(part));
            self.pieces.get(text, &self.tokens)
        };
        let mut push = |id, start: usize, end: usize| {
            symbols.push(Symbol {
                id,
                start: start as u32,
                end: end as u32,
            });
        };
        if let Some(id) = id {
            push(id, start, end);
            return false;
        }
        if let Some(ids) = &self.byte_ids
            && parts
                .iter()
                .all(|part| part.iter().all(|&byte| ids[byte as usize] != NONE))
        {
            let id = |byte: &u8| ids[*byte as usize];
            prefix.iter().for_each(|byte| push(id(byte), start, start));
            for (at, byte) in (start..).zip(character) {
                push(id(byte), at, at + 1);
            }
            suffix.iter().for_each(|byte| push(id(byte), end, end));
            return false;
        }
        let Some(unk_id) = self.settings.unk_id else {
            return false;
        };
        match symbols.last_mut() {
            Some(last) if after_unknown && self.settings.fuse_unk => last.end = end as u32,
            _ => symbols.push(Symbol {
                id: unk_id,
                start: start as u32,
                end: end as u32,
            }),
        }
        true
    }

    /// Gives out the tokens of a piece.
    fn encode(&self, piece: &[u8], scratch: &mut Scratch, out: &mut impl Tokens) -> Result<()> {
        if (self.settings.ignore_merges || self.is_whole_run(piece))
            && let Some(id) = self.pieces.get(piece, &self.tokens)
        {
            out.reserve(1)?;
            out.push(Found {
                id,
                start: 0,
                end: piece.len() as u32,
            });
            return Ok(());
        }
        let scratch: &mut MergeScratch = scratch.own.of();
        if self.settings.by_steps && !self.merges.monotone() {
            self.spell_all(piece, scratch);
            scratch.merge_by_steps(&self.merges)?;
            out.reserve(scratch.merged.len())?;
            scratch
                .merged()
                .for_each(|(_, symbol)| out.push(symbol.into()));
            return Ok(());
        }
        scratch.merge_by_windows(
            &self.merges,
            self.merges.monotone(),
            || self.spell(piece),
            out,
            |out, symbol, _| {
                out.push(symbol.into());
                Ok(())
            },
        )
    }
}

/// Whether a product's text is that of its parts, the right one perhaps without its prefix.
fn fits(tokens: &TokenTable<'_>, merge: [u32; 3], prefix: &[u8]) -> bool {
    let [left, right, product] = merge.map(|id| tokens.get(id));
    !left.is_empty()
        && !right.is_empty()
        && product
            .strip_prefix(left)
            .is_some_and(|rest| rest == right || right.strip_prefix(prefix) == Some(rest))
}

impl Model for CharacterPairs {
    fn tokens(&self) -> &TokenTable<'static> {
        &self.tokens
    }

    /// Unknown characters become one token within a piece only.
    fn fuses(&self) -> Option<u32> {
        None
    }

    fn encode_piece(
        &self,
        piece: &[u8],
        scratch: &mut Scratch,
        out: &mut Vec<Found>,
    ) -> Result<()> {
        self.encode(piece, scratch, out)
    }

    fn encode_ids(&self, piece: &[u8], scratch: &mut Scratch, ids: &mut Vec<u32>) -> Result<()> {
        self.encode(piece, scratch, ids)
    }

    fn count_ids(&self, piece: &[u8], scratch: &mut Scratch) -> Result<u64> {
        let mut counted = Counted::default();
        self.encode(piece, scratch, &mut counted)?;
        Ok(counted.0)
    }

    fn sample_piece(
        &self,
        piece: &[u8],
        sampling: Sampling,
        draw: &mut Draw,
        scratch: &mut Scratch,
        out: &mut Vec<Found>,
    ) -> Result<()> {
        let Some(dropout) = Dropout::of(sampling)? else {
            return self.encode_piece(piece, scratch, out);
        };
        let scratch: &mut MergeScratch = scratch.own.of();
        self.spell_all(piece, scratch);
        scratch.merge_varied(&self.merges, Some((dropout, draw)), |_| false)?;
        out.extend(scratch.merged().map(|(_, symbol)| Found::from(symbol)));
        Ok(())
    }

    fn border(&self) -> Option<Border> {
        self.border
    }

    /// As merging by windows relies on it, where each character's symbols are its own whatever stands beside it.
    fn neighbours_tell(&self) -> bool {
        self.products.is_some() && !self.settings.by_steps
    }

    fn seams(&self) -> Seams {
        let joints =
            |products: &Vec<u32>| Joints::of(products.iter().map(|&id| self.tokens.get(id)));
        Seams {
            border: self.border,
            joints: self.products.as_ref().map(joints),
        }
    }
}

impl From<Symbol> for Found {
    fn from(symbol: Symbol) -> Self {
        Self {
            id: symbol.id,
            start: symbol.start,
            end: symbol.end,
        }
    }
}

#[cfg(test)]
mod tests;
