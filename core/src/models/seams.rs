//! Where a text can be cut before a model sees it without changing any token.

use super::model::Border;
use crate::text::{characters, read_char};

/// How many code points a [`Joints`] tells apart: those that most text is made of.
const COMMON: usize = 1 << 16;
/// How many classes of pairs a [`Joints`] tells apart.
const PAIRS: u32 = 1 << 18;

/// Where no token goes on from one character to the next.
#[derive(Debug, Default)]
pub struct Seams {
    /// Where marks stand for blanks, see [`Border`].
    pub border: Option<Border>,
    /// Which neighbours a token may hold; None: not known.
    pub joints: Option<Joints>,
}

/// The characters, and the pairs of neighbours, of tokens that have several characters. It may hold too
/// many of both, never too few.
#[derive(Debug)]
pub struct Joints {
    characters: Box<[u64]>,
    pairs: Box<[u64]>,
    /// The characters that are tokens by themselves, if a text may only be cut beside one of those.
    single: Option<Box<[u64]>>,
}

impl Joints {
    /// Collects what those texts hold that have several characters.
    pub fn of<'a>(texts: impl Iterator<Item = &'a [u8]>) -> Self {
        let mut joints = Self {
            characters: vec![0; COMMON / 64].into(),
            pairs: vec![0; PAIRS as usize / 64].into(),
            single: None,
        };
        joints.add(texts);
        joints
    }

    /// Adds what more texts hold.
    pub fn add<'a>(&mut self, texts: impl Iterator<Item = &'a [u8]>) {
        for text in texts {
            let mut last = None;
            for (at, bytes) in characters(text) {
                if bytes.len() == text.len() {
                    break;
                }
                // A byte outside of UTF-8 may be a joint with everything.
                let (character, _) = read_char(text, at);
                if let Some(character) = character {
                    insert(&mut self.characters, u32::from(character));
                    if let Some(last) = last {
                        insert(&mut self.pairs, pair(last, character));
                    }
                }
                last = character;
            }
        }
    }

    /// Allows cuts only beside characters that are texts of their own, for others become one token with
    /// their neighbours.
    #[must_use]
    pub fn beside<'a>(mut self, texts: impl Iterator<Item = &'a [u8]>) -> Self {
        let mut single = vec![0; COMMON / 64];
        for text in texts {
            if let (Some(character), length) = read_char(text, 0)
                && length == text.len()
            {
                insert(&mut single, u32::from(character));
            }
        }
        self.single = Some(single.into());
        self
    }

    /// Whether a text can be cut on both sides of a character, whatever its neighbours are.
    #[must_use]
    pub fn stands_alone(&self, character: char) -> bool {
        !holds(&self.characters, u32::from(character), true) && self.is_single(character)
    }

    /// Whether a text can be cut between two characters.
    #[must_use]
    pub fn parts(&self, left: char, right: char) -> bool {
        !holds(&self.pairs, pair(left, right), true)
            && (self.is_single(left) || self.is_single(right))
    }

    fn is_single(&self, character: char) -> bool {
        let single = self.single.as_ref();
        single.is_none_or(|single| holds(single, u32::from(character), false))
    }
}

/// The class of a pair.
fn pair(left: char, right: char) -> u32 {
    let both = u64::from(u32::from(left)) << 32 | u64::from(u32::from(right));
    (both.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - PAIRS.trailing_zeros())) as u32
}

fn insert(bits: &mut [u64], number: u32) {
    if let Some(word) = bits.get_mut(number as usize / 64) {
        *word |= 1 << (number % 64);
    }
}

/// Whether a number is in a set; `beyond` is said of those that it has no place for.
fn holds(bits: &[u64], number: u32, beyond: bool) -> bool {
    let word = bits.get(number as usize / 64);
    word.map_or(beyond, |word| word >> (number % 64) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes<'a>(texts: &'a [&'a str]) -> impl Iterator<Item = &'a [u8]> {
        texts.iter().map(|text| text.as_bytes())
    }

    #[test]
    fn joints_are_what_texts_hold_that_have_several_characters() {
        let joints = Joints::of(bytes(&["a", "béd", "好"]));
        assert!(joints.stands_alone('a') && joints.stands_alone('好'));
        assert!(!joints.stands_alone('b') && !joints.stands_alone('d'));
        assert!(!joints.stands_alone('🙂'), "rare ones are not told apart");
        assert!(!joints.parts('b', 'é') && !joints.parts('é', 'd'));
        assert!(joints.parts('é', 'b') && joints.parts('b', 'd') && joints.parts('b', '🙂'));
    }

    #[test]
    fn a_cut_may_have_to_be_beside_a_known_character() {
        let joints = Joints::of(bytes(&["ab"])).beside(bytes(&["a", "c"]));
        assert!(joints.parts('c', 'x') && joints.parts('x', 'c') && !joints.parts('x', 'y'));
        assert!(joints.stands_alone('c') && !joints.stands_alone('x'));
    }
}
