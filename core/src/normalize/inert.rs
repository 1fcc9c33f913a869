//! Characters that NFC neither changes nor moves, whatever stands beside them.
//!
//! Source: Unicode Standard Annex 15, the quick check: a text is in the form if each of its characters has the answer Yes,
//! and their combining classes do not descend. Here all classes are 0, so that no order is asked for.

use std::sync::LazyLock;

use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, is_nfc_quick};

/// So many bytes of ASCII are passed over together, as long as there are.
const MANY: usize = 32;
/// The bits that no byte of ASCII has, in eight bytes.
const HIGH: u64 = 0x8080_8080_8080_8080;

/// A bit for each character of the Basic Multilingual Plane.
static INERT: LazyLock<[u64; 1 << 10]> = LazyLock::new(|| {
    std::array::from_fn(|place| {
        let characters = (0..64).map(|low| char::from_u32((place << 6) as u32 | low));
        (0..)
            .zip(characters)
            .filter(|(_, character)| character.is_some_and(is_inert))
            .fold(0, |bits, (low, _)| bits | 1 << low)
    })
});

fn is_inert(character: char) -> bool {
    is_nfc_quick(std::iter::once(character)) == IsNormalized::Yes
        && canonical_combining_class(character) == 0
}

/// Whether a text has such characters alone.
pub(super) fn are_all(text: &str) -> bool {
    let inert = &*INERT;
    let bytes = text.as_bytes();
    let low = |at: usize| bytes[at] & 0x3F;
    let has = |place: usize, last: u8| inert[place] >> last & 1 != 0;
    let mut at = 0;
    while at < bytes.len() {
        let (is_inert, length) = match bytes[at] {
            0..0x80 => {
                at += ascii(&bytes[at..]);
                continue;
            }
            first @ ..0xE0 => (has(usize::from(first & 0x1F), low(at + 1)), 2),
            first @ ..0xF0 => {
                let place = usize::from(first & 0xF) << 6 | usize::from(low(at + 1));
                (has(place, low(at + 2)), 3)
            }
            _ => (text[at..].chars().next().is_none_or(is_inert), 4),
        };
        if !is_inert {
            return false;
        }
        at += length;
    }
    true
}

/// How many bytes of ASCII there are before anything else.
#[inline]
fn ascii(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(many) = bytes[at..].first_chunk::<MANY>()
        && many.is_ascii()
    {
        at += MANY;
    }
    while let Some(eight) = bytes[at..].first_chunk() {
        match u64::from_le_bytes(*eight) & HIGH {
            0 => at += size_of::<u64>(),
            high => return at + high.trailing_zeros() as usize / 8,
        }
    }
    at + bytes[at..]
        .iter()
        .take_while(|byte| byte.is_ascii())
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use unicode_normalization::UnicodeNormalization;

    #[test]
    fn every_character_is_told() {
        for character in '\0'..=char::MAX {
            let text = format!("a{character}");
            assert_eq!(are_all(&text), is_inert(character), "{character:?}");
            assert_eq!(
                are_all(&format!("{text}{}", "b".repeat(40))),
                is_inert(character)
            );
        }
        assert!(are_all(""));
        for length in 0..100 {
            let before = "a".repeat(length);
            assert_eq!(ascii(before.as_bytes()), length);
            assert_eq!(ascii(format!("{before}é{before}").as_bytes()), length);
            assert!(!are_all(&format!("{before}\u{301}{before}")));
        }
        assert!(are_all("naïve 中文 ｆ한글 🙂"));
        assert!(!are_all("\u{212B}")); // the sign of ångström
        assert!(!are_all("e\u{301}"));
    }

    #[test]
    fn between_any_others_it_stays() {
        let others = [
            "e", "\u{301}", "\u{327}", "\u{1100}", "\u{1161}", "\u{212B}", "\u{93C}", "\u{915}",
        ];
        for character in ('\0'..='\u{FFFF}')
            .filter(|&character| is_inert(character))
            .step_by(7)
        {
            for (before, after) in others.iter().zip(others.iter().rev()) {
                let text = format!("{before}{character}x");
                let expected = format!("{}{character}x", before.nfc());
                assert_eq!(text.nfc().collect::<String>(), expected);
                let text = format!("x{character}{after}").nfc().collect::<String>();
                assert!(text.starts_with('x'), "{text}");
            }
        }
    }
}
