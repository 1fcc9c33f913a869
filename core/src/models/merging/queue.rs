//! Queues of merge candidates for long pieces.
//!
//! A candidate is (rank of the merge, position); the lowest rank comes first, then the leftmost
//! position. [`HeapQueue`] holds for any model. [`BucketQueue`] needs a *monotone* one, in which a
//! merge's rank is above those of the merges that made its parts: then new candidates always have
//! higher ranks than the one just taken, and a list of positions for each rank is enough.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Gives candidates in order.
pub trait Queue {
    /// Adds a candidate.
    fn push(&mut self, rank: u32, position: u32);
    /// Takes the first.
    fn pop(&mut self) -> Option<(u32, u32)>;
}

/// A binary heap. Complexity: log n a candidate.
#[derive(Debug, Default)]
pub struct HeapQueue(BinaryHeap<Reverse<u64>>);

impl Queue for HeapQueue {
    fn push(&mut self, rank: u32, position: u32) {
        self.0
            .push(Reverse(u64::from(rank) << 32 | u64::from(position)));
    }

    fn pop(&mut self) -> Option<(u32, u32)> {
        self.0
            .pop()
            .map(|Reverse(packed)| ((packed >> 32) as u32, packed as u32))
    }
}

/// Positions by rank. Complexity: log of the distinct ranks to push, constant to pop, and one
/// sort of each list, which is nearly sorted.
#[derive(Debug, Default)]
pub struct BucketQueue {
    waiting: BTreeMap<u32, Vec<u32>>,
    rank: u32,
    /// Positions of `rank`, descending, so that the leftmost is taken from the end.
    current: Vec<u32>,
}

impl Queue for BucketQueue {
    fn push(&mut self, rank: u32, position: u32) {
        debug_assert!(
            self.current.is_empty() || rank > self.rank,
            "the model is not monotone"
        );
        self.waiting.entry(rank).or_default().push(position);
    }

    fn pop(&mut self) -> Option<(u32, u32)> {
        while self.current.is_empty() {
            let (rank, mut positions) = self.waiting.pop_first()?;
            positions.reverse();
            positions.sort_by(|a, b| b.cmp(a)); // linear on the runs it usually is made of
            (self.rank, self.current) = (rank, positions);
        }
        self.current.pop().map(|position| (self.rank, position))
    }
}
