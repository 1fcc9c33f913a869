//! How much memory the caches of a tokenizer may take together.
//!
//! Each worker has caches of its own, so that none waits for another. What one may hold is what there is for all, divided
//! by how many workers there are, rounded up to a power of two: a number that goes up and down by one changes no cache.

/// The memory of all caches of a tokenizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// So many bytes together, but for the [`LEAST`] that each cache has at any rate.
    pub bytes: usize,
}

/// The bytes of the smallest cache.
pub const LEAST: usize = 192;

/// What a worker wants: a table of 64 MB and a ring of 46 MB.
const WANTED: usize = 112 << 20;
/// What one of a worker's several caches wants: a table of 16 MB and a ring of 16 MB.
const WANTED_OF_SEVERAL: usize = 34 << 20;

impl Default for Budget {
    /// What one to eight workers want, and below 1 GB for any number: 16 have 56 MB each, 64 have 14.
    fn default() -> Self {
        Self { bytes: 896 << 20 }
    }
}

impl Budget {
    /// The share of one of so many workers.
    #[must_use]
    pub fn share(self, workers: usize) -> Share {
        // A division by a power of two, which would take longer: this is asked for at every call.
        let most = self.bytes >> workers.max(1).next_power_of_two().trailing_zeros();
        Share {
            wanted: WANTED.min(most),
            most,
        }
    }
}

/// What a worker, or one of its caches, may take of a [`Budget`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Up to so many bytes it grows.
    pub wanted: usize,
    /// What was taken when there were fewer workers is given back only if it is more than that.
    pub most: usize,
}

impl Default for Share {
    fn default() -> Self {
        Budget::default().share(2)
    }
}

impl Share {
    /// The share of one of several caches.
    #[must_use]
    pub fn part(self, caches: usize) -> Self {
        let most = self.most / caches;
        Self {
            wanted: most.min(WANTED_OF_SEVERAL),
            most,
        }
    }

    /// What remains when one of the caches has a share of it.
    #[must_use]
    pub fn without(self, other: Self) -> Self {
        let most = self.most - other.most;
        Self {
            wanted: self.wanted.min(most),
            most,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_never_pass_the_budget() {
        for bytes in [0, 1, 1000, 50 << 20, Budget::default().bytes] {
            let budget = Budget { bytes };
            for workers in 1..=300 {
                let share = budget.share(workers);
                assert!(share.wanted <= share.most && share.most * workers <= bytes);
                let part = share.part(3);
                assert!(part.wanted <= part.most && 3 * part.most <= share.most);
                let rest = share.without(part);
                assert!(rest.wanted <= rest.most && rest.most + part.most == share.most);
            }
        }
    }

    #[test]
    fn few_workers_get_all_they_want() {
        let budget = Budget::default();
        for workers in 1..=8 {
            assert_eq!(budget.share(workers).wanted, WANTED);
        }
        assert_eq!(budget.share(16).wanted, 56 << 20);
        assert_eq!(budget.share(64).wanted, 14 << 20);
    }
}
