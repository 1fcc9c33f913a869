//! What characters became that are always handled by themselves: looked up by code point.

use super::cache::MAX_IDS;
use crate::text::read_char;

/// How many code points have a place: those that nearly all text is made of.
const COMMON: usize = 1 << 16;

/// What is known of a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Nothing yet.
    Unseen,
    /// It may have to do with what stands beside it.
    Joined,
    /// It stands alone: where its ids are.
    Alone(u32),
}

/// Remembers characters.
#[derive(Debug, Default)]
pub struct Characters {
    /// By code point: 0 unseen, 1 joined, else where the ids are, plus 2. Empty before it is used.
    places: Vec<u32>,
    ids: Vec<([u32; MAX_IDS], usize)>,
}

impl Characters {
    /// What is known of a character, by its code point.
    #[inline]
    pub fn fate(&self, code_point: u32) -> Fate {
        match self.places.get(code_point as usize) {
            None if code_point as usize >= COMMON => Fate::Joined,
            None | Some(0) => Fate::Unseen,
            Some(1) => Fate::Joined,
            Some(place) => Fate::Alone(place - 2),
        }
    }

    /// The ids of a character that stands alone, and how many there are.
    #[inline]
    pub fn ids(&self, place: u32) -> &([u32; MAX_IDS], usize) {
        &self.ids[place as usize]
    }

    /// Learns the fate of a common character: its ids if it stands alone and they are few.
    pub fn learn(&mut self, code_point: u32, ids: Option<&[u32]>) -> Fate {
        if self.places.is_empty() {
            self.places = vec![0; COMMON];
        }
        let place = &mut self.places[code_point as usize];
        match ids {
            Some(ids) if ids.len() <= MAX_IDS => {
                *place = self.ids.len() as u32 + 2;
                let mut own = [0; MAX_IDS];
                own[..ids.len()].copy_from_slice(ids);
                self.ids.push((own, ids.len()));
                Fate::Alone(*place - 2)
            }
            _ => {
                *place = 1;
                Fate::Joined
            }
        }
    }
}

/// Reads the character at an offset, where none of ASCII stands: its code point, or [`u32::MAX`] for a
/// byte that is no part of one, and its length.
#[inline]
pub fn read(text: &[u8], at: usize) -> (u32, usize) {
    let low = |byte: u8| u32::from(byte & 0x3F);
    let continues = |byte: u8| byte & 0xC0 == 0x80;
    match text[at..] {
        // The others of three bytes hold overlong forms and surrogates, or are rare.
        [a @ (0xE1..=0xEC | 0xEE | 0xEF), b, c, ..] if continues(b) && continues(c) => {
            (u32::from(a & 0xF) << 12 | low(b) << 6 | low(c), 3)
        }
        [a @ 0xC2..=0xDF, b, ..] if continues(b) => (u32::from(a & 0x1F) << 6 | low(b), 2),
        _ => {
            let (character, length) = read_char(text, at);
            (character.map_or(u32::MAX, u32::from), length)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_is_read_and_no_other() {
        for character in ('\u{80}'..=char::MAX).step_by(7) {
            let text = character.to_string();
            assert_eq!(read(text.as_bytes(), 0), (u32::from(character), text.len()));
        }
        for text in [
            &b"\xFF"[..],
            b"\x80",
            b"\xC3",
            b"\xC0\x80",
            b"\xE4\xBD",
            b"\xED\xA0\x80",
            b"\xE0\x80\x80",
            b"\xF0\x9F\x98",
        ] {
            assert_eq!(read(text, 0), (u32::MAX, 1), "{}", text.escape_ascii());
        }
    }

    #[test]
    fn learns() {
        let mut characters = Characters::default();
        assert_eq!(characters.fate(0x597D), Fate::Unseen);
        assert_eq!(characters.learn(0x597D, Some(&[7, 8])), Fate::Alone(0));
        assert_eq!(characters.learn(0x301, None), Fate::Joined);
        assert_eq!(characters.learn(0x302, Some(&[1; 5])), Fate::Joined);
        assert_eq!(characters.fate(0x597D), Fate::Alone(0));
        assert_eq!(characters.ids(0), &([7, 8, 0, 0], 2));
        assert_eq!(characters.fate(0x301), Fate::Joined);
        assert_eq!(characters.fate(0x1_F600), Fate::Joined);
    }
}
