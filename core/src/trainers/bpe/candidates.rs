//! Which pair is merged next: a heap that is brought up to date only where it is looked at.

use super::cells::Cells;
use super::options::Tie;
use super::pairs::{Pairs, pack};
use super::tokens::Tokens;
use crate::trainers::heap::Heap;

/// A pair as the heap knows it: `count` and `tie` may be out of date, but never put it too far back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub count: u64,
    /// Of equally frequent pairs the lowest is first: both ids, or the first place.
    tie: u64,
    pub pair: u32,
}

/// The pairs in the order in which they are merged.
#[derive(Debug)]
pub(super) struct Candidates {
    tie: Tie,
    heap: Heap<Candidate>,
}

impl Candidates {
    /// Takes all pairs that are frequent enough.
    pub fn new(tie: Tie, pairs: &mut Pairs, cells: &Cells, tokens: &Tokens) -> Self {
        let mut all = Vec::new();
        for number in 0..pairs.all.len() as u32 {
            if pairs.all[number as usize].count >= pairs.least {
                all.push(candidate(tie, number, pairs, cells));
            }
        }
        let heap = Heap::from_items(all, |a, b| before(tie, a, b, pairs, tokens));
        Self { tie, heap }
    }

    /// Takes a pair whose count grew.
    pub fn push(&mut self, number: u32, pairs: &mut Pairs, cells: &Cells, tokens: &Tokens) {
        let candidate = candidate(self.tie, number, pairs, cells);
        let tie = self.tie;
        self.heap
            .push(candidate, |a, b| before(tie, a, b, pairs, tokens));
    }

    /// Takes out the best pair. Counts only sink and first places only move back after a pair was pushed,
    /// so none is overlooked.
    pub fn pop(&mut self, pairs: &mut Pairs, cells: &Cells, tokens: &Tokens) -> Option<Candidate> {
        let tie = self.tie;
        loop {
            let known = self.heap.pop(|a, b| before(tie, a, b, pairs, tokens))?;
            let now = candidate(tie, known.pair, pairs, cells);
            if now.count < pairs.least {
                continue;
            }
            if (now.count, now.tie) == (known.count, known.tie) {
                return Some(now);
            }
            self.heap.push(now, |a, b| before(tie, a, b, pairs, tokens));
        }
    }
}

/// A pair with its present count and first place.
fn candidate(tie: Tie, number: u32, pairs: &mut Pairs, cells: &Cells) -> Candidate {
    let pair = &mut pairs.all[number as usize];
    let tie = match tie {
        Tie::LowestIds => pack(pair.left, pair.right),
        Tie::LargestText => 0,
        Tie::FirstSeen => {
            pair.sort();
            while let Some(&place) = pair.places.get(pair.gone as usize)
                && !cells.stands(pair.left, pair.right, place)
            {
                pair.gone += 1;
            }
            let first = pair.places.get(pair.gone as usize);
            first.map_or(u64::MAX, |&place| place.into())
        }
    };
    Candidate {
        count: pair.count,
        tie,
        pair: number,
    }
}

fn before(tie: Tie, a: &Candidate, b: &Candidate, pairs: &Pairs, tokens: &Tokens) -> bool {
    if a.count != b.count {
        return a.count > b.count;
    }
    if tie != Tie::LargestText {
        return a.tie < b.tie;
    }
    let texts = |candidate: &Candidate| {
        let pair = &pairs.all[candidate.pair as usize];
        let text = |id: u32| &tokens.texts[id as usize][..];
        (text(pair.left), text(pair.right))
    };
    texts(a) > texts(b)
}
