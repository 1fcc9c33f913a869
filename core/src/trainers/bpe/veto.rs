//! Which products no merge may make: a pure question of their texts and lengths, asked once per pair.

use memchr::memmem;

use super::options::Vetoes;
use crate::split::is_numeric;
use crate::text::characters;

impl Vetoes {
    /// Whether the text of a product decides.
    pub(super) fn read_text(&self) -> bool {
        self.character_boundaries
            || self.max_digits.is_some()
            || self.max_words.is_some()
            || !self.never_within.is_empty()
            || !self.reserved.is_empty()
    }

    /// Whether a product of so many symbols may be.
    pub(super) fn allow_length(&self, symbols: u64) -> bool {
        self.max_token_length
            .is_none_or(|most| symbols <= u64::from(most))
    }

    /// Whether a product with this text may be.
    pub(super) fn allow_text(&self, text: &[u8]) -> bool {
        (!self.character_boundaries || keeps_characters(text))
            && self
                .max_digits
                .is_none_or(|most| digits(text) <= most as usize)
            && self
                .max_words
                .is_none_or(|most| words(text) <= most as usize)
            && !self
                .never_within
                .iter()
                .any(|inner| memmem::find(text, inner).is_some())
            && !self.reserved.contains(text)
    }
}

/// Whether a text is whole characters, or a proper beginning of a single one.
fn keeps_characters(text: &[u8]) -> bool {
    match std::str::from_utf8(text) {
        Ok(_) => true,
        Err(error) => error.valid_up_to() == 0 && error.error_len().is_none(),
    }
}

/// How many words a text has: what is between its spaces.
fn words(text: &[u8]) -> usize {
    let parts = text.split(|&byte| byte == b' ');
    parts.filter(|part| !part.is_empty()).count()
}

/// How many numeric characters a text has; a part of one is none.
fn digits(text: &[u8]) -> usize {
    characters(text)
        .filter(|(_, character)| is_numeric(character))
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_kept_whole() {
        for text in [
            &b"a"[..],
            "你好".as_bytes(),
            b"\xe4",
            b"\xe4\xbd",
            b"\xf0\x9f\x98",
        ] {
            assert!(keeps_characters(text), "{}", text.escape_ascii());
        }
        for text in [
            &b"a\xe4"[..],
            b"\xbd\xa0",
            b"\xe4\xbda",
            b"\xff",
            b"\xe4\xbd\xa0\xe5",
            b"\xff\xff",
            b"\xc0\x80",
        ] {
            assert!(!keeps_characters(text), "{}", text.escape_ascii());
        }
    }

    #[test]
    fn digits_are_counted_in_every_script() {
        assert_eq!(digits("a1٣½x".as_bytes()), 3);
        assert_eq!(digits(b"\xd9"), 0, "the beginning of one");
        assert_eq!(digits(b"\xa3\xd9\xa3"), 1);
    }

    #[test]
    fn words_are_between_spaces() {
        for (text, count) in [
            (&b" of the"[..], 2),
            (b"of  ", 1),
            (b"  ", 0),
            (b"a\tb c", 2),
        ] {
            assert_eq!(words(text), count, "{}", text.escape_ascii());
        }
        let vetoes = Vetoes {
            never_within: vec![b": ".to_vec()],
            ..Vetoes::default()
        };
        assert!(vetoes.read_text());
        assert!(vetoes.allow_text(b"a:b ") && !vetoes.allow_text(b"a: b"));
    }
}
