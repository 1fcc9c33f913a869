//! The pre-tokenizers: each cuts the pieces of the one before it, and some rewrite them.
//!
//! Components have the names and fields of Hugging Face's, whose results these give. Any bytes are
//! text: a byte that is no part of UTF-8 is a letter without case, as in the scanners. Complexity of
//! all but `Split` by an expression: linear.

mod between;

use std::convert::Infallible;
use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};
use serde::Deserialize;

use super::joining::Joiner;
pub use super::pieces::{Behavior, Pieces, PrependScheme};
use super::rewriting::{self, Marks};
use super::{CutSpec, Scanner, ScannerSpec, cutters};
use crate::boundaries::stages::{At, AtSpace, Cutting};
use crate::error::{Result, invalid};
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

/// A compiled pre-tokenizer.
#[derive(Debug)]
pub struct PreTokenizer {
    kind: Kind,
    cutting: Cutting,
}

#[derive(Debug)]
enum Kind {
    Scanner(Scanner),
    Literal(Box<AhoCorasick>, Behavior, bool),
    /// A pattern with an automaton, whose matches are not only isolated.
    Matches(Scanner, Behavior, bool),
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
        let mut cutting = cutting(&spec);
        let kind = match spec {
            Spec::Scanner { scanner } => Kind::Scanner(Scanner::new(Some(&scanner))?),
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
                Pattern::String(pattern) | Pattern::Regex(pattern) => {
                    expression(pattern, behavior, invert)?
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
                return Err(invalid!("FixedLength needs a length of at least 1"));
            }
            Spec::FixedLength { length } => Kind::FixedLength(length),
        };
        let ends_at_spaces = match &kind {
            Kind::Scanner(scanner) => scanner.ends_at_spaces(),
            // There a match ends, or what lies between two, and both begin anew; and nothing is joined.
            Kind::Matches(scanner, Behavior::Removed | Behavior::Isolated, _) => {
                scanner.ends_at_spaces()
            }
            Kind::Matches(..)
            | Kind::Expression(..)
            | Kind::Literal(..)
            | Kind::PrefixSpace
            | Kind::ByteLevel
            | Kind::WordsAndPunctuation
            | Kind::Words
            | Kind::WhiteSpace
            | Kind::Punctuation(_)
            | Kind::Digits(_)
            | Kind::Marks(_)
            | Kind::Scripts
            | Kind::FixedLength(_) => false,
        };
        if ends_at_spaces {
            cutting.at_space = AtSpace::Ends;
        }
        Ok(Self { kind, cutting })
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
            Kind::Matches(scanner, behavior, invert) => cut(pieces, |text, range, out| {
                let begins = range.start;
                let found = scanner.matches(&text[range.clone()]);
                let found = found
                    .map(|found| Ok::<_, Infallible>(begins + found.start..begins + found.end));
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

    /// What it does, for those who cut before it.
    #[must_use]
    pub fn cutting(&self) -> Cutting {
        self.cutting
    }
}

/// Sorts a specification. A match that touches the space only adds to, or ends, the piece on its side:
/// so a cut there parts a piece, and no more, if no match can reach across.
fn cutting(spec: &Spec) -> Cutting {
    // Most go through a piece and know of its beginning only that it is one, and put nothing in the place of a space.
    let plain = |at_space, at| Cutting {
        at_space,
        looks_at_start: false,
        rewrites_spaces: false,
        at,
    };
    match spec {
        Spec::Split {
            pattern: Pattern::String(literal),
            behavior,
            invert,
        } if !literal.is_empty() => {
            let marks = literal == "\u{2581}" && *behavior == Behavior::MergedWithNext && !invert;
            let at = if marks { At::Marks } else { At::Anything };
            plain(at_space_of(literal, *behavior, *invert), at)
        }
        Spec::CharDelimiterSplit { delimiter } => {
            let at_space = at_space_of(&delimiter.to_string(), Behavior::Removed, false);
            plain(at_space, At::Anything)
        }
        // Each character is a piece, wherever the text is cut.
        Spec::FixedLength { length: 1 } => plain(AtSpace::Ends, At::Characters),
        Spec::BertPreTokenizer {} => plain(AtSpace::Ends, At::WordsAndPunctuation),
        Spec::Whitespace {} => plain(AtSpace::Ends, At::Words),
        Spec::WhitespaceSplit {} => plain(AtSpace::Ends, At::WhiteSpace),
        &Spec::Metaspace {
            replacement,
            prepend_scheme,
            split,
        } => {
            let always = replacement == '\u{2581}' && prepend_scheme == PrependScheme::Always;
            let (at_space, at) = match split {
                true => (AtSpace::Ends, At::Spaces { always }),
                false => (AtSpace::Unknown, At::Anything),
            };
            Cutting {
                looks_at_start: true,
                rewrites_spaces: true,
                ..plain(at_space, at)
            }
        }
        // Letters and spaces are no digits and no punctuation.
        Spec::Punctuation { .. } | Spec::Digits { .. } => plain(AtSpace::Stays, At::Anything),
        Spec::PrefixSpace {} => Cutting {
            looks_at_start: true,
            ..plain(AtSpace::Stays, At::Anything)
        },
        Spec::ByteLevel {} => Cutting {
            rewrites_spaces: true,
            ..plain(AtSpace::Unknown, At::Anything)
        },
        // What is known of scanners and expressions, they say themselves.
        Spec::Split { .. }
        | Spec::Scanner { .. }
        | Spec::DigitGroups { .. }
        | Spec::UnicodeScripts {}
        | Spec::FixedLength { .. } => plain(AtSpace::Unknown, At::Anything),
    }
}

/// What splitting at a literal does before a space between two letters.
fn at_space_of(literal: &str, behavior: Behavior, invert: bool) -> AtSpace {
    let across = |pair: &[u8]| pair[0].is_ascii_alphabetic() && pair[1] == b' ';
    let taken_back = match invert {
        true => Behavior::MergedWithNext,
        false => Behavior::MergedWithPrevious,
    };
    if literal.as_bytes().windows(2).any(across) {
        AtSpace::Unknown
    } else if literal == " " && behavior != taken_back {
        AtSpace::Ends
    } else {
        AtSpace::Stays
    }
}

/// Compiles an expression: to an automaton if there is one for it that all engines run alike.
fn expression(pattern: String, behavior: Behavior, invert: bool) -> Result<Kind> {
    let scanner = Scanner::chain(&[CutSpec::Pattern {
        pattern: pattern.clone(),
    }]);
    if let Ok(scanner) = scanner
        && scanner.is_common_pattern()
    {
        return Ok(match behavior == Behavior::Isolated && !invert {
            true => Kind::Scanner(scanner),
            false => Kind::Matches(scanner, behavior, invert),
        });
    }
    let expression = Expression::new(&pattern, Rules::SPLIT)?;
    Ok(Kind::Expression(Box::new(expression), behavior, invert))
}

fn finder(literal: &str) -> Result<AhoCorasick> {
    crate::text::finder::finder(&[literal], MatchKind::Standard)
        .map_err(|error| invalid!("cannot look for a text: {error}"))
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
