//! What a model finds: tokens with their places, or ids alone.

use crate::error::{Error, Result};
use crate::memory::asking::{self, need_room};

/// A token in a piece: its id, and what bytes of the piece it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The id.
    pub id: u32,
    /// Where it begins in the piece.
    pub start: u32,
    /// Where it ends (exclusive).
    pub end: u32,
}

/// What takes the tokens of a piece, from left to right: all that is known of them, or only their ids, which are a third
/// of it.
pub trait Tokens {
    /// Makes sure that there is room for so many more.
    ///
    /// # Errors
    /// [`Error::Memory`] when there is no memory for it.
    fn reserve(&mut self, more: usize) -> Result<()>;

    /// Takes the next token.
    fn push(&mut self, token: Found);

    /// Says that the last token ends later.
    fn extend_last(&mut self, end: u32);

    /// How many tokens there are.
    fn count(&self) -> usize;

    /// Takes back all tokens but so many.
    fn truncate(&mut self, count: usize);
}

impl Tokens for Vec<Found> {
    #[inline]
    fn reserve(&mut self, more: usize) -> Result<()> {
        reserve(self, more)
    }

    #[inline]
    fn push(&mut self, token: Found) {
        self.push(token);
    }

    #[inline]
    fn extend_last(&mut self, end: u32) {
        if let Some(last) = self.last_mut() {
            last.end = end;
        }
    }

    fn count(&self) -> usize {
        self.len()
    }

    fn truncate(&mut self, count: usize) {
        self.truncate(count);
    }
}

impl Tokens for Vec<u32> {
    #[inline]
    fn reserve(&mut self, more: usize) -> Result<()> {
        reserve(self, more)
    }

    #[inline]
    fn push(&mut self, token: Found) {
        self.push(token.id);
    }

    #[inline]
    fn extend_last(&mut self, _: u32) {}

    fn count(&self) -> usize {
        self.len()
    }

    fn truncate(&mut self, count: usize) {
        self.truncate(count);
    }
}

/// The number of tokens, and nothing of them.
#[derive(Debug, Default)]
pub struct Counted(pub u64);

impl Tokens for Counted {
    #[inline]
    fn reserve(&mut self, _: usize) -> Result<()> {
        Ok(())
    }

    #[inline]
    fn push(&mut self, _: Found) {
        self.0 += 1;
    }

    #[inline]
    fn extend_last(&mut self, _: u32) {}

    fn count(&self) -> usize {
        self.0 as usize
    }

    fn truncate(&mut self, count: usize) {
        self.0 = count as u64;
    }
}

/// Makes sure that a list of tokens has room for so many more.
///
/// # Errors
/// [`Error::Memory`] when there is no memory for it.
#[inline]
pub fn reserve<T>(tokens: &mut Vec<T>, more: usize) -> Result<()> {
    need_room(tokens, more, "tokens")
}

/// The error of a list of so many tokens for which there is no memory.
pub fn no_memory(tokens: u64) -> Error {
    asking::no_memory(tokens, "tokens")
}
