//! What the pre-tokenizers ask of a character that the scanners do not: its script, whether it is
//! punctuation, whether it is part of a word.
//!
//! Word characters are those of Unicode 16. The libraries whose results the stages give have older
//! tables of the rest, and so have we: scripts as of Unicode 9.0; punctuation as of Unicode 8.0, that
//! is category P and ASCII's symbols. A character that is younger has no script and is no punctuation.

use crate::text::{STRAY, read_char};

include!(concat!(env!("OUT_DIR"), "/category_tables.rs"));

/// The script of a code point that has none: unassigned in Unicode 9.0, or of private use.
pub const UNKNOWN: u8 = 0;

const PUNCTUATION: u8 = 1;
const WORD: u8 = 2;

/// Gives the number of a character's script as of Unicode 9.0: one of this module's constants if it has
/// a name here, [`UNKNOWN`] if it has no script.
#[must_use]
pub fn script(character: char) -> u8 {
    script_of(u32::from(character))
}

/// Gives the script of a code point.
#[inline]
pub(super) fn script_of(code_point: u32) -> u8 {
    let at = code_point as usize;
    SCRIPT_BLOCKS[usize::from(SCRIPT_INDEX[at >> 7])][at & 0x7F]
}

/// Gives the script of a code point as `UnicodeScripts` counts them: Japanese is all Han, and a space
/// has none.
#[inline]
pub(super) fn joined_script(code_point: u32) -> u8 {
    const SPACE: u32 = b' ' as u32;
    // The prolonged sound mark is Common to Unicode.
    const PROLONGED: u32 = 0x30FC;
    match (code_point, script_of(code_point)) {
        (SPACE, _) => UNKNOWN,
        (PROLONGED, _) | (_, HIRAGANA | KATAKANA) => HAN,
        (_, script) => script,
    }
}

/// Tells whether a code point is punctuation.
#[inline]
pub(super) fn is_punctuation(code_point: u32) -> bool {
    flags(code_point) & PUNCTUATION != 0
}

/// Tells whether a code point is matched by `\w`.
#[inline]
pub(crate) fn is_word(code_point: u32) -> bool {
    flags(code_point) & WORD != 0
}

#[inline]
fn flags(code_point: u32) -> u8 {
    let at = code_point as usize;
    FLAG_BLOCKS[usize::from(FLAG_INDEX[at >> 7])][at & 0x7F]
}

/// Reads the character at an offset: its code point and its length. A stray byte is a letter.
#[inline]
pub(crate) fn read(text: &[u8], at: usize) -> (u32, usize) {
    let first = u32::from(text[at]);
    if first < 0x80 {
        return (first, 1);
    }
    let (character, length) = read_char(text, at);
    (character.map_or(STRAY + first, u32::from), length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_is_read() {
        for character in (0..=0x10_FFFF).filter_map(char::from_u32) {
            let text = character.to_string();
            assert_eq!(read(text.as_bytes(), 0), (u32::from(character), text.len()));
        }
        assert_eq!(read(b"\xE4\xB8", 0), (0x1_44E4, 1));
        assert_eq!(
            script('\u{144E4}'),
            script('\u{14400}'),
            "a stray byte has a script"
        );
    }

    #[test]
    fn words_are_made_of_what_expressions_call_a_word() {
        use crate::text::pattern::{Expression, Rules};
        use crate::text::subject::Subject;
        let all: String = ('\0'..=char::MAX).collect();
        let words = Expression::new(r"\w", Rules::SPLIT).unwrap();
        let found = words.matches(&Subject::new(all.as_bytes()), 0..all.len());
        let expected: String = all.chars().filter(|&c| is_word(u32::from(c))).collect();
        let found: String = found.unwrap().into_iter().map(|at| &all[at]).collect();
        assert!(found == expected);
    }

    #[test]
    fn scripts_have_names() {
        let found: Vec<u8> = "aア漢あ1\u{301}\u{378}".chars().map(script).collect();
        assert_eq!(
            found,
            [LATIN, KATAKANA, HAN, HIRAGANA, COMMON, INHERITED, UNKNOWN]
        );
    }

    #[test]
    fn punctuation_is_that_of_unicode_8() {
        let is = |character: char| is_punctuation(u32::from(character));
        assert!("!$+<=>^`|~_。·\u{166D}\u{2E42}".chars().all(is));
        assert!(!"a1 €£\u{2E43}\u{1F600}".chars().any(is));
        assert!(
            "a_1é漢\u{301}\u{200D}٣"
                .chars()
                .all(|c| is_word(u32::from(c)))
        );
        assert!(!"-! €²🙂".chars().any(|c| is_word(u32::from(c))));
    }
}
