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

    /// Takes in all pairs, when each token has one cell.
    pub fn find_pairs(&mut self) {
        let mut last = u32::MAX;
        self.cells.for_each_pair(|left, right, count, place| {
            self.pairs
                .count(left, right, count, place, &mut last, &self.tokens);
        });
    }

    /// Merges a pair everywhere, from left to right.
    pub fn merge(&mut self, merge: [u32; 3]) -> Change {
        let Self {
            cells,
            tokens,
            pairs,
            sides,
        } = self;
        sides.merge(merge, cells, pairs, tokens)
    }

    /// Puts the tokens that a token consists of in its stead, at ascending places, where it still stands.
    pub fn split(&mut self, token: u32, parts: &[u32], places: &[u32]) -> Change {
        let Self {
            cells,
            tokens,
            pairs,
            sides,
        } = self;
        sides.split(token, parts, places, cells, pairs, tokens)
    }
}

/// What a merge or a split has done.
#[derive(Debug, Default)]
pub(in crate::trainers) struct Change {
    /// The pairs whose count grew.
    pub grown: Vec<u32>,
    /// How often the pair or the token stood there.
    pub times: u64,
    /// Where, in order; of a merge also places where the pair did not stand any more.
    pub places: Vec<u32>,
}

/// What a merge or a split finds on both sides; empty between merges, so that several texts can share it.
#[derive(Debug, Default)]
pub(in crate::trainers) struct Sides {
    before: Neighbours,
    after: Neighbours,
}

impl Sides {
    /// Merges a pair everywhere, from left to right.
    pub fn merge(
        &mut self,
        [left, right, product]: [u32; 3],
        cells: &mut Cells,
        pairs: &mut Pairs,
        tokens: &Tokens,
    ) -> Change {
        let Self { before, after } = self;
        let Some(number) = pairs.find(left, right) else {
            return Change::default();
        };
        let places = pairs.all[number as usize].take_places();
        before.reserve(tokens.len());
        after.reserve(tokens.len());
        let mut times = 0;
        cells.merge_all([left, right, product], &places, |around, place, count| {
            times += count;
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
        pairs.all[number as usize].count -= times;
        Change {
            grown,
            times,
            places,
        }
    }

    /// Puts parts in the place of a token, at ascending places, where it still stands.
    pub fn split(
        &mut self,
        token: u32,
        parts: &[u32],
        places: &[u32],
        cells: &mut Cells,
        pairs: &mut Pairs,
        tokens: &Tokens,
    ) -> Change {
        let Self { before, after } = self;
        before.reserve(tokens.len());
        after.reserve(tokens.len());
        let length = |part: u32| tokens.lengths[part as usize];
        let spans: Vec<(u32, u32)> = parts.iter().map(|&part| (part, length(part))).collect();
        let (first, last) = (parts[0], parts[parts.len() - 1]);
        let to_last = length(token) - length(last);
        let mut change = Change::default();
        cells.split_all(token, &spans, places, |around, place, count| {
            change.times += count;
            change.places.push(place);
            if around.before != SEPARATOR {
                before.meet(around.before, around.before_at, count);
            }
            if around.after != SEPARATOR {
                after.meet(around.after, place + to_last, count);
            }
        });
        before.spread(
            pairs,
            |pairs, token, sum| pairs.gain(token, first, sum, tokens),
            &mut change.grown,
        );
        after.spread(
            pairs,
            |pairs, token, sum| pairs.gain(last, token, sum, tokens),
            &mut change.grown,
        );
        let mut offset = 0;
        for inner in parts.windows(2) {
            if let Some(number) = pairs.gain(inner[0], inner[1], change.times, tokens) {
                let moved = change.places.iter().map(|place| place + offset);
                pairs.all[number as usize].places.extend(moved);
                change.grown.push(number);
            }
            offset += length(inner[0]);
        }
        // Only now: where the token stands twice in a row, the first split makes a pair that the second takes away.
        for (neighbour, count) in before.sums() {
            pairs.lose(neighbour, token, count);
        }
        for (neighbour, count) in after.sums() {
            pairs.lose(token, neighbour, count);
        }
        before.clear();
        after.clear();
        change
    }
}
