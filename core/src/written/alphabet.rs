//! The alphabet in which each byte is visible, as GPT-2's vocabulary is written.

use std::ops::Range;

/// Gives the byte that a character stands for in the alphabet in which each byte is visible: what
/// Latin-1 prints as ink is itself, the other 68 bytes are U+0100 and so on, in ascending order.
#[must_use]
pub fn byte_of(character: char) -> Option<u8> {
    match u32::from(character) {
        code @ (0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF) => Some(code as u8),
        code @ 0x100..=0x120 => Some((code - 0x100) as u8), // 0x00 to 0x20
        code @ 0x121..=0x142 => Some((code - 0x121 + 0x7F) as u8), // 0x7F to 0xA0
        0x143 => Some(0xAD),
        _ => None,
    }
}

/// How far a word may be written beyond the bytes that are laid.
pub(super) const BEYOND: usize = 8;

/// Lays the bytes that a text in that alphabet stands for, a part of `texts`, at the beginning of `room`, which has room
/// for the text and [`BEYOND`]: gives how many there are, or None if a character stands for no byte.
pub(super) fn lay_bytes(room: &mut [u8], texts: &[u8], text: Range<usize>) -> Option<usize> {
    let (mut laid, mut at) = (0, text.start);
    loop {
        // Eight bytes at once, of which those count that stand for themselves and are of this text.
        while let Some(word) = texts[at..].first_chunk::<8>() {
            let counted = ink(u64::from_le_bytes(*word)).min(text.end - at);
            room[laid..laid + 8].copy_from_slice(word);
            laid += counted;
            at += counted;
            if counted < 8 {
                break;
            }
        }
        if at == text.end {
            return Some(laid);
        }
        room[laid] = match texts[at] {
            byte @ 0x21..=0x7E => byte,
            // Two bytes of UTF-8 hold all other characters of the alphabet.
            first @ 0xC2..=0xC5 => {
                at += 1;
                let code = u32::from(first & 0x1F) << 6 | u32::from(texts.get(at)? & 0x3F);
                byte_of(char::from_u32(code)?)?
            }
            _ => return None,
        };
        laid += 1;
        at += 1;
    }
}

/// How many of the first bytes of a word are ASCII's ink, which stands for itself: 0x21 to 0x7E.
fn ink(word: u64) -> usize {
    const fn each(byte: u8) -> u64 {
        u64::from_ne_bytes([byte; 8])
    }
    let low = word & each(0x7F);
    // No sum goes beyond its byte.
    let other = (word | (low + each(0x01)) | !(low + each(0x5F))) & each(0x80);
    other.trailing_zeros() as usize / 8
}
