//! An upper bound of every pair's count in little memory, so that rare pairs, which are most of them, need
//! not be told apart: counts are summed up by hash.
//!
//! Once all pairs are counted, each sum gives way to what is known of the pairs with its hash: that they
//! are rare, or the number of one of them.

/// Most entries: 4 MiB, and most pairs still have one to themselves when it matters.
const MOST: usize = 1 << 20;

/// Fewest entries.
const FEWEST: usize = 1 << 10;

/// Instead of a sum: all pairs with this hash are rare.
pub(super) const RARE: u32 = u32::MAX;
/// Instead of a sum: some pair with this hash may be frequent.
pub(super) const UNKNOWN: u32 = u32::MAX - 1;

/// An entry for each hash.
#[derive(Debug)]
pub(super) struct Sieve {
    entries: Vec<u32>,
    shift: u32,
}

impl Sieve {
    /// Starts empty, for a corpus of so many cells with so many different tokens: what has few different
    /// pairs needs few entries, which stay near the processor.
    pub fn new(cells: usize, tokens: usize) -> Self {
        let different = (cells / 4).min(tokens.saturating_mul(tokens));
        let size = different.clamp(FEWEST, MOST).next_power_of_two();
        Self {
            entries: vec![0; size],
            shift: 64 - size.trailing_zeros(),
        }
    }

    /// The entry of a pair.
    #[inline]
    pub fn entry(&mut self, pair: u64) -> &mut u32 {
        // The top bits of a product depend on all bits of the pair.
        let hash = pair.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift;
        &mut self.entries[hash as usize]
    }

    /// Counts a pair; from 2^32 on a sum stays what it is.
    #[inline]
    pub fn add(&mut self, pair: u64, count: u64) {
        let sum = self.entry(pair);
        *sum = sum.saturating_add(count.min(u32::MAX.into()) as u32);
    }

    /// What any pair's count is at most, if that is less than 2^32.
    pub fn most(&self) -> u64 {
        self.entries.iter().copied().max().unwrap_or(0).into()
    }

    /// Ends counting: pairs that occur less than so often are rare.
    pub fn divide(&mut self, least: u64) {
        let least = least.min(u32::MAX.into()) as u32;
        for entry in &mut self.entries {
            *entry = if *entry < least { RARE } else { UNKNOWN };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_frequent_is_called_rare() {
        let mut sieve = Sieve::new(0, 0);
        let count = |pair: u64| 1 + pair % 7 * u64::from(u32::MAX / 5);
        for pair in 0..5000 {
            sieve.add(pair << 20, count(pair));
        }
        assert_eq!(sieve.most(), u64::from(u32::MAX));
        sieve.divide(u64::from(u32::MAX) + 1);
        for pair in (0..5000).filter(|&pair| count(pair) > u32::MAX.into()) {
            assert_eq!(*sieve.entry(pair << 20), UNKNOWN, "{pair}");
        }
    }
}
