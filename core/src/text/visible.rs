//! Bytes as visible characters: the alphabet of GPT-2, in which byte-level vocabularies are written.
//!
//! 0x21-0x7E, 0xA1-0xAC and 0xAE-0xFF stand for themselves as code points; the other 68 bytes, in
//! ascending order, for U+0100 and those after it.

/// The character that a byte is spelt as.
#[must_use]
pub const fn of_byte(byte: u8) -> char {
    let code = match byte {
        0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF => byte as u32,
        0x00..=0x20 => 0x100 + byte as u32,
        0x7F..=0xA0 => 0x121 + (byte as u32 - 0x7F),
        0xAD => 0x143,
    };
    match char::from_u32(code) {
        Some(character) => character,
        None => unreachable!(),
    }
}

/// The byte that a character spells, if it is one of the 256.
#[must_use]
pub const fn to_byte(character: char) -> Option<u8> {
    match character as u32 {
        code @ (0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF) => Some(code as u8),
        code @ 0x100..=0x120 => Some((code - 0x100) as u8),
        code @ 0x121..=0x142 => Some((code - 0x121 + 0x7F) as u8),
        0x143 => Some(0xAD),
        _ => None,
    }
}

/// Appends the visible characters of bytes.
pub fn encode(bytes: &[u8], out: &mut Vec<u8>) {
    for &byte in bytes {
        match byte.is_ascii_graphic() {
            true => out.push(byte),
            false => out.extend_from_slice(of_byte(byte).encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
}

/// Appends the bytes that a text of visible characters spells. What spells no byte is left out.
pub fn decode(text: &[u8], out: &mut Vec<u8>) {
    let mut at = 0;
    while at < text.len() {
        // Most of a text stands for itself.
        if text[at].is_ascii_graphic() {
            out.push(text[at]);
            at += 1;
            continue;
        }
        let (character, length) = crate::text::read_char(text, at);
        out.extend(character.and_then(to_byte));
        at += length;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spells_every_byte_and_back() {
        let seen: std::collections::BTreeSet<char> = (0..=255).map(of_byte).collect();
        assert_eq!(seen.len(), 256);
        assert!((0..=255).all(|byte| to_byte(of_byte(byte)) == Some(byte)));
        assert_eq!(
            [of_byte(b' '), of_byte(b'\n'), of_byte(0x7F), of_byte(0xAD)],
            ['Ġ', 'Ċ', 'ġ', 'Ń']
        );
        assert_eq!(to_byte('好'), None);
        let mut bytes = Vec::new();
        decode("aĠ 好Ń\nb".as_bytes(), &mut bytes);
        assert_eq!(bytes, b"a \xADb");
        let all: Vec<u8> = (0..=255).collect();
        let (mut text, mut again) = (Vec::new(), Vec::new());
        encode(&all, &mut text);
        decode(&text, &mut again);
        assert_eq!(again, all);
    }
}
