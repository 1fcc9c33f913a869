//! The normalizer: rewrites text before it is cut.
//!
//! Components have the names and fields of Hugging Face's, whose results these give. Any bytes are
//! text: a byte that is no part of UTF-8 is left as it is by all of them.

mod between;
mod categories;
mod changes;
mod charsmap;
mod clean;
mod double_array;
mod form;
mod inert;
mod replace;
mod rules;
mod space_marks;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

pub use rules::charsmap;
#[cfg(test)]
pub(crate) use rules::table_of;

use crate::boundaries::stages::{AtSpace, OfStretches, Rewriting};
use crate::error::{Result, invalid};
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
    BertNormalizer(clean::Bert),
    /// `precompiled_charsmap` in base64, applied to grapheme clusters.
    Precompiled {
        precompiled_charsmap: String,
    },
    /// The same, applied from left to right, by the longest rule.
    Charsmap {
        precompiled_charsmap: String,
        /// Texts that are left as they are.
        #[serde(default)]
        user_defined: Vec<String>,
    },
    /// Spells each byte as its visible character.
    ByteLevel {},
    /// Blanks as marks (U+2581), as SentencePiece handles them.
    SpaceMarks(space_marks::SpaceMarks),
}

impl Spec {
    /// What the normalizer does to a text as a whole.
    #[must_use]
    pub fn rewriting(&self) -> Rewriting {
        match self {
            // Each looks at one character at a time; only the order of marks is sorted out. Control characters may go, a
            // blank becomes a blank.
            Self::BertNormalizer(_) | Self::Lowercase {} => Rewriting::Characters,
            // A blank composes with nothing.
            Self::Nfc {} | Self::Nfd {} | Self::Nfkc {} | Self::Nfkd {} | Self::StripAccents {} => {
                Rewriting::Sequences
            }
            Self::Replace {
                pattern: Pattern::String(what),
                content,
            } if what == " " && content == "\u{2581}" => Rewriting::Marks,
            // A mark behind the text would stand behind each part.
            Self::SpaceMarks(marks) if marks.escape_whitespaces && !marks.puts_suffix() => {
                Rewriting::SpaceMarks
            }
            Self::Prepend { .. } => Rewriting::Before,
            Self::Charsmap { .. } => Rewriting::Rules,
            Self::Precompiled { .. } => Rewriting::ClusterRules,
            Self::Replace { .. }
            | Self::SpaceMarks(_)
            | Self::Nmt {}
            | Self::Strip { .. }
            | Self::ByteLevel {} => Rewriting::Anything,
        }
    }
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
pub struct Normalizer(Kind);

#[derive(Debug)]
enum Kind {
    /// Changes nothing.
    Identity,
    Form(form::Form),
    Nmt,
    Lowercase,
    StripAccents,
    Strip {
        left: bool,
        right: bool,
    },
    Replace(replace::Replace),
    Prepend(String),
    Bert(clean::Bert),
    Graphemes(charsmap::Charsmap),
    Charsmap(charsmap::Charsmap),
    ByteLevel,
    SpaceMarks(space_marks::SpaceMarks),
}

impl Normalizer {
    /// Compiles a normalizer.
    ///
    /// # Errors
    /// Says what of the specification cannot be: an expression, a table.
    pub fn new(spec: Spec) -> Result<Self> {
        let form = |compatible, composed| {
            Kind::Form(form::Form {
                compatible,
                composed,
                known: &categories::UNICODE_9,
            })
        };
        Ok(Self(match spec {
            Spec::Nfc {} => form(false, true),
            Spec::Nfd {} => form(false, false),
            Spec::Nfkc {} => form(true, true),
            Spec::Nfkd {} => form(true, false),
            Spec::Nmt {} => Kind::Nmt,
            Spec::Lowercase {} => Kind::Lowercase,
            Spec::StripAccents {} => Kind::StripAccents,
            Spec::Strip {
                strip_left,
                strip_right,
            } => Kind::Strip {
                left: strip_left,
                right: strip_right,
            },
            Spec::Replace { pattern, content } => {
                Kind::Replace(replace::Replace::new(pattern, content)?)
            }
            Spec::Prepend { prepend } => Kind::Prepend(prepend),
            Spec::BertNormalizer(bert) => Kind::Bert(bert),
            Spec::Precompiled {
                precompiled_charsmap,
            } => read_table(&precompiled_charsmap)?.map_or(Kind::Identity, Kind::Graphemes),
            Spec::Charsmap {
                precompiled_charsmap,
                user_defined,
            } => {
                let table = match read_table(&precompiled_charsmap)? {
                    None if !user_defined.is_empty() => charsmap::Charsmap::empty()?,
                    table => table,
                };
                table.map_or(Kind::Identity, |mut table| {
                    table.keep(&user_defined);
                    Kind::Charsmap(table)
                })
            }
            Spec::ByteLevel {} => Kind::ByteLevel,
            Spec::SpaceMarks(marks) => Kind::SpaceMarks(marks),
        }))
    }

    /// Compiles normalizers that run one after the other.
    ///
    /// # Errors
    /// As [`Normalizer::new`].
    pub fn all(specs: Vec<Spec>) -> Result<Vec<Self>> {
        let mut all = specs
            .into_iter()
            .map(Self::new)
            .collect::<Result<Vec<_>>>()?;
        for end in 2..=all.len() {
            if let [
                ..,
                Self(Kind::Charsmap(table)),
                Self(Kind::SpaceMarks(marks)),
            ] = &mut all[..end]
                && marks.removes_extra()
                && table.has_runs()
            {
                table.leave_extra_out();
                marks.keep_runs();
            }
        }
        Ok(all)
    }

    /// What it does to a text as a whole, if it is more than its specification says by itself.
    pub fn rewriting(&self) -> Option<Rewriting> {
        let table = self.table()?;
        table.leaves_extra_out().then_some(Rewriting::Anything)
    }

    /// Rewrites a text.
    ///
    /// # Errors
    /// When an expression takes too long.
    pub fn normalize(&self, text: &mut Text, context: Context) -> Result<()> {
        match &self.0 {
            Kind::Identity => {}
            Kind::Form(form) => form.rewrite(text),
            Kind::Nmt => clean::nmt(text),
            Kind::Lowercase => clean::lowercase(text),
            Kind::StripAccents => clean::strip_accents(text),
            Kind::Strip { left, right } => clean::strip(text, *left, *right, context),
            Kind::Replace(replace) => replace.rewrite(text)?,
            Kind::Prepend(what) => clean::prepend(text, what, context),
            Kind::Bert(bert) => bert.rewrite(text),
            Kind::Graphemes(table) => text.rewrite(|old, new| table.write_graphemes(old, new)),
            Kind::Charsmap(table) => text.rewrite(|old, new| table.write(old, new)),
            Kind::ByteLevel => clean::byte_level(text),
            Kind::SpaceMarks(marks) => marks.rewrite(text, context),
        }
        Ok(())
    }

    /// Begins a text, without origins, with what becomes of an original. That is not copied first where it is read from
    /// left to right and written anew in any case.
    ///
    /// # Errors
    /// As [`Normalizer::normalize`].
    pub fn begin(&self, original: &[u8], text: &mut Text, context: Context) -> Result<()> {
        match &self.0 {
            Kind::Graphemes(table) => {
                text.begin(original, |old, new| table.write_graphemes(old, new));
                Ok(())
            }
            Kind::Charsmap(table) => {
                text.begin(original, |old, new| table.write(old, new));
                Ok(())
            }
            _ => {
                text.reset(original, false);
                self.normalize(text, context)
            }
        }
    }

    /// The table of rules, if it goes by one.
    fn table(&self) -> Option<&charsmap::Charsmap> {
        match &self.0 {
            Kind::Graphemes(table) | Kind::Charsmap(table) => Some(table),
            Kind::Identity
            | Kind::Form(_)
            | Kind::Nmt
            | Kind::Lowercase
            | Kind::StripAccents
            | Kind::Strip { .. }
            | Kind::Replace(_)
            | Kind::Prepend(_)
            | Kind::Bert(_)
            | Kind::ByteLevel
            | Kind::SpaceMarks(_) => None,
        }
    }

    /// Whether no rule of a table looks at a byte, but one that begins with it.
    #[must_use]
    pub fn only_begins(&self, byte: u8) -> bool {
        self.table().is_none_or(|table| table.only_begins(byte))
    }

    /// Whether a table leaves a blank as it is or makes a space of it, whatever stands behind it.
    #[must_use]
    pub fn leaves_blank(&self, blank: u8) -> bool {
        self.table().is_none_or(|table| table.leaves_blank(blank))
    }

    /// The texts that a table leaves as they are.
    #[must_use]
    pub fn kept(&self) -> &[Vec<u8>] {
        self.table().map_or(&[], |table| table.kept())
    }

    /// What happens to a space that stands between two ASCII letters when the text is cut before it.
    #[must_use]
    pub fn at_space(&self) -> AtSpace {
        match &self.0 {
            // Nothing is changed.
            Kind::Identity => AtSpace::Stays,
            // A space composes with nothing and begins a new sequence; an ASCII letter decomposes to itself, and with
            // marks behind it composes to a letter.
            Kind::Form(_) => AtSpace::Stays,
            // Each rewrites characters one by one; an ASCII letter stays one, a space a space.
            Kind::Nmt | Kind::Lowercase | Kind::StripAccents | Kind::Bert(_) => AtSpace::Stays,
            // The part before ends with a letter, and the beginning of the other is not stripped.
            Kind::Strip { .. } => AtSpace::Stays,
            // Only what does not go on from an earlier part is put before.
            Kind::Prepend(_) => AtSpace::Stays,
            Kind::Replace(replace) => replace.at_space(),
            Kind::Graphemes(table) => table.at_space_of_graphemes(),
            Kind::Charsmap(table) => table.at_space(),
            // Byte by byte; a space is one that becomes something else.
            Kind::ByteLevel => AtSpace::Changes,
            Kind::SpaceMarks(marks) => marks.at_space(),
        }
    }

    /// Whether it is certain that it leaves a text as it is, and any part of the text; only of few kinds this is found out.
    pub fn leaves(&self, text: &[u8]) -> bool {
        match &self.0 {
            Kind::Identity => true,
            Kind::Form(form) => form.leaves(text),
            _ => false,
        }
    }

    /// What happens to the stretches that begin with a run of spaces.
    #[must_use]
    pub fn of_stretches(&self) -> OfStretches {
        let apart = match &self.0 {
            Kind::Identity => true,
            Kind::Replace(replace) => replace.stays_inside_words(),
            Kind::Charsmap(table) => table.stays_inside_words(),
            Kind::SpaceMarks(marks) => return marks.of_stretches(),
            Kind::Form(_)
            | Kind::Nmt
            | Kind::Lowercase
            | Kind::StripAccents
            | Kind::Strip { .. }
            | Kind::Prepend(_)
            | Kind::Bert(_)
            | Kind::Graphemes(_)
            | Kind::ByteLevel => false,
        };
        if apart {
            OfStretches::Apart
        } else {
            OfStretches::Unknown
        }
    }
}

fn read_table(base64: &str) -> Result<Option<charsmap::Charsmap>> {
    let bytes = STANDARD
        .decode(base64)
        .map_err(|error| invalid!("the table of a normalizer is not base64: {error}"))?;
    charsmap::Charsmap::read(&bytes)
}
