//! The score of a pair, count(pair) / (count(left) * count(right)), compared without dividing.

use std::cmp::Ordering;

use serde::Deserialize;

/// Which of the pairs with the highest score is merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tie {
    /// The one that stands first in the corpus as it is segmented now.
    FirstSeen,
    /// The most frequent one, of these the one with the smallest (left text, right text).
    MostFrequent,
}

/// What a pair is ranked by.
#[derive(Clone, Copy, Debug)]
pub struct Score {
    /// How often it occurs.
    pub count: u64,
    /// How often its left token does.
    pub left_count: u64,
    /// How often its right token does.
    pub right_count: u64,
    /// The first place, for [`Tie::FirstSeen`].
    pub first: u32,
    /// Its left token.
    pub left: u32,
    /// Its right token.
    pub right: u32,
}

impl Score {
    /// Whether a pair is merged before another: the higher score, then what the rule for ties says.
    pub fn is_before(&self, other: &Self, tie: Tie, tokens: &[Vec<u8>]) -> bool {
        let by_score = other.compare(self);
        if by_score != Ordering::Equal {
            return by_score == Ordering::Less;
        }
        if tie == Tie::FirstSeen {
            return self.first < other.first;
        }
        if self.count != other.count {
            return self.count > other.count;
        }
        let text = |id: u32| &tokens[id as usize][..];
        (text(self.left), text(self.right)) < (text(other.left), text(other.right))
    }

    /// Compares counts of the pairs divided by the counts of their parts.
    fn compare(&self, other: &Self) -> Ordering {
        let ours = product_of_three(self.count, other.left_count, other.right_count);
        ours.cmp(&product_of_three(
            other.count,
            self.left_count,
            self.right_count,
        ))
    }
}

/// The 192 bits of a product, the higher ones first.
fn product_of_three(a: u64, b: u64, c: u64) -> (u128, u64) {
    let two = u128::from(a) * u128::from(b);
    let low = u128::from(two as u64) * u128::from(c);
    let high = (two >> 64) * u128::from(c) + (low >> 64);
    (high, low as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compares_exactly_where_no_float_could() {
        let score = |count, left_count, right_count| Score {
            count,
            left_count,
            right_count,
            first: 0,
            left: 0,
            right: 0,
        };
        let huge = u64::MAX;
        assert_eq!(
            score(huge, huge, huge).compare(&score(huge - 1, huge, huge)),
            Ordering::Greater
        );
        assert_eq!(
            score(huge / 3, huge, huge).compare(&score(1, 3, huge)),
            Ordering::Equal
        );
        assert_eq!(product_of_three(huge, huge, huge).1, huge);
    }
}
