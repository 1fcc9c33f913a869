//! Forward maximum matching: at each place from the left the longest word of a dictionary that begins
//! there, and where none does, one character.
//!
//! Trying every length at every place takes the text times the longest word. Here the words are spelt
//! from their ends in an automaton, and the text is read from *its* end: at each character the automaton
//! then knows the longest word that ends the reversed text, which is the longest one that begins there.
//!
//! Complexity: linear in the text, whatever the words. A long text goes by windows that are at least as
//! long as the longest word, and are read with so much of what follows: twice the work at most.

use super::automaton::{Automaton, Node, ROOT, read_symbol, symbols_of};
use super::model::{Found, Model, check_unknown};
use super::scratch::Scratch;
use crate::error::{Error, Result};
use crate::tables::TokenTable;

/// Characters of a window, unless the longest word has more.
const WINDOW: usize = 1 << 12;

/// Working memory.
#[derive(Debug, Default)]
pub struct Window {
    /// Each character's number, and where it ends in the piece.
    characters: Vec<(u32, usize)>,
    /// The longest word that begins at each character, or the root.
    words: Vec<Node>,
}

/// A dictionary.
#[derive(Debug)]
pub struct MaxMatch {
    tokens: TokenTable<'static>,
    /// Of the words from their ends.
    reversed: Automaton,
    longest: usize,
    unk_id: Option<u32>,
}

impl MaxMatch {
    /// Takes all tokens as words; a character without one becomes `unk_id`, or is an error.
    ///
    /// # Errors
    /// When the id for unknown characters is too high for one.
    pub fn new(tokens: TokenTable<'static>, unk_id: Option<u32>) -> Result<Self> {
        check_unknown(unk_id)?;
        let mut longest = 0;
        let words = tokens.iter().map(|(id, token)| {
            let mut symbols = symbols_of(token);
            longest = longest.max(symbols.len());
            symbols.reverse();
            (id, symbols)
        });
        let reversed = Automaton::new(words);
        Ok(Self {
            tokens,
            reversed,
            longest,
            unk_id,
        })
    }
}

impl Model for MaxMatch {
    fn tokens(&self) -> &TokenTable<'static> {
        &self.tokens
    }

    /// No word goes on across pieces.
    fn fuses(&self) -> Option<u32> {
        None
    }

    fn encode_piece(
        &self,
        piece: &[u8],
        scratch: &mut Scratch,
        out: &mut Vec<Found>,
    ) -> Result<()> {
        let Window { characters, words } = scratch.own.of();
        let window = self.longest.max(WINDOW);
        let mut start = 0;
        while start < piece.len() {
            characters.clear();
            let mut end = start;
            while end < piece.len() && characters.len() < window + self.longest {
                let (symbol, length) = read_symbol(piece, end);
                end += length;
                characters.push((symbol, end));
            }
            words.clear();
            words.resize(characters.len(), ROOT);
            let mut node = ROOT;
            for (word, &(symbol, _)) in words.iter_mut().zip(&*characters).rev() {
                node = self.reversed.step(node, symbol);
                *word = self.reversed.longest_word(node);
            }
            // A word that begins later than this may go on past what was read.
            let settled = match end == piece.len() {
                true => characters.len(),
                false => window,
            };
            let mut place = 0;
            while place < settled {
                let word = words[place];
                let id = self.reversed.token(word).or(self.unk_id);
                let id = id.ok_or(Error::MissingByte {
                    byte: piece[start],
                    offset: start,
                })?;
                place += self.reversed.depth(word).max(1);
                let end = characters[place - 1].1;
                out.push(Found {
                    id,
                    start: start as u32,
                    end: end as u32,
                });
                start = end;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(words: &[&[u8]], unk_id: Option<u32>) -> MaxMatch {
        MaxMatch::new(TokenTable::of(words).unwrap(), unk_id).unwrap()
    }

    fn pieces(model: &MaxMatch, text: &[u8]) -> Vec<(u32, Vec<u8>)> {
        let mut out = Vec::new();
        model
            .encode_piece(text, &mut Scratch::default(), &mut out)
            .unwrap();
        out.iter()
            .map(|found| {
                (
                    found.id,
                    text[found.start as usize..found.end as usize].to_vec(),
                )
            })
            .collect()
    }

    #[test]
    fn takes_the_longest_word_from_the_left() {
        let model = model(&[b"ab", b"abc", b"cd", b"a", b"d", b"ab"], Some(9));
        let found = pieces(&model, b"abcdabxcd");
        let expected: [(u32, &[u8]); 5] =
            [(1, b"abc"), (4, b"d"), (0, b"ab"), (9, b"x"), (2, b"cd")];
        assert_eq!(found, expected.map(|(id, word)| (id, word.to_vec())));
    }

    #[test]
    fn never_matches_inside_a_character() {
        // The first two bytes of a character are two stray bytes as a word, and no part of that character.
        let model = model(&[&"你".as_bytes()[..2], "好".as_bytes()], Some(7));
        let found = pieces(&model, "你好".as_bytes());
        assert_eq!(found, [(7, "你".into()), (1, "好".into())]);
        assert_eq!(
            pieces(&model, b"\xe4\xbd\xe4")[0],
            (0, b"\xe4\xbd".to_vec())
        );
    }

    #[test]
    fn says_which_byte_has_no_token() {
        let model = model(&[b"a"], None);
        let mut out = Vec::new();
        let error = model.encode_piece(b"aab", &mut Scratch::default(), &mut out);
        let missing = Error::MissingByte {
            byte: b'b',
            offset: 2,
        };
        assert_eq!(error, Err(missing));
    }

    #[test]
    fn windows_change_nothing() {
        let long = b"a".repeat(WINDOW + 3);
        let model = model(&[b"a", b"aaa", &long, b"ab"], Some(4));
        for length in [WINDOW - 1, WINDOW + 2, 2 * WINDOW + 7, 4 * WINDOW + 1] {
            let mut text = b"a".repeat(length);
            text.push(b'b');
            let (mut expected, mut at) = (Vec::new(), 0);
            while at < text.len() {
                let words = [(2, &long[..]), (1, b"aaa"), (3, b"ab"), (0, b"a")];
                let (id, word) = words
                    .into_iter()
                    .find(|(_, word)| text[at..].starts_with(word))
                    .unwrap_or((4, b"?"));
                expected.push((id, text[at..at + word.len()].to_vec()));
                at += word.len();
            }
            assert!(pieces(&model, &text) == expected, "{length}");
        }
    }
}
