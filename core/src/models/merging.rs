//! The loops that merge neighbouring symbols: one for every model that has merges.
//!
//! Each takes, again and again, the merge that comes first in a model's order, and the leftmost of
//! equals. Symbols are numbers below [`crate::tables::MAX_TOKENS`]: ids of tokens, and what a model adds.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::chain::Chain;
use super::queue::Queue;
use crate::error::Result;
use crate::tables::{CharacterTable, PairTable, TokenTable};

/// Says which neighbours can be merged, in what order, and into what.
pub trait Merges {
    /// Whether several merges may have the same place in the order; else their numbers are these places.
    const SHARED_PLACES: bool;

    /// The numbers of merges by the symbols that they join.
    fn pairs(&self) -> &PairTable<'static>;
    /// The place of a merge in the order, which several may share; [`crate::tables::NONE`] for [`crate::tables::NONE`].
    fn priority(&self, number: u32) -> u32;
    /// The symbol that it makes.
    fn product(&self, number: u32) -> u32;

    /// The number of the merge of two symbols, or [`crate::tables::NONE`].
    #[inline]
    fn number(&self, left: u32, right: u32) -> u32 {
        self.pairs().get(left, right)
    }
}

/// Merges whose number is their place in the order.
#[derive(Clone, Debug)]
pub struct MergeTable {
    pairs: PairTable<'static>,
    /// Number of a merge -> symbol it makes; empty: the number is the symbol.
    products: Cow<'static, [u32]>,
    monotone: bool,
}

impl MergeTable {
    /// Lays (left, right, number) entries out, for symbols below `symbols`.
    ///
    /// # Errors
    /// Names a symbol or a number that is too large.
    pub fn new(
        entries: &[(u32, u32, u32)],
        products: Cow<'static, [u32]>,
        symbols: usize,
    ) -> Result<Self> {
        let pairs = PairTable::build(entries.iter().copied())?;
        let monotone = is_monotone(entries, &products, symbols);
        Ok(Self::from_parts(pairs, products, monotone))
    }

    /// Trusts parts that belong together.
    #[must_use]
    pub fn from_parts(
        pairs: PairTable<'static>,
        products: Cow<'static, [u32]>,
        monotone: bool,
    ) -> Self {
        Self {
            pairs,
            products,
            monotone,
        }
    }

    /// What characters begin as under these merges, given as (left, right, number) too: empty unless
    /// they are monotone.
    pub fn characters(
        &self,
        tokens: &TokenTable<'_>,
        entries: &[(u32, u32, u32)],
        byte_ids: &[u32; 256],
    ) -> CharacterTable<'static> {
        if !self.monotone {
            return CharacterTable::default();
        }
        let entries = entries.iter().copied();
        let product = |number| self.product(number);
        CharacterTable::build(tokens, entries, &self.pairs, product, byte_ids)
    }

    /// Whether every merge's number is above those of the merges that make its parts.
    #[must_use]
    pub fn monotone(&self) -> bool {
        self.monotone
    }
}

impl Merges for MergeTable {
    const SHARED_PLACES: bool = false;

    #[inline]
    fn pairs(&self) -> &PairTable<'static> {
        &self.pairs
    }

    #[inline]
    fn priority(&self, number: u32) -> u32 {
        number
    }

    #[inline]
    fn product(&self, number: u32) -> u32 {
        if self.products.is_empty() {
            number
        } else {
            self.products[number as usize]
        }
    }
}

/// Whether every merge's number is above the numbers of the merges that make its parts.
fn is_monotone(entries: &[(u32, u32, u32)], products: &[u32], symbols: usize) -> bool {
    let mut made_by = vec![None; symbols.max(1)];
    for &(_, _, number) in entries {
        let product = if products.is_empty() {
            number
        } else {
            products[number as usize]
        } as usize;
        made_by[product] = made_by[product].max(Some(number));
    }
    entries.iter().all(|&(left, right, number)| {
        made_by[left as usize] < Some(number) && made_by[right as usize] < Some(number)
    })
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

/// Symbols and which of the initial symbols each begins with.
impl Sink for Vec<(u32, u32)> {
    #[inline]
    fn take(&mut self, symbol: u32, first: u32) {
        self.push((symbol, first));
    }
}

/// Merges any number of symbols over a linked list. Complexity: that of the queue.
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
    chain.begin(merges, count, symbol, |number, at| {
        queue.push(merges.priority(number), at);
    })?;
    while let Some((priority, left)) = queue.pop() {
        if merges.priority(chain.number(left)) != priority {
            continue; // one of the two was merged meanwhile
        }
        chain.join(merges, left, |number, at| {
            queue.push(merges.priority(number), at);
        });
    }
    chain.finish(sink);
    Ok(())
}

/// Merges any number of symbols by steps: each takes the first merge at all of its places, from left to
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
    let candidate = |number, at: u32| Reverse((merges.priority(number), at));
    chain.begin(merges, count, symbol, |number, at| {
        queue.push(candidate(number, at));
    })?;
    let mut made = Vec::new();
    while let Some(&Reverse((step, _))) = queue.peek() {
        while let Some(&Reverse((priority, left))) = queue.peek()
            && priority == step
        {
            queue.pop();
            if merges.priority(chain.number(left)) == step {
                chain.join(merges, left, |number, at| made.push(candidate(number, at)));
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
    let candidate = |number, at: u32| Reverse((merges.priority(number), at, number));
    chain.begin(merges, count, symbol, |number, at| {
        queue.push(candidate(number, at));
    })?;
    let mut dropped = Vec::new();
    while let Some(first) = queue.pop() {
        let Reverse((_, left, number)) = first;
        // The number, too: merges of one priority follow each other at a place, and each is drawn for.
        if chain.number(left) != number {
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
        chain.join(merges, left, |number, at| queue.push(candidate(number, at)));
    }
    chain.take_back(variant.unwanted);
    chain.finish(sink);
    Ok(())
}
