//! The search in whole numbers, from the end of a piece to its beginning.
//!
//! Scores are rounded to ten-thousandths, so that sums are exact and do not depend on where a text
//! begins. At each place the token is kept whose score and the best sum behind it add up to the most;
//! of equal sums the longest token. A character that is not a token is unknown, at a score of its own.
//!
//! Exact sums make cuts free: where no token goes over from one character to the next, what stands
//! before that place and what stands behind it are two searches. So the memory is that of a block, unless
//! tokens join all characters of the text.

use super::lattice::UNKNOWN;
use super::{SearchScratch, Unigram};
use crate::error::Result;
use crate::text::read_char;

/// How many units make a score of 1.
const UNITS: f64 = 1e4;
/// What an unknown character scores.
pub(super) const UNKNOWN_SCORE: f64 = -1000.0;
/// The largest number of units that a score can have: the sum of as many as a piece has bytes fits in
/// 64 bits.
const MOST: f64 = i32::MAX as f64;
/// From how many bytes on a block ends at the next place that no token goes over.
const BLOCK: usize = 1 << 10;

/// The best that a piece can go on with from a place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Onward {
    sum: i64,
    end: u32,
    id: u32,
}

/// Rounds a score to units, a half away from 0; beyond [`MOST`] it is that.
pub(super) fn units(score: f64) -> i64 {
    (score * UNITS).round().clamp(-MOST, MOST) as i64
}

/// Rounds a score in the same way.
pub(super) fn rounded(score: f64) -> f64 {
    units(score) as f64 / UNITS
}

impl Unigram {
    /// Finds the best segmentation, and returns its score. `take` gets (start, end, id) of each token, from the left,
    /// block by block.
    pub(super) fn backward(
        &self,
        piece: &[u8],
        scratch: &mut SearchScratch,
        mut take: impl FnMut(&[(u32, u32, u32)]) -> Result<()>,
    ) -> Result<f64> {
        let mut sum = 0;
        let mut from = 0;
        while from < piece.len() {
            let end = self.block(piece, from, &mut scratch.starts);
            sum += self.backward_in_block(&piece[..end], from, scratch);
            take(&scratch.path)?;
            from = end;
        }
        Ok(sum as f64 / UNITS)
    }

    /// Collects where the characters of the next block begin, and returns where it ends.
    fn block(&self, piece: &[u8], from: usize, starts: &mut Vec<u32>) -> usize {
        starts.clear();
        let mut left = None;
        let mut at = from;
        while at < piece.len() {
            let (character, length) = read_char(piece, at);
            if at - from >= BLOCK
                && let (Some(left), Some(right), Some(joints)) = (left, character, &self.joints)
                && joints.parts(left, right)
            {
                break;
            }
            starts.push(at as u32);
            left = character;
            at += length;
        }
        at
    }

    fn backward_in_block(&self, text: &[u8], from: usize, scratch: &mut SearchScratch) -> i64 {
        let SearchScratch {
            onward,
            starts,
            path,
            ..
        } = scratch;
        let end = Onward {
            sum: 0,
            end: 0,
            id: UNKNOWN,
        };
        onward.clear();
        onward.resize(text.len() - from + 1, end);
        let unknown = (UNKNOWN_SCORE * UNITS) as i64;
        let mut single = text.len();
        for &start in starts.iter().rev() {
            let start = start as usize;
            let mut best = Onward {
                sum: unknown + onward[single - from].sum,
                end: single as u32,
                id: UNKNOWN,
            };
            let mut is_covered = false;
            // The shortest come first, so the last of equals is the longest.
            self.trie.prefixes(text, start, |end, id| {
                let sum = self.units[id as usize] + onward[end - from].sum;
                let is_first = end == single && !is_covered;
                is_covered |= end == single;
                if is_first || sum >= best.sum {
                    best = Onward {
                        sum,
                        end: end as u32,
                        id,
                    };
                }
            });
            onward[start - from] = best;
            single = start;
        }
        path.clear();
        let mut start = from;
        while start < text.len() {
            let Onward { end, id, .. } = onward[start - from];
            path.push((start as u32, end, id));
            start = end as usize;
        }
        onward[0].sum
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::{SETTINGS, all, ids, model};
    use super::super::{SearchScratch, Settings, Unigram};
    use super::BLOCK;
    use crate::models::model::Model as _;
    use crate::models::model::tests::tokens_of;

    fn of(tokens: &[(&str, f64)]) -> Unigram {
        let settings = Settings {
            fixed_point: true,
            ..SETTINGS
        };
        let unknown = [("", 0.0, 2)].into_iter();
        let rest = tokens.iter().map(|&(text, score)| (text, score, 1));
        let tokens: Vec<_> = unknown
            .chain(rest)
            .map(|(text, score, kind)| (text.as_bytes(), score, kind))
            .collect();
        model(settings, &tokens)
    }

    fn encode(model: &Unigram, text: &[u8]) -> Vec<u32> {
        let out = tokens_of(model, text);
        let mut at = 0;
        for found in &out {
            assert_eq!(found.start, at, "tokens cover the text");
            at = found.end;
        }
        assert_eq!(at as usize, text.len());
        ids(&out)
    }

    /// From the left the last token would be the longest.
    #[test]
    fn among_equals_the_first_token_is_the_longest() {
        let model = of(&[("g", -1.0), ("gg", -2.0), ("ggg", -3.0)]);
        assert_eq!(encode(&model, b"ggg"), [3]);
        assert_eq!(encode(&model, b"gggg"), [3, 1]);
        assert_eq!(encode(&model, b"ggggg"), [3, 2]);
        let ranked = model.nbest_piece(b"gggg", 9).unwrap();
        assert_eq!(ids(&ranked[0].0), [3, 1]);
        assert_eq!(ranked.len(), 7);
        assert_eq!(model.nbest_piece(b"gggg", 2).unwrap(), ranked[..2]);
    }

    #[test]
    fn differences_below_the_unit_are_none() {
        let model = of(&[("a", -1.0), ("b", -1.0), ("ab", -2.000_049)]);
        assert_eq!(encode(&model, b"ab"), [3]);
        let model = of(&[("a", -1.0), ("b", -1.0), ("ab", -2.000_05)]);
        assert_eq!(encode(&model, b"ab"), [1, 2]);
    }

    #[test]
    fn an_unknown_character_scores_as_little_as_is_said() {
        let model = of(&[("a", -1.0), ("ax", -1001.5), ("xa", -1001.0)]);
        assert_eq!(encode(&model, b"ax"), [1, 0]);
        assert_eq!(encode(&model, b"xa"), [3]);
        assert_eq!(encode(&model, b"x\xffa"), [0, 1], "neighbours fuse");
    }

    #[test]
    fn scores_have_limits() {
        for score in [214_748.5, 1e300, f64::MAX] {
            assert_eq!(
                encode(&of(&[("a", score), ("aa", score)]), b"aaa"),
                [1, 1, 1]
            );
            assert_eq!(
                encode(&of(&[("a", -score), ("aa", -score)]), b"aaa"),
                [2, 1]
            );
        }
    }

    /// A text of many blocks is cut as the same text in one.
    #[test]
    fn blocks_change_nothing() {
        let tokens = [
            ("a", -1.0),
            ("ab", -1.5),
            ("ba", -1.5),
            (" a", -1.2),
            ("b", -1.0),
        ];
        let blocks = of(&tokens);
        let mut whole = of(&tokens);
        whole.joints = None;
        let text: Vec<u8> = (0..20_000_u32)
            .map(|number| b"ab ax"[(number.wrapping_mul(2_654_435_761) >> 16) as usize % 5])
            .collect();
        assert_eq!(encode(&blocks, &text), encode(&whole, &text));
        let held = |model: &Unigram| {
            let mut scratch = SearchScratch::default();
            model.backward(&text, &mut scratch, |_| Ok(())).unwrap();
            scratch.onward.capacity()
        };
        assert!(held(&blocks) < 3 * BLOCK, "the memory is that of a block");
        assert!(held(&whole) > text.len());
    }

    fn vocabulary() -> impl Strategy<Value = Vec<(String, f64)>> {
        proptest::collection::btree_map("[abé ]{1,3}", -9i32..2, 1..12).prop_map(|tokens| {
            let scored = |(text, score)| (text, f64::from(score) / 2.0);
            tokens.into_iter().map(scored).collect()
        })
    }

    proptest! {
        /// Of all segmentations with the highest sum it is the one that begins with the longest token,
        /// and goes on so.
        #[test]
        fn agrees_with_all_segmentations(tokens in vocabulary(), text in "[abcé ]{1,8}") {
            let tokens: Vec<(&str, f64)> = tokens.iter().map(|(t, s)| (&t[..], *s)).collect();
            let model = of(&tokens);
            let every = all(&model, text.as_bytes());
            let best = every.iter().map(|each| each.1).fold(f64::NEG_INFINITY, f64::max);
            let length = |id: &u32| match model.tokens.iter().find(|token| token.0 == *id) {
                Some((_, token)) if !token.is_empty() => token.len(),
                _ => 0, // an unknown character stands alone at its place
            };
            let lengths = |path: &[u32]| path.iter().map(length).collect::<Vec<_>>();
            let expected = every
                .iter()
                .filter(|each| each.1 == best)
                .max_by_key(|each| lengths(&each.0))
                .unwrap();
            let mut expected = expected.0.clone();
            expected.dedup_by(|a, b| *a == *b && *a == super::UNKNOWN);
            let expected: Vec<u32> =
                expected.into_iter().map(|id| if id == super::UNKNOWN { 0 } else { id }).collect();
            prop_assert_eq!(encode(&model, text.as_bytes()), expected);
        }
    }
}
