//! Which pair is merged next.

use crate::trainers::bpe::pairs::{Pairs, pack};
use crate::trainers::heap::Order;

/// A pair as the heap knows it: `count` may be out of date, but is never too low.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub count: u64,
    ids: u64,
    pub pair: u32,
}

/// The most frequent pair is first, of several the one with the lowest (left id, right id).
pub(super) struct ByCount<'a> {
    pub pairs: &'a Pairs,
    pub minimum: u64,
}

impl ByCount<'_> {
    /// A pair with its present count, if it is frequent enough.
    pub fn candidate(&self, number: u32) -> Option<Candidate> {
        let pair = &self.pairs.all[number as usize];
        (pair.count >= self.minimum).then_some(Candidate {
            count: pair.count,
            ids: pack(pair.left, pair.right),
            pair: number,
        })
    }
}

impl Order<Candidate> for ByCount<'_> {
    fn is_before(&self, a: &Candidate, b: &Candidate) -> bool {
        (b.count, a.ids) < (a.count, b.ids)
    }

    fn update(&mut self, known: &Candidate) -> Option<Candidate> {
        self.candidate(known.pair)
    }
}
