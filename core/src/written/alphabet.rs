//! The alphabet in which each byte is visible, as GPT-2's vocabulary is written.

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

/// Lays the bytes that a text in that alphabet stands for at the beginning of `room`, which is at least as long as the
/// text: gives how many there are, or None if a character stands for no byte.
pub(super) fn lay_bytes(room: &mut [u8], text: &[u8]) -> Option<usize> {
    let (mut laid, mut at) = (0, 0);
    while at < text.len() {
        room[laid] = match text[at] {
            byte @ 0x21..=0x7E => byte,
            // Two bytes of UTF-8 hold all other characters of the alphabet.
            first @ 0xC2..=0xC5 => {
                at += 1;
                let code = u32::from(first & 0x1F) << 6 | u32::from(text.get(at)? & 0x3F);
                byte_of(char::from_u32(code)?)?
            }
            _ => return None,
        };
        laid += 1;
        at += 1;
    }
    Some(laid)
}
