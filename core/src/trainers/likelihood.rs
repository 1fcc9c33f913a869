//! Learns word pieces by likelihood: merges the pair that is most frequent for what its parts are,
//! count(pair) / (count(left) * count(right)), until the vocabulary is full.
//!
//! Schuster and Nakajima 2012 ("Japanese and Korean Voice Search") choose what raises the likelihood of
//! the corpus most; this ratio is the form in which courses teach it. Symbols are characters, those
//! inside a word with a prefix, which a merge takes out again.
//!
//! Scores are never numbers with a point: two are compared by their cross products, exactly. A merge
//! changes the counts of three tokens, and with them the scores of all their pairs; these are set anew
//! in a heap that knows where each pair stands. Pieces and pairs are those of `bpe`, all pairs kept.
//!
//! Complexity: a merge costs the places of its pair, and the pairs of its three tokens times the
//! logarithm of all pairs.

use foldhash::fast::RandomState;
use hashbrown::HashMap;
use serde::Deserialize;

use super::bpe::pairs::Pair;
use super::bpe::segmentation::{Change, Segmentation};
use super::bpe::tokens::Tokens;
use super::bpe::{Training, Vetoes};
use super::heap::Ranking;
use super::json;
use super::score::Score;
pub use super::score::Tie;
use crate::error::{Result, invalid};
use crate::text;

/// What and how much to learn.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// Tokens that exist before the first merge, by id, written with prefix; empty: a text that no
    /// merge makes.
    #[serde(deserialize_with = "json::all_bytes")]
    pub initial: Vec<Vec<u8>>,
    /// Which of them are symbols; text outside this alphabet is left out.
    pub symbols: Vec<u32>,
    /// Written before symbols inside a word.
    #[serde(deserialize_with = "json::bytes")]
    pub continuing_subword_prefix: Vec<u8>,
    /// Stop when there are so many tokens.
    pub vocab_size: usize,
    /// Pairs that are rarer are not merged.
    pub min_frequency: u64,
    /// How ties are decided.
    pub tie: Tie,
}

/// Learns merges: [`Trainer::new`] lays the words out, [`Trainer::run`] merges pairs.
pub struct Trainer {
    tie: Tie,
    vocab_size: usize,
    minimum: u64,
    corpus: Segmentation,
    /// How often each token occurs.
    token_counts: Vec<u64>,
    /// The pairs that each token stands in.
    pairs_of: Vec<Vec<u32>>,
    /// Whether each pair stands among those of its tokens.
    is_listed: Vec<bool>,
    ranking: Ranking<Score>,
}

impl Trainer {
    /// Lays (word, count) out and finds the pairs.
    ///
    /// # Errors
    /// Settings that contradict themselves, or a corpus beyond 2^32 symbols or 2^64 of their
    /// occurrences.
    pub fn new<'a>(
        words: impl Iterator<Item = (&'a [u8], u64)>,
        options: &Options,
    ) -> Result<Self> {
        let prefix = &options.continuing_subword_prefix;
        let mut tokens = Tokens::new(&options.initial, prefix, &Vetoes::default())?;
        tokens.lengths.fill(1);
        let mut trainer = Self {
            tie: options.tie,
            vocab_size: options.vocab_size,
            minimum: options.min_frequency.max(1),
            corpus: Segmentation::new(tokens, 1),
            token_counts: vec![0; options.initial.len()],
            pairs_of: vec![Vec::new(); options.initial.len()],
            is_listed: Vec::new(),
            ranking: Ranking::default(),
        };
        let mut symbols = HashMap::<&[u8], u32, RandomState>::default();
        for &id in &options.symbols {
            match options.initial.get(id as usize) {
                Some(token) if !token.is_empty() => symbols.insert(token, id),
                _ => return Err(invalid!("the initial token {id} is no symbol")),
            };
        }
        let mut occurrences = 0_u64;
        let mut inside = prefix.clone();
        for (word, count) in words {
            let mut length = 0;
            trainer.corpus.cells.push(count, |cells| {
                for (at, character) in text::characters(word) {
                    inside.truncate(prefix.len());
                    inside.extend_from_slice(character);
                    let written = if at == 0 { character } else { &inside[..] };
                    if let Some(&symbol) = symbols.get(written) {
                        cells.push(symbol);
                        let total = &mut trainer.token_counts[symbol as usize];
                        *total = total.saturating_add(count);
                        length += 1;
                    }
                }
            })?;
            occurrences = count
                .checked_mul(length)
                .and_then(|number| number.checked_add(occurrences))
                .ok_or_else(|| invalid!("the corpus has more than 2^64 symbols"))?;
        }
        trainer.corpus.find_pairs();
        for number in 0..trainer.corpus.pairs.all.len() as u32 {
            trainer.list(number);
            trainer.rank(number);
        }
        Ok(trainer)
    }

    /// Merges until the vocabulary is full; `progress` is called now and then with its size.
    ///
    /// # Errors
    /// What `progress` gives, or more than 2^31 tokens.
    pub fn run(mut self, progress: &mut dyn FnMut(usize) -> Result<()>) -> Result<Training> {
        progress(self.corpus.tokens.len())?;
        let mut training = Training::default();
        while self.corpus.tokens.len() < self.vocab_size {
            let Some((best, _)) = self.ranking.first() else {
                training.exhausted = true;
                break;
            };
            let &Pair {
                left, right, count, ..
            } = &self.corpus.pairs.all[best as usize];
            let (product, _) = self.corpus.tokens.product(left, right)?;
            let merged = self.merge([left, right, product]);
            training.merges.push([left, right, product]);
            training.counts.push(count);
            training.merged.push(merged);
            if training.merges.len().is_multiple_of(256) {
                progress(self.corpus.tokens.len())?;
            }
        }
        progress(self.corpus.tokens.len())?;
        training.tokens = self.corpus.tokens.texts;
        Ok(training)
    }

    /// Merges a pair everywhere and sets the pairs of all three tokens anew; gives how often it stood there.
    fn merge(&mut self, merge: [u32; 3]) -> u64 {
        let Change { grown, times, .. } = self.corpus.merge(merge);
        let tokens = self.corpus.tokens.len();
        self.token_counts.resize(tokens, 0);
        self.pairs_of.resize(tokens, Vec::new());
        let [left, right, product] = merge;
        self.token_counts[left as usize] -= times;
        self.token_counts[right as usize] -= times;
        self.token_counts[product as usize] += times;
        for number in grown {
            self.list(number);
        }
        for token in merge {
            let mut numbers = std::mem::take(&mut self.pairs_of[token as usize]);
            // Those that have become too rare are forgotten.
            numbers.retain(|&number| self.rank(number));
            self.pairs_of[token as usize] = numbers;
        }
        times
    }

    /// Makes sure that a pair stands among those of its tokens.
    fn list(&mut self, number: u32) {
        self.is_listed.resize(self.corpus.pairs.all.len(), false);
        if !std::mem::replace(&mut self.is_listed[number as usize], true) {
            let &Pair { left, right, .. } = &self.corpus.pairs.all[number as usize];
            self.pairs_of[left as usize].push(number);
            if left != right {
                self.pairs_of[right as usize].push(number);
            }
        }
    }

    /// Puts a pair where its score belongs; tells whether it is frequent enough to have a place.
    fn rank(&mut self, number: u32) -> bool {
        let Segmentation {
            cells,
            tokens,
            pairs,
            ..
        } = &mut self.corpus;
        let pair = &mut pairs.all[number as usize];
        let first = match self.tie {
            Tie::FirstSeen => pair.first(cells).unwrap_or(u32::MAX),
            Tie::MostFrequent => 0,
        };
        let frequent = pair.count >= self.minimum;
        self.is_listed[number as usize] = frequent;
        let score = Score {
            count: pair.count,
            left_count: self.token_counts[pair.left as usize],
            right_count: self.token_counts[pair.right as usize],
            first,
            left: pair.left,
            right: pair.right,
        };
        let before = |a: &Score, b: &Score| a.is_before(b, self.tie, &tokens.texts);
        if frequent {
            self.ranking.set(number, score, before);
        } else {
            self.ranking.remove(number, before);
        }
        frequent
    }
}

#[cfg(test)]
mod tests;
