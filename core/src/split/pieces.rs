//! What pre-tokenizers have in common: a text in pieces, and the words for what they do with it.

use std::ops::Range;

use serde::Deserialize;

use crate::text::Text;

/// What becomes of what a pattern matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[expect(missing_docs, reason = "the names are the field's")]
pub enum Behavior {
    Removed,
    Isolated,
    MergedWithPrevious,
    MergedWithNext,
    Contiguous,
}

/// When a `Metaspace` puts its mark before a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names are the field's")]
pub enum PrependScheme {
    First,
    Never,
    Always,
}

/// A text and the pieces of it that are left; what no piece holds was removed.
#[derive(Debug, Default)]
pub struct Pieces {
    /// The text.
    pub text: Text,
    /// Byte ranges in it, ascending, none empty.
    pub ranges: Vec<Range<usize>>,
    /// Whether bytes are spelt as visible characters (after `ByteLevel`).
    pub visible: bool,
    /// Where the next stage writes its ranges: memory that is used again.
    pub spare: Vec<Range<usize>>,
}
