//! Where a text can be cut before a model sees it without changing any token.

use super::staged::Border;
use crate::text::{characters, read_char};

/// How many code points a [`CharacterSet`] tells apart: those that most text is made of.
const COMMON: usize = 1 << 16;

/// Where no token goes on from one character to the next.
#[derive(Debug, Default)]
pub struct Seams {
    /// Where marks stand for blanks, see [`Border`].
    pub border: Option<Border>,
    /// The characters that are part of a token with others; None: not known. A text can be cut on both
    /// sides of every other character.
    pub joined: Option<CharacterSet>,
}

/// A set of characters that may hold too many.
#[derive(Debug)]
pub struct CharacterSet(Box<[u64]>);

impl CharacterSet {
    /// The characters of those texts that have several.
    pub fn of_several<'a>(texts: impl Iterator<Item = &'a [u8]>) -> Self {
        let mut bits = vec![0; COMMON / 64];
        for text in texts.filter(|text| characters(text).nth(1).is_some()) {
            for (at, _) in characters(text) {
                // A byte outside of UTF-8 is a character like no other, and always in the set.
                if let (Some(character), _) = read_char(text, at)
                    && let Some(word) = bits.get_mut(character as usize / 64)
                {
                    *word |= 1 << (character as usize % 64);
                }
            }
        }
        Self(bits.into())
    }

    /// Whether a character may be in the set.
    #[must_use]
    pub fn contains(&self, character: char) -> bool {
        let word = self.0.get(character as usize / 64);
        word.is_none_or(|word| word >> (character as usize % 64) & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_the_characters_of_texts_with_several() {
        let set = CharacterSet::of_several(["a", "bé", "好"].iter().map(|text| text.as_bytes()));
        assert!(set.contains('b') && set.contains('é') && !set.contains('a'));
        assert!(!set.contains('好') && set.contains('🙂'), "rare ones may be in it");
    }
}
