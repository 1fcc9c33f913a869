//! Byte-pair encoding by scores: merge the neighbours whose concatenation has the highest score, the
//! leftmost of equals (SentencePiece's form of it).
//!
//! A character need be no piece of its own to become part of one, so symbols are ids of pieces, then
//! characters that only occur inside of pieces, then one number for all other characters. Pieces of a
//! user's own are found first, the longest at each place from the left, and never merged.
//!
//! *Unused* pieces serve merging only: one that is left in the end becomes again what it was merged from,
//! and so does each of its parts that is unused; a single character is as unknown as one without a piece.

mod tables;

use aho_corasick::{AhoCorasick, MatchKind};

use self::tables::{all_byte_tokens, check, matches_text, symbols};
use super::merging::characters::{MergeScratch, Symbol};
use super::merging::dropout::Dropout;
use super::merging::table::Merges;
use super::model::{Counted, Found, Model, Tables, Tokens, check_unknown, kind};
use super::scratch::Scratch;
use crate::boundaries::seams::{Border, Joints, MARK, Seams};
use crate::error::{Result, invalid};
use crate::random::{Draw, Sampling};
use crate::tables::{NONE, PairTable, PieceTable, TokenTable};
use crate::text::characters as characters_of;
use crate::text::finder::finder;

/// A model that merges by scores.
#[derive(Debug)]
pub struct ScoredPairs {
    tokens: TokenTable<'static>,
    kinds: Vec<u8>,
    unk_id: u32,
    /// Tokens of bytes, if unknown characters become those.
    byte_ids: Option<Box<[u32; 256]>>,
    /// Pieces that text can become, by id, and after them the characters that only occur inside of them.
    symbols: TokenTable<'static>,
    lookup: PieceTable<'static>,
    /// The symbols of single bytes.
    bytes: Box<[u32; 256]>,
    merges: ScoreTable,
    user_defined: Option<UserDefined>,
    has_unused: bool,
    border: Option<Border>,
}

/// Finds the pieces of a user's own.
#[derive(Debug)]
struct UserDefined {
    automaton: AhoCorasick,
    ids: Vec<u32>,
}

/// Merges in the order of scores, of which several may be equal.
#[derive(Debug)]
struct ScoreTable {
    pairs: PairTable<'static>,
    /// Rank of a product -> its place in the order; equal scores have equal places.
    priorities: Vec<u32>,
    /// Rank of a product -> its id.
    products: Vec<u32>,
}

impl Merges for ScoreTable {
    const SHARED_PLACES: bool = true;

    #[inline]
    fn pairs(&self) -> &PairTable<'static> {
        &self.pairs
    }

    #[inline]
    fn priority(&self, rank: u32) -> u32 {
        self.priorities.get(rank as usize).copied().unwrap_or(NONE)
    }

    #[inline]
    fn product(&self, rank: u32) -> u32 {
        self.products[rank as usize]
    }
}

impl ScoredPairs {
    /// Builds a model.
    ///
    /// # Errors
    /// A sentence that names what contradicts itself: scores or types that are not one per id, a score
    /// that is not a number, a type that there is none of, equal pieces, missing tokens of bytes, an unknown
    /// token's id that is too large.
    pub fn new(tables: Tables, unk_id: u32, byte_fallback: bool) -> Result<Self> {
        let Tables {
            tokens,
            scores,
            kinds,
            ..
        } = tables;
        check_unknown(Some(unk_id))?;
        check(&tokens, &scores, &kinds)?;
        let kind_of = |id: u32| kinds.get(id as usize).copied().unwrap_or(kind::NORMAL);
        let symbols = symbols(&tokens, kind_of)?;
        let lookup = PieceTable::build(&symbols)?;
        let user_defined = UserDefined::new(&tokens, kind_of)?;
        let border = Border::of(
            tokens
                .iter()
                .filter(|&(id, _)| matches_text(kind_of(id)))
                .map(|(_, text)| text),
        );
        // An unused mark becomes unknown, and one token with unknown characters on both sides of it.
        let is_unused_mark = |(id, text)| text == MARK.as_bytes() && kind_of(id) == kind::UNUSED;
        let border = border.filter(|_| !tokens.iter().any(is_unused_mark));
        Ok(Self {
            unk_id,
            byte_ids: byte_fallback
                .then(|| all_byte_tokens(&tokens, kind_of))
                .transpose()?,
            merges: ScoreTable::new(&tokens, &symbols, &lookup, &scores, kind_of)?,
            user_defined,
            bytes: Box::new(std::array::from_fn(|byte| {
                let symbol = lookup.get(&[byte as u8], &symbols);
                symbol.unwrap_or(symbols.len() as u32)
            })),
            has_unused: kinds.contains(&kind::UNUSED),
            border,
            tokens,
            symbols,
            lookup,
            kinds,
        })
    }

    /// Spells a piece in symbols.
    fn spell<'a>(&'a self, piece: &'a [u8]) -> impl Iterator<Item = Symbol> + 'a {
        let mut at = 0;
        let mut found = self
            .user_defined
            .as_ref()
            .map(|own| own.find(piece).peekable());
        std::iter::from_fn(move || {
            let mut rest = &piece[at..];
            if let Some(next) = found.as_mut().and_then(|found| found.peek().copied()) {
                if next.start as usize == at {
                    found.as_mut().and_then(Iterator::next);
                    at = next.end as usize;
                    return Some(next);
                }
                rest = &piece[at..next.start as usize];
            }
            let (_, character) = characters_of(rest).next()?;
            let start = at as u32;
            at += character.len();
            Some(Symbol {
                id: self.symbol_of(character),
                start,
                end: at as u32,
            })
        })
    }

    /// The symbol of a character that is no piece of a user's own.
    #[inline]
    fn symbol_of(&self, character: &[u8]) -> u32 {
        match character {
            &[byte] => self.bytes[usize::from(byte)],
            _ => {
                let symbol = self.lookup.get(character, &self.symbols);
                symbol.unwrap_or(self.symbols.len() as u32)
            }
        }
    }

    fn is_unused(&self, id: u32) -> bool {
        self.kinds.get(id as usize) == Some(&kind::UNUSED)
    }

    fn is_known(&self, symbol: Symbol) -> bool {
        (symbol.id as usize) < self.tokens.len() && !(self.has_unused && self.is_unused(symbol.id))
    }

    /// Gives ids to what was merged; neighbouring unknown characters are one token.
    fn emit(&self, piece: &[u8], scratch: &MergeScratch, out: &mut impl Tokens) -> Result<()> {
        out.reserve(scratch.merged.len())?;
        let mut before = None;
        for (_, symbol) in scratch.merged() {
            self.emit_one(piece, symbol, before, out)?;
            before = Some(symbol);
        }
        Ok(())
    }

    /// Gives ids to a symbol that stands behind another one, where there is room for one id.
    #[inline]
    fn emit_one(
        &self,
        piece: &[u8],
        symbol: Symbol,
        before: Option<Symbol>,
        out: &mut impl Tokens,
    ) -> Result<()> {
        if self.is_known(symbol) {
            out.push(symbol.into());
        } else if let Some(ids) = &self.byte_ids {
            let bytes = &piece[symbol.start as usize..symbol.end as usize];
            out.reserve(bytes.len())?;
            for (at, &byte) in (symbol.start..).zip(bytes) {
                out.push(Found {
                    id: ids[byte as usize],
                    start: at,
                    end: at + 1,
                });
            }
        } else if before.is_some_and(|before| !self.is_known(before)) {
            out.extend_last(symbol.end);
        } else {
            out.push(Found {
                id: self.unk_id,
                ..symbol.into()
            });
        }
        Ok(())
    }

    /// Gives out the tokens of a piece.
    fn encode(&self, piece: &[u8], scratch: &mut Scratch, out: &mut impl Tokens) -> Result<()> {
        let scratch: &mut MergeScratch = scratch.own.of();
        if self.has_unused {
            scratch.spell(self.spell(piece));
            scratch.merge_varied(&self.merges, None, |id| self.is_unused(id))?;
            return self.emit(piece, scratch, out);
        }
        scratch.merge_by_windows(
            &self.merges,
            false, // scores need not rise from a product to its parts
            || {
                let mut spelt = self.spell(piece);
                move |symbols: &mut Vec<Symbol>| {
                    spelt.next().map(|next| symbols.push(next)).is_some()
                }
            },
            out,
            |out, symbol, before| self.emit_one(piece, symbol, before, out),
        )
    }
}

impl ScoreTable {
    /// Lays out every way to put a piece together from two symbols.
    fn new(
        tokens: &TokenTable<'_>,
        symbols: &TokenTable<'_>,
        lookup: &PieceTable<'_>,
        scores: &[f64],
        kind_of: impl Fn(u32) -> u8,
    ) -> Result<Self> {
        let merged = |id: u32| matches_text(kind_of(id)) && kind_of(id) != kind::USER_DEFINED;
        let mut products: Vec<u32> = tokens
            .iter()
            .filter(|&(id, text)| merged(id) && characters_of(text).nth(1).is_some())
            .map(|(id, _)| id)
            .collect();
        let score = |id: u32| scores[id as usize];
        products.sort_by(|&a, &b| {
            let falling = score(b).partial_cmp(&score(a));
            falling.unwrap_or(std::cmp::Ordering::Equal).then(a.cmp(&b))
        });
        let mut priorities = Vec::with_capacity(products.len());
        let mut entries = Vec::new();
        for (rank, &product) in products.iter().enumerate() {
            priorities.push(match rank.checked_sub(1) {
                Some(before) if score(products[before]) == score(product) => priorities[before],
                _ => rank as u32,
            });
            let text = tokens.get(product);
            for (middle, _) in characters_of(text).skip(1) {
                let parts =
                    [&text[..middle], &text[middle..]].map(|part| lookup.get(part, symbols));
                if let [Some(left), Some(right)] = parts
                    && [left, right].iter().all(|&part| merged(part))
                {
                    entries.push((left, right, rank as u32));
                }
            }
        }
        Ok(Self {
            pairs: PairTable::build(entries.into_iter())?,
            priorities,
            products,
        })
    }
}

impl UserDefined {
    fn new(tokens: &TokenTable<'_>, kind_of: impl Fn(u32) -> u8) -> Result<Option<Self>> {
        let (ids, texts): (Vec<u32>, Vec<&[u8]>) = tokens
            .iter()
            .filter(|&(id, _)| kind_of(id) == kind::USER_DEFINED)
            .unzip();
        if ids.is_empty() {
            return Ok(None);
        }
        let automaton = finder(&texts, MatchKind::LeftmostLongest)
            .map_err(|error| invalid!("user-defined pieces cannot be searched for: {error}"))?;
        Ok(Some(Self { automaton, ids }))
    }

    /// Finds the pieces in a text, the longest at each place from the left.
    fn find<'a>(&'a self, text: &'a [u8]) -> impl Iterator<Item = Symbol> + 'a {
        self.automaton.find_iter(text).map(|found| Symbol {
            id: self.ids[found.pattern().as_usize()],
            start: found.start() as u32,
            end: found.end() as u32,
        })
    }
}

impl Model for ScoredPairs {
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
        scratch.spell(self.spell(piece));
        scratch.merge_varied(&self.merges, Some((dropout, draw)), |id| self.is_unused(id))?;
        self.emit(piece, scratch, out)
    }

    fn border(&self) -> Option<Border> {
        self.border
    }

    /// As merging by windows relies on it, where each character's symbols are its own whatever stands beside it.
    fn neighbours_tell(&self) -> bool {
        !self.has_unused && self.user_defined.is_none() && self.byte_ids.is_some()
    }

    /// Whatever merging makes is a token. Where unknown characters do not become bytes, neighbours
    /// become one token, so nothing is said of them.
    fn seams(&self) -> Seams {
        let texts = || {
            let tokens = self.tokens.iter();
            let kind_of = |id: u32| self.kinds.get(id as usize).copied();
            tokens.filter(move |&(id, _)| kind_of(id).is_none_or(matches_text))
        };
        let joints = || Joints::of(texts().map(|(_, text)| text));
        Seams {
            border: self.border,
            joints: self.byte_ids.is_some().then(joints),
        }
    }
}

#[cfg(test)]
mod tests;
