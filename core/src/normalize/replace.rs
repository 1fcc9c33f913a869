//! Replacing what a text or an expression matches.

use std::ops::Range;

use super::Pattern;
use crate::error::{Error, Result};
use crate::text::pattern::{Expression, Rules};
use crate::text::subject::Subject;
use crate::text::{Origin, Text, characters};

/// What is looked for, and what comes in its place.
#[derive(Debug)]
pub(super) struct Replace {
    finder: Finder,
    content: String,
    cuts: bool,
}

#[derive(Debug)]
enum Finder {
    Literal(aho_corasick::AhoCorasick),
    /// The empty text, which is found at every border of characters.
    Everywhere,
    Expression(Box<Expression>),
}

impl Replace {
    /// Compiles.
    ///
    /// # Errors
    /// When an expression cannot be.
    pub(super) fn new(pattern: Pattern, content: String) -> Result<Self> {
        let (finder, cuts) = match pattern {
            Pattern::String(literal) if literal.is_empty() => (Finder::Everywhere, false),
            Pattern::String(literal) => {
                let across = |pair: &[u8]| pair[0].is_ascii_alphabetic() && pair[1] == b' ';
                let cuts = !literal.as_bytes().windows(2).any(across);
                let finder = aho_corasick::AhoCorasick::new([literal])
                    .map_err(|error| Error::Invalid(error.to_string()))?;
                (Finder::Literal(finder), cuts)
            }
            Pattern::Regex(expression) => {
                let compiled = Expression::new(&expression, Rules::NORMALIZE)?;
                let cuts = is_of_blanks(&expression) && !compiled.matches_nothing();
                (Finder::Expression(Box::new(compiled)), cuts)
            }
        };
        Ok(Self {
            finder,
            content,
            cuts,
        })
    }

    /// Whether a text can be cut before a space behind a letter.
    pub(super) fn allows_cuts(&self) -> bool {
        self.cuts
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
        let matches = self.matches(text.bytes())?;
        if matches.is_empty() {
            return Ok(());
        }
        text.rewrite(|old, new| {
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
        });
        Ok(())
    }

    fn matches(&self, text: &[u8]) -> Result<Vec<Range<usize>>> {
        Ok(match &self.finder {
            Finder::Literal(finder) => finder.find_iter(text).map(|found| found.range()).collect(),
            Finder::Everywhere => characters(text)
                .map(|(at, _)| at)
                .chain([text.len()])
                .map(|at| at..at)
                .collect(),
            Finder::Expression(expression) => {
                expression.matches(&Subject::new(text), 0..text.len())?
            }
        })
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
mod tests {
    use super::*;

    fn replace(pattern: Pattern, text: &[u8]) -> Vec<u8> {
        let mut text = Text::new(text, true);
        let replace = Replace::new(pattern, "-".to_owned()).unwrap();
        replace.rewrite(&mut text).unwrap();
        text.bytes().to_vec()
    }

    #[test]
    fn passes_bytes_outside_utf8() {
        let expression = |expression: &str| Pattern::Regex(expression.to_owned());
        assert_eq!(replace(expression(" +"), b"\xFF  a\xE4 "), b"\xFF-a\xE4-");
        assert_eq!(replace(expression(r"\p{L}+"), b" \xFFa\xE4 b"), b" - -");
        assert_eq!(replace(expression(r"."), b"a\xFF\xFE"), b"---");
        assert_eq!(replace(Pattern::String("a".into()), b"\xFFa"), b"\xFF-");
        assert_eq!(replace(Pattern::String("".into()), b"\xFFa"), b"-\xFF-a-");
    }

    #[test]
    fn cuts_are_allowed_where_nothing_can_look_across_a_space() {
        let allows = |pattern| Replace::new(pattern, String::new()).unwrap().allows_cuts();
        let literal = |literal: &str| allows(Pattern::String(literal.to_owned()));
        let expression = |expression: &str| allows(Pattern::Regex(expression.to_owned()));
        assert!(literal(" ") && literal("ab") && literal("``") && literal(" a"));
        assert!(!literal("") && !literal("a ") && !literal("a b"));
        assert!(expression(" {2,}") && expression(r"\s+") && expression(r"[ \t]{2,4}\n"));
        assert!(
            !expression(r"\s*") && !expression(r"\s+$") && !expression("a ") && !expression(r"\S ")
        );
    }

    #[test]
    fn a_long_text_in_which_nothing_is_found_is_no_reason_to_give_up() {
        let text = b"xy zb ".repeat(300_000);
        let found = replace(Pattern::Regex("(?<=a)b(?!c)".to_owned()), &text);
        assert_eq!(found, text);
    }

    #[test]
    fn an_expression_that_would_go_backwards_is_refused() {
        let error = Replace::new(Pattern::Regex(r"a|(?<=\Ka)b".to_owned()), String::new());
        assert!(
            error
                .unwrap_err()
                .to_string()
                .contains("inside a look-around")
        );
        assert_eq!(
            replace(Pattern::Regex(r"a\Kb".to_owned()), b"abab"),
            b"a-a-"
        );
    }

    #[test]
    fn an_expression_that_gives_up_says_so() {
        let pattern = Pattern::Regex(r"(a|b|ab)*(?=c)d".to_owned());
        let replace = Replace::new(pattern, String::new()).unwrap();
        let error = replace.rewrite(&mut Text::new(&b"ab".repeat(100), false));
        assert!(
            error
                .unwrap_err()
                .to_string()
                .contains("tries too many ways")
        );
        let broken = Replace::new(Pattern::Regex("(".to_owned()), String::new());
        assert!(broken.unwrap_err().to_string().contains("does not compile"));
    }
}
