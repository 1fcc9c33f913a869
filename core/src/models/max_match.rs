//! Forward maximum matching: at each place from the left the longest word of a dictionary that begins
//! there, and where none does, one character.
//!
//! At each place a trie is followed from the beginning of a word as far as it goes, which is mostly not much farther than
//! the word that is taken. Where it is, again and again, that takes the text times the longest word. So once more bytes
//! than [`PATIENCE`] allows were looked at, the rest goes another way: the words are spelt from their ends in an automaton,
//! and the text is read from *its* end. At each character the automaton then knows the longest word that ends the reversed
//! text, which is the longest one that begins there. So do dictionaries whose words are not all UTF-8: the bytes of a
//! character are never taken for stray ones, which a trie over bytes cannot tell.
//!
//! Complexity: linear in the text, whatever the words. A long text goes by windows that are at least as
//! long as the longest word, and are read with so much of what follows: twice the work at most.

use super::automaton::{Automaton, Node, ROOT, read_symbol, symbols_of};
use super::model::{Found, Model, check_unknown};
use super::scratch::Scratch;
use super::trie::Trie;
use crate::boundaries::seams::{Joints, Seams};
use crate::error::{Error, Result};
use crate::tables::TokenTable;
use crate::text::{character_len, characters};
use crate::threads::made_once::MadeOnce;

/// Characters of a window, unless the longest word has more.
const WINDOW: usize = 1 << 12;

/// The trie may look at so many bytes for each byte that is taken, and so many besides.
const PATIENCE: (usize, usize) = if cfg!(test) { (3, 4) } else { (8, 1 << 12) };

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
    /// Of the words, if all are UTF-8.
    trie: Option<Trie>,
    /// Of the words from their ends; made when it is needed.
    reversed: MadeOnce<Automaton>,
    /// The characters of the longest word.
    longest: usize,
    unk_id: Option<u32>,
}

impl MaxMatch {
    /// Takes all tokens as words; a character without one becomes `unk_id`, or is an error.
    ///
    /// # Errors
    /// When the id for unknown characters is too high for one, or the words have too many bytes.
    pub fn new(tokens: TokenTable<'static>, unk_id: Option<u32>) -> Result<Self> {
        check_unknown(unk_id)?;
        let is_utf8 = |(_, token): (u32, &[u8])| std::str::from_utf8(token).is_ok();
        let trie = match tokens.iter().all(is_utf8) {
            true => Some(trie_of(&tokens)?),
            false => None,
        };
        let longest = tokens.iter().map(|(_, token)| characters(token).count());
        Ok(Self {
            longest: longest.max().unwrap_or(0),
            trie,
            reversed: MadeOnce::default(),
            tokens,
            unk_id,
        })
    }

    fn reversed(&self) -> &Automaton {
        self.reversed.get_or_make(|| {
            Automaton::new(self.tokens.iter().map(|(id, token)| {
                let mut symbols = symbols_of(token);
                symbols.reverse();
                (id, symbols)
            }))
        })
    }

    /// What is taken where no word is.
    fn unknown(&self, piece: &[u8], at: usize) -> Result<u32> {
        self.unk_id.ok_or(Error::MissingByte {
            byte: piece[at],
            offset: at,
        })
    }

    /// Takes words by the trie as long as that looks at few bytes; returns where it ends.
    fn by_trie(&self, trie: &Trie, piece: &[u8], out: &mut Vec<Found>) -> Result<usize> {
        let mut looked_at = 0;
        let mut start = 0;
        while start < piece.len() && looked_at <= PATIENCE.0 * start + PATIENCE.1 {
            let (found, bytes) = trie.longest(piece, start);
            looked_at += bytes;
            let (end, id) = match found {
                Some(word) => word,
                None => (
                    start + character_len(piece, start),
                    self.unknown(piece, start)?,
                ),
            };
            out.push(Found {
                id,
                start: start as u32,
                end: end as u32,
            });
            start = end;
        }
        Ok(start)
    }
}

/// The trie of words; of equal ones the first counts.
fn trie_of(tokens: &TokenTable<'static>) -> Result<Trie> {
    let mut keys: Vec<(&[u8], u32)> = tokens.iter().map(|(id, token)| (token, id)).collect();
    keys.sort_unstable();
    keys.dedup_by_key(|&mut (token, _)| token);
    Trie::new(&keys)
}

impl Model for MaxMatch {
    fn tokens(&self) -> &TokenTable<'static> {
        &self.tokens
    }

    /// No word goes on across pieces.
    fn fuses(&self) -> Option<u32> {
        None
    }

    /// A word that would go on across a joint holds both characters. So before one, the longest word that begins anywhere is
    /// the same without what follows, and the last one ends there.
    fn seams(&self) -> Seams {
        let words = self.tokens.iter().map(|(_, word)| word);
        Seams {
            border: None,
            joints: Some(Joints::of(words)),
        }
    }

    fn encode_piece(
        &self,
        piece: &[u8],
        scratch: &mut Scratch,
        out: &mut Vec<Found>,
    ) -> Result<()> {
        let mut start = match &self.trie {
            Some(trie) => self.by_trie(trie, piece, out)?,
            None => 0,
        };
        if start == piece.len() {
            return Ok(());
        }
        let Window { characters, words } = scratch.own.of();
        let window = self.longest.max(WINDOW);
        let reversed = self.reversed();
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
                node = reversed.step(node, symbol);
                *word = reversed.longest_word(node);
            }
            // A word that begins later than this may go on past what was read.
            let settled = match end == piece.len() {
                true => characters.len(),
                false => window,
            };
            let mut place = 0;
            while place < settled {
                let word = words[place];
                let id = match reversed.token(word) {
                    Some(id) => id,
                    None => self.unknown(piece, start)?,
                };
                place += reversed.depth(word).max(1);
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
    fn where_the_trie_looks_far_in_vain_the_rest_goes_the_other_way() {
        let long = [b"ab".repeat(20), b"x".to_vec()].concat();
        let by_trie = model(&[b"a", b"b", "é".as_bytes(), &long, b"ba"], Some(9));
        let mut by_windows = model(&[b"a", b"b", "é".as_bytes(), &long, b"ba"], Some(9));
        by_windows.trie = None;
        for text in [
            b"ab".repeat(70),
            [&b"ab".repeat(19)[..], &long, b"y", &long].concat(),
            "abéabyba".repeat(9).into_bytes(),
        ] {
            let expected = pieces(&by_windows, &text);
            assert_eq!(pieces(&by_trie, &text), expected);
            let trie = by_trie.trie.as_ref().unwrap();
            let end = by_trie.by_trie(trie, &text, &mut Vec::new()).unwrap();
            assert_eq!(end < text.len(), text.starts_with(b"abab"));
        }
        let missing = model(&[b"ab", &long], None);
        let error =
            |text: &[u8]| missing.encode_piece(text, &mut Scratch::default(), &mut Vec::new());
        let text = [&b"ab".repeat(30)[..], b"y"].concat();
        assert_eq!(
            error(&text),
            Err(Error::MissingByte {
                byte: b'y',
                offset: 60
            })
        );
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
