//! The texts of tokens in one stretch of memory: what one decoder hands to the next.

use crate::error::{Error, Result, invalid};
use crate::memory::asking::room_for;
use crate::text::{self, Trouble};

/// What a string is, as far as decoders ask.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Text.
    #[default]
    Text,
    /// The unknown token.
    Unknown,
    /// Bytes that were spelt out one by one: nothing in them is a mark.
    Bytes,
}

/// A list of byte strings, one after the other, each with its kind.
///
/// What finds no room is left out, and [`TokenTexts::check`] says so: those who write need not ask each time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenTexts {
    bytes: Vec<u8>,
    ends: Vec<(usize, Kind)>,
    /// How many bytes there may be.
    limit: usize,
    trouble: Option<Trouble>,
}

impl Default for TokenTexts {
    fn default() -> Self {
        Self {
            bytes: Vec::new(),
            ends: Vec::new(),
            limit: usize::MAX,
            trouble: None,
        }
    }
}

impl TokenTexts {
    /// Begins a list of what these become: no longer than 64 times as long, or 16 MiB.
    #[must_use]
    pub fn bounded_by(tokens: &Self) -> Self {
        Self {
            limit: text::growth_limit(tokens.bytes.len()),
            ..Self::default()
        }
    }

    /// Makes sure that nothing was left out.
    ///
    /// # Errors
    /// [`Error::Invalid`] when the strings grew beyond their limit, [`Error::Memory`] when there was no memory for them.
    pub fn check(&self) -> Result<()> {
        match self.trouble {
            None => Ok(()),
            Some(Trouble::Grown) => Err(invalid!(
                "the decoders make a text longer than {} bytes of these tokens, which is the limit",
                self.limit
            )),
            Some(Trouble::Memory) => Err(Error::Memory(format!(
                "there is no memory for more than {} bytes of decoded text",
                self.bytes.len()
            ))),
        }
    }

    /// Adds a string.
    pub fn push(&mut self, piece: &[u8], kind: Kind) {
        self.extend(piece);
        self.close(kind);
    }

    /// Adds bytes to a string that [`TokenTexts::close`] has yet to end.
    pub fn extend(&mut self, bytes: &[u8]) {
        if bytes.len() > self.limit.saturating_sub(self.bytes.len()) {
            self.trouble = Some(Trouble::Grown);
        } else if !room_for(&mut self.bytes, bytes.len()) {
            self.trouble = Some(Trouble::Memory);
        } else {
            self.bytes.extend_from_slice(bytes);
        }
    }

    /// Ends the string that [`TokenTexts::extend`] has made.
    pub fn close(&mut self, kind: Kind) {
        self.ends.push((self.bytes.len(), kind));
    }

    /// The string that [`TokenTexts::extend`] has made and [`TokenTexts::close`] has not ended.
    #[must_use]
    pub fn open(&self) -> &[u8] {
        &self.bytes[self.ends.last().map_or(0, |&(end, _)| end)..]
    }

    /// The strings and their kinds.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&[u8], Kind)> {
        let mut start = 0;
        self.ends.iter().map(move |&(end, kind)| {
            let piece = &self.bytes[start..end];
            start = end;
            (piece, kind)
        })
    }

    /// How many strings there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Leaves no string, and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Makes one string of all.
    pub fn fuse(&mut self) {
        self.ends.clear();
        self.close(Kind::Text);
    }

    /// All bytes, in order.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}
