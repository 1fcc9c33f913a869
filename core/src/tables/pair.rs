//! From a pair of neighbouring ids to the number of the merge that joins them.

use std::borrow::Cow;

use super::piece::longest_run;
use crate::error::{Result, ensure, invalid};
use crate::tables::{MAX_TOKENS, PairFilter};

/// An open-addressing table with everything of an entry in one u64:
/// left id, right id and number, 21 bits each, and a top bit that says the slot is taken.
///
/// Most pairs that are asked for have no merge. A filter, an array of bits, says so for nearly all of
/// them; it is a tenth of the table, and stays in a near cache where the table does not.
#[derive(Clone, Debug)]
pub struct PairTable<'a> {
    slots: Cow<'a, [u64]>,
    filter: PairFilter<'a>,
}

/// Of the filter, for each entry.
const FILTER_BITS: usize = 8;

const BITS: u32 = 21;
const MASK: u64 = MAX_TOKENS as u64 - 1;
const TAKEN: u64 = 1 << 63;
/// See [`crate::tables::PieceTable`].
const MAX_PROBES: usize = 4096;

impl<'a> PairTable<'a> {
    /// Builds the table of (left, right, number) entries; of entries with equal pairs the first counts.
    ///
    /// # Errors
    /// Names an id or number of 2,097,152 or more, or says that the pairs were made to collide.
    pub fn build(entries: impl ExactSizeIterator<Item = (u32, u32, u32)>) -> Result<Self> {
        let mut slots = vec![0_u64; (entries.len() * 5 / 4).next_power_of_two().max(16)];
        let mut filter = PairFilter::with_room(entries.len(), FILTER_BITS);
        let mask = slots.len() - 1;
        for (left, right, number) in entries {
            if let Some(large) = [left, right, number]
                .into_iter()
                .find(|&n| n as usize >= MAX_TOKENS)
            {
                return Err(invalid!("{large} is not below {MAX_TOKENS}"));
            }
            let key = key(left, right);
            let mut slot = home(key, mask);
            let mut probes = 0;
            while slots[slot] != 0 && slots[slot] & !MASK != key {
                slot = (slot + 1) & mask;
                probes += 1;
                ensure!(
                    probes <= MAX_PROBES,
                    "the vocabulary's merges collide beyond all chance"
                );
            }
            if slots[slot] == 0 {
                slots[slot] = key | u64::from(number);
                filter.add(left, right);
            }
        }
        ensure!(
            longest_run(&slots, |&slot| slot != 0) <= MAX_PROBES,
            "the vocabulary's merges collide beyond all chance"
        );
        Ok(Self {
            slots: Cow::Owned(slots),
            filter,
        })
    }

    /// Trusts arrays that [`PairTable::slots`] and [`PairTable::filter`] gave.
    #[must_use]
    pub const fn from_static(slots: &'a [u64], filter: &'a [u64]) -> Self {
        Self {
            slots: Cow::Borrowed(slots),
            filter: PairFilter::from_static(filter),
        }
    }

    /// The array itself, for a build script to write down.
    #[must_use]
    pub fn slots(&self) -> &[u64] {
        &self.slots
    }

    /// The entries (left, right, number), in the order in which they lie.
    pub fn entries(&self) -> impl Iterator<Item = (u32, u32, u32)> {
        let entry = |entry: u64| {
            let part = |shift: u32| (entry >> shift & MASK) as u32;
            (part(2 * BITS), part(BITS), part(0))
        };
        self.slots
            .iter()
            .filter(|&&slot| slot != 0)
            .map(move |&slot| entry(slot))
    }

    /// The bits of the filter, for a build script to write down.
    #[must_use]
    pub fn filter(&self) -> &[u64] {
        self.filter.words()
    }

    /// The number of the merge of a pair of ids below [`MAX_TOKENS`], or [`crate::tables::NONE`].
    #[inline]
    #[must_use]
    pub fn get(&self, left: u32, right: u32) -> u32 {
        if self.may_have(left, right) {
            self.find(left, right)
        } else {
            crate::tables::NONE
        }
    }

    /// Whether there can be a merge of a pair of ids below [`MAX_TOKENS`]: false is certain, and true is
    /// wrong for one pair of eight at most. A caller with many pairs asks this of all of them first, so
    /// that no look-up waits for another.
    #[inline]
    #[must_use]
    pub fn may_have(&self, left: u32, right: u32) -> bool {
        self.filter.may_have(left, right)
    }

    /// The same as [`PairTable::get`], for a pair of which [`PairTable::may_have`] is known.
    #[inline]
    #[must_use]
    pub fn find(&self, left: u32, right: u32) -> u32 {
        let key = key(left, right);
        let mask = self.slots.len() - 1;
        let mut slot = home(key, mask);
        loop {
            let entry = self.slots[slot];
            if entry & !MASK == key {
                return (entry & MASK) as u32;
            }
            if entry == 0 {
                return crate::tables::NONE;
            }
            slot = (slot + 1) & mask;
        }
    }
}

/// Packs a pair of ids below [`MAX_TOKENS`]; larger ones would alias other pairs.
#[inline]
pub(super) fn key(left: u32, right: u32) -> u64 {
    debug_assert!(left < MAX_TOKENS as u32 && right < MAX_TOKENS as u32);
    TAKEN | (u64::from(left) << (2 * BITS)) | (u64::from(right) << BITS)
}

/// A number that is spread by all of a key.
#[inline]
pub(super) fn spread(key: u64) -> u64 {
    (key >> BITS).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// The slot where the search begins.
#[inline]
fn home(key: u64, mask: usize) -> usize {
    let spread = spread(key);
    ((spread >> 32) ^ spread) as usize & mask
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_each_pair_and_nothing_else() {
        let largest = MAX_TOKENS as u32 - 1;
        let mut entries: Vec<(u32, u32, u32)> =
            (0..3000).map(|n| (n * 7 % 1009, n, n + 1)).collect();
        entries.push((largest, largest, largest));
        let table = PairTable::build(entries.iter().copied()).unwrap();
        for &(left, right, number) in &entries {
            assert_eq!(table.get(left, right), number);
        }
        assert_eq!(table.get(1, 0), crate::tables::NONE);
        assert_eq!(table.get(largest, 0), crate::tables::NONE);
    }

    #[test]
    fn keeps_the_first_of_equal_pairs() {
        let table = PairTable::build([(1, 2, 5), (1, 2, 3)].into_iter()).unwrap();
        assert_eq!(table.get(1, 2), 5);
    }

    #[test]
    fn refuses_pairs_that_leave_no_slot_free_between_them() {
        let mask = (1 << 17) - 1;
        let mut by_home: Vec<Option<(u32, u32)>> = vec![None; mask + 1];
        for pair in (0..1300).flat_map(|left| (0..1300).map(move |right| (left, right))) {
            by_home[home(key(pair.0, pair.1), mask)].get_or_insert(pair);
        }
        // As many as need this table, which is more than half of the slots: two of three.
        for (beside, is_right) in [(4000, true), (4200, false)] {
            let far_apart = (beside + 9..).filter(|home| home % 3 > 0);
            let entries: Vec<(u32, u32, u32)> = ((0..beside).chain(far_apart).take(60_000))
                .zip(0..)
                .filter_map(|(home, number)| {
                    by_home[home].map(|(left, right)| (left, right, number))
                })
                .collect();
            assert!(entries.len() > 55_000);
            assert_eq!(PairTable::build(entries.into_iter()).is_ok(), is_right);
        }
    }

    #[test]
    fn refuses_numbers_that_do_not_fit() {
        let error = PairTable::build([(0, MAX_TOKENS as u32, 1)].into_iter()).unwrap_err();
        assert_eq!(error.to_string(), "2097152 is not below 2097152");
    }
}
