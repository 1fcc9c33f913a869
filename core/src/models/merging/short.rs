//! Merging of a piece of few symbols, all of it on the stack.
//!
//! A candidate is one u64: the rank of the merge, then its place, so that the least of them is the
//! lowest rank, and the leftmost of equals. Symbols keep their places, and a bit says which places
//! are still in use: nothing is moved when two become one.

use crate::tables::NONE;

use super::table::{MergeTable, Merges as _};

/// The most symbols of a piece that is merged here: a bit of a u64 each.
pub const MAX_SYMBOLS: usize = 64;

const PLACE_BITS: u32 = MAX_SYMBOLS.trailing_zeros();
/// No merge: above all candidates.
const NO_MERGE: u64 = u64::MAX;
/// How many candidates are compared side by side. Wider numbers than they need keep the compiler from
/// vectors, which would wait for the single ones just written.
const LANES: usize = 4;

/// A piece and its merges, in memory that is used again.
#[derive(Debug)]
pub struct ShortPiece {
    symbols: [u32; MAX_SYMBOLS],
    /// The merge of the symbol at a place and the next one.
    candidates: [u64; MAX_SYMBOLS],
    count: usize,
    /// The places in use.
    places: u64,
    /// The places whose symbols do not merge with the one before.
    apart: u64,
}

impl Default for ShortPiece {
    fn default() -> Self {
        Self {
            symbols: [0; MAX_SYMBOLS],
            candidates: [NO_MERGE; MAX_SYMBOLS],
            count: 0,
            places: 0,
            apart: 0,
        }
    }
}

impl ShortPiece {
    /// Forgets all symbols.
    #[inline]
    pub fn clear(&mut self) {
        (self.count, self.apart) = (0, 0);
    }

    /// Whether there may be no room for two more symbols.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.count + 2 > MAX_SYMBOLS
    }

    /// Adds a symbol, which may merge with the last one.
    #[inline]
    pub fn push(&mut self, symbol: u32) {
        self.symbols[self.count] = symbol;
        self.count += 1;
    }

    /// Adds a symbol that does not merge with the last one.
    #[inline]
    pub fn push_apart(&mut self, symbol: u32) {
        self.apart |= 1 << self.count;
        self.push(symbol);
    }

    /// Merges what there is to merge.
    #[inline]
    pub fn merge(&mut self, merges: &MergeTable) {
        let Self {
            symbols,
            candidates,
            count,
            ..
        } = self;
        let mut places = u64::MAX
            .checked_shr((MAX_SYMBOLS - *count) as u32)
            .unwrap_or(0);
        self.places = places;
        // All pairs are looked up side by side: first in the filter, then those that it lets through.
        let mut likely = 0;
        for (place, pair) in symbols[..*count].windows(2).enumerate() {
            likely |= u64::from(merges.may_merge(pair[0], pair[1])) << place;
        }
        likely &= !(self.apart >> 1);
        if likely == 0 {
            return;
        }
        let candidates = &mut candidates[..count.next_multiple_of(LANES)];
        candidates.fill(NO_MERGE);
        while likely != 0 {
            let place = likely.trailing_zeros() as usize;
            likely &= likely - 1;
            let rank = merges.find(symbols[place], symbols[(place + 1) % MAX_SYMBOLS]);
            candidates[place] = candidate(rank, place);
        }
        loop {
            let first = least(candidates);
            if first == NO_MERGE {
                break;
            }
            let (rank, place) = parts(first);
            let symbol = merges.product(rank);
            symbols[place] = symbol;
            let gone = next(places, place).unwrap_or(place);
            places &= !(1 << gone);
            candidates[gone] = NO_MERGE;
            let (left, right) = (previous(places, place), next(places, place));
            // Both answers of the filter are under way before either is waited for.
            let with_left = left.filter(|&left| merges.may_merge(symbols[left], symbol));
            let with_right = right.filter(|&right| merges.may_merge(symbol, symbols[right]));
            candidates[place] = with_right.map_or(NO_MERGE, |right| {
                candidate(merges.find(symbol, symbols[right]), place)
            });
            if let Some(left) = left {
                candidates[left] = with_left.map_or(NO_MERGE, |left| {
                    candidate(merges.find(symbols[left], symbol), left)
                });
            }
        }
        self.places = places;
    }

    /// Appends the symbols that are left.
    #[inline]
    pub fn append_to(&self, out: &mut Vec<u32>) {
        let mut places = self.places;
        while places != 0 {
            out.push(self.symbols[places.trailing_zeros() as usize]);
            places &= places - 1;
        }
    }
}

#[inline]
fn candidate(rank: u32, place: usize) -> u64 {
    if rank == NONE {
        NO_MERGE
    } else {
        u64::from(rank) << PLACE_BITS | place as u64
    }
}

/// Number and place of a candidate.
#[inline]
fn parts(candidate: u64) -> (u32, usize) {
    (
        (candidate >> PLACE_BITS) as u32,
        candidate as usize % MAX_SYMBOLS,
    )
}

/// The next place in use after one.
#[inline]
fn next(places: u64, place: usize) -> Option<usize> {
    let after = places & (u64::MAX << place << 1);
    (after != 0).then(|| after.trailing_zeros() as usize)
}

/// The last place in use before one.
#[inline]
fn previous(places: u64, place: usize) -> Option<usize> {
    let before = places & !(u64::MAX << place);
    (before != 0).then(|| 63 - before.leading_zeros() as usize)
}

/// The least of a multiple of [`LANES`] numbers.
#[inline]
fn least(numbers: &[u64]) -> u64 {
    let mut lanes = [NO_MERGE; LANES];
    for chunk in numbers.chunks_exact(LANES) {
        for (lane, &number) in lanes.iter_mut().zip(chunk) {
            *lane = number.min(*lane);
        }
    }
    lanes.into_iter().fold(NO_MERGE, u64::min)
}
