//! The pieces as they are segmented now, and what a merge changes in them: what the trainers have in common that know
//! all pairs and merge the best.

use super::cells::{Cells, SEPARATOR};
use super::neighbours::Neighbours;
use super::pairs::Pairs;
use super::tokens::Tokens;

/// Pieces of tokens, and the pairs in them.
#[derive(Debug)]
pub(in crate::trainers) struct Segmentation {
    pub cells: Cells,
    pub tokens: Tokens,
    pub pairs: Pairs,
    sides: Sides,
}

impl Segmentation {
    /// Begins without pieces; pairs that occur `least` times or more are kept.
    pub fn new(tokens: Tokens, least: u64) -> Self {
        Self {
            cells: Cells::new(),
            tokens,
            pairs: Pairs::new(least),
            sides: Sides::default(),
        }
    }

    /// Merges a pair everywhere, from left to right; gives the pairs whose count grew, and how often it stood there.
    pub fn merge(&mut self, merge: [u32; 3]) -> (Vec<u32>, u64) {
        let Self {
            cells,
            tokens,
            pairs,
            sides,
        } = self;
        sides.merge(merge, cells, pairs, tokens)
    }
}

/// What a merge finds on both sides of its product; empty between merges, so that several texts can share it.
#[derive(Debug, Default)]
pub(in crate::trainers) struct Sides {
    before: Neighbours,
    after: Neighbours,
}

impl Sides {
    /// Merges a pair everywhere, from left to right; gives the pairs whose count grew, and how often it stood there.
    pub fn merge(
        &mut self,
        [left, right, product]: [u32; 3],
        cells: &mut Cells,
        pairs: &mut Pairs,
        tokens: &Tokens,
    ) -> (Vec<u32>, u64) {
        let Self { before, after } = self;
        let Some(number) = pairs.find(left, right) else {
            return (Vec::new(), 0);
        };
        let places = pairs.all[number as usize].take_places();
        before.reserve(tokens.len());
        after.reserve(tokens.len());
        let mut gone = 0;
        cells.merge_all([left, right, product], &places, |around, place, count| {
            gone += count;
            if around.before != SEPARATOR {
                before.meet(around.before, around.before_at, count);
            }
            if around.after != SEPARATOR {
                after.meet(around.after, place, count);
            }
        });
        let mut grown = Vec::new();
        before.spread(
            pairs,
            |pairs, token, sum| pairs.gain(token, product, sum, tokens),
            &mut grown,
        );
        after.spread(
            pairs,
            |pairs, token, sum| pairs.gain(product, token, sum, tokens),
            &mut grown,
        );
        // Only now: in "abab" the second merge takes away a pair that the first one made.
        for (token, count) in before.sums() {
            pairs.lose(token, left, count);
        }
        for (token, count) in after.sums() {
            pairs.lose(right, token, count);
        }
        before.clear();
        after.clear();
        pairs.all[number as usize].count -= gone;
        (grown, gone)
    }
}
