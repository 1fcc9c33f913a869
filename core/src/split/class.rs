//! The reader of one character: its class, and how many bytes it has.
//!
//! Any bytes can be read. A byte that is no part of a well-formed UTF-8 sequence is a character by
//! itself, and a letter without case: bytes of a character that was cut off stay with the word that
//! they end, so that a token that holds such a beginning can be used. Every byte of an overlong form,
//! of a surrogate, of a number over U+10FFFF and of a truncated sequence is such a byte; Python's
//! `decode("utf-8", "surrogateescape")` makes the same characters of them.

use super::bits::STRAY;
use crate::text::{continues, length_from};

include!(concat!(env!("OUT_DIR"), "/unicode_tables.rs"));

/// The classes of the ASCII characters.
pub(super) const ASCII: &[u8; 128] = BYTES.first_chunk().expect("there are 256 bytes");

/// Give the class of an ASCII character, or 0 for a byte that begins or continues a longer one.
#[inline(always)]
pub(super) fn of_byte(byte: u8) -> u8 {
    BYTES[usize::from(byte)]
}

/// Read the character at `at`: its class and its length.
#[inline(always)]
pub(super) fn read(text: &[u8], at: usize) -> (u8, usize) {
    match of_byte(text[at]) {
        0 => read_long(text, at),
        class => (class, 1),
    }
}

/// Read the character at `at`, where no ASCII character stands.
#[inline(always)]
pub(super) fn read_long(text: &[u8], at: usize) -> (u8, usize) {
    let (class, length) = match text[at..] {
        [a @ 0xE0..=0xEF, b, c, ..] if continues(b) && continues(c) => (of_three([a, b, c]), 3),
        [a @ 0xC2..=0xDF, b, ..] if continues(b) => (of_two([a, b]), 2),
        [a @ 0xF0..=0xF4, b, c, d, ..] if continues(b) && continues(c) && continues(d) => {
            (of_four([a, b, c, d]), 4)
        }
        _ => (0, 1),
    };
    if class == 0 {
        (STRAY, 1)
    } else {
        (class, length)
    }
}

/// Give the class of a character of two bytes, the first of which is C2 to DF and the last continues.
#[inline(always)]
pub(super) fn of_two([a, b]: [u8; 2]) -> u8 {
    block_of_two(a)[low_bits(b)]
}

/// Give the class of a character of three bytes, the first of which is E0 to EF and the last two
/// continue, or 0 for an overlong form or a surrogate.
#[inline(always)]
pub(super) fn of_three([a, b, c]: [u8; 3]) -> u8 {
    BLOCKS[usize::from(THREE[place_of_three(a, b)])][low_bits(c)]
}

/// Give the class of a character of four bytes, the first of which is F0 to F4 and the last three
/// continue, or 0 for an overlong form or a number over U+10FFFF.
#[inline(always)]
pub(super) fn of_four([a, b, c, d]: [u8; 4]) -> u8 {
    block_of_four(a, b, c).map_or(0, |block| block[low_bits(d)])
}

/// Give the classes of the two-byte characters that begin with `a`, by the low six bits of the second.
#[inline(always)]
pub(super) fn block_of_two(a: u8) -> &'static [u8; 64] {
    &BLOCKS[usize::from(TWO[usize::from(a & 0x1F)])]
}

/// Give the classes of the three-byte characters that begin with `a` and `b`, by the low six bits of
/// the third, or None where all are ill-formed.
#[cfg(target_arch = "x86_64")] // AVX-512 looks characters up by what they begin with
#[inline(always)]
pub(super) fn block_of_three(a: u8, b: u8) -> Option<&'static [u8; 64]> {
    // Block 0 is that of overlong forms and surrogates.
    match THREE[place_of_three(a, b)] {
        0 => None,
        number => Some(&BLOCKS[usize::from(number)]),
    }
}

/// Give the classes of the four-byte characters that begin with `a`, `b` and `c`, by the low six bits
/// of the fourth, or None where all are ill-formed.
#[inline(always)]
pub(super) fn block_of_four(a: u8, b: u8, c: u8) -> Option<&'static [u8; 64]> {
    let place = usize::from(a & 7) << 12 | low_bits(b) << 6 | low_bits(c);
    // The table begins behind the three-byte characters; outside it are overlong forms and numbers over
    // U+10FFFF.
    let number = FOUR.get(place.checked_sub(0x1_0000 >> 6)?)?;
    Some(&BLOCKS[usize::from(*number)])
}

#[inline(always)]
fn place_of_three(a: u8, b: u8) -> usize {
    usize::from(a & 0xF) << 6 | low_bits(b)
}

/// Give the class of the character that starts at `at`, or None when what follows the text decides.
pub(super) fn at_start(text: &[u8], at: usize) -> Option<u8> {
    (at + length_from(text[at]) <= text.len()).then(|| read(text, at).0)
}

/// Give the class of the character that ends at `end`, or None when what precedes the text decides.
pub(super) fn at_end(text: &[u8], end: usize) -> Option<u8> {
    let nearest = end.saturating_sub(4);
    match (nearest..end).rev().find(|&at| !continues(text[at])) {
        Some(start) => {
            let (class, length) = read(&text[..end], start);
            Some(if start + length == end { class } else { STRAY })
        }
        None if end >= 4 => Some(STRAY),
        None => None,
    }
}

#[inline(always)]
fn low_bits(byte: u8) -> usize {
    usize::from(byte & 0x3F)
}

#[cfg(test)]
mod tests {
    use super::super::bits::{NEWLINE, SPACE};
    use super::*;

    #[test]
    fn every_character_is_read_whole_and_white_space_is_unicodes() {
        for c in (0..=0x10_FFFF).filter_map(char::from_u32) {
            let text = c.to_string();
            let (class, length) = read(text.as_bytes(), 0);
            assert_eq!(length, text.len());
            assert_eq!(class & SPACE != 0, c.is_whitespace(), "{c:?}");
            assert_eq!(class & NEWLINE != 0, matches!(c, '\r' | '\n'), "{c:?}");
        }
        assert_eq!(UNICODE_VERSION, "16.0.0");
    }

    #[test]
    fn a_byte_outside_utf8_is_a_letter() {
        for text in [
            &b"\x80"[..],
            b"\xC0\x80",
            b"\xC1\xBF",
            b"\xE0\x9F\xBF",
            b"\xED\xA0\x80",
            b"\xF0\x8F\xBF\xBF",
            b"\xF4\x90\x80\x80",
            b"\xF5\x80\x80\x80",
            b"\xFF",
            b"\xE4\xB8",
            b"\xE4\xB8a",
            b"\xF0\x9F\x98",
            b"\xC3",
        ] {
            assert_eq!(read(text, 0), (STRAY, 1), "{}", text.escape_ascii());
        }
    }
}
