//! The lookup tables of a byte-pair model.
//!
//! They are flat arrays of integers, so a build script can lay them into the module's read-only data
//! (no parsing at start-up) and a loaded vocabulary can build the same ones at run time.
//!
//! * [`TokenTable`]: id -> bytes.
//! * [`PieceTable`]: bytes -> id, an open-addressing hash table of ids that compares the bytes.
//! * [`PairTable`]: (left id, right id) -> number, one u64 a slot.
//! * [`PairFilter`]: whether a pair of ids can be in a set, one bit each.
//! * [`CharacterTable`]: a character -> the symbols that merging begins with, one u64 a slot.
//! * [`AsciiTable`]: two bytes of ASCII -> what is known of their merge, one u64 each.
//! * [`recover_merges`]: ranks -> merges.
//!
//! The build script takes this module in by its path; it needs nothing else of the crate but `error`.
#![forbid(unsafe_code)]
#![allow(clippy::mod_module_files)]

mod ascii;
mod character;
mod pair;
mod pair_filter;
mod piece;
mod recover;
mod token;

pub use ascii::{AsciiPair, AsciiTable};
pub use character::{CharacterTable, Edges, Start};
pub use pair::PairTable;
pub use pair_filter::PairFilter;
pub use piece::PieceTable;
pub use recover::{Merge, Recovered, recover_merges};
pub use token::TokenTable;

/// Ids of ordinary tokens and numbers of merges lie below this: three of them fit a u64.
pub const MAX_TOKENS: usize = 1 << 21;

/// "No token": an id that no ordinary token has.
pub const NONE: u32 = u32::MAX;
