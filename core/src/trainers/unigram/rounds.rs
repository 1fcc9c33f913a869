//! What became of the tokens in each step of a training: to be shown, and to say why there are too few.

use std::collections::HashSet;

use super::scored_pieces::ScoredPieces;
use super::words::Words;
use crate::models::unigram::real::Real;

/// A step of training.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Substrings were chosen to begin with.
    Seeds,
    /// Expectation maximisation gave new scores, and dropped what is expected too rarely.
    Expectation,
    /// A round of pruning dropped a share, and what no best segmentation has.
    Pruning,
}

impl Step {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Seeds => "seeds",
            Self::Expectation => "expectation",
            Self::Pruning => "pruning",
        }
    }
}

/// The tokens after a step.
#[derive(Clone, Debug, PartialEq)]
pub struct Round {
    /// The step.
    pub step: Step,
    /// The tokens with their scores.
    pub tokens: Vec<(Vec<u8>, f64)>,
}

/// Watches a training.
#[derive(Debug)]
pub struct Rounds<'a> {
    words: &'a Words,
    wanted: usize,
    record: bool,
    /// The tokens after each step, if they are recorded.
    pub all: Vec<Round>,
    /// The first step after which there were fewer tokens than wanted.
    pub short: Option<Step>,
}

impl<'a> Rounds<'a> {
    /// Begins to watch; `wanted` tokens are to be left.
    pub fn new(words: &'a Words, wanted: usize, record: bool) -> Self {
        Self {
            words,
            wanted,
            record,
            all: Vec::new(),
            short: None,
        }
    }

    /// Looks at what a step has left.
    pub fn see<T: Real>(&mut self, step: Step, pieces: &ScoredPieces<T>) {
        if self.short.is_none() && pieces.len() < self.wanted && self.size(pieces) < self.wanted {
            self.short = Some(step);
        }
        if self.record {
            let tokens =
                (0..pieces.len()).map(|id| (pieces.get(id).to_vec(), pieces.scores()[id].wide()));
            self.all.push(Round {
                step,
                tokens: tokens.collect(),
            });
        }
    }

    /// How many tokens the vocabulary would have: characters that were dropped come back.
    fn size<T: Real>(&self, pieces: &ScoredPieces<T>) -> usize {
        let present: HashSet<&[u8]> = (0..pieces.len()).map(|id| pieces.get(id)).collect();
        let mut buffer = [0; 4];
        let missing = |&&(character, _): &&(char, u64)| {
            !present.contains(character.encode_utf8(&mut buffer).as_bytes())
        };
        pieces.len() + self.words.characters.iter().filter(missing).count()
    }
}
