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
mod windows;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use self::chain::{Chain, Sink};
use self::queue::Queue;
use self::table::Merges;
use crate::error::Result;

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

/// Merges any number of symbols by steps: each takes the first merge at all of its places, from left to
/// right, and what candidates it makes wait for the next step, even if they come earlier in the order.
/// Complexity: n log n.
///
/// For merges that are monotone ([`table::MergeTable::monotone`]) this is what the other loops do: a candidate
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

/// Merges any number of symbols, leaving some merges out.
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
