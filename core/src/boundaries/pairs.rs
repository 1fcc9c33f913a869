//! Between which two characters a text can be cut before its normalizers and pre-tokenizers run.
//!
//! As in `stages`, f is a stage and x + y a text; here x ends with one of two characters, and y begins with the other. The
//! normalizers must leave f(x + y) = f(x) + f(y), with one known character on each side of the place, about which the next stage
//! is asked. Then some pre-tokenizer must end a piece there, whatever stands around, and those before it must not mind.
//! Those behind it are given its pieces one by one, and never see across.
//!
//! A character may become another one by the combining marks behind it, as `e` does. So the one behind the place must be
//! white space, which no mark changes, or have one behind it that begins anew, if there are normalizers at all.
//!
//! All pairs of bytes of ASCII are asked about at once ([`Places`]), so that words are found many at a time. Before a space, a word
//! may also end with any character that is no white space: normalizers that are asked make of it what does not end with white
//! space either. Bytes tell it: the last one goes on with a character, and together with the one before it is no end of white
//! space.

use crate::text::byte_pairs::BytePairs;
use crate::text::continues;

pub use crate::text::byte_pairs::PLACES;

/// What stands before a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// This one.
    Character(char),
    /// Some character that is no white space, or a byte that is part of none.
    Visible,
}

/// What a pre-tokenizer does where a text is cut between two characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Between {
    /// f(x + y) = f(x) + f(y), and a piece always ends there.
    Ends,
    /// The same but for one piece that is in two parts if it goes on across the place.
    Stays,
    /// What becomes of a part may depend on the other.
    Unknown,
}

/// Where a text can be cut.
#[derive(Debug)]
pub struct Places {
    /// Between these.
    pairs: BytePairs,
    /// Not before the first of these, as the second may change it.
    unsteady: Option<BytePairs>,
    /// Not behind the second of these, as white space may end with them.
    blank: Option<BytePairs>,
}

impl Places {
    /// Asks about all pairs. None if there is none but of a letter before a space.
    ///
    /// `ends` says whether a piece always ends at a place, and the parts become what the text becomes, if the second of its
    /// characters is steady. Whether it is says `is_steady`, of it and the next one; None is any outside of ASCII.
    #[must_use]
    pub fn new(
        ends: impl Fn(Left, char) -> bool,
        is_steady: impl Fn(char, Option<char>) -> bool,
    ) -> Option<Self> {
        let behind_visible = ends(Left::Visible, ' ');
        let mut more = behind_visible;
        let pairs = BytePairs::of(|left, right| {
            let ends = match left {
                _ if !right.is_ascii() => false,
                0..0x80 => ends(Left::Character(char::from(left)), char::from(right)),
                0x80.. => behind_visible && right == b' ' && continues(left),
            };
            more |= ends && !(left.is_ascii_alphabetic() && right == b' ');
            ends
        });
        let weights: [u64; 256] = std::array::from_fn(|byte| weight(byte as u8));
        let mut is_any_unsteady = false;
        let unsteady = BytePairs::of(|right, next| {
            let next = next.is_ascii().then_some(char::from(next));
            let is_unsteady = right.is_ascii() && !is_steady(char::from(right), next);
            is_any_unsteady |= is_unsteady;
            is_unsteady
        });
        more.then(|| Self {
            pairs: pairs.certain(&weights, &weights),
            unsteady: is_any_unsteady.then_some(unsteady),
            blank: behind_visible.then(|| BytePairs::of(ends_white_space)),
        })
    }

    /// At which of the [`PLACES`] from `at` on a byte is the last before a cut, the first one's bit the lowest. What stands
    /// around them is not looked at, which may hide a cut at the first and the last; and the text must end where nothing
    /// that follows changes its last byte.
    #[inline]
    #[must_use]
    pub fn ends(&self, text: &[u8], at: usize) -> u64 {
        let mut ends = self.pairs.likely(text, at);
        if let Some(unsteady) = &self.unsteady {
            ends &= !(unsteady.likely(text, at) >> 1 | 1 << (PLACES - 1));
        }
        if let Some(blank) = &self.blank {
            let has_none_before = u64::from(!text[at].is_ascii());
            ends &= !(blank.likely(text, at) << 1 | has_none_before);
        }
        ends
    }
}

/// Whether white space outside ASCII may end with these two bytes.
fn ends_white_space(first: u8, last: u8) -> bool {
    match first {
        0xC2 => matches!(last, 0x85 | 0xA0), // U+0085, U+00A0
        0x9A => last == 0x80,                // U+1680
        0x80 => matches!(last, 0x80..=0x8A | 0xA8 | 0xA9 | 0xAF), // U+2000 to U+202F, U+3000
        0x81 => last == 0x9F,                // U+205F
        _ => false,
    }
}

/// About how often a byte comes in prose, for where not all pairs can be told from all others.
fn weight(byte: u8) -> u64 {
    match byte {
        b' ' => 150,
        b'a'..=b'z' => 25,
        b'.' | b',' | b'\n' => 10,
        b'A'..=b'Z' | b'0'..=b'9' | 0x80.. => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::ends_white_space;

    #[test]
    fn white_space_is_known_by_its_last_bytes() {
        let mut known = 0;
        for character in ('\u{80}'..=char::MAX).filter(|character| character.is_whitespace()) {
            let mut bytes = [0; 4];
            let bytes = character.encode_utf8(&mut bytes).as_bytes();
            let place = bytes.len() - 2;
            assert!(
                ends_white_space(bytes[place], bytes[place + 1]),
                "{character:?}"
            );
            known += 1;
        }
        assert!(known > 10);
    }
}
