//! Segmentations drawn by their probabilities (Kudo 2018): backward filtering, forward sampling.
//!
//! `bests[i]` is the score of the best segmentation of the text from `i` on, and `sums[i]` the logarithm of
//! what all of them weigh together beside it, a segmentation weighing exp(alpha * (score - bests[i])). A
//! token from `i` to `j` is then drawn with probability exp(alpha * gap + sums[j] - sums[i]), where its gap
//! is score + bests[j] - bests[i]: exactly its share.
//!
//! Invariant: gaps are never above 0, and 0 for the best, so `alpha` multiplies nothing that could overflow
//! to more than nothing: however large it is, the best keep their weight.

use super::lattice::UNKNOWN;
use super::{Found, SearchScratch, Unigram};
use crate::models::unigram::real::Real as _;
use crate::random::Draw;
use crate::text::character_len;

impl Unigram {
    /// Draws among all segmentations; the path is left in the working memory.
    pub(super) fn sample(
        &self,
        piece: &[u8],
        alpha: f64,
        draw: &mut Draw,
        scratch: &mut SearchScratch,
    ) {
        let SearchScratch {
            bests, sums, path, ..
        } = scratch;
        path.clear();
        self.sums(piece, alpha, bests, sums);
        let mut start = 0;
        while start < piece.len() {
            let mut left = draw.unit();
            let mut chosen = None;
            // The last one with any probability is taken if rounding leaves something over.
            self.tokens_at(piece, start, |end, id, score| {
                let weight = alpha * gap(score + bests[end], bests[start]);
                let probability = (weight + sums[end] - sums[start]).exp();
                if left >= 0.0 && probability > 0.0 {
                    chosen = Some((end, id));
                }
                left -= probability;
            });
            let (end, id) = chosen.unwrap_or((start + character_len(piece, start), UNKNOWN));
            path.push((start as u32, end as u32, id));
            start = end;
        }
    }

    fn sums(&self, piece: &[u8], alpha: f64, bests: &mut Vec<f64>, sums: &mut Vec<f64>) {
        for values in [&mut *bests, &mut *sums] {
            values.clear();
            values.resize(piece.len() + 1, f64::NEG_INFINITY);
            values[piece.len()] = 0.0;
        }
        // Characters are found from the left, and filled in from the right.
        let mut starts: Vec<u32> = Vec::with_capacity(piece.len());
        let mut start = 0;
        while start < piece.len() {
            starts.push(start as u32);
            start += character_len(piece, start);
        }
        for &start in starts.iter().rev() {
            let start = start as usize;
            let mut best = f64::NEG_INFINITY;
            self.tokens_at(piece, start, |end, _, score| {
                best = best.max(score + bests[end]);
            });
            let mut sum = f64::NEG_INFINITY;
            self.tokens_at(piece, start, |end, _, score| {
                let term = alpha * gap(score + bests[end], best) + sums[end];
                sum = if sum == f64::NEG_INFINITY {
                    term
                } else if term == f64::NEG_INFINITY {
                    sum
                } else {
                    sum.log_add(term)
                };
            });
            bests[start] = best;
            sums[start] = sum;
        }
    }

    /// Calls `each` with the end, id and score of each token at a place, and of the unknown character.
    fn tokens_at(&self, piece: &[u8], start: usize, mut each: impl FnMut(usize, u32, f64)) {
        let single = start + character_len(piece, start);
        let mut is_covered = false;
        self.trie.prefixes(piece, start, |end, id| {
            is_covered |= end == single;
            each(end, id, self.scores[id as usize].lattice);
        });
        if !is_covered {
            each(single, UNKNOWN, self.unknown);
        }
    }
}

/// How far a score lies below the best; nothing where both have overflowed.
fn gap(score: f64, best: f64) -> f64 {
    match score == best {
        true => 0.0,
        false => score - best,
    }
}

/// Draws among segmentations with scores, best first, each weighing exp(alpha * score).
pub(super) fn choose(
    best: Vec<(Vec<Found>, f64)>,
    alpha: f64,
    draw: &mut Draw,
) -> impl Iterator<Item = Found> {
    let highest = best.first().map_or(0.0, |(_, score)| *score);
    let weight = |score: f64| (alpha * gap(score, highest)).exp();
    let sum: f64 = best.iter().map(|(_, score)| weight(*score)).sum();
    let mut left = draw.unit() * sum;
    let mut chosen = 0;
    for (number, (_, score)) in best.iter().enumerate() {
        chosen = number;
        left -= weight(*score);
        if left < 0.0 {
            break;
        }
    }
    best.into_iter()
        .nth(chosen)
        .map(|(found, _)| found)
        .unwrap_or_default()
        .into_iter()
}
