//! Segmentation of a part of a text, given what the scores of the parts before it add up to.
//!
//! A sum of scores is rounded at each token, to f32 or to f64, the more the longer the text before it. Of two
//! segmentations of nearly equal score the one may win at the beginning of a text and the other further
//! on. To find the tokens of a part, it is enough to begin with the sum up to there. To know whether
//! they hold elsewhere, the lead of the best segmentation over the second best is compared with what
//! rounding can do at most.
//!
//! The rounded sum of a path of n tokens differs from the exact one by at most n halves of the distance
//! between numbers of that size, which for sums up to M is at most M / 2^23 in f32, M / 2^52 in f64. The search
//! finds the path whose rounded sum is the highest, for rounding keeps order. So if every other path lies further
//! behind than (n + n) / 2 such distances, the best path is the one that is found. The lead itself is reckoned in
//! f64, from sums that begin at 0: its error is at most 2n such halves for the size of the part's own sums.

use super::forward::{LARGEST_SUM, NOTHING, walk_back};
use super::lattice::UNKNOWN;
use super::{NOWHERE, SearchScratch, Step, Unigram};
use crate::error::Result;
use crate::models::model::{Carrying, Scores};
use crate::models::scratch::Scratch;
use crate::text::character_len;

/// The distance between numbers by their size, in f32 and in f64, and as much again for whatever is reckoned here.
const DISTANCE: f64 = 2.0 / (1 << 23) as f64;
const FINE_DISTANCE: f64 = 2.0 * f64::EPSILON;

/// Of longer parts nobody remembers the tokens, so that it does not matter how far they hold.
const LONGEST: usize = 80;

impl Unigram {
    /// Finds the best segmentation of a part by exact sums, and its lead over all others.
    fn lead(&self, piece: &[u8], scratch: &mut SearchScratch) -> f64 {
        let SearchScratch {
            steps,
            rivals,
            path,
            ..
        } = scratch;
        steps.clear();
        steps.resize(piece.len() + 1, NOTHING);
        // The best that leads to each place by another last token.
        rivals.clear();
        rivals.resize(piece.len() + 1, f64::NEG_INFINITY);
        let mut start = 0;
        while start < piece.len() {
            let here = steps[start].score;
            let single = start + character_len(piece, start);
            let mut is_covered = false;
            let mut offer = |end: usize, id: u32, score: f64| {
                let step = &mut steps[end];
                if step.start != NOWHERE && score <= step.score {
                    rivals[end] = rivals[end].max(score);
                    return;
                }
                if step.start != NOWHERE {
                    rivals[end] = rivals[end].max(step.score);
                }
                *step = Step {
                    score,
                    start: start as u32,
                    id,
                };
            };
            self.trie.prefixes(piece, start, |end, id| {
                is_covered |= end == single;
                offer(end, id, self.scores[id as usize].best + here);
            });
            if !is_covered {
                offer(single, UNKNOWN, self.unknown + here);
            }
            start = single;
        }
        walk_back(0..piece.len(), steps, path);
        // The second best path comes to one of these places in another way than the best.
        let leads = path.iter().map(|&(_, end, _)| {
            let end = end as usize;
            steps[end].score - rivals[end]
        });
        leads.fold(f64::INFINITY, f64::min)
    }

    /// Up to which absolute sum before a piece its exact best segmentation, which was just found, is the
    /// one that rounded sums give, and no sum begins again within it; 0 if its tokens do not say what they add.
    fn bound(&self, piece: &[u8], lead: f64, path: &[(u32, u32, u32)]) -> f32 {
        let says = |&(_, _, id): &(u32, u32, u32)| match id {
            UNKNOWN => self.tells_unknown,
            _ => self.added(id) == self.scores[id as usize].best,
        };
        // Neighbours that are unknown may become one token.
        let unknown = path.iter().map(|step| step.2 == UNKNOWN);
        let meet = unknown
            .clone()
            .zip(unknown.skip(1))
            .any(|(left, right)| left && right);
        if meet || !path.iter().all(says) {
            return 0.0;
        }
        let tokens = piece.len() as f64 + 1.0;
        let own = tokens * f64::from(self.largest);
        let (distance, largest) = match self.settings.single_precision {
            true => (DISTANCE, LARGEST_SUM),
            false => (FINE_DISTANCE, f64::INFINITY),
        };
        let by_lead = lead / (tokens * distance) - own;
        (0.99 * by_lead.min(largest - own)).max(0.0) as f32
    }

    /// What a token adds to a sum.
    fn added(&self, id: u32) -> f64 {
        match (id, self.settings.single_precision) {
            (UNKNOWN, _) => self.unknown,
            (_, true) => self.singles[id as usize].into(),
            (_, false) => self.doubles[id as usize],
        }
    }

    fn add_up(&self, sum: f64, path: &[(u32, u32, u32)]) -> f64 {
        let scores = path.iter().map(|&(_, _, id)| self.added(id));
        match self.settings.single_precision {
            true => (scores.map(|score| score as f32))
                .fold(sum as f32, |sum, score| sum + score)
                .into(),
            false => scores.fold(sum, |sum, score| sum + score),
        }
    }
}

/// Whether it is likely that a part has few unknown characters, of which neighbours have no bound.
fn mostly_ascii(piece: &[u8]) -> bool {
    let others = piece.iter().filter(|byte| !byte.is_ascii()).count();
    others <= 3 + piece.len() / 2
}

impl Carrying for Unigram {
    fn encode_on(&self, piece: &[u8], scratch: &mut Scratch, ids: &mut Vec<u32>) -> Result<()> {
        let Scratch {
            own, sum, bound, ..
        } = scratch;
        let unigram: &mut SearchScratch = own.of();
        *bound = 0.0;
        if piece.len() <= LONGEST && mostly_ascii(piece) {
            let lead = self.lead(piece, unigram);
            *bound = self.bound(piece, lead, &unigram.path);
            if sum.abs() < f64::from(*bound) {
                *sum = self.add_up(*sum, &unigram.path);
                return self.emit(piece, unigram.path.iter().copied(), &mut false, ids);
            }
        }
        let SearchScratch {
            steps, path, exact, ..
        } = unigram;
        std::mem::swap(path, exact);
        let mut after_unknown = false;
        let take = |settled: &[(u32, u32, u32)]| {
            // What has a bound is settled at once.
            if *bound > 0.0 && settled != &exact[..] {
                *bound = 0.0; // what is right here is not what is right elsewhere
            }
            self.emit(piece, settled.iter().copied(), &mut after_unknown, ids)
        };
        (*sum, _) = match self.settings.single_precision {
            true => self.forward::<f32>(piece, *sum, steps, path, take)?,
            false => self.forward::<f64>(piece, *sum, steps, path, take)?,
        };
        Ok(())
    }

    fn scores(&self) -> Scores<'_> {
        match self.settings.single_precision {
            true => Scores::Single(&self.singles),
            false => Scores::Double(&self.doubles),
        }
    }

    fn largest(&self) -> f32 {
        self.largest
    }
}
