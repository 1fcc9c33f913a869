//! An upper bound of every pair's count in little memory: counts by hash, so that rare pairs, which are
//! most of them, need not be told apart.

/// Most entries: 8 MiB.
const MOST: usize = 1 << 20;

/// Sums of the counts of pairs with one hash.
#[derive(Debug)]
pub(super) struct Sieve {
    sums: Vec<u64>,
    shift: u32,
}

impl Sieve {
    /// Starts empty, for a corpus of so many cells.
    pub fn new(cells: usize) -> Self {
        let size = (cells / 4).next_power_of_two().clamp(1 << 10, MOST);
        Self {
            sums: vec![0; size],
            shift: 64 - size.trailing_zeros(),
        }
    }

    #[inline]
    fn place(&self, pair: u64) -> usize {
        // The top bits of a product depend on all bits of the pair.
        (pair.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift) as usize
    }

    /// Counts a pair.
    #[inline]
    pub fn add(&mut self, pair: u64, count: u64) {
        let place = self.place(pair);
        self.sums[place] += count;
    }

    /// What a pair's count is at most.
    #[inline]
    pub fn bound(&self, pair: u64) -> u64 {
        self.sums[self.place(pair)]
    }

    /// What any pair's count is at most.
    pub fn most(&self) -> u64 {
        self.sums.iter().copied().max().unwrap_or(0)
    }
}
