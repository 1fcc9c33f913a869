//! The stages before the model: normalizers, then pre-tokenizers.

use std::ops::Range;

use serde::Deserialize;

use crate::error::{Error, Result};
use crate::normalize::{self, AtSpace, Context, Normalizer};
use crate::split::stage::{self, Pieces, PreTokenizer};
use crate::text::Text;

/// The specification of all stages before the model.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// In order.
    #[serde(default)]
    pub normalizers: Vec<normalize::Spec>,
    /// In order.
    #[serde(default)]
    pub pre_tokenizers: Vec<stage::Spec>,
}

/// What is known of the stages as a whole, so that words can be told apart before they run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// Nothing.
    #[default]
    Unknown,
    /// Each character is rewritten by itself, but for the order of the marks behind one; then text is cut
    /// at white space, which goes, and around punctuation.
    Words,
    /// Each space becomes a mark (U+2581), or all of a run together one; a mark may be put at the
    /// beginning. Nothing else is rewritten and nothing is cut.
    Marks,
    /// A table of rules runs before that.
    MappedMarks,
    /// A table of rules runs over clusters of characters; then text is cut at white space, and each word
    /// gets a mark.
    MappedWords,
}

impl Shape {
    fn of(spec: &Spec) -> Self {
        use normalize::Spec as Rewrites;
        use stage::Spec as Cuts;
        let by_character = |normalizer: &Rewrites| {
            matches!(
                normalizer,
                Rewrites::BertNormalizer { .. } | Rewrites::Lowercase {}
            )
        };
        let marks = |normalizer: &Rewrites| match normalizer {
            Rewrites::SpaceMarks {
                escape_whitespaces,
                treat_whitespace_as_suffix,
                ..
            } => *escape_whitespaces && !treat_whitespace_as_suffix,
            _ => false,
        };
        match (&spec.normalizers[..], &spec.pre_tokenizers[..]) {
            (normalizers, [Cuts::BertPreTokenizer {}]) if normalizers.iter().all(by_character) => {
                Self::Words
            }
            ([Rewrites::Charsmap { .. }, last], []) if marks(last) => Self::MappedMarks,
            ([only], []) if marks(only) => Self::Marks,
            (normalizers @ [Rewrites::Replace { .. } | Rewrites::Prepend { .. }, ..], [])
                if normalize::marks_spaces(normalizers) =>
            {
                Self::Marks
            }
            (
                [Rewrites::Precompiled { .. }],
                [
                    Cuts::WhitespaceSplit {},
                    Cuts::Metaspace {
                        replacement: '\u{2581}',
                        prepend_scheme: stage::PrependScheme::Always,
                        split: true,
                    },
                ],
            ) => Self::MappedWords,
            _ => Self::Unknown,
        }
    }
}

/// The compiled stages before the model.
#[derive(Debug, Default)]
pub struct Stages {
    normalizers: Vec<Normalizer>,
    pre_tokenizers: Vec<PreTokenizer>,
    cuts: bool,
    marks: bool,
    blanks: Option<&'static [u8]>,
    shape: Shape,
}

impl Stages {
    /// Compiles stages.
    ///
    /// # Errors
    /// Says which stage cannot be, and why.
    pub fn new(spec: Spec) -> Result<Self> {
        let blanks = blanks(&spec);
        let shape = Shape::of(&spec);
        let marked = spec.pre_tokenizers.is_empty() && normalize::marks_spaces(&spec.normalizers);
        let normalizers: Vec<_> = spec
            .normalizers
            .into_iter()
            .map(Normalizer::new)
            .collect::<Result<_>>()?;
        let pre_tokenizers: Vec<_> = spec
            .pre_tokenizers
            .into_iter()
            .map(PreTokenizer::new)
            .collect::<Result<_>>()?;
        let mut at_space = normalizers.iter().map(Normalizer::at_space);
        // What cuts text is asked what it does before a space; so it must still find one there.
        let cuts =
            at_space.clone().all(|at| at == AtSpace::Stays) && stage::allow_cuts(&pre_tokenizers);
        // Normalizers that make marks and put something at the beginning, and nothing else: what one makes of the place
        // no other one looks at.
        let marks = marked && at_space.all(|at| at != AtSpace::Unknown);
        Ok(Self {
            normalizers,
            pre_tokenizers,
            cuts,
            marks,
            blanks,
            shape,
        })
    }

    /// What is known of all stages together.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Whether no rule of a normalizer looks at a byte, but one that begins with it.
    #[must_use]
    pub fn only_begins(&self, byte: u8) -> bool {
        self.normalizers
            .iter()
            .all(|normalizer| normalizer.only_begins(byte))
    }

    /// Compiles stages from JSON.
    ///
    /// # Errors
    /// As [`Stages::new`], and when the JSON is none or of another form.
    pub fn from_json(json: &str) -> Result<Self> {
        let spec = serde_json::from_str(json)
            .map_err(|error| Error::Invalid(format!("not the stages of a tokenizer: {error}")))?;
        Self::new(spec)
    }

    /// The texts that a normalizer's table leaves as they are.
    pub fn kept(&self) -> impl Iterator<Item = &[u8]> {
        let kept = self.normalizers.iter().flat_map(Normalizer::kept);
        kept.map(Vec::as_slice)
    }

    /// Whether there are normalizers.
    #[must_use]
    pub fn rewrites(&self) -> bool {
        !self.normalizers.is_empty()
    }

    /// Runs the normalizers.
    ///
    /// # Errors
    /// As [`Normalizer::normalize`].
    pub fn normalize(&self, text: &mut Text, context: Context) -> Result<()> {
        self.normalizers.iter().try_for_each(|normalizer| {
            normalizer.normalize(text, context)?;
            text.check()
        })
    }

    /// Runs the pre-tokenizers over a normalized text: `pieces.text`, with any ranges, which are set
    /// to the whole of it first.
    ///
    /// # Errors
    /// As [`PreTokenizer::split`].
    pub fn pre_tokenize(&self, pieces: &mut Pieces, context: Context) -> Result<()> {
        pieces.visible = false;
        pieces.ranges.clear();
        let whole: Range<usize> = 0..pieces.text.bytes().len();
        if !whole.is_empty() {
            pieces.ranges.push(whole);
        }
        self.pre_tokenizers.iter().try_for_each(|pre_tokenizer| {
            pre_tokenizer.split(pieces, context)?;
            pieces.text.check()
        })
    }

    /// Gives the blanks before each of which a text can be cut, whatever stands around, and the parts go
    /// through the stages as in [`Stages::safe_cut`]; None if not all of that is known of these stages.
    #[must_use]
    pub fn blanks(&self) -> Option<&'static [u8]> {
        self.blanks
    }

    /// Gives the last offset at which a text can be cut, whatever follows, and each part go through the
    /// stages by itself (the later one with [`Context::continued`]); 0 when there is none.
    ///
    /// It is before a space between two ASCII letters: no stage that allows cuts looks across one.
    #[must_use]
    pub fn safe_cut(&self, text: &[u8]) -> usize {
        if self.cuts { between_letters(text) } else { 0 }
    }

    /// The same where no token goes on across a mark (U+2581) behind another character: then a text that
    /// is not cut into pieces at all can be cut, if each space becomes such a mark.
    #[must_use]
    pub fn safe_cut_at_marks(&self, text: &[u8]) -> usize {
        if self.cuts || self.marks {
            between_letters(text)
        } else {
            0
        }
    }
}

/// The blanks before which every piece ends, after normalizers that look at no blank and across none: what
/// they do to a character depends on combining marks behind it at most, and a blank stands alone.
fn blanks(spec: &Spec) -> Option<&'static [u8]> {
    let looks_at_none = |normalizer: &normalize::Spec| {
        matches!(
            normalizer,
            normalize::Spec::Nfc {}
                | normalize::Spec::Nfd {}
                | normalize::Spec::Nfkc {}
                | normalize::Spec::Nfkd {}
                | normalize::Spec::Lowercase {}
                | normalize::Spec::StripAccents {}
                | normalize::Spec::BertNormalizer { .. }
        )
    };
    if !spec.normalizers.iter().all(looks_at_none) {
        return None;
    }
    match spec.pre_tokenizers[..] {
        [
            stage::Spec::BertPreTokenizer {}
            | stage::Spec::Whitespace {}
            | stage::Spec::WhitespaceSplit {},
        ] => Some(b" \t\n\r"),
        // Each character is a piece.
        [stage::Spec::FixedLength { length: 1 }] => Some(b" \t\n\r"),
        [stage::Spec::Metaspace { split: true, .. }] => Some(b" "),
        _ => None,
    }
}

/// The last space between two ASCII letters; 0 when there is none.
fn between_letters(text: &[u8]) -> usize {
    (1..text.len().saturating_sub(1))
        .rev()
        .find(|&at| {
            text[at] == b' '
                && text[at - 1].is_ascii_alphabetic()
                && text[at + 1].is_ascii_alphabetic()
        })
        .unwrap_or(0)
}

#[cfg(test)]
mod tests;
