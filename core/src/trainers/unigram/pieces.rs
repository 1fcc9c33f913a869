//! The tokens of a model in training.

use crate::error::Result;
use crate::models::trie::Trie;
use crate::models::unigram::UNKNOWN_PENALTY;
use crate::models::unigram::real::Real;
use crate::text::character_len;

/// The id of a character that no token covers.
pub const UNKNOWN: u32 = u32::MAX;

/// Tokens with their scores.
#[derive(Debug)]
pub struct Pieces<T> {
    blob: Vec<u8>,
    ends: Vec<u32>,
    scores: Vec<T>,
    trie: Trie,
    lowest: T,
}

impl<T: Real> Pieces<T> {
    /// Puts tokens together.
    ///
    /// # Errors
    /// When they have too many bytes.
    pub fn new<'a>(pieces: impl Iterator<Item = (&'a [u8], T)>) -> Result<Self> {
        let (mut blob, mut ends, mut scores) = (Vec::new(), Vec::new(), Vec::new());
        for (piece, score) in pieces {
            blob.extend_from_slice(piece);
            ends.push(blob.len() as u32);
            scores.push(score);
        }
        let mut keys: Vec<(&[u8], u32)> = (0..scores.len())
            .map(|id| (slice(&blob, &ends, id), id as u32))
            .collect();
        if !keys.is_sorted() {
            keys.sort_unstable();
        }
        let trie = Trie::new(&keys)?;
        drop(keys);
        let mut lowest = scores.iter().copied();
        let first = lowest.next().unwrap_or_default();
        let lowest = lowest.fold(first, |low, score| if score < low { score } else { low });
        Ok(Self {
            blob,
            ends,
            scores,
            trie,
            lowest,
        })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.scores.len()
    }

    /// The bytes of a token.
    pub fn get(&self, id: usize) -> &[u8] {
        slice(&self.blob, &self.ends, id)
    }

    /// The score of a token, or of an unknown character.
    #[inline]
    pub fn score(&self, id: u32) -> T {
        match self.scores.get(id as usize) {
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

    /// Calls `each` with (start, end, id) for all tokens in a text in order of their beginnings, shortest
    /// first, and for characters that no token covers.
    #[inline]
    pub fn each_in(&self, text: &[u8], mut each: impl FnMut(usize, usize, u32)) {
        let mut start = 0;
        while start < text.len() {
            let single = start + character_len(text, start);
            let mut is_covered = false;
            self.trie.prefixes(text, start, |end, id| {
                is_covered |= end == single;
                each(start, end, id);
            });
            if !is_covered {
                each(start, single, UNKNOWN);
            }
            start = single;
        }
    }
}

fn slice<'a>(blob: &'a [u8], ends: &[u32], id: usize) -> &'a [u8] {
    let start = if id == 0 { 0 } else { ends[id - 1] };
    &blob[start as usize..ends[id] as usize]
}
