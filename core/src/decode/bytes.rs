//! Decoders of strings that spell bytes.

use super::texts::{Kind, TokenTexts};
use crate::text::read_char;
use crate::text::visible;

/// Reads visible characters as the bytes they spell, and makes one string of all. A string with any
/// other character in it is taken as it is.
pub fn read_visible(texts: &TokenTexts, out: &mut TokenTexts) {
    let mut spelt = Vec::new();
    for (piece, _) in texts.iter() {
        spelt.clear();
        let mut at = 0;
        while at < piece.len() {
            let (character, length) = read_char(piece, at);
            match character.and_then(visible::to_byte) {
                Some(byte) => spelt.push(byte),
                None => break,
            }
            at += length;
        }
        out.extend(if at == piece.len() { &spelt } else { piece });
    }
    out.close(Kind::Text);
}

/// Reads each run of strings like `<0x41>` as one string of bytes.
pub fn read_fallback(texts: &TokenTexts, out: &mut TokenTexts) {
    let mut running = false;
    for (piece, kind) in texts.iter() {
        match spelt_byte(piece) {
            Some(byte) => {
                out.extend(&[byte]);
                running = true;
            }
            None => {
                if running {
                    out.close(Kind::Bytes);
                    running = false;
                }
                out.push(piece, kind);
            }
        }
    }
    if running {
        out.close(Kind::Bytes);
    }
}

fn spelt_byte(piece: &[u8]) -> Option<u8> {
    let [b'<', b'0', b'x', high, low, b'>'] = *piece else {
        return None;
    };
    let digit = |byte: u8| char::from(byte).to_digit(16);
    Some((digit(high)? * 16 + digit(low)?) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(step: fn(&TokenTexts, &mut TokenTexts), texts: &[&[u8]]) -> Vec<Vec<u8>> {
        let (mut from, mut to) = (TokenTexts::default(), TokenTexts::default());
        texts.iter().for_each(|piece| from.push(piece, Kind::Text));
        step(&from, &mut to);
        to.iter().map(|(piece, _)| piece.to_vec()).collect()
    }

    #[test]
    fn reads_visible_characters() {
        let texts = ["Hé".as_bytes(), "Ġ".as_bytes(), "好Ġ".as_bytes(), b"\xff"];
        assert_eq!(
            run(read_visible, &texts),
            [b"H\xe9 \xe5\xa5\xbd\xc4\xa0\xff"]
        );
        assert_eq!(run(read_visible, &[]), [b""]);
    }

    #[test]
    fn reads_runs_of_bytes() {
        let texts: [&[u8]; 7] = [
            b"<0xE4>", b"<0xbd>", b"<0xA0>", b"a", b"<0x+1>", b"<0xFF>", b"<0x00>",
        ];
        assert_eq!(
            run(read_fallback, &texts),
            ["你".as_bytes(), b"a", b"<0x+1>", b"\xff\0"]
        );
    }
}
