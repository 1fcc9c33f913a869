//! Reads UTF-8 in bytes of any kind: a byte that is no part of a character is one by itself.
//!
//! What is faster for what it knows stands apart, held to this: the scanners' classes (`split/class.rs`), which are
//! looked up by the bytes themselves, and the characters of words (`encode/staged`).

/// Whether a byte can only stand inside a character, behind its first byte.
#[inline(always)]
pub(crate) fn continues(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// How many bytes a character has that begins with a byte; 1 if none does.
#[inline]
pub(crate) fn length_from(first: u8) -> usize {
    match first {
        0xC2..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF4 => 4,
        _ => 1,
    }
}

/// Where the last character before an offset begins, which is not 0. A character that goes on beyond the offset counts;
/// a byte that cannot be a part of one is one by itself.
pub(crate) fn begin_of_last(text: &[u8], end: usize) -> usize {
    let nearest = end.saturating_sub(4);
    (nearest..end)
        .rev()
        .find(|&at| !continues(text[at]))
        .filter(|&at| at + length_from(text[at]) >= end)
        .unwrap_or(end - 1)
}

/// Goes through the characters of any bytes: (offset, bytes). A byte that is no part of UTF-8 is a
/// character by itself.
pub fn characters(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut at = 0;
    std::iter::from_fn(move || {
        (at < text.len()).then(|| {
            let start = at;
            at += character_len(text, at);
            (start, &text[start..at])
        })
    })
}

/// How many bytes the character at an offset has: 1 for a byte that is no part of UTF-8.
#[inline]
#[must_use]
pub fn character_len(text: &[u8], at: usize) -> usize {
    // The second byte of some rules overlong forms, surrogates and numbers over U+10FFFF out.
    match text[at..] {
        [0..=0x7F, ..] => 1,
        [0xC2..=0xDF, b, ..] if continues(b) => 2,
        [0xE0, 0xA0..=0xBF, c, ..] | [0xED, 0x80..=0x9F, c, ..] if continues(c) => 3,
        [0xE1..=0xEC | 0xEE | 0xEF, b, c, ..] if continues(b) && continues(c) => 3,
        [0xF0, 0x90..=0xBF, c, d, ..] | [0xF4, 0x80..=0x8F, c, d, ..]
            if continues(c) && continues(d) =>
        {
            4
        }
        [0xF1..=0xF3, b, c, d, ..] if continues(b) && continues(c) && continues(d) => 4,
        _ => 1,
    }
}

/// The character at an offset, or None for a byte that is no part of UTF-8; and its length.
#[inline]
#[must_use]
pub fn read_char(text: &[u8], at: usize) -> (Option<char>, usize) {
    let length = character_len(text, at);
    let first = u32::from(text[at]);
    let low = |offset: usize| u32::from(text[at + offset] & 0x3F);
    let code_point = match length {
        1 if first >= 0x80 => return (None, 1),
        1 => first,
        2 => (first & 0x1F) << 6 | low(1),
        3 => (first & 0xF) << 12 | low(1) << 6 | low(2),
        _ => (first & 7) << 18 | low(1) << 12 | low(2) << 6 | low(3),
    };
    (char::from_u32(code_point), length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goes_through_any_bytes() {
        let found: Vec<&[u8]> = characters(b"a\xc3\xa9\xff\xe4\xbd")
            .map(|(_, c)| c)
            .collect();
        assert_eq!(found, [&b"a"[..], b"\xc3\xa9", b"\xff", b"\xe4", b"\xbd"]);
        assert_eq!(read_char("é".as_bytes(), 0), (Some('é'), 2));
        assert_eq!(read_char(b"\xe4\xbd", 0), (None, 1));
    }

    #[test]
    fn the_last_character_begins_where_going_through_them_says() {
        let text = "aé€𝄞€éa\u{7f}".as_bytes();
        for end in 1..=text.len() {
            let starts = characters(text).map(|(at, _)| at);
            let last = starts.take_while(|&at| at < end).last();
            assert_eq!(Some(begin_of_last(text, end)), last, "{end}");
        }
        for alone in [
            &b"a\x80"[..],
            b"\xc3\xa9\x80",
            b"\x80\x80\x80\x80\x80",
            b"\xff",
        ] {
            assert_eq!(
                begin_of_last(alone, alone.len()),
                alone.len() - 1,
                "{alone:?}"
            );
        }
    }

    #[test]
    fn characters_are_those_of_utf8() {
        for first in 0..=255 {
            for second in 0..=255 {
                for rest in [[0x80, 0x80], [0xBF, 0xBF], [0x80, 0x7F], [0xC0, 0x80]] {
                    let text = [first, second, rest[0], rest[1]];
                    let wanted = text
                        .utf8_chunks()
                        .next()
                        .and_then(|chunk| chunk.valid().chars().next());
                    let length = wanted.map_or(1, char::len_utf8);
                    assert_eq!(read_char(&text, 0), (wanted, length), "{text:?}");
                    for end in 1..length {
                        assert_eq!(read_char(&text[..end], 0), (None, 1));
                    }
                }
            }
        }
    }
}
