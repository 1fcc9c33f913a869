//! The bits of a character's class, shared by the scanners and by the build script that makes the tables.
//!
//! A class is the set of these bits that hold for a character. Each bit is a bracket of the split
//! patterns, so that a scanner asks with one `&`. Every character has at least one bit: 0 is free to
//! mean "not a character" in the tables.

/// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`, the first half of a cased word.
pub const UPPER: u8 = 1;
/// `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`, the second half of a cased word.
pub const LOWER: u8 = 1 << 1;
/// `\p{L}`.
pub const LETTER: u8 = 1 << 2;
/// `\p{N}`.
pub const NUMBER: u8 = 1 << 3;
/// `\s`: the 25 characters of Unicode's `White_Space`.
pub const SPACE: u8 = 1 << 4;
/// `[\r\n]`; such a character has `SPACE` too.
pub const NEWLINE: u8 = 1 << 5;
/// `[^\s\p{L}\p{N}]`; a mark has `UPPER` and `LOWER` too.
pub const SYMBOL: u8 = 1 << 6;
/// The class of a byte that is no part of a character: a letter without case, as those of `\p{Lo}` are.
#[allow(dead_code, reason = "the build script makes characters only")]
pub const STRAY: u8 = LETTER | UPPER | LOWER;
