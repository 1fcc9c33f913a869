//! What characters became that are always handled by themselves: looked up by code point.
//!
//! Beside the cache of words, because text in which each character is a word has a word every three bytes: an array of
//! 256 KB by code point and the values behind it stay near the processor, and need no key, no hash and no comparison.

use crate::memory::asking::{exact_room_for, zeroed};
use crate::memory::slots::Value;
use crate::text::{continues, read_char};

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
#[derive(Debug)]
pub struct Characters {
    /// By code point: 0 unseen, 1 joined, else where the ids are, plus 2. Empty before it is used.
    places: Vec<u32>,
    values: Vec<Value>,
    /// How many bytes it may take.
    most: usize,
}

impl Default for Characters {
    fn default() -> Self {
        Self::new(usize::MAX)
    }
}

impl Characters {
    fn new(most: usize) -> Self {
        Self {
            places: Vec::new(),
            values: Vec::new(),
            most,
        }
    }

    /// Changes how many bytes it may take. If it takes more, it begins anew.
    pub fn set_most(&mut self, most: usize) {
        self.most = most;
        if self.bytes() > most {
            *self = Self::new(most);
        }
    }

    /// The bytes that it has taken.
    pub fn bytes(&self) -> usize {
        self.places.capacity() * size_of::<u32>() + self.values.capacity() * size_of::<Value>()
    }

    /// Whether no other character can be learnt.
    pub fn is_full(&self) -> bool {
        self.values.len() == self.values.capacity() && self.room() == 0
    }

    /// For how many more values memory may be taken.
    fn room(&self) -> usize {
        let places = match self.places.is_empty() {
            true => COMMON * size_of::<u32>(),
            false => 0,
        };
        self.most.saturating_sub(self.bytes() + places) / size_of::<Value>()
    }

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

    /// The ids of a character that stands alone.
    #[inline]
    pub fn value(&self, place: u32) -> Value {
        self.values[place as usize]
    }

    /// Takes memory for one more; says whether there is some. If the system has none, it is full as it is.
    fn take_room(&mut self) -> bool {
        if self.values.len() == self.values.capacity() {
            let more = self.values.len().max(256).min(self.room());
            if !exact_room_for(&mut self.values, more) {
                self.most = self.bytes();
                return false;
            }
        }
        if self.places.is_empty() {
            let Some(places) = zeroed::<u32>(COMMON) else {
                *self = Self::new(0);
                return false;
            };
            self.places = places;
        }
        true
    }

    /// Learns the fate of a common character: its ids if it stands alone and they are few.
    pub fn learn(&mut self, code_point: u32, ids: Option<&[u32]>) -> Fate {
        if self.is_full() || !self.take_room() {
            return Fate::Joined;
        }
        let place = &mut self.places[code_point as usize];
        match ids.and_then(|ids| Value::of(ids, None)) {
            Some(value) => {
                *place = self.values.len() as u32 + 2;
                self.values.push(value);
                Fate::Alone(*place - 2)
            }
            None => {
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
        let value = characters.value(0);
        assert_eq!((value.count(), value.ids()), (Some(2), [7, 8, 0, 0]));
        assert_eq!(characters.fate(0x301), Fate::Joined);
        assert_eq!(characters.fate(0x1_F600), Fate::Joined);
    }

    #[test]
    fn takes_no_more_than_it_may() {
        let places = COMMON * size_of::<u32>();
        for most in [0, places, places + 16, places + 1000 * 16, usize::MAX] {
            let mut characters = Characters::new(most);
            let fates = (0x80..0x1080).map(|point| characters.learn(point, Some(&[point])));
            let alone = fates.filter(|fate| *fate != Fate::Joined).count();
            assert_eq!(alone, (most.saturating_sub(places) / 16).min(0x1000));
            assert!(characters.bytes() <= most);
            for point in 0x80..0x1080 {
                if let Fate::Alone(place) = characters.fate(point) {
                    assert_eq!(characters.value(place).ids()[0], point);
                }
            }
            characters.set_most(100);
            assert_eq!(characters.bytes(), 0);
        }
    }
}
