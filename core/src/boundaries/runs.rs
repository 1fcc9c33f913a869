//! Where a run of one byte can be cut although no piece ends there, so that nobody has to hold a run of gigabytes.
//!
//! Two answer, and both must say yes:
//!
//! * A scanner, of a place in the last run of blanks of a text (`Scanner::cut_in_run`): the piece that holds the place,
//!   and no other one, is in two parts if the text is cut there, each part a piece by itself, whatever follows; and two
//!   blanks at least stand behind the place.
//! * A model ([`Joins`]): f(x + y) = f(x) + f(y) if x ends with the byte and y begins with two of it, f being what the
//!   model makes of a piece.
//!
//! Together: the pieces before the one that is cut, and those behind it, are the same, and its ids are those of its parts.

use crate::tables::TokenTable;

/// Whether a model joins a byte with itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joins {
    /// No token holds two of it side by side. Whatever merging makes is a token, so no merge crosses a place
    /// between two of them, the symbols on its two sides do not touch each other, and which merge comes first is all
    /// the same. Nor is a token what a piece with two of them is as a whole; and one of them alone is
    /// its own token, however it is looked up.
    Never,
    /// Nothing is claimed.
    Perhaps,
}

impl Joins {
    /// Whether one of these tokens, which are all that merging makes, joins a byte with itself.
    #[must_use]
    pub fn of(tokens: &TokenTable<'_>, byte: u8) -> Self {
        let joins = |token: &[u8]| token.windows(2).any(|two| two == [byte, byte]);
        match tokens.iter().any(|(_, token)| joins(token)) {
            true => Self::Perhaps,
            false => Self::Never,
        }
    }
}
