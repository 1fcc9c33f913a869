//! The tokens of a model in training.

use crate::models::unigram::UNKNOWN_PENALTY;
use crate::models::unigram::real::Real;

/// Tokens with their scores.
#[derive(Debug)]
pub struct ScoredPieces<T> {
    blob: Vec<u8>,
    ends: Vec<usize>,
    scores: Vec<T>,
    lowest: T,
}

impl<T: Real> ScoredPieces<T> {
    /// Puts tokens together.
    pub fn new<'a>(pieces: impl Iterator<Item = (&'a [u8], T)>) -> Self {
        let (mut blob, mut ends, mut scores) = (Vec::new(), Vec::new(), Vec::new());
        for (piece, score) in pieces {
            blob.extend_from_slice(piece);
            ends.push(blob.len());
            scores.push(score);
        }
        let mut lowest = scores.iter().copied();
        let first = lowest.next().unwrap_or_default();
        let lowest = lowest.fold(first, |low, score| if score < low { score } else { low });
        Self {
            blob,
            ends,
            scores,
            lowest,
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.scores.len()
    }

    /// The bytes of a token.
    pub fn get(&self, id: usize) -> &[u8] {
        let start = if id == 0 { 0 } else { self.ends[id - 1] };
        &self.blob[start..self.ends[id]]
    }

    /// The score of a token, or of an unknown character.
    #[inline]
    pub fn score(&self, id: usize) -> T {
        match self.scores.get(id) {
            Some(&score) => score,
            None => self.unknown(),
        }
    }

    /// All scores.
    pub fn scores(&self) -> &[T] {
        &self.scores
    }

    /// The lowest score.
    pub fn lowest(&self) -> T {
        self.lowest
    }

    /// The score of an unknown character.
    pub fn unknown(&self) -> T {
        self.lowest.minus(T::round(UNKNOWN_PENALTY))
    }
}
