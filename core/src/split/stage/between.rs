//! What pre-tokenizers do where a text is cut behind a byte, or any visible character, and before a byte of ASCII.

use super::{Kind, PreTokenizer};
use crate::boundaries::pairs::{Between, Left};
use crate::split::cutters;
use crate::split::pieces::Behavior;

impl PreTokenizer {
    /// What it does where a text is cut.
    #[must_use]
    pub fn between(&self, left: Left, right: u8) -> Between {
        let Left::Byte(left) = left else {
            return self.behind_visible(right);
        };
        let pair = [left, right];
        let at_characters = |behavior: Behavior, is_match: [bool; 2]| match (behavior, is_match) {
            (Behavior::Isolated, [false, false]) => Between::Stays,
            (Behavior::Contiguous, [left, right]) if left == right => Between::Stays,
            (Behavior::Isolated | Behavior::Contiguous, _) => Between::Ends,
            (Behavior::Removed | Behavior::MergedWithPrevious | Behavior::MergedWithNext, _) => {
                Between::Unknown
            }
        };
        match &self.kind {
            // Of matches, one ends there, or what lies between two, and both begin anew; and nothing is joined.
            Kind::Scanner(scanner)
            | Kind::Matches(scanner, Behavior::Removed | Behavior::Isolated, _) => {
                match scanner.safe_cut(&pair) {
                    0 => Between::Unknown,
                    _ => Between::Ends,
                }
            }
            &Kind::Punctuation(behavior) => at_characters(
                behavior,
                [0, 1].map(|at| cutters::punctuation_at(&pair, at).0),
            ),
            &Kind::Digits(behavior) => {
                at_characters(behavior, [0, 1].map(|at| cutters::number_at(&pair, at).0))
            }
            Kind::Matches(..)
            | Kind::Expression(..)
            | Kind::Literal(..)
            | Kind::PrefixSpace
            | Kind::ByteLevel
            | Kind::WordsAndPunctuation
            | Kind::Words
            | Kind::WhiteSpace
            | Kind::Marks(_)
            | Kind::Scripts
            | Kind::FixedLength(_) => Between::Unknown,
        }
    }

    /// What it does where a text is cut behind any character that is no white space.
    fn behind_visible(&self, right: u8) -> Between {
        match &self.kind {
            Kind::Scanner(scanner)
            | Kind::Matches(scanner, Behavior::Removed | Behavior::Isolated, _)
                if right == b' ' && scanner.ends_behind_visible() =>
            {
                Between::Ends
            }
            // A piece ends there or goes on, but for that the character has no say in what becomes of the other.
            Kind::Punctuation(Behavior::Isolated | Behavior::Contiguous)
            | Kind::Digits(Behavior::Isolated | Behavior::Contiguous) => Between::Stays,
            _ => Between::Unknown,
        }
    }
}
