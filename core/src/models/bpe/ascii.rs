//! What bytes of ASCII begin as: merges that are done whatever else happens need no search.
//!
//! Let two bytes merge at some rank. Until then, one of them could only be taken by a merge with
//! a token that ends or begins with the byte beside it. If the ranks of all of these are higher, none of them comes first,
//! and the two become one in any text. In turn, what becomes one early must not be taken early: the merges that
//! take it must have higher ranks, as they have where merges are monotone.

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use super::super::merging::short::{MAX_SYMBOLS, ShortPiece};
use super::super::merging::table::{MergeTable, Merges};
use crate::tables::{NONE, TokenTable};

const PAIRS: usize = 1 << 14;

/// Ranks by two bytes of ASCII.
#[derive(Clone, Debug)]
pub(super) struct AsciiMerges {
    /// Of the merge of both, or [`NONE`].
    ranks: Box<[u32; PAIRS]>,
    /// The lowest at which the second one joins a token that ends with the first; 0 if some two bytes are taken too early.
    before: Box<[u32; PAIRS]>,
    /// The lowest at which the first one joins a token that begins with the second; 0 likewise.
    after: Box<[u32; PAIRS]>,
}

#[inline]
fn index(first: u8, second: u8) -> usize {
    usize::from(first & 127) << 7 | usize::from(second & 127)
}

impl AsciiMerges {
    /// Reads the ranks out of all merges.
    #[cold]
    pub fn new(merges: &MergeTable, tokens: &TokenTable<'_>, byte_ids: &[u32; 256]) -> Self {
        let mut tables = Self {
            ranks: Box::new([NONE; PAIRS]),
            before: Box::new([NONE; PAIRS]),
            after: Box::new([NONE; PAIRS]),
        };
        // The byte of an id, or one that is not ASCII: entries are many, and ids of bytes are low in most vocabularies.
        let mut bytes = Vec::new();
        for (byte, &id) in byte_ids[..128]
            .iter()
            .enumerate()
            .filter(|(_, id)| **id != NONE)
        {
            bytes.resize(bytes.len().max(id as usize + 1), u8::MAX);
            bytes[id as usize] = byte as u8;
        }
        let byte = |id: u32| bytes.get(id as usize).copied().filter(u8::is_ascii);
        let ascii = |byte: Option<&u8>| byte.copied().filter(u8::is_ascii);
        for (left, right, rank) in merges.pairs().entries() {
            let (first, second) = (byte(left), byte(right));
            if let (Some(first), Some(second)) = (first, second) {
                tables.ranks[index(first, second)] = rank;
            }
            if let (Some(first), Some(next)) = (first, ascii(tokens.get(right).first())) {
                let lowest = &mut tables.after[index(first, next)];
                *lowest = rank.min(*lowest);
            }
            if let (Some(second), Some(last)) = (second, ascii(tokens.get(left).last())) {
                let lowest = &mut tables.before[index(last, second)];
                *lowest = rank.min(*lowest);
            }
        }
        if !merges.monotone() && tables.some_are_taken_early(merges) {
            (tables.before, tables.after) = (Box::new([0; PAIRS]), Box::new([0; PAIRS]));
        }
        tables
    }

    /// Whether a merge that takes what two bytes become has a lower rank than theirs.
    fn some_are_taken_early(&self, merges: &MergeTable) -> bool {
        let pairs = self.ranks.iter().filter(|&&rank| rank != NONE);
        let made: HashMap<u32, u32, RandomState> =
            pairs.map(|&rank| (merges.product(rank), rank)).collect();
        let is_early = |part, rank| made.get(&part).is_some_and(|&own| rank < own);
        let mut entries = merges.pairs().entries();
        entries.any(|(left, right, rank)| is_early(left, rank) || is_early(right, rank))
    }

    /// Lays out the symbols with which a text of ASCII begins, as many as there is room for, and says how
    /// many bytes they are; None if there is a byte without a symbol.
    #[inline]
    pub fn lay_out(
        &self,
        text: &[u8],
        byte_ids: &[u32; 256],
        merges: &MergeTable,
        short: &mut ShortPiece,
    ) -> Option<usize> {
        debug_assert!(text.is_ascii());
        short.clear();
        let (mut at, mut last, mut last_byte) = (0, NONE, None);
        for _ in 0..MAX_SYMBOLS {
            let Some(&byte) = text.get(at) else { break };
            let (symbol, of_byte) = match self.pair(text, at) {
                Some(rank) => (merges.product(rank), None),
                None => (byte_ids[usize::from(byte)], Some(byte)),
            };
            if symbol == NONE {
                return None;
            }
            let rank = match (last_byte, of_byte) {
                (Some(first), Some(second)) => self.ranks[index(first, second)],
                _ if last == NONE => NONE,
                _ => merges.pairs().get(last, symbol),
            };
            short.push_with(symbol, rank, merges);
            at += if of_byte.is_some() { 1 } else { 2 };
            (last, last_byte) = (symbol, of_byte);
        }
        Some(at)
    }

    /// The rank of the merge of the two bytes at a place, if it is done whatever stands around them.
    #[inline]
    fn pair(&self, text: &[u8], at: usize) -> Option<u32> {
        let (first, second) = (text[at], *text.get(at + 1)?);
        let rank = self.ranks[index(first, second)];
        let comes_first = rank != NONE
            && (at == 0 || rank < self.before[index(text[at - 1], first)])
            && (text.get(at + 2)).is_none_or(|&third| rank < self.after[index(second, third)]);
        comes_first.then_some(rank)
    }
}
