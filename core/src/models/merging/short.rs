//! Merging of a piece of few symbols, all of it on the stack.
//!
//! A candidate is one u64: the priority of the merge, then its place, so that the least of them is the
//! first merge, and the leftmost of equals. Symbols keep their places, and a bit says which places
//! are still in use: nothing is moved when two become one.

use crate::tables::NONE;

use super::table::Merges;

/// The most symbols of a piece that is merged here: a bit of a u64 each.
pub const MAX_SYMBOLS: usize = 64;

const PLACE_BITS: u32 = MAX_SYMBOLS.trailing_zeros();
/// No merge: above all candidates.
const NO_MERGE: u64 = u64::MAX;
/// How many candidates are compared side by side. Wider numbers than they need keep the compiler from
/// vectors, which would wait for the single ones just written.
const LANES: usize = 4;
/// Of so many candidates the least is known: a merge changes it in one group or two.
const GROUP: usize = 8;
/// Fewer candidates than these are compared all at once.
const FEW: usize = 16;

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
    pub fn merge<M: Merges>(&mut self, merges: &M) {
        let Self {
            symbols,
            candidates,
            count,
            apart,
            ..
        } = self;
        let pairs = merges.pairs();
        // All pairs are looked up side by side: first in the filter, then those that it lets through.
        let mut likely = 0;
        for (place, pair) in symbols[..*count].windows(2).enumerate() {
            likely |= u64::from(pairs.may_have(pair[0], pair[1])) << place;
        }
        likely &= !(*apart >> 1);
        if likely == 0 {
            self.places = all(*count);
            return;
        }
        candidates[..count.next_multiple_of(GROUP)].fill(NO_MERGE);
        while likely != 0 {
            let place = likely.trailing_zeros() as usize;
            likely &= likely - 1;
            let rank = pairs.find(symbols[place], symbols[(place + 1) % MAX_SYMBOLS]);
            candidates[place] = candidate(merges.priority(rank), place);
        }
        self.merge_candidates(merges);
    }

    /// Adds a symbol that merges with the last one by the merge of a rank, or by none.
    #[inline]
    pub fn push_with(&mut self, symbol: u32, rank: u32, merges: &impl Merges) {
        if let Some(last) = self.count.checked_sub(1) {
            self.candidates[last] = candidate(merges.priority(rank), last);
        }
        self.push(symbol);
    }

    /// The same as [`ShortPiece::merge`], if all symbols were added with the ranks of their merges.
    #[inline]
    pub fn merge_known<M: Merges>(&mut self, merges: &M) {
        if let Some(last) = self.count.checked_sub(1) {
            self.candidates[last..self.count.next_multiple_of(GROUP)].fill(NO_MERGE);
        }
        self.merge_candidates(merges);
    }

    /// Merges what is a candidate, and what becomes one.
    #[inline]
    fn merge_candidates<M: Merges>(&mut self, merges: &M) {
        if self.count > FEW {
            self.merge_some::<M, true>(merges);
        } else {
            self.merge_some::<M, false>(merges);
        }
    }

    #[inline]
    fn merge_some<M: Merges, const MANY: bool>(&mut self, merges: &M) {
        let pairs = merges.pairs();
        let Self { symbols, count, .. } = self;
        let mut places = all(*count);
        let mut candidates = Candidates::<MANY>::new(&mut self.candidates, *count);
        loop {
            let first = candidates.least();
            if first == NO_MERGE {
                break;
            }
            let (priority, place) = parts(first);
            let gone = next(places, place).unwrap_or(place);
            let rank = match M::SHARED_PLACES {
                true => pairs.find(symbols[place], symbols[gone]),
                false => priority,
            };
            let symbol = merges.product(rank);
            symbols[place] = symbol;
            places &= !(1 << gone);
            let (left, right) = (previous(places, place), next(places, place));
            // Both answers of the filter are under way before either is waited for.
            let with_left = left.filter(|&left| pairs.may_have(symbols[left], symbol));
            let with_right = right.filter(|&right| pairs.may_have(symbol, symbols[right]));
            let here = with_right.map_or(NO_MERGE, |right| {
                let rank = pairs.find(symbol, symbols[right]);
                candidate(merges.priority(rank), place)
            });
            let before = with_left.map_or(NO_MERGE, |left| {
                let rank = pairs.find(symbols[left], symbol);
                candidate(merges.priority(rank), left)
            });
            candidates.set(left, before, place, here, gone);
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

    /// The symbols that are left, and the places of the first that each was merged from.
    #[inline]
    pub fn merged(&self) -> impl Iterator<Item = (u32, u32)> {
        let mut places = self.places;
        std::iter::from_fn(move || {
            let place = places.trailing_zeros();
            let symbol = self.symbols.get(place as usize)?;
            places &= places - 1;
            Some((*symbol, place))
        })
    }
}

#[inline]
fn candidate(priority: u32, place: usize) -> u64 {
    if priority == NONE {
        NO_MERGE
    } else {
        u64::from(priority) << PLACE_BITS | place as u64
    }
}

/// Priority and place of a candidate.
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

/// The candidates of all places; where they are many, the least of each group of them is known.
struct Candidates<'a, const MANY: bool> {
    all: &'a mut [u64; MAX_SYMBOLS],
    groups: [u64; MAX_SYMBOLS / GROUP],
    count: usize,
}

impl<'a, const MANY: bool> Candidates<'a, MANY> {
    #[inline]
    fn new(all: &'a mut [u64; MAX_SYMBOLS], count: usize) -> Self {
        let mut groups = [NO_MERGE; MAX_SYMBOLS / GROUP];
        if MANY {
            let used = all.chunks_exact(GROUP).take(count.div_ceil(GROUP));
            groups
                .iter_mut()
                .zip(used)
                .for_each(|(first, group)| *first = least(group));
        }
        Self { all, groups, count }
    }

    #[inline]
    fn least(&self) -> u64 {
        if MANY {
            least(&self.groups)
        } else {
            least(&self.all[..self.count.next_multiple_of(LANES)])
        }
    }

    /// After a merge at a place: its candidate, that of the place before it, and none of the place that is gone.
    #[inline]
    fn set(&mut self, left: Option<usize>, before: u64, place: usize, here: u64, gone: usize) {
        self.all[gone] = NO_MERGE;
        self.all[place] = here;
        if let Some(left) = left {
            self.all[left] = before;
        }
        if MANY {
            let group = place / GROUP;
            self.search(group);
            if gone / GROUP != group {
                self.search(gone / GROUP);
            }
            if let Some(left) = left
                && left / GROUP != group
            {
                self.search(left / GROUP);
            }
        }
    }

    /// Finds the least of a group again.
    #[inline]
    fn search(&mut self, group: usize) {
        let group = group % (MAX_SYMBOLS / GROUP);
        self.groups[group] = least(&self.all[group * GROUP..][..GROUP]);
    }
}

/// The first places, so many.
#[inline]
fn all(count: usize) -> u64 {
    u64::MAX
        .checked_shr((MAX_SYMBOLS - count) as u32)
        .unwrap_or(0)
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
