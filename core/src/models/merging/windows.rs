//! Merging of characters by windows: the memory of a window and the ids, however long a piece is.
//!
//! Merging takes the candidate that comes first in the order, the leftmost of equals. As long as no merge crosses
//! the edges of a stretch of symbols, what happens inside is what happens to these symbols alone. So tokens
//! are those of a text if each two neighbours are what their own symbols become: before the first merge across an
//! edge between tokens, the two beside it are as their own symbols would be at some point, and this merge
//! comes first among theirs too.
//!
//! Each window begins with a token of the one before, and must find it again; so all neighbours are neighbours in
//! some window, where no merge crossed their edge.

use super::characters::{MergeScratch, Symbol};
use super::merge_long;
use super::queue::{BucketQueue, HeapQueue};
use super::short::MAX_SYMBOLS;
use super::table::Merges;
use crate::error::Result;
use crate::models::model::Tokens;
use crate::threads::going_on;

/// So many symbols fewer than there is room for are enough for a window: a character can be as many.
const SPARE: usize = 4;
/// Symbols of a window where some token is too long for the stack.
const LONG_WINDOW: usize = 1 << 14;

impl MergeScratch {
    /// Merges a piece; `monotone` as in `queue`.
    ///
    /// What `spell` returns begins anew, adds symbols each time, and says whether there were any left. `take`
    /// gets a token and the one before it; what it gives out may be taken back.
    ///
    /// Complexity: linear; the memory of a window, unless a token is longer than one.
    ///
    /// # Errors
    /// As [`merge_long`].
    pub fn merge_by_windows<S: FnMut(&mut Vec<Symbol>) -> bool, O: Tokens>(
        &mut self,
        merges: &impl Merges,
        monotone: bool,
        spell: impl Fn() -> S,
        out: &mut O,
        take: impl Fn(&mut O, Symbol, Option<Symbol>) -> Result<()>,
    ) -> Result<()> {
        let before = out.count();
        for most in [MAX_SYMBOLS, LONG_WINDOW, usize::MAX] {
            if self.merge_windows_of(most, merges, monotone, spell(), out, &take)? {
                break;
            }
            out.truncate(before);
        }
        Ok(())
    }

    /// Merges windows of so many symbols, or says that this does not lead to an end.
    fn merge_windows_of<O: Tokens>(
        &mut self,
        most: usize,
        merges: &impl Merges,
        monotone: bool,
        mut spell: impl FnMut(&mut Vec<Symbol>) -> bool,
        out: &mut O,
        take: impl Fn(&mut O, Symbol, Option<Symbol>) -> Result<()>,
    ) -> Result<bool> {
        self.symbols.clear();
        let mut expected = None;
        let mut before = None;
        loop {
            let mut is_last = false;
            while !is_last && self.symbols.len() <= most - SPARE {
                is_last = !spell(&mut self.symbols);
            }
            going_on::check()?;
            self.merge_window(merges, monotone)?;
            out.reserve(self.merged.len())?;
            let symbols = self.symbols.len();
            // What begins in the last third may become something else with what comes behind it.
            let limit = if is_last { symbols } else { symbols * 2 / 3 };
            let mut next = None;
            for (place, symbol) in self.merged() {
                if expected.take().is_some_and(|expected| expected != symbol) {
                    return Ok(false);
                }
                if place.end > limit {
                    next = Some((place.start, symbol));
                    break;
                }
                take(out, symbol, before)?;
                before = Some(symbol);
            }
            match next {
                None => return Ok(true),
                Some((0, _)) => return Ok(false),
                Some((place, symbol)) => {
                    self.symbols.drain(..place);
                    expected = Some(symbol);
                }
            }
        }
    }

    /// Merges the symbols of a window.
    #[inline]
    fn merge_window(&mut self, merges: &impl Merges, monotone: bool) -> Result<()> {
        let Self {
            short,
            chain,
            symbols,
            merged,
            ..
        } = self;
        merged.clear();
        let symbol = |place: usize| Ok(symbols[place].id);
        if symbols.len() <= MAX_SYMBOLS {
            short.clear();
            symbols.iter().for_each(|symbol| short.push(symbol.id));
            short.merge(merges);
            merged.extend(short.merged());
            Ok(())
        } else if monotone {
            let queue = BucketQueue::default();
            merge_long(merges, symbols.len(), symbol, queue, chain, merged)
        } else {
            let queue = HeapQueue::default();
            merge_long(merges, symbols.len(), symbol, queue, chain, merged)
        }
    }
}
