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
use crate::tables::{AsciiPair, AsciiTable, NONE, TokenTable};

/// Reads the ranks out of all merges.
#[cold]
pub(super) fn table(
    merges: &MergeTable,
    tokens: &TokenTable<'_>,
    byte_ids: &[u32; 256],
) -> AsciiTable<'static> {
    let table = AsciiTable::build(merges.pairs().entries(), tokens, byte_ids);
    if !merges.monotone() && some_are_taken_early(&table, merges) {
        return table.with_ranks_only();
    }
    table
}

/// Whether a merge that takes what two bytes become has a lower rank than theirs.
fn some_are_taken_early(table: &AsciiTable<'_>, merges: &MergeTable) -> bool {
    let pairs = table.ranks();
    let made: HashMap<u32, u32, RandomState> =
        pairs.map(|rank| (merges.product(rank), rank)).collect();
    let is_early = |part, rank| made.get(&part).is_some_and(|&own| rank < own);
    let mut entries = merges.pairs().entries();
    entries.any(|(left, right, rank)| is_early(left, rank) || is_early(right, rank))
}

/// Lays out the symbols with which a text of ASCII begins, as many as there is room for, and says how
/// many bytes they are; None if there is a byte without a symbol.
#[inline]
pub(super) fn lay_out(
    table: &AsciiTable<'_>,
    text: &[u8],
    byte_ids: &[u32; 256],
    merges: &MergeTable,
    short: &mut ShortPiece,
) -> Option<usize> {
    debug_assert!(text.is_ascii());
    short.clear();
    let (mut at, mut last, mut last_byte) = (0, NONE, false);
    // The pair that ends at the next byte, and the one that begins with it.
    let mut before = AsciiPair::ALONE;
    let mut here = pair_at(table, text, 0);
    for _ in 0..MAX_SYMBOLS {
        let Some(&byte) = text.get(at) else { break };
        let next = pair_at(table, text, at + 1);
        let is_two = here.is_sure(before, next);
        let symbol = if is_two {
            merges.product(here.rank())
        } else {
            byte_ids[usize::from(byte)]
        };
        if symbol == NONE {
            return None;
        }
        let rank = match last {
            NONE => NONE,
            _ if last_byte && !is_two => before.rank(),
            _ => merges.pairs().get(last, symbol),
        };
        short.push_with(symbol, rank, merges);
        (last, last_byte) = (symbol, !is_two);
        if is_two {
            (at, before, here) = (at + 2, next, pair_at(table, text, at + 2));
        } else {
            (at, before, here) = (at + 1, here, next);
        }
    }
    Some(at)
}

/// What is known of the two bytes at a place.
#[inline]
fn pair_at(table: &AsciiTable<'_>, text: &[u8], at: usize) -> AsciiPair {
    match text.get(at..at + 2) {
        Some(&[first, second]) => table.pair(first, second),
        _ => AsciiPair::ALONE,
    }
}
