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

/// Adds the bytes that a text in that alphabet stands for.
pub(super) fn push_bytes(blob: &mut Vec<u8>, text: &[u8]) -> Option<()> {
    let mut rest = text;
    loop {
        match *rest {
            [] => return Some(()),
            [byte @ 0x21..=0x7E, ..] => {
                blob.push(byte);
                rest = &rest[1..];
            }
            // Two bytes of UTF-8 hold all other characters of the alphabet.
            [first @ 0xC2..=0xC5, second, ..] => {
                let code = u32::from(first & 0x1F) << 6 | u32::from(second & 0x3F);
                blob.push(byte_of(char::from_u32(code)?)?);
                rest = &rest[2..];
            }
            _ => return None,
        }
    }
}
