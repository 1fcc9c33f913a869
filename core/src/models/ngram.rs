//! Overlapping n-grams of characters: one begins at each character, and at the end of a piece stand the
//! shorter ones that are left.
//!
//! Each n-gram repeats all but one of the characters of the one before it, so what it adds to decoded
//! text is its first character.
//!
//! Complexity: linear in the text, whatever n: an automaton knows the longest token that ends at a
//! character, and the n-gram that does is a token if that one is as long.

use super::automaton::{Automaton, Node, ROOT, read_symbol, symbols_of};
use super::model::{Found, Model, check_unknown};
use super::scratch::Scratch;
use crate::error::{Error, Result, ensure};
use crate::tables::TokenTable;
use crate::text::character_len;

/// N-grams with their ids.
#[derive(Debug)]
pub struct NGram {
    tokens: TokenTable<'static>,
    /// The first character of each token.
    firsts: TokenTable<'static>,
    automaton: Automaton,
    n: usize,
    unk_id: Option<u32>,
}

impl NGram {
    /// Takes all tokens as n-grams; another one becomes `unk_id`, or is an error.
    ///
    /// # Errors
    /// When `n` is 0, or the id for unknown n-grams is too high for one.
    pub fn new(tokens: TokenTable<'static>, n: usize, unk_id: Option<u32>) -> Result<Self> {
        ensure!(n != 0, "an n-gram has at least one character");
        check_unknown(unk_id)?;
        let first = |id| match tokens.get(id) {
            [] => &[],
            token => &token[..character_len(token, 0)],
        };
        let firsts = TokenTable::of((0..tokens.len() as u32).map(first))?;
        let words = tokens.iter().map(|(id, token)| (id, symbols_of(token)));
        // A longer one is never found, and would hide those that are.
        let automaton = Automaton::new(words.filter(|(_, symbols)| symbols.len() <= n));
        Ok(Self {
            tokens,
            firsts,
            automaton,
            n,
            unk_id,
        })
    }

    /// The n-gram of a length that ends where the automaton is.
    fn token(&self, node: Node, length: usize, piece: &[u8], start: usize) -> Result<u32> {
        let whole = self.automaton.depth(node) == length;
        let token = self.automaton.token(node).filter(|_| whole);
        token.or(self.unk_id).ok_or(Error::MissingByte {
            byte: piece[start],
            offset: start,
        })
    }
}

impl Model for NGram {
    fn tokens(&self) -> &TokenTable<'static> {
        &self.tokens
    }

    fn contributions(&self) -> &TokenTable<'static> {
        &self.firsts
    }

    /// No n-gram goes on across pieces.
    fn fuses(&self) -> Option<u32> {
        None
    }

    fn encode_piece(
        &self,
        piece: &[u8],
        _scratch: &mut Scratch,
        out: &mut Vec<Found>,
    ) -> Result<()> {
        // `held` characters lie between `start`, where the next n-gram begins, and `end`.
        let (mut start, mut end, mut held) = (0, 0, 0);
        let mut node = ROOT;
        while start < piece.len() {
            if end < piece.len() {
                let (symbol, length) = read_symbol(piece, end);
                node = self.automaton.step(node, symbol);
                end += length;
                held += 1;
                if held < self.n {
                    continue;
                }
            }
            while self.automaton.depth(node) > held {
                node = self.automaton.failure(node);
            }
            out.push(Found {
                id: self.token(node, held, piece, start)?,
                start: start as u32,
                end: end as u32,
            });
            start += character_len(piece, start);
            held -= 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encode(words: &[&str], n: usize, text: &[u8]) -> Result<Vec<(u32, u32, u32)>> {
        let tokens = TokenTable::of(words).unwrap();
        let mut out = Vec::new();
        NGram::new(tokens, n, Some(99))?.encode_piece(text, &mut Scratch::default(), &mut out)?;
        Ok(out.iter().map(|f| (f.id, f.start, f.end)).collect())
    }

    #[test]
    fn each_begins_one_character_after_the_last() {
        let words = ["ab", "bc", "c", "abc", "b"];
        let found = encode(&words, 2, b"abc").unwrap();
        assert_eq!(found, [(0, 0, 2), (1, 1, 3), (2, 2, 3)]);
        let found = encode(&words, 3, b"abc").unwrap();
        assert_eq!(found, [(3, 0, 3), (1, 1, 3), (2, 2, 3)]);
        // Shorter than n from the start.
        assert_eq!(encode(&words, 9, b"bc").unwrap(), [(1, 0, 2), (2, 1, 2)]);
        assert_eq!(encode(&words, 1, b"bc").unwrap(), [(4, 0, 1), (2, 1, 2)]);
        assert_eq!(encode(&words, 2, b"b").unwrap(), [(4, 0, 1)]);
    }

    #[test]
    fn unknown_ones_and_stray_bytes() {
        let found = encode(&["é\u{597d}", "x"], 2, "é好\u{ff}".as_bytes()).unwrap();
        assert_eq!(found, [(0, 0, 5), (99, 2, 7), (99, 5, 7)]);
        let found = encode(&["x"], 2, b"\xffx").unwrap();
        assert_eq!(found, [(99, 0, 2), (0, 1, 2)]);
        assert!(matches!(encode(&["x"], 0, b"x"), Err(Error::Invalid(_))));
    }
}
