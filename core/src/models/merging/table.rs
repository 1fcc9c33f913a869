//! Merges as tables: which neighbours can be merged, in what order, and into what.

use std::borrow::Cow;

use crate::error::Result;
use crate::tables::{CharacterTable, Edges, PairTable};

/// Says which neighbours can be merged, in what order, and into what.
pub trait Merges {
    /// Whether several merges may have the same place in the order; else their ranks are these places.
    const SHARED_PLACES: bool;

    /// The ranks of merges by the symbols that they join.
    fn pairs(&self) -> &PairTable<'static>;
    /// The place of a merge in the order, which several may share; [`crate::tables::NONE`] for [`crate::tables::NONE`].
    fn priority(&self, rank: u32) -> u32;
    /// The symbol that it makes.
    fn product(&self, rank: u32) -> u32;

    /// The rank of the merge of two symbols, or [`crate::tables::NONE`].
    #[inline]
    fn rank(&self, left: u32, right: u32) -> u32 {
        self.pairs().get(left, right)
    }
}

/// Merges whose rank is their place in the order.
#[derive(Clone, Debug)]
pub struct MergeTable {
    pairs: PairTable<'static>,
    /// Number of a merge -> symbol it makes; empty: the rank is the symbol.
    products: Cow<'static, [u32]>,
    monotone: bool,
}

impl MergeTable {
    /// Lays (left, right, rank) entries out, for symbols below `symbols`.
    ///
    /// # Errors
    /// Names a symbol or a rank that is too large.
    pub fn new(
        entries: &[(u32, u32, u32)],
        products: Cow<'static, [u32]>,
        symbols: usize,
    ) -> Result<Self> {
        let pairs = PairTable::build(entries.iter().copied())?;
        let monotone = is_monotone(entries, &products, symbols);
        Ok(Self::from_parts(pairs, products, monotone))
    }

    /// The same merges, but only some of them, given as (left, right, rank).
    ///
    /// # Errors
    /// As [`MergeTable::new`].
    pub fn only(&self, entries: &[(u32, u32, u32)], symbols: usize) -> Result<Self> {
        Self::new(entries, self.products.clone(), symbols)
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

    /// What characters begin as under these merges, whose ranks are in `edges` too.
    pub fn characters(&self, edges: Edges, byte_ids: &[u32; 256]) -> CharacterTable<'static> {
        CharacterTable::build(edges, &self.pairs, |rank| self.product(rank), byte_ids)
    }

    /// Whether every merge's rank is above those of the merges that make its parts.
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
    fn priority(&self, rank: u32) -> u32 {
        rank
    }

    #[inline]
    fn product(&self, rank: u32) -> u32 {
        if self.products.is_empty() {
            rank
        } else {
            self.products[rank as usize]
        }
    }
}

/// Whether every merge's rank is above the ranks of the merges that make its parts.
fn is_monotone(entries: &[(u32, u32, u32)], products: &[u32], symbols: usize) -> bool {
    let mut made_by = vec![None; symbols.max(1)];
    for &(_, _, rank) in entries {
        let product = if products.is_empty() {
            rank
        } else {
            products[rank as usize]
        } as usize;
        made_by[product] = made_by[product].max(Some(rank));
    }
    entries.iter().all(|&(left, right, rank)| {
        made_by[left as usize] < Some(rank) && made_by[right as usize] < Some(rank)
    })
}
