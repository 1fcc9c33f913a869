//! From the ids of words to those of the piece that they stand in.
//!
//! Between most words nothing is ever merged. A merge from K on joins two tokens, and so two symbols of words side by side:
//! the last one that its left part was made of, and the first one of its right part. If no merge joins two symbols that
//! stand side by side, the two sides never touch each other; nor do those of a place where a piece ends. A filter holds all pairs that some merge joins; what stands
//! between two other pairs is merged by itself: mostly one symbol, or two, for which one look is enough.

use super::super::super::merging::characters::Symbol;
use super::super::super::merging::short::{MAX_SYMBOLS, ShortPiece};
use super::super::super::merging::table::{MergeTable, Merges};
use super::super::{Bpe, BpeScratch};
use crate::error::Result;
use crate::memory::key;
use crate::memory::lately::Lately;
use crate::tables::{NONE, PairFilter};

/// Bits of the filter for each pair.
const FILTER_BITS: usize = 32;

/// So many symbols are written at a time where they stay as they are.
const AT_ONCE: usize = 8;
/// Room for all symbols of a window, and for what is written behind the last one.
const ROOM: usize = MAX_SYMBOLS + AT_ONCE;

/// How many places there are for what symbols became together, as a power of two.
const PLACES: u32 = 13;

/// What symbols became together lately.
pub(crate) type Joined = Lately<PLACES>;

/// What begins behind so many symbols of a window may become something else with what comes behind it.
const KEPT: usize = MAX_SYMBOLS / 8 * 7;

/// The merges from K on.
#[derive(Clone, Debug)]
pub(super) struct Joins {
    merges: MergeTable,
    /// Which symbols of words they join.
    joined: PairFilter<'static>,
}

impl Joins {
    /// Lays the merges of a model from K on out, given all of them as (left, right, rank), those below K first.
    ///
    /// # Errors
    /// As [`MergeTable::only`].
    pub fn new(
        model: &Bpe,
        inside: &[(u32, u32, u32)],
        across: &[(u32, u32, u32)],
    ) -> Result<Self> {
        let joined = joined(model, inside, across).unwrap_or_else(PairFilter::of_all);
        let merges = model.merges.only(across, model.tokens.len())?;
        Ok(Self { merges, joined })
    }

    /// Appends the ids of pieces, given those of their words, one after the other, and where those of each piece end.
    ///
    /// Complexity: linear, unless a token is longer than a window; see [`crate::models::merging::windows`].
    ///
    /// # Errors
    /// [`crate::Error::Memory`] when there is no memory for the ids.
    pub fn join(
        &self,
        ids: &[u32],
        mut ends: &[usize],
        joined: &mut Joined,
        scratch: &mut BpeScratch,
        out: &mut Vec<u32>,
    ) -> Result<()> {
        let mut from = 0;
        while from < ids.len() {
            let taken = self.join_window(ids, from, ends, joined, &mut scratch.short, out);
            from += taken;
            if taken == 0 {
                let rest = &ids[from..ends.first().copied().unwrap_or(ids.len())];
                let parts = |two: &[u32]| !self.joined.may_have(two[0], two[1]);
                let end = rest.windows(2).position(parts);
                let together = &rest[..end.map_or(rest.len(), |at| at + 1)];
                self.join_many(together, scratch, out)?;
                from += together.len();
            }
            while let Some((&end, behind)) = ends.split_first()
                && end <= from
            {
                ends = behind;
            }
        }
        Ok(())
    }

    /// Appends what becomes of the symbols from a place on, as many as a window has room for; returns how many these are. None
    /// are if what stands together is longer. `ends` are where pieces end behind that place.
    #[inline]
    fn join_window(
        &self,
        ids: &[u32],
        from: usize,
        ends: &[usize],
        joined: &mut Joined,
        short: &mut ShortPiece,
        out: &mut Vec<u32>,
    ) -> usize {
        let rest = &ids[from..];
        let count = rest.len().min(MAX_SYMBOLS);
        let mut window = Window::of(&rest[..count]);
        let mut open = 0_u64;
        for (place, two) in rest[..count].windows(2).enumerate() {
            open |= u64::from(self.joined.may_have(two[0], two[1])) << place;
        }
        for &end in ends.iter().take_while(|&end| end - from <= count) {
            open &= !(1 << (end - from - 1));
        }
        // Where more comes behind a full window, the last symbol and what it stands together with begin the next one.
        let taken = if count == rest.len() {
            count
        } else {
            MAX_SYMBOLS - 1 - (open << 1).leading_ones() as usize
        };
        open &= !(u64::MAX << taken.saturating_sub(1));
        window.ask_for_many(open, joined);
        while open != 0 {
            let first = open.trailing_zeros() as usize;
            let symbols = (open >> first).trailing_ones() as usize + 1;
            open &= open.wrapping_add(1 << first);
            window.keep_to(first);
            match symbols {
                2 => self.join_two(&mut window),
                3 => self.join_three(&mut window),
                _ => {
                    let key = window.key(symbols);
                    match joined.find(key) {
                        Some(value) => window.put(value.ids(), value.count(), symbols),
                        None => self.join_some(&mut window, symbols, key, joined, short),
                    }
                }
            }
        }
        window.keep_to(taken);
        out.extend_from_slice(&window.room[..window.written]);
        taken
    }

    /// Merges the next symbol with the one behind it if there is a merge. Two are written at any rate, and counted as they come:
    /// which it is, nobody can foretell.
    #[inline]
    fn join_two(&self, window: &mut Window) {
        let [left, right] = window.next();
        let (first, is_merged) = match self.merges.pairs().find(left, right) {
            NONE => (left, false),
            rank => (self.merges.product(rank), true),
        };
        window.put([first, right], Some(2 - usize::from(is_merged)), 2);
    }

    /// Merges the next symbol and the two behind it.
    #[inline]
    fn join_three(&self, window: &mut Window) {
        let [left, middle, right] = window.next();
        let before = self.merges.pairs().find(left, middle);
        let behind = self.merges.pairs().find(middle, right);
        if before == NONE && behind == NONE {
            return;
        }
        // The leftmost of equals.
        let two = if before <= behind {
            [self.merges.product(before), right]
        } else {
            [left, self.merges.product(behind)]
        };
        match self.merges.rank(two[0], two[1]) {
            NONE => window.put(two, Some(2), 3),
            rank => window.put([self.merges.product(rank)], Some(1), 3),
        }
    }

    /// Merges symbols that may all be merged with each other, and remembers what they become.
    #[inline(never)]
    fn join_some(
        &self,
        window: &mut Window,
        symbols: usize,
        key: u128,
        joined: &mut Joined,
        short: &mut ShortPiece,
    ) {
        short.clear();
        let from = window.done;
        let together = &window.symbols[from..from + symbols];
        together.iter().for_each(|&id| short.push(id));
        short.merge(&self.merges);
        let before = window.written;
        for (symbol, _) in short.merged() {
            window.room[window.written] = symbol;
            window.written += 1;
        }
        window.done += symbols;
        joined.remember(key, &window.room[before..window.written]);
    }

    /// Does the same for symbols that may all be merged with each other.
    #[inline(never)]
    fn join_many(&self, ids: &[u32], scratch: &mut BpeScratch, out: &mut Vec<u32>) -> Result<()> {
        if self.join_boldly(ids, &mut scratch.short, out) {
            return Ok(());
        }
        let spell = || {
            let mut rest = ids.iter();
            move |symbols: &mut Vec<Symbol>| {
                let symbol = rest.next().map(|&id| Symbol {
                    id,
                    start: 0,
                    end: 0,
                });
                symbols.extend(symbol);
                symbol.is_some()
            }
        };
        scratch.joining.merge_by_windows(
            &self.merges,
            self.merges.monotone(),
            spell,
            out,
            |out: &mut Vec<u32>, symbol: Symbol, _| {
                out.push(symbol.id);
                Ok(())
            },
        )
    }

    /// Does the same in windows of which most is kept, or says that this does not lead to an end: nothing is appended then.
    fn join_boldly(&self, ids: &[u32], short: &mut ShortPiece, out: &mut Vec<u32>) -> bool {
        let before = out.len();
        let mut from = 0;
        let mut expected = None;
        loop {
            let end = ids.len().min(from + MAX_SYMBOLS);
            short.clear();
            ids[from..end].iter().for_each(|&id| short.push(id));
            short.merge(&self.merges);
            let is_last = end == ids.len();
            let mut next = None;
            for (token, place) in short.merged() {
                if expected.take().is_some_and(|expected| expected != token) {
                    out.truncate(before);
                    return false;
                }
                if place as usize >= KEPT && !is_last {
                    next = Some((place as usize, token));
                    break;
                }
                out.push(token);
            }
            // The next window begins with a token of this one, and must find it again.
            let Some((place, token)) = next else {
                if !is_last {
                    out.truncate(before);
                }
                return is_last;
            };
            from += place;
            expected = Some(token);
        }
    }
}

/// Symbols side by side, and what becomes of them.
struct Window {
    /// The symbols, and anything behind them.
    symbols: [u32; ROOM],
    /// How many of them have become something.
    done: usize,
    /// What they became, and room for more than is written at a time.
    room: [u32; ROOM],
    written: usize,
}

impl Window {
    #[inline]
    fn of(ids: &[u32]) -> Self {
        let mut symbols = [0; ROOM];
        symbols[..ids.len()].copy_from_slice(ids);
        Self {
            symbols,
            done: 0,
            room: [0; ROOM],
            written: 0,
        }
    }

    /// Keeps the next symbols up to a place as they are. So many are written at a time that it is mostly done at once: how many
    /// there are, nobody can foretell.
    #[inline]
    fn keep_to(&mut self, place: usize) {
        loop {
            let count = (place - self.done).min(AT_ONCE);
            let (from, to) = (
                self.symbols[self.done..].first_chunk::<AT_ONCE>(),
                self.room[self.written..].first_chunk_mut(),
            );
            if let (Some(from), Some(to)) = (from, to) {
                *to = *from;
            }
            self.done += count;
            self.written += count;
            if self.done == place {
                return;
            }
        }
    }

    /// Asks for what is remembered of four symbols and more that stand together: it may have gone far from the processor.
    #[inline]
    fn ask_for_many(&self, open: u64, joined: &Joined) {
        let mut four = open & open >> 1 & open >> 2 & !(open << 1);
        while four != 0 {
            let first = four.trailing_zeros() as usize;
            four &= four - 1;
            let symbols = (open >> first).trailing_ones() as usize + 1;
            let ids = self.symbols[first..].first_chunk().copied();
            joined.ask(key::of_ids(&ids.unwrap_or_default(), symbols));
        }
    }

    /// The next symbols.
    #[inline]
    fn next<const COUNT: usize>(&self) -> [u32; COUNT] {
        let symbols = self.symbols[self.done..].first_chunk();
        symbols.copied().unwrap_or([0; COUNT])
    }

    /// What the next symbols are remembered by, so many of them; [`key::NONE`] if they are many.
    #[inline]
    fn key(&self, symbols: usize) -> u128 {
        key::of_ids(&self.next(), symbols)
    }

    /// Writes what the next symbols became.
    #[inline]
    fn put<const COUNT: usize>(&mut self, ids: [u32; COUNT], count: Option<usize>, symbols: usize) {
        if let Some(room) = self.room[self.written..].first_chunk_mut() {
            *room = ids;
        }
        self.done += symbols;
        self.written += count.unwrap_or_default();
    }
}

/// The pairs of symbols that some merge from K on joins; None if there are several ways to make a token.
fn joined(
    model: &Bpe,
    inside: &[(u32, u32, u32)],
    across: &[(u32, u32, u32)],
) -> Option<PairFilter<'static>> {
    let product = |rank| model.merges.product(rank);
    let mut is_made = vec![false; model.tokens.len()];
    for &(_, _, rank) in across.iter().chain(inside) {
        if std::mem::replace(&mut is_made[product(rank) as usize], true) {
            return None;
        }
    }
    // The first and the last symbol that a token is made of. What it is made of is shorter, and so comes before it.
    let mut edges: Vec<_> = (0..model.tokens.len() as u32).map(|id| (id, id)).collect();
    let mut across = across.to_vec();
    across.sort_unstable_by_key(|&(_, _, rank)| model.tokens.get(product(rank)).len());
    let mut filter = PairFilter::with_room(across.len(), FILTER_BITS);
    for (left, right, rank) in across {
        let ((first, before), (behind, last)) = (edges[left as usize], edges[right as usize]);
        filter.add(before, behind);
        edges[product(rank) as usize] = (first, last);
    }
    Some(filter)
}
