//! The normalizer: rewrites text before it is cut.
//!
//! Components have the names and fields of Hugging Face's, whose results these give. Any bytes are
//! text: a byte that is no part of UTF-8 is left as it is by all of them.

use serde::Deserialize;

use crate::error::{Error, Result};
use crate::text::Text;

/// What a piece of text is a part of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// It goes on from text before it, from which it was only cut to be handled apart: nothing is put
    /// before it, and it has no beginning to strip.
    pub continued: bool,
    /// It is the very beginning of a document.
    pub first: bool,
}

/// The specification of a normalizer, as JSON of the same form as in Hugging Face's files.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "type", deny_unknown_fields)]
#[expect(
    missing_docs,
    reason = "the names are the field's; the Python specs document each"
)]
pub enum Spec {
    #[serde(rename = "NFC")]
    Nfc {},
    #[serde(rename = "NFD")]
    Nfd {},
    #[serde(rename = "NFKC")]
    Nfkc {},
    #[serde(rename = "NFKD")]
    Nfkd {},
    Nmt {},
    Lowercase {},
    StripAccents {},
    Strip {
        strip_left: bool,
        strip_right: bool,
    },
    Replace {
        pattern: Pattern,
        content: String,
    },
    Prepend {
        prepend: String,
    },
    BertNormalizer {
        clean_text: bool,
        handle_chinese_chars: bool,
        strip_accents: Option<bool>,
        lowercase: bool,
    },
    /// `precompiled_charsmap` in base64.
    Precompiled {
        precompiled_charsmap: String,
    },
    /// Spells each byte as its visible character.
    ByteLevel {},
    /// Blanks as marks (U+2581), as SentencePiece handles them.
    SpaceMarks {
        add_dummy_prefix: bool,
        remove_extra_whitespaces: bool,
        escape_whitespaces: bool,
        treat_whitespace_as_suffix: bool,
    },
}

/// What a `Replace` or a `Split` looks for.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub enum Pattern {
    /// This very text.
    String(String),
    /// A regular expression.
    Regex(String),
}

/// A compiled normalizer.
#[derive(Debug)]
pub struct Normalizer {
    spec: Spec,
}

impl Normalizer {
    /// Compiles a normalizer.
    ///
    /// # Errors
    /// Says what of the specification cannot be: an expression, a table.
    pub fn new(spec: Spec) -> Result<Self> {
        Ok(Self { spec })
    }

    /// Rewrites a text.
    ///
    /// # Errors
    /// When an expression takes too long.
    pub fn normalize(&self, _text: &mut Text, _context: Context) -> Result<()> {
        Err(Error::Invalid(format!("{:?} is not built yet", self.spec)))
    }

    /// Whether a text can be cut before a space that stands between two ASCII letters, and the parts
    /// be normalized each for itself (the later one with [`Context::continued`]).
    #[must_use]
    pub fn allows_cuts(&self) -> bool {
        false
    }
}
