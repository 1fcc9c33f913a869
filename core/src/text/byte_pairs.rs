//! A set of pairs of bytes that stand side by side: which of them are in it is read with one look.

/// By the first byte, a bit for the second.
#[derive(Clone, Debug)]
pub struct BytePairs(Box<[[u64; 4]; 256]>);

impl BytePairs {
    /// Takes the pairs for which a function says so.
    #[must_use]
    pub fn of(mut holds: impl FnMut(u8, u8) -> bool) -> Self {
        let mut rows = Box::new([[0; 4]; 256]);
        for (first, row) in (0..=u8::MAX).zip(rows.iter_mut()) {
            for second in 0..=u8::MAX {
                row[usize::from(second / 64)] |= u64::from(holds(first, second)) << (second % 64);
            }
        }
        Self(rows)
    }

    /// Whether a pair is in the set.
    #[inline]
    #[must_use]
    pub fn has(&self, first: u8, second: u8) -> bool {
        self.0[usize::from(first)][usize::from(second / 64)] >> (second % 64) & 1 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pairs_are_those_that_were_given() {
        let holds = |first: u8, second: u8| first.wrapping_mul(37) ^ second > 100;
        let pairs = BytePairs::of(holds);
        for first in 0..=u8::MAX {
            for second in 0..=u8::MAX {
                assert_eq!(pairs.has(first, second), holds(first, second));
            }
        }
    }
}
