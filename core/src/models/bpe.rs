//! Byte-pair encoding of a piece, for both forms of the model.
//!
//! * *By ranks* (tiktoken): merge the neighbours whose concatenation has the lowest id.
//! * *By merges* (GPT-2, Hugging Face): merge the pair that stands first in a list.
//!
//! Both are one procedure over a table (left, right) -> rank of the merge: take the lowest rank,
//! the leftmost of equals, until no neighbours have one. By ranks, that is the id itself, and
//! the table has the recovered merges if they reach every token (`crate::tables::recover_merges` proves
//! that this is the same), else every way to put a token together from two others.
//!
//! Invariant: a piece's ids decode to its bytes.

use super::merging::chain::Chain;
use super::merging::characters::MergeScratch;
use super::merging::dropout::Dropout;
use super::merging::merge_varied;
use super::merging::short::{MAX_SYMBOLS, ShortPiece};
use super::merging::table::MergeTable;
use crate::boundaries::runs::Joins;
use crate::error::{Error, Result};
use crate::random::Draw;
use crate::tables::{AsciiTable, CharacterTable, NONE, PieceTable, Start, TokenTable};
use crate::threads::made_once::MadeOnce;
use ideographs::Ideographs;
use narrowed::Narrowed;
use superwords::Superwords;

/// A longer token is in no rank file but a hostile one; finding its parts would take hours.
pub(super) const LONGEST_TOKEN: usize = 1024;

/// Looking up as many whole pieces as this part of all tokens is worth finding out which must be.
const LEARN_AFTER: usize = 4;

/// Merging so many bytes for each token is worth finding out which merges of ASCII come first: it saves about
/// what that costs.
const FIND_AFTER: usize = 4;

/// So many bytes of ASCII before another byte are merged as a window by themselves.
const ENOUGH: usize = MAX_SYMBOLS / 2;

/// A byte-pair model.
#[derive(Clone, Debug)]
pub struct Bpe {
    tokens: TokenTable<'static>,
    /// The tokens by their bytes; None if no whole piece is looked up, and nobody has to be told which two are the same.
    pieces: Option<PieceTable<'static>>,
    merges: MergeTable,
    byte_ids: [u32; 256],
    /// What characters begin as.
    characters: CharacterTable<'static>,
    /// The merges that can happen, where some cannot; unset as long as nobody knows.
    narrowed: MadeOnce<Option<Narrowed>>,
    whole_pieces: bool,
    /// The tokens that merging leaves in parts: among whole pieces, only these must be looked up. None
    /// if there are none; unset as long as nobody knows.
    unreached: MadeOnce<Option<PieceTable<'static>>>,
    /// What bytes of ASCII begin as; unset as long as little is merged.
    ascii: MadeOnce<AsciiTable<'static>>,
    /// Whether it joins blanks; unset as long as nobody asks.
    blanks: MadeOnce<Joins>,
    /// The model in two, if it has tokens of several words; unset as long as few long pieces come.
    superwords: MadeOnce<Option<Box<Superwords>>>,
    /// What Chinese characters become; unset as long as few come.
    ideographs: MadeOnce<Box<Ideographs>>,
}

/// Working memory that is used again from piece to piece.
#[derive(Debug, Default)]
pub struct BpeScratch {
    short: ShortPiece,
    /// Whole pieces looked up in vain while it is unknown which must be.
    searches: usize,
    /// Bytes merged while the merges of ASCII are not found.
    merged: usize,
    starts: Vec<u32>,
    chain: Chain,
    /// Bytes of long pieces while it is unknown whether the model has tokens of several words.
    asked: usize,
    /// Where what words became is merged.
    joining: MergeScratch,
}

impl Bpe {
    /// The same model, merging even what is a token as a whole.
    #[must_use]
    pub fn without_whole_pieces(self) -> Self {
        Self {
            whole_pieces: false,
            ..self
        }
    }

    /// The tokens by id.
    #[must_use]
    pub fn tokens(&self) -> &TokenTable<'static> {
        &self.tokens
    }

    /// Appends the ids of a piece.
    ///
    /// # Errors
    /// [`Error::MissingByte`] with the offset in the piece.
    pub fn encode_piece(
        &self,
        piece: &[u8],
        scratch: &mut BpeScratch,
        out: &mut Vec<u32>,
    ) -> Result<()> {
        if let Some(id) = self.whole_piece(piece, scratch) {
            out.push(id);
            return Ok(());
        }
        self.merge_piece(piece, scratch, out)
    }

    /// Whether blanks become one token with others.
    #[must_use]
    pub fn joins_blanks(&self) -> Joins {
        *self.blanks.get_or_make(|| Joins::of(&self.tokens, b' '))
    }

    /// The token that a piece is as a whole, where such pieces are not merged; None perhaps for one that merging gives.
    #[inline]
    pub(crate) fn whole_piece(&self, piece: &[u8], scratch: &mut BpeScratch) -> Option<u32> {
        match self.whole_pieces {
            true => self.find_whole(piece, scratch),
            false => None,
        }
    }

    /// The token that is a whole piece; None also for one that merging gives.
    #[inline]
    fn find_whole(&self, piece: &[u8], scratch: &mut BpeScratch) -> Option<u32> {
        match self.unreached.get() {
            Some(None) => None,
            Some(Some(unreached)) => unreached.get(piece, &self.tokens),
            None => {
                scratch.searches += 1;
                if scratch.searches * LEARN_AFTER > self.tokens.len() {
                    self.unreached.get_or_make(|| self.find_unreached());
                }
                self.pieces.as_ref()?.get(piece, &self.tokens)
            }
        }
    }

    /// Merges every token's bytes, to see which tokens do not come out.
    #[cold]
    fn find_unreached(&self) -> Option<PieceTable<'static>> {
        self.narrow();
        let (mut scratch, mut ids) = (BpeScratch::default(), Vec::new());
        let unreached: Vec<u32> = self
            .tokens
            .iter()
            .filter(|&(id, bytes)| {
                ids.clear();
                self.merge_piece(bytes, &mut scratch, &mut ids).is_err() || ids != [id]
            })
            .map(|(id, _)| id)
            .collect();
        self.table_of(&unreached)
    }

    /// A table of some tokens, if there are any.
    fn table_of(&self, ids: &[u32]) -> Option<PieceTable<'static>> {
        if ids.is_empty() {
            return None;
        }
        // What is in the table of all of them can be in this one.
        let some = PieceTable::build_of(&self.tokens, ids.iter().copied());
        some.ok().or_else(|| self.pieces.clone())
    }

    /// Appends the ids of a piece, merging even what is a token as a whole.
    ///
    /// # Errors
    /// As [`Bpe::encode_piece`].
    #[inline]
    pub(crate) fn merge_piece(
        &self,
        piece: &[u8],
        scratch: &mut BpeScratch,
        out: &mut Vec<u32>,
    ) -> Result<()> {
        if self.merge_on_stack(piece, 0, scratch)? == piece.len() {
            scratch.short.append_to(out);
            return Ok(());
        }
        self.merge_long_piece(piece, scratch, out)
    }

    /// Merges the symbols with which a piece begins after an offset, as many as there is room for, and
    /// says where they end.
    #[inline]
    fn merge_on_stack(&self, piece: &[u8], from: usize, scratch: &mut BpeScratch) -> Result<usize> {
        let merges = self.merges();
        let window = &piece[from..piece.len().min(from + 2 * MAX_SYMBOLS)];
        let ascii = match window.is_ascii() {
            true => Some(window),
            false => {
                let length = window.iter().position(|byte| !byte.is_ascii());
                length
                    .filter(|&length| length >= ENOUGH)
                    .map(|length| &window[..length])
            }
        };
        if let Some(text) = ascii
            && let Some(table) = self.ascii_merges(text.len(), scratch)
            && let Some(length) =
                ascii::lay_out(table, text, &self.byte_ids, merges, &mut scratch.short)
        {
            scratch.short.merge_known(merges);
            return Ok(from + length);
        }
        let short = &mut scratch.short;
        short.clear();
        let characters = self.characters();
        let mut at = from;
        while at < piece.len() && !short.is_full() {
            let start = self.start(characters, piece, at)?;
            short.push(start.first);
            if let Some(second) = start.second {
                short.push_apart(second);
            }
            at += start.length;
        }
        short.merge(merges);
        Ok(at)
    }

    /// The merges of ASCII; None as long as too little was merged for them to be worth finding.
    #[inline]
    fn ascii_merges(
        &self,
        length: usize,
        scratch: &mut BpeScratch,
    ) -> Option<&AsciiTable<'static>> {
        self.ascii.get().or_else(|| {
            scratch.merged += length;
            (scratch.merged > FIND_AFTER * self.tokens.len()).then(|| self.find_ascii())
        })
    }

    fn find_ascii(&self) -> &AsciiTable<'static> {
        self.narrow();
        let find = || ascii::table(self.merges(), &self.tokens, &self.byte_ids);
        self.ascii.get_or_make(find)
    }

    /// Finds the merges that can happen.
    fn narrow(&self) {
        self.narrowed.get_or_make(|| Narrowed::of(self));
    }

    /// The merges: those that can happen, as soon as they are known.
    #[inline]
    fn merges(&self) -> &MergeTable {
        match self.narrowed.get() {
            Some(Some(narrowed)) => &narrowed.merges,
            _ => &self.merges,
        }
    }

    /// What characters begin as under [`Bpe::merges`].
    #[inline]
    fn characters(&self) -> &CharacterTable<'static> {
        match self.narrowed.get() {
            Some(Some(narrowed)) => &narrowed.characters,
            _ => &self.characters,
        }
    }

    /// What a piece begins as at an offset: a character, or else a byte.
    #[inline]
    fn start(
        &self,
        characters: &CharacterTable<'static>,
        piece: &[u8],
        at: usize,
    ) -> Result<Start> {
        match characters.start(piece, at) {
            Some(start) => Ok(start),
            None => Ok(Start {
                first: self.id_of_byte(piece, at)?,
                second: None,
                length: 1,
            }),
        }
    }

    /// Appends the ids of a piece, leaving out merges at random; what is a token as a whole is merged
    /// like everything else.
    ///
    /// # Errors
    /// As [`Bpe::encode_piece`].
    pub fn sample_piece(
        &self,
        piece: &[u8],
        dropout: Dropout,
        draw: &mut Draw,
        scratch: &mut BpeScratch,
        out: &mut Vec<u32>,
    ) -> Result<()> {
        merge_varied(
            &self.merges,
            piece.len(),
            |offset| self.id_of_byte(piece, offset),
            dropout.variant(draw, |_| false),
            &mut scratch.chain,
            out,
        )
    }

    #[inline]
    fn id_of_byte(&self, piece: &[u8], offset: usize) -> Result<u32> {
        let byte = piece[offset];
        match self.byte_ids[byte as usize] {
            NONE => Err(Error::MissingByte { byte, offset }),
            id => Ok(id),
        }
    }
}

mod ascii;
mod building;
pub(crate) mod ideographs;
mod long;
mod model;
mod narrowed;
pub(crate) mod superwords;
#[cfg(test)]
mod tests;

#[cfg(all(test, feature = "embedded"))]
mod embedded_tests;
