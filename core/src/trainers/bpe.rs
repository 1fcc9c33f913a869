//! Learns byte-pair merges: repeat "merge the most frequent pair" until the vocabulary is full.
//!
//! Sennrich, Haddow and Birch 2016 (arXiv:1508.07909), over the symbols of the pieces. Instead of
//! counting anew for each merge, the counts of the pairs around each merged place are corrected.
//!
//! The pieces are [`Cells`]. Of the pairs in them only those are kept that are frequent enough to be
//! merged soon ([`Pairs`]), each with the cells where its left token began when it was found; a place
//! that has been merged away is recognised by its content. When all of those are merged, the corpus is
//! read again for the next ones. [`Neighbours`] sums up what a merge finds around its product.
//!
//! A merge may make a token that there is already, of other parts: then a pair may gain occurrences
//! that was too rare to be kept. It happens next to never, so from then on all pairs are kept.
//!
//! Complexity: each merge costs its places; all merges together at most (cells x longest token). The
//! corpus is read once for each factor of [`SPREAD`] between the first merge's count and the last one's.

mod candidates;
mod cells;
mod layout;
mod neighbours;
mod options;
mod pairs;
mod sieve;
mod tokens;
mod veto;

use crate::error::Result;
use candidates::Candidates;
use cells::Cells;
use neighbours::Neighbours;
pub use options::{Decoration, Options, Tie, Training, Vetoes};
use pairs::{Pair, Pairs, pack};
use sieve::{RARE, Sieve};
use tokens::Tokens;

/// How much rarer than the most frequent pair those are that are kept with it.
const SPREAD: u64 = 32;

/// Learns merges: [`Trainer::new`] or [`Trainer::resume`] lays the pieces out, [`Trainer::run`] merges them.
pub struct Trainer {
    tie: Tie,
    vocab_size: usize,
    max_merges: usize,
    minimum: u64,
    cells: Cells,
    tokens: Tokens,
    pairs: Pairs,
    before: Neighbours,
    after: Neighbours,
}

impl Trainer {
    /// Merges until the vocabulary is full; `progress` is called now and then with its size.
    ///
    /// # Errors
    /// What `progress` gives, or more than 2^31 tokens.
    pub fn run(mut self, progress: &mut dyn FnMut(usize) -> Result<()>) -> Result<Training> {
        progress(self.tokens.len())?;
        let mut training = Training::default();
        let mut candidates = self.find_pairs(self.minimum, u64::MAX);
        while self.tokens.len() < self.vocab_size && training.merges.len() < self.max_merges {
            let best = candidates.pop(&mut self.pairs, &self.cells, &self.tokens);
            let Some(best) = best.filter(|best| best.count >= self.minimum) else {
                if self.pairs.least <= self.minimum {
                    training.exhausted = true;
                    break;
                }
                candidates = self.find_pairs(self.minimum, self.pairs.least / 2);
                continue;
            };
            let Pair { left, right, .. } = self.pairs.all[best.pair as usize];
            let (product, made) = self.tokens.product(left, right)?;
            if made && self.pairs.least > 1 {
                candidates = self.find_pairs(1, 1);
            }
            for pair in self.merge([left, right, product]) {
                candidates.push(pair, &mut self.pairs, &self.cells, &self.tokens);
            }
            training.merges.push([left, right, product]);
            training.counts.push(best.count);
            if training.merges.len().is_multiple_of(256) {
                progress(self.tokens.len())?;
            }
        }
        progress(self.tokens.len())?;
        training.tokens = self.tokens.texts;
        Ok(training)
    }

    /// Finds the pairs that are frequent enough; how often that is lies between `lowest` and `highest`.
    fn find_pairs(&mut self, lowest: u64, highest: u64) -> Candidates {
        self.pairs = Pairs::new();
        let mut sieve = Sieve::new(self.cells.len(), self.tokens.len());
        self.cells
            .compact(|left, right, count| sieve.add(pack(left, right), count));
        let least = (sieve.most() / SPREAD).min(highest).max(lowest);
        sieve.divide(least);
        let (pairs, tokens) = (&mut self.pairs, &self.tokens);
        pairs.least = least;
        self.cells.for_each_pair(|left, right, count, place| {
            let entry = sieve.entry(pack(left, right));
            if *entry != RARE {
                pairs.count(left, right, count, place, entry, tokens);
            }
        });
        pairs.forget_rare();
        Candidates::new(self.tie, pairs, &self.cells, tokens)
    }

    /// Merges a pair everywhere, from left to right; gives the pairs whose count grew.
    fn merge(&mut self, [left, right, product]: [u32; 3]) -> Vec<u32> {
        let Self {
            cells,
            tokens,
            pairs,
            before,
            after,
            ..
        } = self;
        let Some(number) = pairs.find(left, right) else {
            return Vec::new();
        };
        let merged = &mut pairs.all[number as usize];
        merged.sort();
        merged.gone = 0;
        let places = std::mem::take(&mut merged.places);
        before.reserve(tokens.len());
        after.reserve(tokens.len());
        let mut gone = 0;
        cells.merge_all([left, right, product], &places, |around, place, count| {
            gone += count;
            if around.before != cells::SEPARATOR {
                before.meet(around.before, around.before_at, count);
            }
            if around.after != cells::SEPARATOR {
                after.meet(around.after, place, count);
            }
        });
        let mut grown = Vec::new();
        before.spread(
            pairs,
            |pairs, token, sum| pairs.gain(token, product, sum, tokens),
            &mut grown,
        );
        after.spread(
            pairs,
            |pairs, token, sum| pairs.gain(product, token, sum, tokens),
            &mut grown,
        );
        // Only now: in "abab" the second merge takes away a pair that the first one made.
        for (token, count) in before.sums() {
            pairs.lose(token, left, count);
        }
        for (token, count) in after.sums() {
            pairs.lose(right, token, count);
        }
        before.clear();
        after.clear();
        pairs.all[number as usize].count -= gone;
        grown
    }
}

#[cfg(test)]
mod tests;
