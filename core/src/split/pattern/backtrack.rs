//! Runs an expression by trying its ways to match, one after the other: what no automaton does.
//!
//! `code` writes an expression as steps, `search` takes them, and `tried` remembers what failed, once a text takes more
//! steps than it should: then no way is tried twice in the same place, and no expression takes exponential time. `cuts`
//! tells where a text may be cut.
//! All that is open stands on a list in memory, so that no text is too long for it.

mod code;
mod cuts;
mod search;
#[cfg(test)]
mod tests;
mod tried;

use super::alphabet::Alphabet;
use super::safe::SafePairs;
use super::tree::Tree;
use crate::error::Result;
use code::{Code, Mask};
pub(super) use tried::Tried;

/// An expression, ready to be tried.
#[derive(Debug)]
pub(super) struct Backtracker {
    pub alphabet: Alphabet,
    pub safe: SafePairs,
    code: Code,
    /// For each set, its characters by their numbers.
    sets: Vec<Mask>,
}

impl Backtracker {
    /// Compiles an expression.
    ///
    /// # Errors
    /// When it is too large, or tells too many characters apart.
    pub fn new(tree: &Tree) -> Result<Self> {
        let mut code = Code::new(tree)?;
        let (alphabet, holds) = Alphabet::new(&code.sets)?;
        let sets: Vec<Mask> = holds.iter().map(|holds| Mask::of(holds)).collect();
        code.look_first(&sets);
        let numbers = holds.first().map_or(1, Vec::len);
        let newline = alphabet.of(u32::from('\n'));
        let safe = cuts::safe_pairs(&code, &sets, numbers, newline);
        Ok(Self {
            alphabet,
            safe,
            code,
            sets,
        })
    }

    /// How large the code is.
    pub fn size(&self) -> usize {
        self.code.size
    }

    /// Writes the ends of the next pieces from `at` on, and gives their number.
    pub fn fill(&self, text: &[u8], at: usize, room: &mut [usize], tried: &mut Tried) -> usize {
        let mut begin = at;
        for (found, end) in room.iter_mut().enumerate() {
            if begin >= text.len() {
                return found;
            }
            begin = self.piece(text, begin, tried);
            *end = begin;
        }
        room.len()
    }

    /// Where the piece ends that begins at a place: that of a match, or what stands before the next one.
    ///
    /// An empty match is an edge between pieces, and the next one in the same place is not empty: so the piece is the first
    /// way to match that is not empty.
    fn piece(&self, text: &[u8], begin: usize, tried: &mut Tried) -> usize {
        tried.go_on_from(begin);
        let found = match tried.found.take() {
            Some((start, end)) if start == begin && end > begin => Some(end),
            _ => self.match_at(text, begin, Some(begin), tried),
        };
        if let Some(end) = found {
            return end;
        }
        let mut at = begin;
        loop {
            at += self.alphabet.read(text, at).1;
            if at >= text.len() {
                return text.len();
            }
            if let Some(end) = self.match_at(text, at, None, tried) {
                tried.found = Some((at, end));
                return at;
            }
        }
    }
}
