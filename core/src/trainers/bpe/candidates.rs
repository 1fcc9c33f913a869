//! Which pair is merged next: a heap that is brought up to date only where it is looked at.

use super::options::Tie;
use super::pairs::pack;
use super::segmentation::Segmentation;
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
    pub fn new(tie: Tie, corpus: &mut Segmentation) -> Self {
        let mut all = Vec::new();
        for number in 0..corpus.pairs.all.len() as u32 {
            if corpus.pairs.all[number as usize].count >= corpus.pairs.least {
                all.push(candidate(tie, number, corpus));
            }
        }
        let heap = Heap::from_items(all, |a, b| before(tie, a, b, corpus));
        Self { tie, heap }
    }

    /// Takes a pair whose count grew.
    pub fn push(&mut self, number: u32, corpus: &mut Segmentation) {
        let tie = self.tie;
        let candidate = candidate(tie, number, corpus);
        self.heap.push(candidate, |a, b| before(tie, a, b, corpus));
    }

    /// Takes out the best pair. Counts only sink and first places only move back after a pair was pushed,
    /// so none is overlooked.
    pub fn pop(&mut self, corpus: &mut Segmentation) -> Option<Candidate> {
        let tie = self.tie;
        loop {
            let known = self.heap.pop(|a, b| before(tie, a, b, corpus))?;
            let now = candidate(tie, known.pair, corpus);
            if now.count < corpus.pairs.least {
                continue;
            }
            if (now.count, now.tie) == (known.count, known.tie) {
                return Some(now);
            }
            self.heap.push(now, |a, b| before(tie, a, b, corpus));
        }
    }
}

/// A pair with its present count and first place.
fn candidate(tie: Tie, number: u32, corpus: &mut Segmentation) -> Candidate {
    let pair = &mut corpus.pairs.all[number as usize];
    let tie = match tie {
        Tie::LowestIds => pack(pair.left, pair.right),
        Tie::LargestText => 0,
        Tie::FirstSeen => pair.first(&corpus.cells).map_or(u64::MAX, u64::from),
    };
    Candidate {
        count: pair.count,
        tie,
        pair: number,
    }
}

fn before(tie: Tie, a: &Candidate, b: &Candidate, corpus: &Segmentation) -> bool {
    if a.count != b.count {
        return a.count > b.count;
    }
    if tie != Tie::LargestText {
        return a.tie < b.tie;
    }
    let texts = |candidate: &Candidate| {
        let pair = &corpus.pairs.all[candidate.pair as usize];
        let text = |id: u32| &corpus.tokens.texts[id as usize][..];
        (text(pair.left), text(pair.right))
    };
    texts(a) > texts(b)
}
