//! Which stretches of text may become tokens, by the rules of SentencePiece's trainers.

use serde::Deserialize;

use crate::split::categories::{COMMON, HAN, HIRAGANA, INHERITED, KATAKANA, UNKNOWN, script};

/// The mark that stands for a blank.
pub const MARK: char = '\u{2581}';
/// What stands for a piece that was given and is not learnt: it divides text.
pub const BOUNDARY: char = '\u{1F}';
/// What stands for a character that the vocabulary leaves out.
pub const LEFT_OUT: char = '\u{2585}';
const LONG_VOWEL: char = '\u{30FC}';
/// A script that goes with any other.
const ANY: u8 = u8::MAX;

/// Gives the number of a character's script; a character of none counts as common.
#[must_use]
pub fn script_of(character: char) -> u8 {
    match script(character) {
        UNKNOWN => COMMON,
        known => known,
    }
}

/// The rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of its own, with the field's name"
)]
pub struct Rules {
    /// The most characters of a token.
    pub max_length: usize,
    /// No token goes on across a blank.
    pub split_by_whitespace: bool,
    /// No token has characters of different scripts.
    pub split_by_unicode_script: bool,
    /// Digits are a script like others, not one that goes with any.
    pub split_by_number: bool,
    /// Each digit is a token of its own.
    pub split_digits: bool,
    /// The mark stands at the end of words.
    pub treat_whitespace_as_suffix: bool,
    /// A token may have several marks and nothing else.
    pub allow_whitespace_only_pieces: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            max_length: 16,
            split_by_whitespace: true,
            split_by_unicode_script: true,
            split_by_number: true,
            split_digits: false,
            treat_whitespace_as_suffix: false,
            allow_whitespace_only_pieces: false,
        }
    }
}

/// What the rules need to know of a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// It is part of no token.
    Never,
    /// The mark.
    Mark,
    /// A digit, of a script.
    Digit(u8),
    /// Any other character, of a script.
    Other(u8),
}

/// Gives the class of a character.
#[must_use]
pub fn class_of(character: char) -> Class {
    match character {
        MARK => Class::Mark,
        LEFT_OUT | BOUNDARY | '\0' | ' ' => Class::Never,
        '0'..='9' | '\u{FF10}'..='\u{FF19}' => Class::Digit(script_of(character)),
        LONG_VOWEL => Class::Other(HAN),
        _ => match script_of(character) {
            HIRAGANA | KATAKANA => Class::Other(HAN),
            script => Class::Other(script),
        },
    }
}

impl Rules {
    /// Whether a token may have these characters.
    #[must_use]
    pub fn allow(&self, piece: &[Class]) -> bool {
        if piece.is_empty() || piece.len() > self.max_length {
            return false;
        }
        let only_marks =
            self.allow_whitespace_only_pieces && piece.iter().all(|&class| class == Class::Mark);
        let mut previous = ANY;
        for (place, &class) in piece.iter().enumerate() {
            let (mut script, is_digit) = match class {
                Class::Never => return false,
                Class::Mark if only_marks || self.allow_mark(place, piece.len()) => continue,
                Class::Mark => return false,
                Class::Digit(script) => (script, true),
                Class::Other(INHERITED) => (previous, false),
                Class::Other(script) => (script, false),
            };
            if is_digit {
                if self.split_digits && piece.len() > 1 {
                    return false;
                }
                if !self.split_by_number {
                    script = ANY;
                }
            }
            if self.split_by_unicode_script
                && script != ANY
                && previous != ANY
                && script != previous
            {
                return false;
            }
            previous = script;
        }
        true
    }

    /// Whether some token may have these two characters side by side. A text can be cut where none may:
    /// no token goes on there.
    #[must_use]
    pub fn may_join(&self, left: Class, right: Class) -> bool {
        if left == Class::Never || right == Class::Never {
            return false;
        }
        if left == Class::Mark || right == Class::Mark {
            let only_marks = self.allow_whitespace_only_pieces && left == right;
            let stands_apart = match self.treat_whitespace_as_suffix {
                false => right == Class::Mark,
                true => left == Class::Mark,
            };
            return only_marks || !(self.split_by_whitespace && stands_apart);
        }
        let is_digit = |class| matches!(class, Class::Digit(_));
        if self.split_digits && (is_digit(left) || is_digit(right)) {
            return false;
        }
        // An inherited script is that of some character before.
        let script = |class| match class {
            Class::Digit(script) if self.split_by_number => Some(script),
            Class::Other(script) if script != INHERITED => Some(script),
            _ => None,
        };
        !self.split_by_unicode_script
            || script(left).is_none_or(|left| script(right).is_none_or(|right| left == right))
    }

    /// Whether the mark may stand at a place: at the beginning, or without splitting not at the end;
    /// with marks at the end of words the other way round.
    fn allow_mark(&self, place: usize, length: usize) -> bool {
        let (first, last) = (place == 0, place + 1 == length);
        match (self.split_by_whitespace, self.treat_whitespace_as_suffix) {
            (true, false) => first,
            (true, true) => last,
            (false, false) => first || !last,
            (false, true) => last || !first,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allows(rules: Rules, text: &str) -> bool {
        let classes: Vec<Class> = text.chars().map(class_of).collect();
        rules.allow(&classes)
    }

    #[test]
    fn follows_the_rules() {
        let usual = Rules::default();
        for text in [
            "▁",
            "▁the",
            "it's",
            "日本ご",
            "カー",
            "e\u{301}t",
            "12",
            "▁12",
        ] {
            // An apostrophe is of the common script, so not among letters.
            assert_eq!(allows(usual, text), text != "it's", "{text}");
        }
        for text in [
            "",
            "a▁",
            "a▁b",
            "▁▁",
            "aб",
            "a1",
            "日a",
            "x\u{2585}",
            "abcdefghijklmnopq",
        ] {
            assert!(!allows(usual, text), "{text}");
        }
        let loose = Rules {
            split_by_number: false,
            split_by_whitespace: false,
            ..usual
        };
        for (text, expected) in [("a1b", true), ("a▁b", true), ("a▁", false), ("a1б", true)] {
            assert_eq!(allows(loose, text), expected, "{text}");
        }
        let suffix = Rules {
            treat_whitespace_as_suffix: true,
            allow_whitespace_only_pieces: true,
            split_digits: true,
            ..usual
        };
        for (text, expected) in [
            ("a▁", true),
            ("▁a", false),
            ("▁▁", true),
            ("1", true),
            ("11", false),
        ] {
            assert_eq!(allows(suffix, text), expected, "{text}");
        }
        let mixed = Rules {
            split_by_unicode_script: false,
            ..usual
        };
        assert!(allows(mixed, "it's1б"));
    }

    /// What no token may have side by side is in no token: for all rules, all texts of up to 4 characters.
    #[test]
    fn joins_whatever_a_token_may_have() {
        let characters = ['▁', 'a', 'б', '1', '.', '\u{301}', 'カ', LEFT_OUT];
        let classes = characters.map(class_of);
        for bits in 0..64u8 {
            let is_set = |bit: u8| bits >> bit & 1 == 1;
            let rules = Rules {
                max_length: 4,
                split_by_whitespace: is_set(0),
                split_by_unicode_script: is_set(1),
                split_by_number: is_set(2),
                split_digits: is_set(3),
                treat_whitespace_as_suffix: is_set(4),
                allow_whitespace_only_pieces: is_set(5),
            };
            for number in 0..8usize.pow(4) {
                for length in 2..=4 {
                    let piece: Vec<Class> = (0..length)
                        .map(|at| classes[number >> (3 * at) & 7])
                        .collect();
                    let joined = piece
                        .windows(2)
                        .all(|pair| rules.may_join(pair[0], pair[1]));
                    assert!(joined || !rules.allow(&piece), "{rules:?} {piece:?}");
                    let exact = length > 2
                        || rules.allow(&piece)
                        || piece.contains(&Class::Other(INHERITED));
                    // With marks or inherited scripts there may be more around that makes it a token.
                    assert!(
                        exact || !joined || piece.contains(&Class::Mark),
                        "{rules:?} {piece:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn knows_scripts() {
        assert_eq!(script_of('a'), script_of('é'));
        assert_ne!(script_of('a'), script_of('б'));
        assert_eq!(script_of('\u{301}'), INHERITED);
        assert_eq!([script_of('1'), script_of('\u{E000}')], [COMMON; 2]);
        assert_eq!(['漢', 'ひ', 'カ'].map(script_of), [HAN, HIRAGANA, KATAKANA]);
    }
}
