//! Merging of characters by windows: the memory of a window and the ids, however long a piece is.
//!
//! Under *monotone* merges (each stands, in the order, behind those that make its parts) tokens are those of
//! a text if each two neighbours are what their own symbols become: the first merge across an edge between
//! tokens would come up among those as well. Each window begins with a token of the one before, and must find
//! it again; so all neighbours are neighbours in some window, where no merge crossed their edge.
//!
//! The lists that models come with have all ways to put a token together, and are not monotone. But few of
//! them ever happen. As long as no merge crosses the edges of a stretch of symbols, what happens inside is
//! what happens to these symbols alone: the next merge there is the same. So a token is made, wherever it is
//! made, by the merges that make it of its own symbols, and by no others; the last of these is the only one
//! that ever makes it. Leaving all others out changes nothing ([`those_that_happen`]), and what is left of a list
//! that a trainer wrote is monotone.

use std::sync::OnceLock;

use super::chain::Chain;
use super::characters::Symbol;
use super::merging::{MergeTable, Merges, merge_long};
use super::queue::BucketQueue;
use super::short::{MAX_SYMBOLS, ShortPiece};
use crate::error::Result;
use crate::tables::NONE;

/// So many bytes of text for each token are worth finding out which merges happen.
const LEARN_AFTER: usize = 16;
/// The most symbols that a speller adds at a time: the bytes of a character.
pub const MOST_AT_A_TIME: usize = 4;
/// Symbols of a window where some token is too long for the stack.
const LONG_WINDOW: usize = 1 << 14;
/// Tokens of more symbols are in no list that a trainer wrote, and finding out how they are made takes long.
const LONGEST: usize = 256;

/// The merges of a model that ever happen, once it is worth finding them.
#[derive(Debug, Default)]
pub struct Happening(OnceLock<Option<MergeTable>>);

impl Happening {
    /// Returns them for a piece of so many bytes, if they are known and monotone. They are found after as much text as costs
    /// more without them than all `tokens`.
    pub fn of(
        &self,
        bytes: usize,
        tokens: usize,
        windows: &mut Windows,
        find: impl FnOnce() -> Option<MergeTable>,
    ) -> Option<&MergeTable> {
        if let Some(known) = self.0.get() {
            return known.as_ref();
        }
        windows.unlearned += bytes;
        if windows.unlearned < LEARN_AFTER * tokens {
            return None;
        }
        self.0.get_or_init(find).as_ref()
    }

    /// Finds them at once, and says whether they are monotone.
    #[cfg(test)]
    pub fn learn(&self, find: impl FnOnce() -> Option<MergeTable>) -> bool {
        self.0.get_or_init(find).is_some()
    }
}

/// Working memory that is used again from piece to piece.
#[derive(Debug, Default)]
pub struct Windows {
    short: ShortPiece,
    chain: Chain,
    symbols: Vec<Symbol>,
    /// How many bytes were merged before it was known which merges happen.
    unlearned: usize,
    /// What is left after merging, and at which place each begins.
    merged: Vec<(u32, u32)>,
}

impl Windows {
    /// Merges a piece under monotone merges. `spell` begins anew: what it returns adds symbols each time, and
    /// says whether there were any left. `take` gets a token and the one before it; `forget` takes back
    /// all that it was given.
    ///
    /// Complexity: linear; the memory of a window, unless a token is longer than one.
    ///
    /// # Errors
    /// As [`merge_long`].
    pub fn merge<S: FnMut(&mut Vec<Symbol>) -> bool, O>(
        &mut self,
        merges: &MergeTable,
        spell: impl Fn() -> S,
        out: &mut O,
        take: impl Fn(&mut O, Symbol, Option<Symbol>),
        forget: impl Fn(&mut O),
    ) -> Result<()> {
        for most in [MAX_SYMBOLS, LONG_WINDOW, usize::MAX] {
            if self.by_windows(merges, most, spell(), |symbol, before| {
                take(out, symbol, before)
            })? {
                break;
            }
            forget(out);
        }
        Ok(())
    }

    /// Merges windows of so many symbols, or says that this does not lead to an end.
    fn by_windows(
        &mut self,
        merges: &MergeTable,
        most: usize,
        mut spell: impl FnMut(&mut Vec<Symbol>) -> bool,
        mut take: impl FnMut(Symbol, Option<Symbol>),
    ) -> Result<bool> {
        self.symbols.clear();
        let mut expected = None;
        let mut before = None;
        loop {
            let mut is_last = false;
            while !is_last && self.symbols.len() <= most - MOST_AT_A_TIME {
                is_last = !spell(&mut self.symbols);
            }
            self.merge_window(merges)?;
            let Self {
                symbols, merged, ..
            } = self;
            let Some(&(first, _)) = merged.first() else {
                return Ok(true);
            };
            if expected.is_some_and(|expected| first != expected) {
                return Ok(false);
            }
            // What begins in the last third may become something else with what comes behind it.
            let limit = if is_last {
                symbols.len()
            } else {
                symbols.len() * 2 / 3
            };
            let ends = merged.iter().skip(1).map(|&(_, first)| first as usize);
            let mut kept = 0;
            for (&(id, first), end) in merged.iter().zip(ends.chain([symbols.len()])) {
                if end > limit {
                    break;
                }
                let symbol = Symbol {
                    id,
                    start: symbols[first as usize].start,
                    end: symbols[end - 1].end,
                };
                take(symbol, before);
                before = Some(symbol);
                kept += 1;
            }
            if is_last {
                return Ok(true);
            }
            if kept == 0 {
                return Ok(false);
            }
            let (id, first) = merged[kept];
            expected = Some(id);
            symbols.drain(..first as usize);
        }
    }

    /// Merges the symbols of a window.
    fn merge_window(&mut self, merges: &MergeTable) -> Result<()> {
        let Self {
            short,
            chain,
            symbols,
            merged,
            ..
        } = self;
        merged.clear();
        if symbols.len() > MAX_SYMBOLS {
            let symbol = |place: usize| Ok(symbols[place].id);
            let queue = BucketQueue::default();
            let sink = &mut super::merging::Placed::new(merged);
            return merge_long(merges, symbols.len(), symbol, queue, chain, sink);
        }
        short.clear();
        symbols.iter().for_each(|symbol| short.push(symbol.id));
        short.merge(merges);
        merged.extend(short.merged());
        Ok(())
    }
}

/// The merges of a model that ever happen, if these are monotone; None if not.
///
/// `tokens` spells each token that merging can make in the symbols that its text begins as. These must be the
/// same wherever the text stands. `symbols` is above all of them.
pub fn those_that_happen(
    merges: &impl Merges,
    tokens: impl Iterator<Item = Vec<u32>>,
    symbols: usize,
) -> Option<MergeTable> {
    let mut last = Vec::new();
    for token in tokens {
        if token.len() > LONGEST {
            return None;
        }
        last.extend(last_merge(merges, token));
    }
    last.sort_unstable();
    last.dedup();
    // Of merges of one priority the leftmost comes first, whichever it is.
    if last.windows(2).any(|pair| pair[0].0 == pair[1].0) {
        return None;
    }
    let entries: Vec<_> = (0..)
        .zip(&last)
        .map(|(number, &(_, left, right, _))| (left, right, number))
        .collect();
    let products: Vec<u32> = last.iter().map(|&(.., product)| product).collect();
    let table = MergeTable::new(&entries, products.into(), symbols).ok()?;
    table.monotone().then_some(table)
}

/// The last merge (priority, left, right, product) when symbols become one.
fn last_merge(merges: &impl Merges, mut symbols: Vec<u32>) -> Option<(u32, u32, u32, u32)> {
    let mut numbers: Vec<u32> = symbols
        .windows(2)
        .map(|pair| merges.number(pair[0], pair[1]))
        .collect();
    while let Some((at, &number)) = (numbers.iter().enumerate())
        .min_by_key(|&(_, &number)| merges.priority(number))
        .filter(|&(_, &number)| number != NONE)
    {
        let (left, right) = (symbols[at], symbols[at + 1]);
        let product = merges.product(number);
        if symbols.len() == 2 {
            return Some((merges.priority(number), left, right, product));
        }
        symbols[at] = product;
        symbols.remove(at + 1);
        numbers.remove(at);
        if at > 0 {
            numbers[at - 1] = merges.number(symbols[at - 1], product);
        }
        if at + 1 < symbols.len() {
            numbers[at] = merges.number(product, symbols[at + 1]);
        }
    }
    None
}
