//! The pre-tokenizers: each cuts the pieces of the one before it, and some rewrite them.
//!
//! Components have the names and fields of Hugging Face's, whose results these give. Any bytes are
//! text: a byte that is no part of UTF-8 is a letter without case, as in the scanners.

use std::ops::Range;

use serde::Deserialize;

use super::ScannerSpec;
use crate::error::{Error, Result};
use crate::normalize::{Context, Pattern};
use crate::text::Text;

/// The specification of a pre-tokenizer, as JSON of the same form as in Hugging Face's files.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "type", deny_unknown_fields)]
#[expect(
    missing_docs,
    reason = "the names are the field's; the Python specs document each"
)]
pub enum Spec {
    /// A pattern of GPT's families.
    Scanner {
        scanner: ScannerSpec,
    },
    Split {
        pattern: Pattern,
        behavior: Behavior,
        invert: bool,
    },
    /// Puts a space before each piece that does not begin with white space.
    PrefixSpace {},
    /// Spells each byte as its visible character, for stages that follow.
    ByteLevel {},
    BertPreTokenizer {},
    Whitespace {},
    WhitespaceSplit {},
    Punctuation {
        behavior: Behavior,
    },
    Digits {
        individual_digits: bool,
    },
    CharDelimiterSplit {
        delimiter: char,
    },
    Metaspace {
        replacement: char,
        prepend_scheme: PrependScheme,
        split: bool,
    },
    UnicodeScripts {},
    FixedLength {
        length: usize,
    },
}

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
}

/// A compiled pre-tokenizer.
#[derive(Debug)]
pub struct PreTokenizer {
    spec: Spec,
}

impl PreTokenizer {
    /// Compiles a pre-tokenizer.
    ///
    /// # Errors
    /// Says what of the specification cannot be.
    pub fn new(spec: Spec) -> Result<Self> {
        Ok(Self { spec })
    }

    /// Cuts pieces further.
    ///
    /// # Errors
    /// When an expression takes too long.
    pub fn split(&self, _pieces: &mut Pieces, _context: Context) -> Result<()> {
        Err(Error::Invalid(format!("{:?} is not built yet", self.spec)))
    }

    /// Whether a text can be cut before a space that stands between two ASCII letters, and the parts
    /// be split each for itself (the later one with [`Context::continued`]).
    #[must_use]
    pub fn allows_cuts(&self) -> bool {
        false
    }
}
