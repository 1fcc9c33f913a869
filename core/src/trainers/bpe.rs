//! Learns byte-pair merges: repeat "merge the most frequent pair" until the vocabulary is full.
//!
//! Sennrich, Haddow and Birch 2016 (arXiv:1508.07909), over the symbols of the pieces. Instead of
//! counting anew for each merge, the counts of the pairs around each merged place are corrected.
//!
//! The pieces are [`cells::Cells`]. Of the pairs in them only those are kept that are frequent enough to be
//! merged soon ([`Pairs`]), each with the cells where its left token began when it was found; a place
//! that has been merged away is recognised by its content. When all of those are merged, the corpus is
//! read again for the next ones. [`neighbours::Neighbours`] sums up what a merge finds around its product.
//!
//! A merge may make a token that there is already, of other parts: then a pair may gain occurrences
//! that was too rare to be kept. It happens next to never, so from then on all pairs are kept.
//!
//! Complexity: each merge costs its places; all merges together at most (cells x longest token). The
//! corpus is read once for each factor of [`SPREAD`] between the first merge's count and the last one's.

mod alphabet;
pub mod balance;
mod candidates;
pub(super) mod cells;
pub(super) mod layout;
mod neighbours;
mod options;
pub(super) mod pairs;
pub mod parity;
mod replay;
pub(super) mod segmentation;
mod sieve;
pub mod superwords;
pub(super) mod tokens;
mod veto;

use super::heap::Heap;
use crate::error::Result;
use crate::memory::reserve;
use candidates::Candidate;
pub use options::{Decoration, Options, Tie, Training, Vetoes};
use pairs::{Pair, Pairs, pack};
use segmentation::Segmentation;
use sieve::{RARE, Sieve};

/// How much rarer than the most frequent pair those are that are kept with it.
const SPREAD: u64 = 32;

/// Learns merges: [`Trainer::new`] or [`Trainer::resume`] lays the pieces out, [`Trainer::run`] merges them.
pub struct Trainer {
    tie: Tie,
    vocab_size: usize,
    max_merges: usize,
    minimum: u64,
    corpus: Segmentation,
}

impl Trainer {
    /// Merges until the vocabulary is full; `progress` is called now and then with its size.
    ///
    /// # Errors
    /// What `progress` gives, or more than 2^31 tokens.
    pub fn run(mut self, progress: &mut dyn FnMut(usize) -> Result<()>) -> Result<Training> {
        progress(self.corpus.tokens.len())?;
        let mut training = Training::default();
        let mut candidates = self.find_pairs(self.minimum, u64::MAX);
        while self.corpus.tokens.len() < self.vocab_size && training.merges.len() < self.max_merges
        {
            reserve::check()?;
            let best = candidates.pop(&mut self);
            let Some(best) = best.filter(|best| best.count >= self.minimum) else {
                let least = self.corpus.pairs.least;
                if least <= self.minimum {
                    training.exhausted = true;
                    break;
                }
                candidates = self.find_pairs(self.minimum, least / 2);
                continue;
            };
            let Pair { left, right, .. } = self.corpus.pairs.all[best.pair as usize];
            let (product, made) = self.corpus.tokens.product(left, right)?;
            if made && self.corpus.pairs.least > 1 {
                candidates = self.find_pairs(1, 1);
            }
            let merged = self.corpus.merge([left, right, product]);
            for pair in merged.grown {
                candidates.push(self.candidate(pair), &self);
            }
            training.merges.push([left, right, product]);
            training.counts.push(best.count);
            training.merged.push(merged.times);
            if training.merges.len().is_multiple_of(256) {
                progress(self.corpus.tokens.len())?;
            }
        }
        progress(self.corpus.tokens.len())?;
        training.tokens = self.corpus.tokens.texts;
        Ok(training)
    }

    /// Finds the pairs that are frequent enough; how often that is lies between `lowest` and `highest`.
    fn find_pairs(&mut self, lowest: u64, highest: u64) -> Heap<Candidate> {
        let Segmentation {
            cells,
            tokens,
            pairs,
            ..
        } = &mut self.corpus;
        *pairs = Pairs::new(u64::MAX);
        let mut sieve = Sieve::new(cells.len(), tokens.len());
        cells.compact(|left, right, count| sieve.add(pack(left, right), count));
        let least = (sieve.most() / SPREAD).min(highest).max(lowest);
        sieve.divide(least);
        pairs.least = least;
        cells.for_each_pair(|left, right, count, place| {
            let entry = sieve.entry(pack(left, right));
            if *entry != RARE {
                pairs.count(left, right, count, place, entry, tokens);
            }
        });
        pairs.forget_rare();
        let mut all = Vec::new();
        for number in 0..self.corpus.pairs.all.len() as u32 {
            if self.corpus.pairs.all[number as usize].count >= least {
                all.push(self.candidate(number));
            }
        }
        Heap::from_items(all, self)
    }
}

#[cfg(test)]
mod tests;
