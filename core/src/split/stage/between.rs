//! What pre-tokenizers do where a text is cut between two characters.

use std::ops::Range;

use super::{Kind, PreTokenizer};
use crate::boundaries::pairs::{Between, Left};
use crate::split::cutters;
use crate::split::pieces::Behavior;

impl PreTokenizer {
    /// What it does where a text is cut.
    #[must_use]
    pub fn between(&self, left: Left, right: char) -> Between {
        let Left::Character(left) = left else {
            return self.behind_visible(right);
        };
        let mut pair = [0; 8];
        let place = left.encode_utf8(&mut pair).len();
        let end = place + right.encode_utf8(&mut pair[place..]).len();
        let pair = &pair[..end];
        let at_characters = |behavior: Behavior, is_match: [bool; 2]| match (behavior, is_match) {
            (Behavior::Isolated, [false, false]) => Between::Stays,
            (Behavior::Contiguous, [left, right]) if left == right => Between::Stays,
            (Behavior::Isolated | Behavior::Contiguous, _) => Between::Ends,
            (Behavior::Removed | Behavior::MergedWithPrevious | Behavior::MergedWithNext, _) => {
                Between::Unknown
            }
        };
        let by_both = |cut: fn(&[u8], Range<usize>, &mut Vec<Range<usize>>)| {
            let mut pieces = Vec::new();
            cut(pair, 0..end, &mut pieces);
            match pieces
                .iter()
                .any(|piece| piece.start < place && place < piece.end)
            {
                true => Between::Stays,
                false => Between::Ends,
            }
        };
        match &self.kind {
            // Of matches, one ends there, or what lies between two, and both begin anew; and nothing is joined.
            Kind::Scanner(scanner)
            | Kind::Matches(scanner, Behavior::Removed | Behavior::Isolated, _) => {
                match scanner.safe_cut(pair) {
                    0 => Between::Unknown,
                    _ => Between::Ends,
                }
            }
            &Kind::Punctuation(behavior) => at_characters(
                behavior,
                [0, place].map(|at| cutters::punctuation_at(pair, at).0),
            ),
            &Kind::Digits(behavior) => at_characters(
                behavior,
                [0, place].map(|at| cutters::number_at(pair, at).0),
            ),
            // Of these, what two characters are says whether a piece goes on from one to the other.
            Kind::WordsAndPunctuation => by_both(cutters::words_and_punctuation),
            Kind::Words => by_both(cutters::words),
            Kind::WhiteSpace => by_both(cutters::white_space),
            Kind::Matches(..)
            | Kind::Expression(..)
            | Kind::Literal(..)
            | Kind::PrefixSpace
            | Kind::ByteLevel
            | Kind::Marks(_)
            | Kind::Scripts
            | Kind::FixedLength(_) => Between::Unknown,
        }
    }

    /// Whether it knows what it does between some two characters.
    pub fn tells_between(&self) -> bool {
        match &self.kind {
            Kind::Scanner(_)
            | Kind::Matches(_, Behavior::Removed | Behavior::Isolated, _)
            | Kind::WordsAndPunctuation
            | Kind::Words
            | Kind::WhiteSpace
            | Kind::Punctuation(Behavior::Isolated | Behavior::Contiguous)
            | Kind::Digits(Behavior::Isolated | Behavior::Contiguous) => true,
            Kind::Matches(..)
            | Kind::Expression(..)
            | Kind::Literal(..)
            | Kind::PrefixSpace
            | Kind::ByteLevel
            | Kind::Punctuation(_)
            | Kind::Digits(_)
            | Kind::Marks(_)
            | Kind::Scripts
            | Kind::FixedLength(_) => false,
        }
    }

    /// What it does where a text is cut behind any character that is no white space.
    fn behind_visible(&self, right: char) -> Between {
        match &self.kind {
            Kind::Scanner(scanner)
            | Kind::Matches(scanner, Behavior::Removed | Behavior::Isolated, _)
                if right == ' ' && scanner.ends_behind_visible() =>
            {
                Between::Ends
            }
            // A piece ends there or goes on, but for that the character has no say in what becomes of the other.
            Kind::Punctuation(Behavior::Isolated | Behavior::Contiguous)
            | Kind::Digits(Behavior::Isolated | Behavior::Contiguous) => Between::Stays,
            Kind::Scanner(_)
            | Kind::Matches(..)
            | Kind::Expression(..)
            | Kind::Literal(..)
            | Kind::PrefixSpace
            | Kind::ByteLevel
            | Kind::WordsAndPunctuation
            | Kind::Words
            | Kind::WhiteSpace
            | Kind::Punctuation(_)
            | Kind::Digits(_)
            | Kind::Marks(_)
            | Kind::Scripts
            | Kind::FixedLength(_) => Between::Unknown,
        }
    }
}
