//! Pruning: the tokens whose loss costs the least likelihood go.

use super::pieces::{Pieces, UNKNOWN};
use super::words::Words;
use super::{Precision, shards_of};
use crate::error::Result;
use crate::trainers::shards;

/// How the text of a token is segmented otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Alternative {
    /// In no other way.
    None,
    /// In a better way.
    Better,
    /// Without the token, into these.
    Without(Vec<u32>),
}

/// Gives the tokens that are left after a round: those without alternative, and then those whose loss
/// would cost most, up to `size` of them in all.
///
/// # Errors
/// As [`Pieces::new`].
pub fn prune<T: Precision>(
    pieces: &Pieces<T>,
    words: &Words,
    size: usize,
    threads: usize,
) -> Result<Pieces<T>> {
    let alternatives = T::alternatives(pieces, threads)?;
    let frequencies = T::frequencies(pieces, words, threads);
    // Added in f64 and rounded once.
    let sum = T::round(frequencies.iter().map(|frequency| frequency.wide()).sum());
    let log_sum = T::round(sum.wide().ln());
    let mut kept: Vec<usize> = Vec::new();
    let mut candidates: Vec<(usize, T)> = Vec::new();
    for (id, alternative) in alternatives.iter().enumerate() {
        let frequency = frequencies[id];
        if frequency == T::default() {
            continue;
        }
        match alternative {
            Alternative::Better => {}
            Alternative::None => kept.push(id),
            Alternative::Without(others) => {
                let own = T::round(frequency.wide().ln() - log_sum.wide());
                // Each occurrence becomes as many as there are in the alternative.
                let more = T::round(frequency.wide() * (others.len() as f64 - 1.0));
                let log_sum_without = T::round(sum.plus(more).wide().ln());
                let mut without = T::default();
                for &other in others {
                    let before = frequencies.get(other as usize).copied().unwrap_or_default();
                    let now = before.plus(frequency).wide().ln() - log_sum_without.wide();
                    without = T::round(without.wide() + now);
                }
                let share = T::round(frequency.wide() / sum.wide());
                let loss = T::round(share.wide() * own.minus(without).wide());
                candidates.push((id, loss));
            }
        }
    }
    candidates.sort_unstable_by(|a, b| {
        let losses = b.1.partial_cmp(&a.1).unwrap_or(std::cmp::Ordering::Equal);
        losses.then(a.0.cmp(&b.0))
    });
    candidates.truncate(size.saturating_sub(kept.len()));
    kept.extend(candidates.iter().map(|&(id, _)| id));
    if !T::EXACT {
        // In order of their bytes, as all are: the trie is then built without sorting.
        kept.sort_unstable();
    }
    Pieces::new(kept.iter().map(|&id| (pieces.get(id), pieces.scores()[id])))
}

/// The best segmentation of a text but for one token, by Viterbi's algorithm.
#[derive(Default)]
struct Viterbi {
    steps: Vec<(f64, u32, u32)>,
}

impl Viterbi {
    /// Finds it; gives its score, minus infinity if there is none.
    fn run(&mut self, pieces: &Pieces<f64>, text: &[u8], but: u32) -> f64 {
        self.steps.clear();
        self.steps
            .resize(text.len() + 1, (f64::NEG_INFINITY, 0, UNKNOWN));
        self.steps[0].0 = 0.0;
        pieces.each_in(text, |start, end, id| {
            let score = self.steps[start].0 + pieces.score(id);
            if score > self.steps[end].0 && (id != but || id == UNKNOWN) {
                self.steps[end] = (score, start as u32, id);
            }
        });
        self.steps[text.len()].0
    }

    /// Calls `each` with its tokens, from the right.
    fn backwards(&self, mut each: impl FnMut(u32)) {
        let mut at = self.steps.len() - 1;
        while at > 0 {
            let (_, start, id) = self.steps[at];
            each(id);
            at = start as usize;
        }
    }
}

/// Gives how often each token occurs in the best segmentations.
pub fn frequencies(pieces: &Pieces<f64>, words: &Words, threads: usize) -> Vec<f64> {
    let shards = shards_of(words.len());
    let parts = shards::run(shards, threads, |shard| {
        let mut frequencies = vec![0.0; pieces.len()];
        let mut viterbi = Viterbi::default();
        for number in (shard..words.len()).step_by(shards) {
            let (word, count) = words.get(number);
            viterbi.run(pieces, word, UNKNOWN);
            viterbi.backwards(|id| {
                if let Some(frequency) = frequencies.get_mut(id as usize) {
                    *frequency += count as f64;
                }
            });
        }
        frequencies
    });
    let mut sum = vec![0.0; pieces.len()];
    for part in parts {
        for (total, value) in sum.iter_mut().zip(part) {
            *total += value;
        }
    }
    sum
}

/// Gives how each token is segmented otherwise.
pub fn alternatives(pieces: &Pieces<f64>, threads: usize) -> Vec<Alternative> {
    let shards = shards_of(pieces.len());
    let parts = shards::run(shards, threads, |shard| {
        let mut viterbi = Viterbi::default();
        let ids = shard * pieces.len() / shards..(shard + 1) * pieces.len() / shards;
        ids.map(|id| {
            let score = viterbi.run(pieces, pieces.get(id), id as u32);
            if score == f64::NEG_INFINITY {
                return Alternative::None;
            }
            if score > pieces.scores()[id] {
                return Alternative::Better;
            }
            let mut others = Vec::new();
            viterbi.backwards(|other| others.push(other));
            Alternative::Without(others)
        })
        .collect::<Vec<_>>()
    });
    parts.into_iter().flatten().collect()
}
