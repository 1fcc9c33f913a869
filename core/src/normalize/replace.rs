//! Replacing what a text or an expression matches.

use std::borrow::Cow;

use fancy_regex::{Regex, RegexBuilder};

use super::Pattern;
use crate::error::{Error, Result};
use crate::text::{Origin, Text, characters, read_char};

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
    /// Compiled, and as it was given.
    Expression(Box<Regex>, String),
}

/// How many steps back an expression may take in looking for one match: for a short text, and for
/// each byte of a long one, for looking at every place without finding anything takes steps too.
const STEPS: usize = 1_000_000;
const STEPS_A_BYTE: usize = 16;

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
                let compiled = compile(&expression, STEPS)?;
                let cuts = is_of_blanks(&expression) && !compiled.is_match("").unwrap_or(true);
                (Finder::Expression(Box::new(compiled), expression), cuts)
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
            for (start, end) in matches {
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

    fn matches(&self, text: &[u8]) -> Result<Vec<(usize, usize)>> {
        Ok(match &self.finder {
            Finder::Literal(finder) => finder
                .find_iter(text)
                .map(|found| (found.start(), found.end()))
                .collect(),
            Finder::Everywhere => characters(text)
                .map(|(at, _)| at)
                .chain([text.len()])
                .map(|at| (at, at))
                .collect(),
            Finder::Expression(compiled, expression) => {
                let steps = text.len().saturating_mul(STEPS_A_BYTE);
                if steps <= STEPS {
                    find_all(compiled, text)?
                } else {
                    find_all(&compile(expression, steps)?, text)?
                }
            }
        })
    }
}

/// Compiles an expression with the meaning it has for Hugging Face's, whose engine is Oniguruma: `^`
/// and `$` are at every line, and `(?m)` lets the dot match newlines. What remains different: `\w` also
/// matches the two joiners here, and `[[:alpha:]]` and its like ASCII alone.
///
/// # Errors
/// When it cannot be.
fn compile(expression: &str, steps: usize) -> Result<Regex> {
    RegexBuilder::new(&with_dot_option_renamed(expression))
        .multi_line(true)
        .oniguruma_mode(true)
        .backtrack_limit(steps)
        .build()
        .map_err(|error| {
            let shown: String = expression.chars().take(60).collect();
            Error::Invalid(format!(
                "the expression {shown:?} does not compile: {error}"
            ))
        })
}

/// Writes Oniguruma's option `m` as `s`, which is its name everywhere else.
fn with_dot_option_renamed(expression: &str) -> String {
    let mut out = String::with_capacity(expression.len());
    let mut rest = expression;
    while let Some(at) = rest.find(['\\', '[', '(']) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let length = match from.as_bytes() {
            [b'\\', ..] => 1 + from[1..].chars().next().map_or(0, char::len_utf8),
            [b'(', b'?', ..] => {
                let letters = |c: char| c.is_ascii_alphabetic() || c == '-';
                let options: String = from[2..].chars().take_while(|&c| letters(c)).collect();
                if from[2 + options.len()..].starts_with([':', ')']) {
                    out.push_str("(?");
                    out.push_str(&options.replace('m', "s"));
                    rest = &from[2 + options.len()..];
                    continue;
                }
                1
            }
            [b'[', ..] => class_length(from),
            _ => 1,
        };
        out.push_str(&from[..length]);
        rest = &from[length..];
    }
    out + rest
}

/// The length of a bracket with all that is in it, brackets too.
fn class_length(text: &str) -> usize {
    let mut depth = 0;
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'[' => depth += 1,
            b']' if depth == 1 => return at + 1,
            b']' => depth -= 1,
            _ => {}
        }
    }
    text.len()
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

/// Finds all matches, without those that are empty and touch the one before.
fn find_all(expression: &Regex, text: &[u8]) -> Result<Vec<(usize, usize)>> {
    let (readable, strays) = readable(text);
    let mut passed = 0;
    let mut given = |at: usize| {
        passed += strays[passed..].partition_point(|&stray| stray < at);
        at - 3 * passed
    };
    expression
        .find_iter(&*readable)
        .map(|found| {
            let found = found.map_err(|error| {
                Error::Invalid(format!("an expression of the normalizer gave up: {error}"))
            })?;
            let start = given(found.start());
            Ok((start, given(found.end())))
        })
        .collect()
}

/// Writes each byte that is no part of a character as a letter without case, of a script that no
/// expression singles out (Anatolian hieroglyphs, 4 bytes), and says where those are.
fn readable(text: &[u8]) -> (Cow<'_, str>, Vec<usize>) {
    if let Ok(text) = str::from_utf8(text) {
        return (text.into(), Vec::new());
    }
    let mut readable = String::with_capacity(text.len());
    let mut strays = Vec::new();
    for (at, bytes) in characters(text) {
        let character = read_char(text, at).0.or_else(|| {
            strays.push(readable.len());
            char::from_u32(0x1_4400 + u32::from(bytes[0]))
        });
        readable.extend(character);
    }
    (readable.into(), strays)
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
    fn the_dot_option_is_renamed_and_nothing_else() {
        for (theirs, ours) in [
            ("(?m)a.", "(?s)a."),
            ("(?im-x:.)(?i)", "(?is-x:.)(?i)"),
            (r"\(?m\)[(?m)]", r"\(?m\)[(?m)]"),
            (
                r"(?<m>m)(?=m)(m)[[:alpha:](?m)\]]m",
                r"(?<m>m)(?=m)(m)[[:alpha:](?m)\]]m",
            ),
            ("(?m", "(?m"),
            ("é\\é[é", "é\\é[é"),
        ] {
            assert_eq!(with_dot_option_renamed(theirs), ours);
        }
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
    fn an_expression_that_gives_up_says_so() {
        let pattern = Pattern::Regex(r"(a|b|ab)*(?=c)d".to_owned());
        let replace = Replace::new(pattern, String::new()).unwrap();
        let error = replace.rewrite(&mut Text::new(&b"ab".repeat(100), false));
        assert!(error.unwrap_err().to_string().contains("gave up"));
        let broken = Replace::new(Pattern::Regex("(".to_owned()), String::new());
        assert!(broken.unwrap_err().to_string().contains("does not compile"));
    }
}
