//! From the ids of words to those of the piece that they stand in.
//!
//! Between most words nothing is ever merged. A merge from K on joins two tokens, and so two symbols of words side by side:
//! the last one that its left part was made of, and the first one of its right part. If no merge joins two symbols that
//! stand side by side, the two sides never touch each other. A filter holds all pairs that some merge joins; what stands
//! between two other pairs is merged by itself: mostly one symbol, or two, for which one look is enough.

use super::super::super::merging::characters::Symbol;
use super::super::super::merging::short::{MAX_SYMBOLS, ShortPiece};
use super::super::super::merging::table::{MergeTable, Merges};
use super::super::{Bpe, BpeScratch};
use crate::error::Result;
use crate::tables::{NONE, PairFilter};

/// Bits of the filter for each pair.
const FILTER_BITS: usize = 16;

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

    /// Appends the ids of a piece, given those of its words, one after the other.
    ///
    /// Complexity: linear, unless a token is longer than a window; see [`crate::models::merging::windows`].
    ///
    /// # Errors
    /// [`crate::Error::Memory`] when there is no memory for the ids.
    pub fn join(&self, ids: &[u32], scratch: &mut BpeScratch, out: &mut Vec<u32>) -> Result<()> {
        let mut from = 0;
        while from < ids.len() {
            let taken = self.join_window(&ids[from..], &mut scratch.short, out);
            from += taken;
            if taken == 0 {
                let rest = &ids[from..];
                let ends = |two: &[u32]| !self.joined.may_have(two[0], two[1]);
                let end = rest
                    .windows(2)
                    .position(ends)
                    .map_or(rest.len(), |at| at + 1);
                self.join_many(&rest[..end], scratch, out)?;
                from += end;
            }
        }
        Ok(())
    }

    /// Appends what becomes of the first symbols, as many as a window has room for; returns how many these are. None are
    /// if what stands together is longer.
    #[inline]
    fn join_window(&self, ids: &[u32], short: &mut ShortPiece, out: &mut Vec<u32>) -> usize {
        let count = ids.len().min(MAX_SYMBOLS);
        let mut symbols = [0; MAX_SYMBOLS];
        symbols[..count].copy_from_slice(&ids[..count]);
        let mut open = 0_u64;
        for (place, two) in symbols[..count].windows(2).enumerate() {
            open |= u64::from(self.joined.may_have(two[0], two[1])) << place;
        }
        // Where more comes behind a full window, the last symbol and what it stands together with begin the next one.
        let taken = if count == ids.len() {
            count
        } else {
            MAX_SYMBOLS - 1 - (open << 1).leading_ones() as usize
        };
        open &= !(u64::MAX << taken.saturating_sub(1));
        let mut gone = 0_u64;
        while open != 0 {
            let first = open.trailing_zeros() as usize;
            let places = (open >> first).trailing_ones() as usize;
            open &= open.wrapping_add(1 << first);
            if places == 1 {
                gone |= self.join_two(&mut symbols, first) << first;
            } else if places == 2 {
                gone |= self.join_three(&mut symbols, first) << first;
            } else {
                short.clear();
                symbols[first..=first + places]
                    .iter()
                    .for_each(|&id| short.push(id));
                short.merge(&self.merges);
                let mut kept = 0_u64;
                for (symbol, place) in short.merged() {
                    symbols[first + place as usize] = symbol;
                    kept |= 1 << place;
                }
                gone |= (!kept & !(u64::MAX << places << 1)) << first;
            }
        }
        append(&symbols[..taken], gone, out);
        taken
    }

    /// Merges a symbol with the next one if there is a merge; returns which of both are gone.
    #[inline]
    fn join_two(&self, symbols: &mut [u32; MAX_SYMBOLS], first: usize) -> u64 {
        let rank = self.merges.rank(symbols[first], symbols[first + 1]);
        if rank == NONE {
            return 0;
        }
        symbols[first] = self.merges.product(rank);
        0b10
    }

    /// Merges a symbol and the next two; returns which of them are gone.
    #[inline]
    fn join_three(&self, symbols: &mut [u32; MAX_SYMBOLS], first: usize) -> u64 {
        let [left, middle, right] = [symbols[first], symbols[first + 1], symbols[first + 2]];
        let (before, behind) = (
            self.merges.rank(left, middle),
            self.merges.rank(middle, right),
        );
        // The leftmost of equals.
        let (gone, other) = if before <= behind {
            if before == NONE {
                return 0;
            }
            symbols[first] = self.merges.product(before);
            (0b010, self.merges.rank(symbols[first], right))
        } else {
            symbols[first + 1] = self.merges.product(behind);
            (0b100, self.merges.rank(left, symbols[first + 1]))
        };
        if other == NONE {
            return gone;
        }
        symbols[first] = self.merges.product(other);
        0b110
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

/// Appends symbols without those of some places.
#[inline]
fn append(symbols: &[u32], gone: u64, out: &mut Vec<u32>) {
    let before = out.len();
    let mut kept = 0;
    out.resize(before + symbols.len(), 0);
    // Each is written, and the next one over it if it is gone: which are, nobody can foretell.
    let room = &mut out[before..];
    for (place, &symbol) in symbols.iter().enumerate() {
        room[kept] = symbol;
        kept += usize::from(gone >> place & 1 == 0);
    }
    out.truncate(before + kept);
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
