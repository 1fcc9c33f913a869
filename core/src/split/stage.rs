//! The pre-tokenizers: each cuts the pieces of the one before it, and some rewrite them.
//!
//! Components have the names and fields of Hugging Face's, whose results these give. Any bytes are
//! text: a byte that is no part of UTF-8 is a letter without case, as in the scanners. Complexity of
//! all but `Split` by an expression: linear.

use std::convert::Infallible;
use std::ops::Range;

use aho_corasick::AhoCorasick;
use serde::Deserialize;

use super::joining::Joiner;
pub use super::pieces::{Behavior, Pieces, PrependScheme};
use super::rewriting::{self, Marks};
use super::{CutSpec, Scanner, ScannerSpec, cutters};
use crate::error::{Error, Result};
use crate::normalize::{Context, Pattern};

use crate::text::pattern::{Expression, Rules};
use crate::text::subject::Subject;

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
    /// An expression that needs no backtracking, see `CutSpec`.
    Linear {
        pattern: String,
    },
    /// Numbers in groups, see `CutSpec`.
    DigitGroups {
        ascii: bool,
    },
    Split {
        pattern: Pattern,
        behavior: Behavior,
        invert: bool,
    },
    /// Puts a space before each piece that does not begin with one.
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

/// What a stage does at the place before a space that stands between two ASCII letters: long texts are
/// cut there to be handled in parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtSpace {
    /// A piece always begins there.
    Cuts,
    /// A piece may go on across it, but to cut it there changes nothing else, and the space stays.
    Passes,
    /// Pieces elsewhere depend on what is on the other side, or the space is written differently.
    Unknown,
}

/// A compiled pre-tokenizer.
#[derive(Debug)]
pub struct PreTokenizer {
    kind: Kind,
    at_space: AtSpace,
    /// What it does to a piece depends on how the piece begins.
    looks_at_start: bool,
}

#[derive(Debug)]
enum Kind {
    Scanner(Scanner),
    Literal(Box<AhoCorasick>, Behavior, bool),
    Expression(Box<Expression>, Behavior, bool),
    PrefixSpace,
    ByteLevel,
    WordsAndPunctuation,
    Words,
    WhiteSpace,
    Punctuation(Behavior),
    Digits(Behavior),
    Marks(Marks),
    Scripts,
    FixedLength(usize),
}

impl PreTokenizer {
    /// Compiles a pre-tokenizer.
    ///
    /// # Errors
    /// Says what of the specification cannot be.
    pub fn new(spec: Spec) -> Result<Self> {
        let (at_space, looks_at_start) = (at_space(&spec), looks_at_start(&spec));
        let kind = match spec {
            Spec::Scanner { scanner } => Kind::Scanner(Scanner::new(Some(&scanner))?),
            Spec::Linear { pattern } => {
                Kind::Scanner(Scanner::chain(&[CutSpec::Linear { pattern }])?)
            }
            Spec::DigitGroups { ascii } => {
                Kind::Scanner(Scanner::chain(&[CutSpec::DigitGroups { ascii }])?)
            }
            Spec::Split {
                pattern,
                behavior,
                invert,
            } => match pattern {
                Pattern::String(literal) if !literal.is_empty() => {
                    Kind::Literal(Box::new(finder(&literal)?), behavior, invert)
                }
                Pattern::String(expression) | Pattern::Regex(expression) => {
                    let expression = Expression::new(&expression, Rules::SPLIT)?;
                    Kind::Expression(Box::new(expression), behavior, invert)
                }
            },
            Spec::CharDelimiterSplit { delimiter } => {
                let finder = finder(delimiter.encode_utf8(&mut [0; 4]))?;
                Kind::Literal(Box::new(finder), Behavior::Removed, false)
            }
            Spec::PrefixSpace {} => Kind::PrefixSpace,
            Spec::ByteLevel {} => Kind::ByteLevel,
            Spec::BertPreTokenizer {} => Kind::WordsAndPunctuation,
            Spec::Whitespace {} => Kind::Words,
            Spec::WhitespaceSplit {} => Kind::WhiteSpace,
            Spec::Punctuation { behavior } => Kind::Punctuation(behavior),
            Spec::Digits {
                individual_digits: true,
            } => Kind::Digits(Behavior::Isolated),
            Spec::Digits {
                individual_digits: false,
            } => Kind::Digits(Behavior::Contiguous),
            Spec::Metaspace {
                replacement,
                prepend_scheme,
                split,
            } => Kind::Marks(Marks::new(replacement, prepend_scheme, split)),
            Spec::UnicodeScripts {} => Kind::Scripts,
            Spec::FixedLength { length: 0 } => {
                let sentence = "FixedLength needs a length of at least 1";
                return Err(Error::Invalid(sentence.to_owned()));
            }
            Spec::FixedLength { length } => Kind::FixedLength(length),
        };
        Ok(Self {
            kind,
            at_space,
            looks_at_start,
        })
    }

    /// Cuts pieces further.
    ///
    /// # Errors
    /// When an expression takes too long.
    pub fn split(&self, pieces: &mut Pieces, context: Context) -> Result<()> {
        match &self.kind {
            Kind::PrefixSpace => rewriting::prefix_space(pieces, context),
            Kind::ByteLevel => rewriting::byte_level(pieces),
            Kind::Marks(marks) => marks.write(pieces, context),
            Kind::Scanner(scanner) => cut(pieces, |text, range, out| {
                let begins = range.start;
                scanner.for_each_piece(&text[range], |start, end| {
                    out.push(begins + start..begins + end);
                });
            }),
            Kind::Literal(finder, behavior, invert) => cut(pieces, |text, range, out| {
                let begins = range.start;
                let found = finder
                    .find_iter(&text[range.clone()])
                    .map(|found| Ok::<_, Infallible>(begins + found.start()..begins + found.end()));
                let mut joiner = Joiner::new(*behavior, *invert, out);
                let Ok(()) = joiner.tell_matches(range, found);
                joiner.finish();
            }),
            Kind::Expression(expression, behavior, invert) => {
                let subject = Subject::new(pieces.text.bytes());
                pieces.spare.clear();
                for range in &pieces.ranges {
                    let mut joiner = Joiner::new(*behavior, *invert, &mut pieces.spare);
                    let found = expression.matches(&subject, range.clone())?;
                    let Ok(()) = joiner
                        .tell_matches(range.clone(), found.into_iter().map(Ok::<_, Infallible>));
                    joiner.finish();
                }
                std::mem::swap(&mut pieces.ranges, &mut pieces.spare);
            }
            Kind::WordsAndPunctuation => cut(pieces, cutters::words_and_punctuation),
            Kind::Words => cut(pieces, cutters::words),
            Kind::WhiteSpace => cut(pieces, cutters::white_space),
            Kind::Punctuation(behavior) => cut(pieces, |text, range, out| {
                cutters::at_characters(text, range, cutters::punctuation_at, *behavior, out);
            }),
            Kind::Digits(behavior) => cut(pieces, |text, range, out| {
                cutters::at_characters(text, range, cutters::number_at, *behavior, out);
            }),
            Kind::Scripts => cut(pieces, cutters::scripts),
            &Kind::FixedLength(length) => cut(pieces, |text, range, out| {
                cutters::fixed_length(text, range, length, out);
            }),
        }
        Ok(())
    }

    /// Whether spaces may be something else in its pieces.
    fn rewrites_spaces(&self) -> bool {
        match &self.kind {
            Kind::ByteLevel | Kind::Marks(_) => true,
            // Nothing is put in the place of a space.
            Kind::Scanner(_)
            | Kind::Literal(..)
            | Kind::Expression(..)
            | Kind::PrefixSpace
            | Kind::WordsAndPunctuation
            | Kind::Words
            | Kind::WhiteSpace
            | Kind::Punctuation(_)
            | Kind::Digits(_)
            | Kind::Scripts
            | Kind::FixedLength(_) => false,
        }
    }

    /// Tells what happens before a space that stands between two ASCII letters.
    #[must_use]
    pub fn at_space(&self) -> AtSpace {
        self.at_space
    }
}

/// Tells whether a text can be cut before a space that stands between two ASCII letters, and the parts
/// go through these stages each for itself (the later one with [`Context::continued`]).
///
/// Some stage must cut there anyway, and those before it must not mind. Those after it are given its
/// pieces one by one and never see across; only what a piece at the beginning of a text begins with
/// must still be the space, where a stage asks for that.
#[must_use]
pub fn allow_cuts(stages: &[PreTokenizer]) -> bool {
    let passes = |stage: &PreTokenizer| stage.at_space == AtSpace::Passes;
    let before = stages.iter().take_while(|stage| passes(stage)).count();
    let Some((first, after)) = stages[before..].split_first() else {
        return false;
    };
    let rewritten = stages[before..]
        .iter()
        .position(PreTokenizer::rewrites_spaces);
    let asked = after.iter().rposition(|stage| stage.looks_at_start);
    let space_is_kept = match (rewritten, asked) {
        // `after` begins one stage later.
        (Some(rewritten), Some(asked)) => asked < rewritten,
        // No stage writes spaces differently, or none asks what a piece begins with.
        (None, _) | (_, None) => true,
    };
    first.at_space == AtSpace::Cuts && space_is_kept
}

/// Whether what a stage does to a piece depends on how the piece begins.
fn looks_at_start(spec: &Spec) -> bool {
    match spec {
        Spec::PrefixSpace {} | Spec::Metaspace { .. } => true,
        // They go through a piece and know of its beginning only that it is one.
        Spec::Scanner { .. }
        | Spec::Linear { .. }
        | Spec::DigitGroups { .. }
        | Spec::Split { .. }
        | Spec::ByteLevel {}
        | Spec::BertPreTokenizer {}
        | Spec::Whitespace {}
        | Spec::WhitespaceSplit {}
        | Spec::Punctuation { .. }
        | Spec::Digits { .. }
        | Spec::CharDelimiterSplit { .. }
        | Spec::UnicodeScripts {}
        | Spec::FixedLength { .. } => false,
    }
}

/// Sorts a specification. A match that touches the space only adds to, or ends, the piece on its side:
/// so a cut there parts a piece, and no more, if no match can reach across.
fn at_space(spec: &Spec) -> AtSpace {
    use Behavior::{MergedWithNext, MergedWithPrevious};
    let of_literal = |literal: &str, behavior, invert| {
        let crosses = literal
            .as_bytes()
            .windows(2)
            .any(|pair| pair[0].is_ascii_alphabetic() && pair[1] == b' ');
        let takes_space_back = if invert {
            behavior == MergedWithNext
        } else {
            behavior == MergedWithPrevious
        };
        match literal {
            _ if crosses => AtSpace::Unknown,
            " " if !takes_space_back => AtSpace::Cuts,
            _ => AtSpace::Passes,
        }
    };
    match spec {
        Spec::Split {
            pattern: Pattern::String(literal),
            behavior,
            invert,
        } if !literal.is_empty() => of_literal(literal, *behavior, *invert),
        &Spec::CharDelimiterSplit { delimiter } => {
            of_literal(delimiter.encode_utf8(&mut [0; 4]), Behavior::Removed, false)
        }
        // Each character is a piece, wherever the text is cut.
        Spec::FixedLength { length: 1 } => AtSpace::Cuts,
        Spec::Scanner { .. }
        | Spec::BertPreTokenizer {}
        | Spec::Whitespace {}
        | Spec::WhitespaceSplit {}
        | Spec::Metaspace { split: true, .. } => AtSpace::Cuts,
        Spec::PrefixSpace {} | Spec::Punctuation { .. } | Spec::Digits { .. } => AtSpace::Passes,
        Spec::Split { .. }
        | Spec::Linear { .. }
        | Spec::DigitGroups { .. }
        | Spec::ByteLevel {}
        | Spec::Metaspace { split: false, .. }
        | Spec::UnicodeScripts {}
        | Spec::FixedLength { .. } => AtSpace::Unknown,
    }
}

fn finder(literal: &str) -> Result<AhoCorasick> {
    AhoCorasick::new([literal])
        .map_err(|error| Error::Invalid(format!("cannot look for a text: {error}")))
}

/// Cuts every piece; `parts` appends the parts of one.
fn cut(pieces: &mut Pieces, parts: impl Fn(&[u8], Range<usize>, &mut Vec<Range<usize>>)) {
    let text = pieces.text.bytes();
    pieces.spare.clear();
    for range in &pieces.ranges {
        // Nothing is read beyond the piece.
        parts(&text[..range.end], range.clone(), &mut pieces.spare);
    }
    std::mem::swap(&mut pieces.ranges, &mut pieces.spare);
}

#[cfg(test)]
mod tests;
