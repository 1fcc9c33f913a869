//! The loops that merge neighbouring symbols: one for every model that has merges.
//!
//! Each takes, again and again, the merge that comes first in a model's order, and the leftmost of
//! equals. Symbols are numbers below [`crate::tables::MAX_TOKENS`]: ids of tokens, and what a model adds.

pub mod chain;
pub mod characters;
pub mod dropout;
pub mod queue;
pub mod short;
pub mod table;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use self::chain::{Chain, Sink};
use self::queue::Queue;
use self::table::Merges;
use crate::error::Result;
use crate::tables::NONE;

/// Up to so many symbols are merged by scanning for the first merge each time.
pub const SHORT: usize = 48;

/// Symbols and which of the initial symbols each begins with.
#[derive(Debug)]
pub struct Placed<'a> {
    firsts: [u32; SHORT],
    out: &'a mut Vec<(u32, u32)>,
}

impl<'a> Placed<'a> {
    /// Begins, with where the result goes.
    pub fn new(out: &'a mut Vec<(u32, u32)>) -> Self {
        Self {
            firsts: std::array::from_fn(|place| place as u32),
            out,
        }
    }
}

impl Sink for Placed<'_> {
    fn close_up(&mut self, at: usize, symbols: usize) {
        self.firsts.copy_within(at + 2..symbols, at + 1);
    }

    fn take(&mut self, symbols: &[u32]) {
        self.out
            .extend(symbols.iter().copied().zip(self.firsts.iter().copied()));
    }

    fn take_one(&mut self, symbol: u32, first: u32) {
        self.out.push((symbol, first));
    }
}

/// Merges up to [`SHORT`] symbols on the stack. Complexity: quadratic in them.
///
/// # Errors
/// Those of `symbol`, which gives the initial ones.
#[inline]
pub fn merge_short(
    merges: &impl Merges,
    count: usize,
    symbol: impl Fn(usize) -> Result<u32>,
    sink: &mut impl Sink,
) -> Result<()> {
    let mut symbols = [0; SHORT];
    let mut ranks = [NONE; SHORT]; // ranks[i]: the merge of symbols i and i + 1
    let mut parts = count;
    for place in 0..parts {
        symbols[place] = symbol(place)?;
        if place > 0 {
            ranks[place - 1] = merges.rank(symbols[place - 1], symbols[place]);
        }
    }
    while parts > 1 {
        let (mut at, mut best) = (0, NONE);
        for (place, &rank) in ranks[..parts - 1].iter().enumerate() {
            let priority = merges.priority(rank);
            if priority < best {
                (at, best) = (place, priority);
            }
        }
        if best == NONE {
            break;
        }
        symbols[at] = merges.product(ranks[at]);
        symbols.copy_within(at + 2..parts, at + 1);
        ranks.copy_within(at + 1..parts - 1, at);
        sink.close_up(at, parts);
        parts -= 1;
        if at + 1 < parts {
            ranks[at] = merges.rank(symbols[at], symbols[at + 1]);
        }
        if at > 0 {
            ranks[at - 1] = merges.rank(symbols[at - 1], symbols[at]);
        }
    }
    sink.take(&symbols[..parts]);
    Ok(())
}

/// Merges any rank of symbols over a linked list. Complexity: that of the queue.
///
/// # Errors
/// Those of `symbol`, which gives the initial ones; [`crate::Error::Invalid`] for more than 2^32.
pub fn merge_long(
    merges: &impl Merges,
    count: usize,
    symbol: impl Fn(usize) -> Result<u32>,
    mut queue: impl Queue,
    chain: &mut Chain,
    sink: &mut impl Sink,
) -> Result<()> {
    chain.begin(merges, count, symbol, |rank, at| {
        queue.push(merges.priority(rank), at);
    })?;
    while let Some((priority, left)) = queue.pop() {
        if merges.priority(chain.rank_at(left)) != priority {
            continue; // one of the two was merged meanwhile
        }
        chain.join(merges, left, |rank, at| {
            queue.push(merges.priority(rank), at);
        });
    }
    chain.finish(sink);
    Ok(())
}

/// Merges any rank of symbols by steps: each takes the first merge at all of its places, from left to
/// right, and what candidates it makes wait for the next step, even if they come earlier in the order.
/// Complexity: n log n.
///
/// For merges that are monotone ([`MergeTable::monotone`]) this is what the other loops do: a candidate
/// that a step makes has one of its products as a part, so it comes later in the order.
///
/// # Errors
/// As [`merge_long`].
pub fn merge_by_steps(
    merges: &impl Merges,
    count: usize,
    symbol: impl Fn(usize) -> Result<u32>,
    chain: &mut Chain,
    sink: &mut impl Sink,
) -> Result<()> {
    let mut queue = BinaryHeap::new();
    let candidate = |rank, at: u32| Reverse((merges.priority(rank), at));
    chain.begin(merges, count, symbol, |rank, at| {
        queue.push(candidate(rank, at));
    })?;
    let mut made = Vec::new();
    while let Some(&Reverse((step, _))) = queue.peek() {
        while let Some(&Reverse((priority, left))) = queue.peek()
            && priority == step
        {
            queue.pop();
            if merges.priority(chain.rank_at(left)) == step {
                chain.join(merges, left, |rank, at| made.push(candidate(rank, at)));
            }
        }
        queue.extend(made.drain(..));
    }
    chain.finish(sink);
    Ok(())
}

/// How merging departs from taking the first candidate every time.
pub struct Variant<D, U> {
    /// Whether the candidate that comes up is dropped: asked once for each that does.
    pub drops: D,
    /// Whether a dropped candidate never comes up again, instead of after the next merge.
    pub lasting: bool,
    /// Symbols that serve merging only: in the end, each becomes what it was merged from.
    pub unwanted: U,
}

/// Merges any rank of symbols, leaving some merges out.
///
/// With dropouts that do not last, each step takes the first candidate that is not dropped, and all are
/// candidates again in the next: the first to survive is the best of the survivors, so those after it
/// need no draw. It ends when all are dropped in one step. Complexity: for a probability p of dropping,
/// a step passes p / (1 - p) candidates before a survivor on average, each at log n; with lasting
/// dropouts n log n altogether.
///
/// # Errors
/// As [`merge_long`].
pub fn merge_varied(
    merges: &impl Merges,
    count: usize,
    symbol: impl Fn(usize) -> Result<u32>,
    mut variant: Variant<impl FnMut() -> bool, impl Fn(u32) -> bool>,
    chain: &mut Chain,
    sink: &mut impl Sink,
) -> Result<()> {
    let mut queue = BinaryHeap::new();
    let candidate = |rank, at: u32| Reverse((merges.priority(rank), at, rank));
    chain.begin(merges, count, symbol, |rank, at| {
        queue.push(candidate(rank, at));
    })?;
    let mut dropped = Vec::new();
    while let Some(first) = queue.pop() {
        let Reverse((_, left, rank)) = first;
        // The rank, too: merges of one priority follow each other at a place, and each is drawn for.
        if chain.rank_at(left) != rank {
            continue;
        }
        if (variant.drops)() {
            if !variant.lasting {
                dropped.push(first);
            }
            continue;
        }
        queue.extend(dropped.drain(..));
        chain.remember(left);
        chain.join(merges, left, |rank, at| queue.push(candidate(rank, at)));
    }
    chain.take_back(variant.unwanted);
    chain.finish(sink);
    Ok(())
}
