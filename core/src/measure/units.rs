//! The units that are drawn from to tell how sure a difference is: documents, or batches of them.
//!
//! Memory is bounded: when there are too many, neighbours become one, two by two, and from then on a
//! unit has twice as many documents. Which documents a unit has depends on their number alone, so the
//! units of several tokenizers on the same documents belong together.

/// Counts of tokens by unit.
#[derive(Clone, Debug)]
pub struct Units {
    most: usize,
    documents: u64,
    unit_documents: u64,
    counts: Vec<u64>,
}

impl Units {
    /// Starts empty; there will never be more than `most` units (at least 2).
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self {
            most: most.max(2),
            documents: 0,
            unit_documents: 1,
            counts: Vec::new(),
        }
    }

    /// Adds the next document.
    pub fn push(&mut self, tokens: u64) {
        if self.documents.is_multiple_of(self.unit_documents) {
            if self.counts.len() == self.most {
                self.halve();
            }
            // After halving an odd number of units, the last one has room still.
            if self.documents.is_multiple_of(self.unit_documents) {
                self.counts.push(0);
            }
        }
        if let Some(last) = self.counts.last_mut() {
            *last += tokens;
        }
        self.documents += 1;
    }

    fn halve(&mut self) {
        self.counts = self
            .counts
            .chunks(2)
            .map(|pair| pair.iter().sum())
            .collect();
        self.unit_documents *= 2;
    }

    /// Tokens of each unit.
    #[must_use]
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// How many documents a unit has; the last one may have fewer.
    #[must_use]
    pub fn unit_documents(&self) -> u64 {
        self.unit_documents
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_become_one() {
        for most in [2, 3, 4, 5] {
            let mut units = Units::new(most);
            for number in 0..100u64 {
                units.push(number);
                let size = units.unit_documents() as usize;
                let all: Vec<u64> = (0..=number).collect();
                let expected: Vec<u64> = all.chunks(size).map(|unit| unit.iter().sum()).collect();
                assert_eq!(units.counts(), expected);
                assert!(expected.len() <= most);
                assert!(size == 1 || expected.len() * 2 > most);
            }
        }
    }
}
