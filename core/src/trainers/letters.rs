//! The characters that words are spelt with.

use foldhash::fast::RandomState;
use hashbrown::HashMap;

/// How often a character occurs, and where in words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Letter {
    /// In all words.
    pub count: u64,
    /// Whether a word begins with it.
    pub begins: bool,
    /// Whether it stands inside a word, behind its beginning.
    pub stands_inside: bool,
}

impl Letter {
    fn add(&mut self, count: u64, at: usize) {
        self.count = self.count.saturating_add(count);
        self.begins |= at == 0;
        self.stands_inside |= at > 0;
    }
}

/// Gives each character of words, the most frequent first, equals by code point. A byte that is no part
/// of UTF-8 is none.
#[must_use]
pub fn of<'a>(words: impl Iterator<Item = (&'a [u8], u64)>) -> Vec<(char, Letter)> {
    let mut ascii = [Letter::default(); 128];
    let mut others: HashMap<char, Letter, RandomState> = HashMap::default();
    for (word, count) in words {
        let mut start = 0;
        for chunk in word.utf8_chunks() {
            for (at, character) in chunk.valid().char_indices() {
                let letter = match ascii.get_mut(character as usize) {
                    Some(letter) => letter,
                    None => others.entry(character).or_default(),
                };
                letter.add(count, start + at);
            }
            start += chunk.valid().len() + chunk.invalid().len();
        }
    }
    let ascii = ascii.into_iter().enumerate();
    let ascii = ascii.map(|(byte, letter)| (char::from(byte as u8), letter));
    let mut all: Vec<(char, Letter)> = ascii
        .filter(|(_, letter)| letter.count > 0)
        .chain(others)
        .collect();
    all.sort_unstable_by_key(|&(character, letter)| (std::cmp::Reverse(letter.count), character));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_where_letters_stand() {
        let words: [(&[u8], u64); 3] = [("añb".as_bytes(), 2), (b"b", 3), (b"\xffc", 1)];
        let letter = |count, begins, stands_inside| Letter {
            count,
            begins,
            stands_inside,
        };
        assert_eq!(
            of(words.into_iter()),
            [
                ('b', letter(5, true, true)),
                ('a', letter(2, true, false)),
                ('ñ', letter(2, false, true)),
                ('c', letter(1, false, true)),
            ]
        );
    }
}
