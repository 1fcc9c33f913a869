//! Expectation maximisation: how often each token is expected to occur, and new scores from that.

use super::add_to;
use super::exact;
use super::lattices::{GONE, Lattices, Packing, WordLattice};
use super::scored_pieces::ScoredPieces;
use crate::error::{Result, ensure};
use crate::models::unigram::real::Real;
use crate::threads;

/// A token that is expected less often is dropped.
const RARE: f64 = 0.5;
/// Below this a word's probability has lost digits to underflow; it is worked out in logarithms.
const TOO_SMALL: f64 = 1e-200;

/// What forward-backward needs to know of a token and learns of it, side by side in memory.
#[derive(Clone, Copy, Debug)]
struct Weight {
    probability: f64,
    expected: f64,
}

/// Gives how often each token is expected to occur: forward-backward over each word, with probabilities
/// themselves where they are not too small.
pub fn expect(pieces: &ScoredPieces<f64>, lattices: &Lattices, threads: usize) -> Vec<f64> {
    let scores = pieces.scores().iter().copied().chain([pieces.unknown()]);
    let fresh: Vec<Weight> = scores
        .map(|score| Weight {
            probability: score.exp(),
            expected: 0.0,
        })
        .collect();
    let packing = lattices.packing();
    let parts = threads::map(lattices.shards().iter(), threads, |shard| {
        let mut weights = fresh.clone();
        let mut logarithmic = Vec::new();
        let mut places = Places::default();
        for word in shard.words() {
            if !places.expect(&mut weights, word, packing) {
                logarithmic.resize(pieces.len(), 0.0);
                exact::expect_word(pieces, word, packing, &mut logarithmic, None);
            }
        }
        let mut expected: Vec<f64> = weights[..pieces.len()]
            .iter()
            .map(|weight| weight.expected)
            .collect();
        add_to(&mut expected, logarithmic);
        expected
    });
    let mut parts = parts.into_iter();
    let mut sum = parts.next().unwrap_or_default();
    parts.for_each(|part| add_to(&mut sum, part));
    sum
}

/// The probabilities of all before each place of a word, and of all behind it.
#[derive(Default)]
struct Places {
    before: Vec<f64>,
    behind: Vec<f64>,
}

impl Places {
    /// Adds what is expected in a word; gives false, and adds nothing, if its probability is too small.
    fn expect(&mut self, weights: &mut [Weight], word: WordLattice<'_>, packing: Packing) -> bool {
        let count = word.count as f64;
        if let [edge] = *word.edges {
            // The whole word is one token, whatever its probability.
            weights[packing.id(edge)].expected += count;
            return true;
        }
        let length = word.characters + 1;
        if self.before.len() < length {
            self.before.resize(length, 0.0);
            self.behind.resize(length, 0.0);
        }
        let (before, behind) = (&mut self.before[..length], &mut self.behind[..length]);
        before.fill(0.0);
        before[0] = 1.0;
        let (mut at, mut left) = (0, 1.0);
        for &edge in word.edges {
            let length = packing.length(edge);
            if length == 1 {
                left = before[at];
                at += 1;
            }
            before[at - 1 + length] += left * weights[packing.id(edge)].probability;
        }
        let whole = before[word.characters];
        if whole < TOO_SMALL {
            return false;
        }
        behind[word.characters] = 1.0;
        let share = count / whole;
        let (mut at, mut sum) = (word.characters, 0.0);
        for &edge in word.edges.iter().rev() {
            let length = packing.length(edge);
            let weight = &mut weights[packing.id(edge)];
            let rest = weight.probability * behind[at - 1 + length];
            weight.expected += share * before[at - 1] * rest;
            sum += rest;
            if length == 1 {
                at -= 1;
                behind[at] = sum;
                sum = 0.0;
            }
        }
        true
    }
}

/// Drops the tokens that are not expected often enough, and gives the others new scores. Instead of
/// log(c) - log(sum) these are digamma(c) - digamma(sum): a sparse prior (Liang and Klein, ACL 2007
/// tutorial).
///
/// # Errors
/// When nothing is left.
pub fn maximise<T: Real>(
    pieces: &ScoredPieces<T>,
    lattices: &mut Lattices,
    expected: &[T],
    threads: usize,
) -> Result<ScoredPieces<T>> {
    let mut sum = T::default();
    let mut kept = 0;
    let mut new_ids = vec![GONE; pieces.len()];
    for (id, &often) in expected.iter().enumerate() {
        if often.wide() >= RARE {
            sum = sum.plus(often);
            new_ids[id] = kept;
            kept += 1;
        }
    }
    ensure!(
        kept != 0,
        "there is too little text to train on: no token is left"
    );
    let whole = T::round(digamma(sum.wide()));
    if (kept as usize) < pieces.len() {
        lattices.rename(&new_ids, kept as usize, threads);
    }
    Ok(ScoredPieces::new(
        (0..pieces.len())
            .filter(|&id| new_ids[id] != GONE)
            .map(|id| {
                let score = T::round(digamma(expected[id].wide()) - whole.wide());
                (pieces.get(id), score)
            }),
    ))
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
