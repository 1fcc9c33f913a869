//! The decoder: a chain of components, each of which makes a list of strings of another.
//!
//! Components have the names and fields of Hugging Face's, whose results these give wherever the
//! result is text. Where bytes come out that are no UTF-8, these keep them: whoever wants text decides
//! what becomes of them.

use serde::Deserialize;

use super::bytes;
use super::texts::{Kind, TokenTexts};
use super::words::{self, Replacement};
use crate::error::{Result, invalid};
use crate::normalize::Pattern;

/// The specification of one component, as JSON of the same form as in Hugging Face's files.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "type", deny_unknown_fields)]
#[expect(
    missing_docs,
    reason = "the names are the field's; the Python specs document each"
)]
pub enum Spec {
    ByteLevel {},
    WordPiece {
        prefix: String,
        cleanup: bool,
    },
    Metaspace {
        replacement: char,
        prepend_scheme: String,
        #[serde(rename = "split")]
        _split: bool,
    },
    #[serde(rename = "BPEDecoder")]
    Bpe {
        suffix: String,
    },
    #[serde(rename = "CTC")]
    Ctc {
        pad_token: String,
        word_delimiter_token: String,
        cleanup: bool,
    },
    ByteFallback {},
    Fuse {},
    Strip {
        content: char,
        start: usize,
        stop: usize,
    },
    Replace {
        pattern: Pattern,
        content: String,
    },
    /// Marks (U+2581) as blanks, as SentencePiece reads them.
    SpaceMarks {
        add_dummy_prefix: bool,
        remove_extra_whitespaces: bool,
        #[serde(rename = "treat_whitespace_as_suffix")]
        _treat_whitespace_as_suffix: bool,
        unk_surface: String,
        #[serde(default = "yes")]
        byte_fallback: bool,
    },
}

fn yes() -> bool {
    true
}

/// A compiled chain of decoders.
#[derive(Debug)]
pub struct Decoder {
    steps: Vec<Step>,
}

/// A component, and what of it had to be compiled.
#[derive(Debug)]
struct Step {
    spec: Spec,
    /// Of a `Replace`.
    replacement: Option<Replacement>,
}

impl Step {
    fn new(spec: Spec) -> Result<Self> {
        let replacement = match &spec {
            Spec::Replace { pattern, content } => Some(Replacement::new(pattern, content)?),
            _ => None,
        };
        Ok(Self { spec, replacement })
    }

    /// Makes the list `out` of the list `texts`.
    fn run(&self, texts: &TokenTexts, out: &mut TokenTexts) -> Result<()> {
        match &self.spec {
            Spec::ByteLevel {} => bytes::read_visible(texts, out),
            Spec::WordPiece { prefix, cleanup } => {
                words::join_word_pieces(texts, prefix.as_bytes(), *cleanup, out);
            }
            Spec::Metaspace {
                replacement,
                prepend_scheme,
                ..
            } => read_marks(texts, *replacement, prepend_scheme != "never", out),
            Spec::Bpe { suffix } => words::read_suffix(texts, suffix.as_bytes(), out),
            Spec::Ctc {
                pad_token,
                word_delimiter_token,
                cleanup,
            } => {
                let tokens = [pad_token, word_delimiter_token].map(String::as_bytes);
                words::read_ctc(texts, tokens, *cleanup, out);
            }
            Spec::ByteFallback {} => bytes::read_fallback(texts, out),
            Spec::Fuse {} => {
                texts.iter().for_each(|(piece, _)| out.extend(piece));
                out.close(Kind::Text);
            }
            &Spec::Strip {
                content,
                start,
                stop,
            } => strip(texts, content, start, stop, out),
            Spec::Replace { .. } => {
                for (piece, kind) in texts.iter() {
                    if let Some(replacement) = &self.replacement {
                        replacement.apply(piece, out)?;
                    }
                    out.close(kind);
                }
            }
            Spec::SpaceMarks {
                add_dummy_prefix,
                remove_extra_whitespaces: strips_all,
                unk_surface,
                byte_fallback,
                ..
            } => {
                let mut read = TokenTexts::default();
                let texts = if *byte_fallback {
                    bytes::read_fallback(texts, &mut read);
                    &read
                } else {
                    texts
                };
                let strips_one = *add_dummy_prefix || *strips_all;
                read_space_marks(texts, strips_one, *strips_all, unk_surface.as_bytes(), out);
            }
        }
        Ok(())
    }
}

impl Decoder {
    /// Compiles a chain.
    ///
    /// # Errors
    /// Says what of the specification cannot be: an expression.
    pub fn new(spec: Vec<Spec>) -> Result<Self> {
        Ok(Self {
            steps: spec.into_iter().map(Step::new).collect::<Result<_>>()?,
        })
    }

    /// Compiles a chain from JSON: a list of components.
    ///
    /// # Errors
    /// As [`Decoder::new`], and when the JSON is none or of another form.
    pub fn from_json(json: &str) -> Result<Self> {
        let spec = serde_json::from_str(json)
            .map_err(|error| invalid!("not the decoders of a tokenizer: {error}"))?;
        Self::new(spec)
    }

    /// Whether what a string becomes depends on no other, but for the first string of all and for bytes
    /// that are spelt out beside each other.
    #[must_use]
    pub fn is_local(&self) -> bool {
        let mut fused = false;
        self.steps.iter().all(|step| match step.spec {
            Spec::WordPiece { .. } | Spec::Metaspace { .. } | Spec::SpaceMarks { .. } => !fused,
            Spec::ByteFallback {} | Spec::Replace { .. } => !fused,
            Spec::ByteLevel {} => !std::mem::replace(&mut fused, true),
            Spec::Fuse {} => {
                fused = true;
                true
            }
            Spec::Strip { stop, .. } => !fused || stop == 0,
            Spec::Bpe { .. } | Spec::Ctc { .. } => false,
        })
    }

    /// Sends strings through the chain and joins what comes out.
    ///
    /// # Errors
    /// When an expression takes too long, and when the text becomes far longer than the tokens are: see
    /// [`TokenTexts::bounded_by`].
    pub fn decode(&self, tokens: TokenTexts) -> Result<Vec<u8>> {
        tokens.check()?;
        let (mut texts, mut out) = (
            TokenTexts::bounded_by(&tokens),
            TokenTexts::bounded_by(&tokens),
        );
        let mut steps = self.steps.iter();
        let Some(first) = steps.next() else {
            return Ok(tokens.into_bytes());
        };
        first.run(&tokens, &mut texts)?;
        texts.check()?;
        for step in steps {
            out.clear();
            step.run(&texts, &mut out)?;
            out.check()?;
            std::mem::swap(&mut texts, &mut out);
        }
        Ok(texts.into_bytes())
    }
}

/// Reads marks as spaces; those of the first string are left out if one was put before the text.
fn read_marks(texts: &TokenTexts, mark: char, prepended: bool, out: &mut TokenTexts) {
    let mut utf8 = [0; 4];
    let mark = mark.encode_utf8(&mut utf8).as_bytes();
    for (number, (piece, kind)) in texts.iter().enumerate() {
        let with: &[u8] = if number == 0 && prepended { b"" } else { b" " };
        words::replace(piece, mark, with, out);
        out.close(kind);
    }
}

/// Takes up to `start` and `stop` characters that are `content` off the ends of each string.
fn strip(texts: &TokenTexts, content: char, start: usize, stop: usize, out: &mut TokenTexts) {
    let mut utf8 = [0; 4];
    let content = content.encode_utf8(&mut utf8).as_bytes();
    for (mut piece, kind) in texts.iter() {
        for _ in 0..start {
            match piece.strip_prefix(content) {
                Some(rest) => piece = rest,
                None => break,
            }
        }
        for _ in 0..stop {
            match piece.strip_suffix(content) {
                Some(rest) => piece = rest,
                None => break,
            }
        }
        out.push(piece, kind);
    }
}

/// Reads marks as blanks. As long as there is no text, and nothing but strings without a mark at their
/// beginning has been seen, a string's first mark is the one that was put before the text.
fn read_space_marks(
    texts: &TokenTexts,
    strips_one: bool,
    strips_all: bool,
    unk_surface: &[u8],
    out: &mut TokenTexts,
) {
    const MARK: &[u8] = "▁".as_bytes();
    let (mut at_beginning, mut empty) = (strips_one, true);
    for (mut piece, kind) in texts.iter() {
        match kind {
            Kind::Unknown => piece = unk_surface,
            Kind::Bytes => {}
            Kind::Text => {
                if at_beginning && let Some(rest) = piece.strip_prefix(MARK) {
                    piece = rest;
                    at_beginning = strips_all;
                }
            }
        }
        empty &= piece.is_empty();
        at_beginning &= empty;
        if kind == Kind::Text {
            words::replace(piece, MARK, b" ", out);
        } else {
            out.extend(piece);
        }
        out.close(Kind::Text);
    }
}

#[cfg(test)]
mod tests;
