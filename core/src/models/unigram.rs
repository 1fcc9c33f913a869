//! The unigram model: the segmentation whose tokens' scores add up to the most (Kudo 2018,
//! arXiv:1804.10959), found by Viterbi's algorithm over a trie.
//!
//! A character that no token covers by itself may be unknown, at 10 below the lowest score. Among
//! segmentations of equal score the one wins whose last token begins first, and so on to the left.
//! [`backward`] is another search, with other rules for both.
//!
//! Complexity: time is linear in the text for tokens of bounded length.

mod backward;
mod carrying;
mod forward;
mod heap;
pub mod lattice;
mod model;
pub mod real;
mod sample;
#[cfg(test)]
mod sample_tests;
mod tables;
#[cfg(test)]
mod tests;
mod written;

use serde::Deserialize;

use self::lattice::{Lattice, Node, UNKNOWN};
use self::real::Real;
use super::model::{Found, Tables, Tokens, kind};
use super::trie::Trie;
use crate::boundaries::seams::{Border, Joints};
use crate::error::{Error, Result};
use crate::tables::TokenTable;
use crate::text::character_len;

/// How far the score of an unknown character lies below the lowest score of all tokens.
pub const UNKNOWN_PENALTY: f64 = 10.0;
const NOWHERE: u32 = u32::MAX;

/// What the specification says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The token for unknown characters; without one they are an error.
    pub unk_id: Option<u32>,
    /// Whether an unknown character becomes the tokens of its bytes.
    pub byte_fallback: bool,
    /// Whether neighbouring unknown characters become one token.
    pub fuse_unk: bool,
    /// Whether scores are added in f32 (SentencePiece) instead of f64 (Hugging Face).
    pub single_precision: bool,
    /// Whether scores are whole numbers of ten-thousandths, see [`backward`].
    #[serde(default)]
    pub fixed_point: bool,
}

/// Scores of a token.
#[derive(Clone, Copy, Debug)]
struct Score {
    /// In the search for the best segmentation.
    best: f64,
    /// In a lattice.
    lattice: f64,
}

/// A compiled unigram model.
#[derive(Debug)]
pub struct Unigram {
    tokens: TokenTable<'static>,
    settings: Settings,
    trie: Trie,
    /// How many bytes the longest token has, or a character.
    longest: usize,
    scores: Vec<Score>,
    unknown: f64,
    /// The tokens of the 256 bytes, if all are there and wanted.
    bytes: Option<Box<[u32; 256]>>,
    border: Option<Border>,
    /// Where a text can be cut if the sum of scores is carried on.
    seam: Option<Border>,
    /// Scores by id in f32, if that is how they are added.
    singles: Vec<f32>,
    /// The same in f64.
    doubles: Vec<f64>,
    /// Whether the token for unknown characters has the score of one of them there, and is nothing else.
    tells_unknown: bool,
    /// The highest absolute score.
    largest: f32,
    /// Scores by id in units, and where no token goes on, for the search from the end.
    units: Vec<i64>,
    joints: Option<Joints>,
}

/// The last token of the best segmentation up to a place.
#[derive(Clone, Copy, Debug)]
struct Step {
    score: f64,
    start: u32,
    id: u32,
}

/// Working memory.
#[derive(Debug, Default)]
pub struct SearchScratch {
    steps: Vec<Step>,
    rivals: Vec<f64>,
    /// The best path by exact sums, when another one was found.
    exact: Vec<(u32, u32, u32)>,
    path: Vec<(u32, u32, u32)>,
    /// Of the segmentations from each place on, the best score, and what all weigh beside it.
    bests: Vec<f64>,
    sums: Vec<f64>,
    /// Of the search from the end.
    onward: Vec<backward::Onward>,
    starts: Vec<u32>,
}

impl Unigram {
    /// Makes a model.
    ///
    /// # Errors
    /// Says what of the tables does not fit together.
    pub fn new(settings: Settings, tables: Tables) -> Result<Self> {
        let Tables {
            tokens,
            scores,
            kinds,
            ..
        } = tables;
        tables::check(&settings, &tokens, &scores, &kinds)?;
        let kind_of = |id: u32| kinds.get(id as usize).copied().unwrap_or(kind::NORMAL);
        // What is worked out is rounded alone; what is written, as its reader reads it, too.
        let round = |score: f64| match (settings.single_precision, settings.fixed_point) {
            (true, _) => f64::from(score as f32),
            (_, true) => backward::rounded(score),
            _ => score,
        };
        let read = |id: u32| match settings.single_precision || settings.fixed_point {
            true => round(scores[id as usize]),
            false => written::as_read(scores[id as usize]),
        };
        let normal = || {
            let ids = (0..tokens.len() as u32).filter(|&id| kind_of(id) == kind::NORMAL);
            ids.map(read)
        };
        let lowest = normal().fold(f64::INFINITY, f64::min);
        let lowest = if lowest.is_finite() { lowest } else { 0.0 };
        // As since SentencePiece 0.2.2; before, all such tokens scored -0.1 where scores are negative.
        let user_defined = |length: usize| length as f64 * 0.1 - 0.1;
        let score_of = |id: u32| match kind_of(id) {
            kind::USER_DEFINED if !settings.fixed_point => {
                let token = tokens.get(id);
                let characters = crate::text::characters(token).count();
                Score {
                    best: user_defined(token.len()),
                    lattice: round(user_defined(characters)),
                }
            }
            _ => {
                let score = read(id);
                Score {
                    best: score,
                    lattice: score,
                }
            }
        };
        let matches = |id: u32| matches!(kind_of(id), kind::NORMAL | kind::USER_DEFINED);
        let keys = tables::sorted_keys(&tokens, matches);
        let trie = Trie::new(&keys)?;
        // Where sums round, in f32 or f64, it hangs on what stands before which of two equally good segmentations wins.
        let seam = Border::of(keys.iter().map(|key| key.0));
        let border = seam.filter(|_| settings.fixed_point);
        let (units, joints) = match settings.fixed_point {
            true => {
                let joints = Joints::of(keys.iter().map(|key| key.0));
                let units = scores.iter().map(|&score| backward::units(score));
                (units.collect(), Some(joints))
            }
            false => (Vec::new(), None),
        };
        let scores: Vec<Score> = (0..tokens.len() as u32).map(score_of).collect();
        let best = scores.iter().map(|score| score.best);
        let (mut singles, mut doubles) = match (settings.single_precision, settings.fixed_point) {
            (true, _) => (best.map(|score| score as f32).collect(), Vec::new()),
            (false, false) => (Vec::new(), best.collect()),
            (false, true) => (Vec::new(), Vec::new()),
        };
        let bytes = match settings.byte_fallback {
            true => tables::byte_tokens(&tokens, &kinds),
            false => None,
        };
        let unknown = match settings.fixed_point {
            true => backward::UNKNOWN_SCORE,
            false => round(lowest - UNKNOWN_PENALTY),
        };
        // A token that text can also become by itself keeps its own score.
        let own = settings
            .unk_id
            .filter(|unk_id| bytes.is_none() && !keys.iter().any(|(_, id)| id == unk_id));
        let told = own.map_or(usize::MAX, |unk_id| unk_id as usize);
        if let Some(score) = singles.get_mut(told) {
            *score = unknown as f32;
        }
        if let Some(score) = doubles.get_mut(told) {
            *score = unknown;
        }
        let added = doubles.iter().map(|&score| score as f32);
        let added = added.chain(singles.iter().copied()).chain([unknown as f32]);
        let longest = keys.iter().map(|key| key.0.len()).fold(4, usize::max);
        drop(keys);
        Ok(Self {
            seam,
            tells_unknown: told < tokens.len(),
            largest: added.map(f32::abs).fold(0.0, f32::max),
            singles,
            doubles,
            tokens,
            settings,
            trie,
            longest,
            scores,
            unknown,
            bytes,
            border,
            units,
            joints,
        })
    }

    /// Gives out the tokens of the best segmentation as they are settled; returns its score.
    fn encode(
        &self,
        piece: &[u8],
        scratch: &mut SearchScratch,
        out: &mut impl Tokens,
    ) -> Result<f64> {
        let mut after_unknown = false;
        let take = |settled: &[(u32, u32, u32)]| {
            self.emit(piece, settled.iter().copied(), &mut after_unknown, out)
        };
        if self.settings.fixed_point {
            return self.backward(piece, scratch, take);
        }
        let SearchScratch { steps, path, .. } = scratch;
        let (sum, taken_off) = match self.settings.single_precision {
            true => self.forward::<f32>(piece, 0.0, steps, path, take)?,
            false => self.forward::<f64>(piece, 0.0, steps, path, take)?,
        };
        Ok(sum + taken_off)
    }

    /// All tokens of a piece.
    fn lattice<T: Real>(&self, piece: &[u8]) -> Lattice<T> {
        let mut lattice = Lattice::default();
        lattice.reset(piece.len());
        let mut start = 0;
        while start < piece.len() {
            let single = start + character_len(piece, start);
            let mut is_covered = false;
            self.trie.prefixes(piece, start, |end, id| {
                is_covered |= end == single;
                let score = T::round(self.scores[id as usize].lattice);
                lattice.push(start, end, id, score);
            });
            if !is_covered {
                lattice.push(start, single, UNKNOWN, T::round(self.unknown));
            }
            start = single;
        }
        lattice.close();
        lattice
    }

    fn nbest<T: Real>(&self, piece: &[u8], n: usize) -> Result<Vec<(Vec<Found>, f64)>> {
        let best = self.lattice::<T>(piece).nbest(n)?;
        best.into_iter()
            .map(|(nodes, score)| {
                let mut found = Vec::new();
                let path = nodes
                    .iter()
                    .map(|&Node { start, end, id, .. }| (start, end, id));
                self.emit(piece, path, &mut false, &mut found)?;
                Ok((found, score.wide()))
            })
            .collect()
    }

    /// Turns a segmentation, or a part of one, into tokens: unknown characters become bytes, or the token for them.
    /// `after_unknown` says whether the token before it was the latter, and then whether its last one is.
    fn emit(
        &self,
        piece: &[u8],
        path: impl ExactSizeIterator<Item = (u32, u32, u32)>,
        after_unknown: &mut bool,
        out: &mut impl Tokens,
    ) -> Result<()> {
        out.reserve(path.len())?;
        for (start, end, id) in path {
            if id != UNKNOWN {
                out.push(Found { id, start, end });
                *after_unknown = false;
                continue;
            }
            if let Some(bytes) = &self.bytes {
                out.reserve((end - start) as usize)?;
                for at in start..end {
                    out.push(Found {
                        id: bytes[piece[at as usize] as usize],
                        start: at,
                        end: at + 1,
                    });
                }
                continue;
            }
            let Some(id) = self.settings.unk_id else {
                let offset = start as usize;
                let byte = piece[offset];
                return Err(Error::MissingByte { byte, offset });
            };
            if *after_unknown && self.settings.fuse_unk {
                out.extend_last(end);
            } else {
                out.push(Found { id, start, end });
            }
            *after_unknown = true;
        }
        Ok(())
    }
}
