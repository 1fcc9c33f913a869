//! Replacing what a text or an expression matches.

use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};

use super::Pattern;
use crate::boundaries::pairs::Left;
use crate::boundaries::stages::AtSpace;
use crate::error::{Error, Result};
use crate::text::finder::finder;
use crate::text::pattern::{Expression, Rules};
use crate::text::subject::Subject;
use crate::text::{Origin, Rewriter, Text, characters, read_char};

/// What is looked for, and what comes in its place.
#[derive(Debug)]
pub(super) struct Replace {
    finder: Finder,
    content: String,
    at_space: AtSpace,
    /// Whether it finds neither a space nor a mark (U+2581), and puts no mark in.
    stays_inside_words: bool,
}

#[derive(Debug)]
enum Finder {
    /// One of several texts, the first that is there in the order given.
    Literal(AhoCorasick),
    /// The empty text, which is found at every border of characters.
    Everywhere,
    /// Runs of white space: `\s+`.
    WhiteSpace,
    Expression(Box<Expression>),
}

impl Replace {
    /// Compiles.
    ///
    /// # Errors
    /// When an expression cannot be.
    pub(super) fn new(pattern: Pattern, content: String) -> Result<Self> {
        let literals = match &pattern {
            Pattern::String(literal) => vec![literal.clone()],
            Pattern::Regex(expression) => alternatives(expression).unwrap_or_default(),
        };
        let (finder, at_space) = match pattern {
            Pattern::String(literal) if literal.is_empty() => {
                (Finder::Everywhere, AtSpace::Unknown)
            }
            Pattern::String(literal) => (finder_of(&literals)?, of_literal(literal.as_bytes())),
            Pattern::Regex(_) if !literals.is_empty() => (finder_of(&literals)?, AtSpace::Unknown),
            Pattern::Regex(expression) if expression == r"\s+" => {
                let at_space = match &content[..] {
                    " " => AtSpace::Stays,
                    _ => AtSpace::Changes,
                };
                (Finder::WhiteSpace, at_space)
            }
            Pattern::Regex(expression) => {
                let compiled = Expression::new(&expression, Rules::NORMALIZE)?;
                let takes_one = || {
                    compiled
                        .matches(&Subject::new(b" "), 0..1)
                        .is_ok_and(|found| !found.is_empty())
                };
                let at_space = if !is_of_blanks(&expression) || compiled.matches_nothing() {
                    AtSpace::Unknown
                } else if content == " " || !takes_one() {
                    AtSpace::Stays
                } else {
                    AtSpace::Changes
                };
                (Finder::Expression(Box::new(compiled)), at_space)
            }
        };
        let is_inside =
            |literal: &String| !literal.contains([' ', '\u{2581}']) && !literal.is_empty();
        Ok(Self {
            stays_inside_words: !literals.is_empty()
                && literals.iter().all(is_inside)
                && !content.contains('\u{2581}'),
            finder,
            content,
            at_space,
        })
    }

    /// What [`super::Normalizer::between`] asks: known of runs of white space that become a space, if no run is parted.
    pub(super) fn between(&self, left: Left, right: char) -> Option<(Left, char)> {
        let is_blank = char::is_whitespace;
        let written = |character| if is_blank(character) { ' ' } else { character };
        let is_known = matches!(self.finder, Finder::WhiteSpace) && self.content == " ";
        let left = match left {
            Left::Character(left) if is_blank(left) && is_blank(right) => return None,
            Left::Character(left) => Left::Character(written(left)),
            Left::Visible => Left::Visible,
        };
        is_known.then(|| (left, written(right)))
    }

    /// Whether it finds neither a space nor a mark (U+2581), and puts no mark in.
    pub(super) fn stays_inside_words(&self) -> bool {
        self.stays_inside_words
    }

    /// What happens where a text is cut before a space between two letters.
    pub(super) fn at_space(&self) -> AtSpace {
        self.at_space
    }

    /// Rewrites a text. As Hugging Face's, what is put in stands for the last character that it
    /// replaces, or, where it replaces nothing, for the one before.
    ///
    /// # Errors
    /// When an expression takes too long.
    pub(super) fn rewrite(&self, text: &mut Text) -> Result<()> {
        if text.bytes().is_empty() {
            return Ok(()); // where an expression may match as well
        }
        match &self.finder {
            // There may be as many as bytes: they are not held.
            Finder::Literal(finder) if finder.is_match(text.bytes()) => text.rewrite(|old, new| {
                let found = finder.find_iter(old).map(|found| found.range());
                self.replace_all(found, old, new);
            }),
            Finder::Literal(_) => {}
            Finder::Everywhere => text.rewrite(|old, new| {
                let places = characters(old).map(|(at, _)| at).chain([old.len()]);
                self.replace_all(places.map(|at| at..at), old, new);
            }),
            Finder::WhiteSpace => {
                let bytes = text.bytes();
                let first = white_space(bytes, 0)
                    .find(|run| bytes[run.clone()] != *self.content.as_bytes())
                    .map(|run| run.start);
                if let Some(first) = first {
                    text.rewrite(|old, new| {
                        self.replace_all(white_space(old, first), old, new);
                    });
                }
            }
            Finder::Expression(expression) => {
                let subject = Subject::new(text.bytes());
                let found = expression.matches(&subject, 0..text.bytes().len())?;
                if !found.is_empty() {
                    text.rewrite(|old, new| self.replace_all(found.into_iter(), old, new));
                }
            }
        }
        Ok(())
    }

    fn replace_all(
        &self,
        matches: impl Iterator<Item = Range<usize>>,
        old: &[u8],
        new: &mut Rewriter<'_>,
    ) {
        let mut kept = 0;
        for Range { start, end } in matches {
            new.keep(kept..start);
            kept = end;
            let origin = match end.checked_sub(1) {
                Some(before) => new.origin_at(before),
                None => Origin::default(),
            };
            new.insert(self.content.as_bytes(), origin);
        }
        new.keep(kept..old.len());
    }
}

/// The runs of white space from a place on.
fn white_space(text: &[u8], mut at: usize) -> impl Iterator<Item = Range<usize>> + '_ {
    let blank = |at: usize| {
        let (character, length) = read_char(text, at);
        (character.is_some_and(char::is_whitespace), length)
    };
    std::iter::from_fn(move || {
        while at < text.len() {
            let start = at;
            loop {
                let (is_blank, length) = blank(at);
                at += length;
                if !is_blank {
                    if start + length < at {
                        return Some(start..at - length);
                    }
                    break;
                }
                if at == text.len() {
                    return Some(start..at);
                }
            }
        }
        None
    })
}

fn finder_of(literals: &[String]) -> Result<Finder> {
    let finder = finder(literals, MatchKind::LeftmostFirst)
        .map_err(|error| Error::Invalid(error.to_string()))?;
    Ok(Finder::Literal(finder))
}

/// The texts that an expression matches, if it is nothing but some of those with bars between them: letters, digits, and
/// characters by their numbers, as in `\x{3C}s\x{3E}|unk`.
fn alternatives(expression: &str) -> Option<Vec<String>> {
    let texts = expression.split('|').map(|text| {
        let mut out = String::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            if let Some(number) = rest.strip_prefix(r"\x{") {
                let (number, behind) = number.split_once('}')?;
                out.push(char::from_u32(u32::from_str_radix(number, 16).ok()?)?);
                rest = behind;
            } else if first.is_alphanumeric() {
                out.push(first);
                rest = &rest[first.len_utf8()..];
            } else {
                return None;
            }
        }
        (!out.is_empty()).then_some(out)
    });
    texts.collect()
}

/// What replacing a literal does where a text is cut before a space between two letters.
///
/// An occurrence across the cut would hold a letter before a space. One that takes the letter before the cut ends with
/// it, one that takes what is behind the cut begins with the space, or with the letter behind that.
fn of_literal(literal: &[u8]) -> AtSpace {
    let across = |pair: &[u8]| pair[0].is_ascii_alphabetic() && pair[1] == b' ';
    let touches = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphabetic);
    if literal.windows(2).any(across) {
        AtSpace::Unknown
    } else if touches(literal.last()) || touches(literal.first()) || literal.starts_with(b" ") {
        AtSpace::Changes
    } else {
        AtSpace::Stays
    }
}

/// Whether an expression is made of nothing but blanks and how often they come, so that it cannot match
/// a letter or look at one. This is said of few that it is true of.
fn is_of_blanks(expression: &str) -> bool {
    let mut rest = expression;
    while let Some(first) = rest.chars().next() {
        let blank = [r"\s", r"\t", r"\n", r"\r"];
        rest = match blank.iter().find_map(|blank| rest.strip_prefix(blank)) {
            Some(shorter) => shorter,
            None if " \t\r\n+*?[]{,}0123456789".contains(first) => &rest[1..],
            None => return false,
        };
    }
    true
}

#[cfg(test)]
mod tests;
