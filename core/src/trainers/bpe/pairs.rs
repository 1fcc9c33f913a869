//! The pairs that may be merged soon, with their exact counts and all their places.
//!
//! Invariant: every pair that occurs at least `least` times, and is not vetoed, is here. A pair with a
//! new token gets all its occurrences from the merge that makes the token, and then only loses some; so
//! one that begins below `least` stays there, and is forgotten. Most pairs are. When none is left that
//! occurs often enough, `least` sinks and the corpus is read again.

use foldhash::fast::RandomState;
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;

use super::cells::Cells;
use super::tokens::Tokens;

/// In `numbers`: a pair that is never merged.
const VETOED: u32 = u32::MAX;

/// A pair of neighbouring tokens.
#[derive(Debug)]
pub(in crate::trainers) struct Pair {
    pub left: u32,
    pub right: u32,
    pub count: u64,
    /// Where the left one began when the pair was found; ascending while `sorted`.
    pub places: Vec<u32>,
    /// False if its right or left token was made anew, and its places found in two passes.
    pub sorted: bool,
    /// Places before this one in the list are known to be gone.
    pub gone: u32,
}

impl Pair {
    /// Brings the places into order.
    pub fn sort(&mut self) {
        if !self.sorted {
            self.places.sort(); // stable: it is quick with runs that are in order
            self.sorted = true;
            self.gone = 0;
        }
    }

    /// The first place where it still stands.
    pub fn first(&mut self, cells: &Cells) -> Option<u32> {
        self.sort();
        while let Some(&place) = self.places.get(self.gone as usize) {
            if cells.stands(self.left, self.right, place) {
                return Some(place);
            }
            self.gone += 1;
        }
        None
    }

    /// Takes all its places, in order.
    pub fn take_places(&mut self) -> Vec<u32> {
        self.sort();
        self.gone = 0;
        std::mem::take(&mut self.places)
    }
}

/// Pairs by number.
#[derive(Debug)]
pub(in crate::trainers) struct Pairs {
    pub all: Vec<Pair>,
    numbers: HashMap<u64, u32, RandomState>,
    /// How often a pair must occur to be kept.
    pub least: u64,
}

/// Two tokens as one number.
#[inline]
pub(in crate::trainers) fn pack(left: u32, right: u32) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

impl Pairs {
    /// Knows none yet; keeps those that occur `least` times or more.
    pub fn new(least: u64) -> Self {
        Self {
            all: Vec::new(),
            numbers: HashMap::default(),
            least,
        }
    }

    /// The number of a pair, if it is kept.
    pub fn find(&self, left: u32, right: u32) -> Option<u32> {
        let number = self.numbers.get(&pack(left, right)).copied();
        number.filter(|&number| number != VETOED)
    }

    /// Counts an occurrence of a pair; `known` is the number of one that has been looked for in its stead.
    #[inline]
    pub fn count(
        &mut self,
        left: u32,
        right: u32,
        count: u64,
        place: u32,
        known: &mut u32,
        tokens: &Tokens,
    ) {
        let is_same = |pair: &Pair| pair.left == left && pair.right == right;
        if !self.all.get(*known as usize).is_some_and(is_same) {
            let Some(number) = self.take_in(left, right, tokens) else {
                return;
            };
            *known = number;
        }
        let pair = &mut self.all[*known as usize];
        pair.count += count;
        pair.places.push(place);
    }

    /// The number of a pair, which is taken in if it is new; None if it is vetoed.
    pub fn take_in(&mut self, left: u32, right: u32, tokens: &Tokens) -> Option<u32> {
        let number = match self.numbers.entry(pack(left, right)) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(place) => {
                if tokens.allow(left, right) {
                    self.all.push(Pair {
                        left,
                        right,
                        count: 0,
                        places: Vec::new(),
                        sorted: true,
                        gone: 0,
                    });
                    *place.insert(self.all.len() as u32 - 1)
                } else {
                    *place.insert(VETOED)
                }
            }
        };
        (number != VETOED).then_some(number)
    }

    /// Counts occurrences of a pair that a merge made; gives its number if it is kept.
    pub fn gain(&mut self, left: u32, right: u32, count: u64, tokens: &Tokens) -> Option<u32> {
        if count < self.least {
            return None;
        }
        let number = self.take_in(left, right, tokens)?;
        let pair = &mut self.all[number as usize];
        pair.count += count;
        pair.sorted &= pair.places.is_empty();
        Some(number)
    }

    /// Takes back occurrences of a pair.
    #[inline]
    pub fn lose(&mut self, left: u32, right: u32, count: u64) {
        if let Some(number) = self.find(left, right) {
            self.all[number as usize].count -= count;
        }
    }

    /// Forgets pairs that are too rare, and the room that lists do not need.
    pub fn forget_rare(&mut self) {
        let Self {
            all,
            numbers,
            least,
        } = self;
        numbers.retain(|_, &mut number| number == VETOED || all[number as usize].count >= *least);
        for pair in all {
            if pair.count < *least {
                pair.places = Vec::new();
            }
            pair.places.shrink_to_fit();
        }
    }
}
