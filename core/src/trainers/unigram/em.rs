//! Expectation maximisation: how often each token is expected to occur, and new scores from that.

use super::pieces::{Pieces, UNKNOWN};
use super::words::Words;
use super::{exact, shards_of};
use crate::error::{Error, Result};
use crate::models::unigram::real::Real;
use crate::trainers::shards;

/// A token that is expected less often is dropped.
const RARE: f64 = 0.5;
/// Below this a word's probability has lost digits to underflow; it is worked out in logarithms.
const TOO_SMALL: f64 = 1e-200;

/// An occurrence of a token in a word.
struct Edge {
    start: u32,
    end: u32,
    id: u32,
}

/// Gives how often each token is expected to occur: forward-backward over each word, with probabilities
/// themselves where they are not too small.
pub fn expect(pieces: &Pieces<f64>, words: &Words, threads: usize) -> Vec<f64> {
    let probabilities: Vec<f64> = pieces.scores().iter().map(|score| score.exp()).collect();
    let unknown = pieces.unknown().exp();
    let shards = shards_of(words.len());
    let parts = shards::run(shards, threads, |shard| {
        let mut expected = vec![0.0; pieces.len()];
        let mut edges: Vec<Edge> = Vec::new();
        let (mut before, mut behind): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
        for number in (shard..words.len()).step_by(shards) {
            let (word, count) = words.get(number);
            edges.clear();
            before.clear();
            before.resize(word.len() + 1, 0.0);
            before[0] = 1.0;
            pieces.each_in(word, |start, end, id| {
                let probability = *probabilities.get(id as usize).unwrap_or(&unknown);
                before[end] += before[start] * probability;
                edges.push(Edge {
                    start: start as u32,
                    end: end as u32,
                    id,
                });
            });
            let whole = before[word.len()];
            if whole < TOO_SMALL {
                exact::expect_word(pieces, word, count, &mut expected, None);
                continue;
            }
            behind.clear();
            behind.resize(word.len() + 1, 0.0);
            behind[word.len()] = 1.0;
            let share = count as f64 / whole;
            for &Edge { start, end, id } in edges.iter().rev() {
                let rest = behind[end as usize];
                if id == UNKNOWN {
                    behind[start as usize] += unknown * rest;
                    continue;
                }
                let weight = probabilities[id as usize] * rest;
                behind[start as usize] += weight;
                expected[id as usize] += share * before[start as usize] * weight;
            }
        }
        expected
    });
    let mut parts = parts.into_iter();
    let mut sum = parts.next().unwrap_or_default();
    for part in parts {
        for (total, value) in sum.iter_mut().zip(part) {
            *total += value;
        }
    }
    sum
}

/// Gives the tokens that are expected often enough, with new scores. Instead of log(c) - log(sum) these
/// are digamma(c) - digamma(sum): a sparse prior (Liang and Klein, ACL 2007 tutorial).
///
/// # Errors
/// As [`Pieces::new`]; when nothing is left.
pub fn maximise<T: Real>(pieces: &Pieces<T>, expected: &[T]) -> Result<Pieces<T>> {
    let is_kept = |&id: &usize| expected[id].wide() >= RARE;
    let mut sum = T::default();
    let mut kept = 0;
    for id in (0..pieces.len()).filter(is_kept) {
        sum = sum.plus(expected[id]);
        kept += 1;
    }
    if kept == 0 {
        return Err(Error::Invalid(
            "there is too little text to train on: no token is left".to_owned(),
        ));
    }
    let whole = T::round(digamma(sum.wide()));
    Pieces::new((0..pieces.len()).filter(is_kept).map(|id| {
        let score = T::round(digamma(expected[id].wide()) - whole.wide());
        (pieces.get(id), score)
    }))
}

/// The derivative of log gamma, for positive numbers.
fn digamma(mut x: f64) -> f64 {
    // The recurrence up to where the asymptotic series holds.
    let mut result = 0.0;
    while x < 7.0 {
        result -= 1.0 / x;
        x += 1.0;
    }
    x -= 0.5;
    let x2 = (1.0 / x) * (1.0 / x);
    let x4 = x2 * x2;
    result
        + (x.ln() + (1.0 / 24.0) * x2 - (7.0 / 960.0) * x4 + (31.0 / 8064.0) * x4 * x2
            - (127.0 / 30720.0) * x4 * x4)
}

#[cfg(test)]
mod tests {
    use super::digamma;

    #[test]
    fn knows_digamma() {
        let euler = 0.577_215_664_901_532_9;
        for (x, expected) in [
            (1.0, -euler),
            (0.5, -euler - 2.0 * 2f64.ln()),
            (2.0, 1.0 - euler),
            (1e6, 13.815_510_057_964_19),
        ] {
            assert!((digamma(x) - expected).abs() < 1e-9, "{x}");
        }
    }
}
