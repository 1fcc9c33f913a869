//! How often each id occurs, and what follows from it.

use std::collections::BTreeMap;

/// How often each id occurs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frequencies {
    /// Of ids in the vocabulary.
    counts: Vec<u64>,
    /// Of all others: special tokens, whose ids may be as high as they like.
    others: BTreeMap<u32, u64>,
}

impl Frequencies {
    /// Starts with none of a vocabulary's ids.
    #[must_use]
    pub fn new(vocabulary: usize) -> Self {
        Self {
            counts: vec![0; vocabulary],
            others: BTreeMap::new(),
        }
    }

    /// Counts one occurrence.
    #[inline]
    pub fn add(&mut self, id: u32) {
        self.add_many(id, 1);
    }

    /// Counts several occurrences.
    #[inline]
    pub fn add_many(&mut self, id: u32, occurrences: u64) {
        match self.counts.get_mut(id as usize) {
            Some(count) => *count += occurrences,
            None => *self.others.entry(id).or_default() += occurrences,
        }
    }

    /// Adds another's counts and leaves it empty.
    pub fn take(&mut self, other: &mut Self) {
        for (count, more) in self.counts.iter_mut().zip(&mut other.counts) {
            *count += std::mem::take(more);
        }
        for (id, more) in std::mem::take(&mut other.others) {
            *self.others.entry(id).or_default() += more;
        }
    }

    /// Adds another's counts.
    pub fn merge(&mut self, other: &Self) {
        self.take(&mut other.clone());
    }

    /// Of the ids in the vocabulary, by id.
    #[must_use]
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// The ids that occur, ascending, and how often.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u64)> {
        let inside = self.counts.iter().enumerate();
        inside
            .map(|(id, &count)| (id as u32, count))
            .filter(|&(_, count)| count > 0)
            .chain(self.others.iter().map(|(&id, &count)| (id, count)))
    }

    /// How many different ids occur.
    #[must_use]
    pub fn used(&self) -> usize {
        self.iter().count()
    }

    /// How many tokens there are.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.iter().chain(self.others.values()).sum()
    }

    /// Shannon's entropy of the frequencies in bits; None without tokens.
    #[must_use]
    pub fn shannon_entropy(&self) -> Option<f64> {
        let total = self.total() as f64;
        let surprise = |p: f64| -p * p.log2();
        let sum: f64 = self
            .iter()
            .map(|(_, count)| surprise(count as f64 / total))
            .sum();
        (total > 0.0).then_some(sum.max(0.0))
    }

    /// Rényi's entropy of order 2.5 in bits; None without tokens. The order is the one that Zouhar et
    /// al. (arXiv:2306.16842) found to follow the quality of translations best.
    #[must_use]
    pub fn renyi_entropy(&self) -> Option<f64> {
        let total = self.total() as f64;
        let power = |p: f64| p * p * p.sqrt();
        let sum: f64 = self
            .iter()
            .map(|(_, count)| power(count as f64 / total))
            .sum();
        (total > 0.0).then(|| (sum.log2() / (1.0 - 2.5)).max(0.0))
    }

    /// How many of the most frequent ids together make up 95 of 100 tokens; None without tokens.
    #[must_use]
    pub fn coverage_rank(&self) -> Option<usize> {
        let mut counts: Vec<u64> = self.iter().map(|(_, count)| count).collect();
        counts.sort_unstable_by(|one, other| other.cmp(one));
        let total = u128::from(self.total());
        let mut covered = 0;
        counts
            .iter()
            .position(|&count| {
                covered += u128::from(count);
                covered * 100 >= total * 95
            })
            .map(|place| place + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(counts: &[u64]) -> Frequencies {
        Frequencies {
            counts: counts.to_vec(),
            others: BTreeMap::new(),
        }
    }

    #[test]
    fn entropies_by_hand() {
        let even = of(&[5, 0, 5, 5, 5]);
        assert_eq!(even.shannon_entropy(), Some(2.0));
        assert!((even.renyi_entropy().unwrap() - 2.0).abs() < 1e-12);
        assert_eq!(even.used(), 4);
        // 1/2, 1/4, 1/4: H = 1.5 bits; sum p^2.5 = 2^-2.5 + 2 * 2^-5.
        let uneven = of(&[2, 1, 1]);
        assert_eq!(uneven.shannon_entropy(), Some(1.5));
        let expected = (2f64.powf(-2.5) + 0.0625).log2() / -1.5;
        assert!((uneven.renyi_entropy().unwrap() - expected).abs() < 1e-12);
        let one = of(&[0, 7]);
        assert_eq!(
            (one.shannon_entropy(), one.renyi_entropy()),
            (Some(0.0), Some(0.0))
        );
        assert_eq!(
            (of(&[0]).shannon_entropy(), of(&[]).renyi_entropy()),
            (None, None)
        );
    }

    #[test]
    fn coverage_by_hand() {
        assert_eq!(of(&[1, 90, 5, 4]).coverage_rank(), Some(2));
        assert_eq!(of(&[1, 90, 4, 5]).coverage_rank(), Some(2));
        assert_eq!(of(&[3, 90, 4, 3]).coverage_rank(), Some(3));
        assert_eq!(of(&[0, 1]).coverage_rank(), Some(1));
        assert_eq!(of(&[0]).coverage_rank(), None);
    }

    #[test]
    fn high_ids_have_room() {
        let mut one = Frequencies::new(2);
        [1, u32::MAX, 1, 7].iter().for_each(|&id| one.add(id));
        let found: Vec<_> = one.iter().collect();
        assert_eq!(found, [(1, 2), (7, 1), (u32::MAX, 1)]);
        let mut two = one.clone();
        two.merge(&one);
        assert_eq!((two.total(), two.used()), (8, 3));
    }
}
