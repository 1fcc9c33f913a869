//! A piece as a linked list of symbols, of which neighbours become one.

use super::table::Merges;
use crate::error::{Result, invalid};
use crate::tables::NONE;

/// A piece as a linked list of symbols, with memory that is used again.
#[derive(Debug, Default)]
pub struct Chain {
    symbols: Vec<u32>,
    /// The merge of a symbol and the next one.
    ranks: Vec<u32>,
    next: Vec<u32>,
    previous: Vec<u32>,
    /// What was merged, for those who take it back.
    joints: Vec<Joint>,
}

/// Takes the symbols that are left after merging.
pub trait Sink {
    /// Takes a symbol, and which of the initial symbols it begins with.
    fn take(&mut self, symbol: u32, first: u32);
}

/// Symbols alone, as the model over bytes wants them: it reads their lengths off the tokens.
impl Sink for Vec<u32> {
    #[inline]
    fn take(&mut self, symbol: u32, _first: u32) {
        self.push(symbol);
    }
}

/// Symbols, and which of the initial symbols each begins with.
impl Sink for Vec<(u32, u32)> {
    #[inline]
    fn take(&mut self, symbol: u32, first: u32) {
        self.push((symbol, first));
    }
}

/// Two symbols before they were merged.
#[derive(Clone, Copy, Debug)]
struct Joint {
    places: [u32; 2],
    symbols: [u32; 2],
    end: u32,
}

impl Chain {
    /// Lays the initial symbols out and gives each candidate, as (rank, place), to `push`.
    pub(super) fn begin(
        &mut self,
        merges: &impl Merges,
        count: usize,
        symbol: impl Fn(usize) -> Result<u32>,
        mut push: impl FnMut(u32, u32),
    ) -> Result<()> {
        let Ok(end) = u32::try_from(count) else {
            return Err(invalid!("a piece of text is longer than 4 GiB"));
        };
        self.symbols.clear();
        self.ranks.clear();
        self.joints.clear();
        for place in 0..count {
            self.symbols.push(symbol(place)?);
        }
        self.next.clear();
        self.next.extend(1..=end);
        self.previous.clear();
        self.previous.extend((0..end).map(|at| at.wrapping_sub(1)));
        for at in 0..end {
            let rank = if at + 1 < end {
                merges.rank(self.symbols[at as usize], self.symbols[at as usize + 1])
            } else {
                NONE
            };
            self.ranks.push(rank);
            if rank != NONE {
                push(rank, at);
            }
        }
        Ok(())
    }

    /// Merges the symbol at a place with the next one, and gives new candidates to `push`.
    #[inline]
    pub(super) fn join(&mut self, merges: &impl Merges, left: u32, mut push: impl FnMut(u32, u32)) {
        let Self {
            symbols,
            ranks,
            next,
            previous,
            ..
        } = self;
        let end = symbols.len() as u32;
        let right = next[left as usize];
        let after = next[right as usize];
        symbols[left as usize] = merges.product(ranks[left as usize]);
        next[left as usize] = after;
        ranks[right as usize] = NONE;
        let mut renew = |at: u32, rank: u32| {
            ranks[at as usize] = rank;
            if rank != NONE {
                push(rank, at);
            }
        };
        if after < end {
            previous[after as usize] = left;
            renew(
                left,
                merges.rank(symbols[left as usize], symbols[after as usize]),
            );
        } else {
            renew(left, NONE);
        }
        if left > 0 {
            let before = previous[left as usize];
            renew(
                before,
                merges.rank(symbols[before as usize], symbols[left as usize]),
            );
        }
    }

    /// Gives what is left to a sink.
    pub(super) fn finish(&mut self, sink: &mut impl Sink) {
        let end = self.symbols.len();
        let mut at = 0;
        while at < end {
            sink.take(self.symbols[at], at as u32);
            at = self.next[at] as usize;
        }
        // A giant piece must not hold its memory for the rest of the run.
        if end > 1 << 20 {
            *self = Self::default();
        }
    }

    /// The rank of the merge of the symbol at a place and the next one, or [`NONE`].
    #[inline]
    pub(super) fn rank_at(&self, at: u32) -> u32 {
        self.ranks[at as usize]
    }

    /// Writes down the symbol at a place and the next one, which are about to be merged.
    pub(super) fn remember(&mut self, left: u32) {
        let right = self.next[left as usize];
        self.joints.push(Joint {
            places: [left, right],
            symbols: [left, right].map(|place| self.symbols[place as usize]),
            end: self.next[right as usize],
        });
    }

    /// Takes back what was remembered of each symbol that `unwanted` names, and of its parts.
    pub(super) fn take_back(&mut self, unwanted: impl Fn(u32) -> bool) {
        // Last merge first, so a symbol's parts come up after it. What lies inside of a symbol that
        // stays may be changed as well, but nobody walks over it.
        for joint in self.joints.drain(..).rev() {
            let [left, right] = joint.places.map(|place| place as usize);
            if self.next[left] == joint.end && unwanted(self.symbols[left]) {
                (self.symbols[left], self.symbols[right]) = (joint.symbols[0], joint.symbols[1]);
                (self.next[left], self.next[right]) = (joint.places[1], joint.end);
            }
        }
    }
}
