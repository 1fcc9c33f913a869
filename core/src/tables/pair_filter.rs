//! A set of pairs of ids that may hold others too: one bit of an array says so.

use std::borrow::Cow;

use super::pair::{key, spread};

/// An array of bits in which each pair sets one.
///
/// Where most pairs that are asked for are not in the set, this says so from a near cache.
#[derive(Clone, Debug)]
pub struct PairFilter<'a>(Cow<'a, [u64]>);

impl<'a> PairFilter<'a> {
    /// A set of no pairs, with room for so many and about as many bits for each.
    #[must_use]
    pub fn with_room(pairs: usize, bits: usize) -> Self {
        let words = (pairs * bits / 64).next_power_of_two().max(2);
        Self(Cow::Owned(vec![0; words]))
    }

    /// A set that holds all pairs.
    #[must_use]
    pub fn of_all() -> Self {
        Self(Cow::Borrowed(&[u64::MAX; 2]))
    }

    /// Trusts an array that [`PairFilter::words`] gave.
    #[must_use]
    pub const fn from_static(words: &'a [u64]) -> Self {
        Self(Cow::Borrowed(words))
    }

    /// The array itself, for a build script to write down.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.0
    }

    /// Adds a pair of ids below [`super::MAX_TOKENS`].
    pub fn add(&mut self, left: u32, right: u32) {
        let (word, bit) = place_of_bit(left, right, self.0.len());
        self.0.to_mut()[word] |= 1 << bit;
    }

    /// Whether a pair of ids below [`super::MAX_TOKENS`] can be in the set: false is certain.
    #[inline]
    #[must_use]
    pub fn may_have(&self, left: u32, right: u32) -> bool {
        let (word, bit) = place_of_bit(left, right, self.0.len());
        self.0[word] >> bit & 1 != 0
    }
}

/// The word of an array of so many, a power of two, and the bit in it that stand for a pair.
#[inline]
fn place_of_bit(left: u32, right: u32, words: usize) -> (usize, u32) {
    // The upper bits of the product; the slot of a table is found by the lower ones.
    let spread = spread(key(left, right)).rotate_left(32) as usize;
    (spread >> 6 & (words - 1), spread as u32 % 64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_added_is_found_and_little_else() {
        let mut filter = PairFilter::with_room(1000, 8);
        let pair = |number: u32| (number * 7 % 1009, number);
        for number in 0..1000 {
            filter.add(pair(number).0, pair(number).1);
        }
        assert!((0..1000).all(|number| filter.may_have(pair(number).0, pair(number).1)));
        let others =
            (1000..11_000).filter(|&number| filter.may_have(pair(number).0, pair(number).1));
        assert!(others.count() < 1500, "a bit of eight");
    }

    #[test]
    fn an_array_that_is_written_down_is_the_same_set() {
        let mut filter = PairFilter::with_room(10, 8);
        filter.add(3, 5);
        let again = PairFilter::from_static(filter.words());
        assert!(again.may_have(3, 5) && !again.may_have(5, 3));
        assert_eq!(PairFilter::with_room(100, 8).words(), [0; 16]);
    }

    #[test]
    fn an_empty_set_has_nothing_and_a_full_one_has_all() {
        let pairs = || (0..100).map(|number| (number, number * 3));
        assert!(!pairs().any(|(left, right)| PairFilter::with_room(0, 8).may_have(left, right)));
        assert!(pairs().all(|(left, right)| PairFilter::of_all().may_have(left, right)));
    }
}
