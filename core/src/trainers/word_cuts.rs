//! Cuts words where no token can go on: most of what is found between blanks is one word and its
//! punctuation, and the same word stands beside other signs elsewhere.
//!
//! Nothing that is learnt from words changes when they are cut there, and far fewer different ones are
//! left: a fifth of an English text's.

use std::ops::Range;

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use super::valid_piece::{Class, Rules, class_of};
use crate::count::Counts;
use crate::error::Result;
use crate::text::{character_len, read_char};

/// Knows the characters that have tokens, and where tokens may go on.
#[derive(Debug)]
pub struct WordCuts {
    rules: Rules,
    longest: usize,
    ascii: [Option<Class>; 128],
    others: HashMap<char, Class, RandomState>,
}

impl WordCuts {
    /// Prepares for characters that have tokens; words of more characters than `longest` are cut, too.
    pub fn new(characters: impl Iterator<Item = char>, rules: Rules, longest: usize) -> Self {
        let mut cuts = Self {
            rules,
            longest: longest.max(1),
            ascii: [None; 128],
            others: HashMap::default(),
        };
        for character in characters {
            let class = class_of(character);
            match cuts.ascii.get_mut(character as usize) {
                Some(place) => *place = Some(class),
                None => {
                    cuts.others.insert(character, class);
                }
            }
        }
        cuts
    }

    /// The class of the character at a place of a text, if it has a token.
    #[inline]
    fn class(&self, text: &[u8], at: usize) -> Option<Class> {
        match self.ascii.get(text[at] as usize) {
            Some(&class) => class,
            None => self.others.get(&read_char(text, at).0?).copied(),
        }
    }

    /// Counts the stretches of pieces in which tokens can be.
    pub fn words<'a>(&self, pieces: impl Iterator<Item = (&'a [u8], u64)>) -> Result<Counts> {
        let mut counts = Counts::new(usize::MAX);
        for (piece, count) in pieces {
            let mut at = 0;
            while let Some(range) = self.next(piece, at) {
                at = range.end;
                counts.add(&piece[range], count)?;
            }
        }
        Ok(counts)
    }

    /// Gives the next stretch of a text, from a place on, in which tokens can be, and none goes on beyond
    /// it; None at the end.
    fn next(&self, text: &[u8], from: usize) -> Option<Range<usize>> {
        let mut start = from;
        let mut last = loop {
            if start >= text.len() {
                return None;
            }
            match self.class(text, start) {
                None => start += character_len(text, start),
                Some(class) => break class,
            }
        };
        let mut end = start + character_len(text, start);
        let mut length = 1;
        while end < text.len() && length < self.longest {
            match self.class(text, end) {
                Some(class) if self.rules.may_join(last, class) => last = class,
                _ => break,
            }
            end += character_len(text, end);
            length += 1;
        }
        Some(start..end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(cuts: &WordCuts, text: &str) -> Vec<String> {
        let (mut found, mut at) = (Vec::new(), 0);
        while let Some(range) = cuts.next(text.as_bytes(), at) {
            at = range.end;
            found.push(text[range].to_owned());
        }
        found
    }

    #[test]
    fn cuts_where_no_token_goes_on() {
        let text = "▁foo(bar1,é\u{301})▁日本ごx\u{2585}\u{2585}q";
        let cuts = WordCuts::new(text.chars(), Rules::default(), 99);
        // Digits and signs are of one script.
        let expected = [
            "▁foo",
            "(",
            "bar",
            "1,",
            "é\u{301})",
            "▁日本ご",
            "x",
            "\u{2585}",
            "\u{2585}",
            "q",
        ];
        assert_eq!(cut(&cuts, text), expected);
        let few = WordCuts::new("ao".chars(), Rules::default(), 1);
        assert_eq!(cut(&few, "▁foobar"), ["o", "o", "a"]);
    }
}
