//! The search from the beginning of a piece to its end, in floating point.
//!
//! For each place the best segmentation up to it is kept, as its last token. The best ones up to the places that
//! are reached next begin, further back, with the same tokens: those are settled, and nothing of them needs to
//! be kept but the tokens themselves. So the memory is that of a stretch, unless a text has two readings that
//! never meet.

use std::collections::BTreeSet;
use std::ops::Range;

use super::lattice::UNKNOWN;
use super::{NOWHERE, Real, Step, Unigram};
use crate::error::Result;
use crate::memory::reserve;
use crate::models::found;
use crate::text::character_len;
use crate::threads::going_on;

/// How many bytes are searched before it is looked for what is settled.
const STRETCH: usize = 1 << 14;

/// In single precision, a sum beyond this begins again at 0, as in SentencePiece since 0.2.0: what is added to a large
/// sum is rounded much.
pub(super) const LARGEST_SUM: f64 = 100_000.0;

/// A place that nothing leads to.
pub(super) const NOTHING: Step = Step {
    score: 0.0,
    start: NOWHERE,
    id: UNKNOWN,
};

impl Unigram {
    /// Finds the best segmentation, where scores have added up to a sum before the piece; returns the sum behind it,
    /// and what was taken off it where it began again. `take` gets what is settled, (start, end, id) of each token,
    /// stretch by stretch.
    pub(super) fn forward<T: Real>(
        &self,
        piece: &[u8],
        sum: f64,
        steps: &mut Vec<Step>,
        path: &mut Vec<(u32, u32, u32)>,
        take: impl FnMut(&[(u32, u32, u32)]) -> Result<()>,
    ) -> Result<(f64, f64)> {
        self.forward_by::<T>(STRETCH, piece, sum, steps, path, take)
    }

    /// The same by stretches of at least so many bytes.
    pub(super) fn forward_by<T: Real>(
        &self,
        stretch: usize,
        piece: &[u8],
        sum: f64,
        steps: &mut Vec<Step>,
        path: &mut Vec<(u32, u32, u32)>,
        mut take: impl FnMut(&[(u32, u32, u32)]) -> Result<()>,
    ) -> Result<(f64, f64)> {
        steps.clear();
        steps.push(Step {
            score: sum,
            ..NOTHING
        });
        let (mut base, mut start) = (0, 0); // all before `base` is settled
        let mut size = stretch;
        let mut taken_off = 0.0;
        loop {
            going_on::check()?;
            let stop = piece.len().min(base + size);
            let reach = piece.len().min(stop + self.longest);
            let wanted = reach - base + 1;
            reserve::check()?;
            found::reserve(steps, wanted.saturating_sub(steps.len()))?;
            steps.resize(wanted, NOTHING);
            start = self.advance::<T>(piece, base, start..stop, steps, &mut taken_off);
            if start == piece.len() {
                walk_back(base..start, steps, path);
                take(path)?;
                return Ok((steps[start - base].score, taken_off));
            }
            let settled = settled(base, start, steps);
            walk_back(base..settled, steps, path);
            take(path)?;
            steps.drain(..settled - base);
            base = settled;
            size = stretch.max(2 * (start - base));
        }
    }

    /// Goes on with each character that begins in a range; returns where the next one begins.
    fn advance<T: Real>(
        &self,
        piece: &[u8],
        base: usize,
        range: Range<usize>,
        steps: &mut [Step],
        taken_off: &mut f64,
    ) -> usize {
        let mut start = range.start;
        while start < range.end {
            let mut here = steps[start - base].score;
            if T::BEGINS_AGAIN && here.abs() > LARGEST_SUM {
                for step in &mut steps[start - base..] {
                    step.score = T::round(step.score - here).wide();
                }
                *taken_off += std::mem::take(&mut here);
            }
            let single = start + character_len(piece, start);
            let mut is_covered = false;
            let mut offer = |end: usize, id: u32, candidate: f64| {
                let step = &mut steps[end - base];
                let score = T::round(candidate).wide();
                if step.start == NOWHERE || score > step.score {
                    *step = Step {
                        score,
                        start: start as u32,
                        id,
                    };
                }
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
        start
    }
}

/// The last place that the best segmentations up to all places from `start` on have in common.
fn settled(base: usize, start: usize, steps: &[Step]) -> usize {
    let is_reached = |end: &usize| *end == start || steps[end - base].start != NOWHERE;
    let mut places: BTreeSet<usize> = (start..base + steps.len()).filter(is_reached).collect();
    while places.len() > 1
        && let Some(last) = places.pop_last()
    {
        places.insert(steps[last - base].start as usize);
    }
    places.pop_first().unwrap_or(base)
}

/// Finds the path that leads from a place to another one.
pub(super) fn walk_back(range: Range<usize>, steps: &[Step], path: &mut Vec<(u32, u32, u32)>) {
    path.clear();
    let mut end = range.end;
    while end > range.start {
        let step = steps[end - range.start];
        path.push((step.start, end as u32, step.id));
        end = step.start as usize;
    }
    path.reverse();
}
