//! Which pair is merged next.

use super::Trainer;
use super::options::Tie;
use super::pairs::pack;
use crate::trainers::heap::Order;

/// A pair as the heap knows it: `count` and `tie` may be out of date, but never put it too far back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub count: u64,
    /// Of equally frequent pairs the lowest is first: both ids, or the first place.
    tie: u64,
    pub pair: u32,
}

impl Trainer {
    /// A pair with its present count and first place.
    pub(super) fn candidate(&mut self, number: u32) -> Candidate {
        let pair = &mut self.corpus.pairs.all[number as usize];
        let tie = match self.tie {
            Tie::LowestIds => pack(pair.left, pair.right),
            Tie::LargestText | Tie::LargestVisible => 0,
            Tie::FirstSeen => pair.first(&self.corpus.cells).map_or(u64::MAX, u64::from),
        };
        Candidate {
            count: pair.count,
            tie,
            pair: number,
        }
    }
}

impl Order<Candidate> for Trainer {
    fn is_before(&self, a: &Candidate, b: &Candidate) -> bool {
        if a.count != b.count {
            return a.count > b.count;
        }
        let tokens = &self.corpus.tokens;
        let ids = |candidate: &Candidate| {
            let pair = &self.corpus.pairs.all[candidate.pair as usize];
            [pair.left, pair.right]
        };
        let texts = |candidate: &Candidate| ids(candidate).map(|id| &tokens.texts[id as usize][..]);
        match self.tie {
            Tie::LowestIds | Tie::FirstSeen => a.tie < b.tie,
            Tie::LargestText => texts(a) > texts(b),
            Tie::LargestVisible => tokens.compare_visible(ids(a), ids(b)).is_gt(),
        }
    }

    /// Counts only sink and first places only move back after a pair was pushed.
    fn update(&mut self, known: &Candidate) -> Option<Candidate> {
        let now = self.candidate(known.pair);
        (now.count >= self.corpus.pairs.least).then_some(now)
    }
}
