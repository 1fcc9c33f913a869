//! Regular expressions over any bytes.

use std::borrow::Cow;
use std::ops::Range;

use fancy_regex::{Regex, RegexBuilder, RuntimeError};

use super::categories::STRAY;
use super::joining::Joiner;
use crate::error::{Error, Result};

/// How many ways are tried to find one match, and how many characters are passed until there is one:
/// about a second's work.
const MOST_TRIES: usize = 1 << 24;

/// A compiled expression.
///
/// One that goes wrong exponentially is stopped. One that looks far ahead from every character takes
/// quadratic time, as it does elsewhere.
#[derive(Debug)]
pub(super) struct Expression {
    regex: Regex,
}

impl Expression {
    /// Compiles an expression.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub fn new(pattern: &str) -> Result<Self> {
        match RegexBuilder::new(pattern)
            .backtrack_limit(MOST_TRIES)
            .build()
        {
            Ok(regex) => Ok(Self { regex }),
            Err(error) => Err(Error::Invalid(format!(
                "the pattern {} does not compile: {error}",
                show(pattern)
            ))),
        }
    }

    /// Tells the matches in a part of a text, and what lies between them.
    ///
    /// # Errors
    /// When a match takes more steps than the engine allows.
    pub fn tell(
        &self,
        subject: &Subject<'_>,
        range: Range<usize>,
        joiner: &mut Joiner<'_>,
    ) -> Result<()> {
        let begins = subject.to_letters(range.start);
        let part = &subject.text[begins..subject.to_letters(range.end)];
        let matches = self.regex.find_iter(part).map(|found| {
            let found = found.map_err(|error| self.explain(&error))?;
            Ok(subject.to_bytes(begins + found.start())..subject.to_bytes(begins + found.end()))
        });
        joiner.tell_matches(range, matches)
    }

    fn explain(&self, error: &fancy_regex::Error) -> Error {
        let pattern = show(self.regex.as_str());
        Error::Invalid(match error {
            fancy_regex::Error::RuntimeError(RuntimeError::BacktrackLimitExceeded) => {
                format!("the pattern {pattern} tries too many ways to match this text")
            }
            other => format!("the pattern {pattern} fails on this text: {other}"),
        })
    }
}

/// Writes a pattern for a message, cut when long.
fn show(pattern: &str) -> String {
    const LONGEST: usize = 60;
    if pattern.chars().nth(LONGEST).is_none() {
        return format!("{pattern:?}");
    }
    let beginning: String = pattern.chars().take(LONGEST - 3).collect();
    format!("{:?}", beginning + "...")
}

/// A text as an expression sees it: each stray byte is a letter.
#[derive(Clone, Debug)]
pub(super) struct Subject<'a> {
    text: Cow<'a, str>,
    /// Offsets of the stray bytes in the text as it is.
    strays: Vec<usize>,
}

/// How much longer the letter is than the stray byte that it stands for.
const GROWTH: usize = 3;

impl<'a> Subject<'a> {
    /// Reads a text.
    pub fn new(bytes: &'a [u8]) -> Self {
        if let Ok(text) = std::str::from_utf8(bytes) {
            return Self {
                text: Cow::Borrowed(text),
                strays: Vec::new(),
            };
        }
        let mut text = String::with_capacity(bytes.len());
        let mut strays = Vec::new();
        for chunk in bytes.utf8_chunks() {
            text.push_str(chunk.valid());
            for &byte in chunk.invalid() {
                strays.push(text.len() - GROWTH * strays.len());
                text.extend(char::from_u32(STRAY + u32::from(byte)));
            }
        }
        Self {
            text: Cow::Owned(text),
            strays,
        }
    }

    /// The text with a letter for each stray byte.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Gives the offset with letters for an offset in the text as it is.
    fn to_letters(&self, at: usize) -> usize {
        at + GROWTH * self.strays.partition_point(|&stray| stray < at)
    }

    /// Gives the offset in the text as it is for an offset with letters.
    pub fn to_bytes(&self, at: usize) -> usize {
        let (mut low, mut high) = (0, self.strays.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.strays[middle] + GROWTH * middle < at {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        at - GROWTH * low
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::split::stage::Behavior;

    fn cut<'t>(pattern: &str, text: &'t [u8]) -> Result<Vec<&'t [u8]>> {
        let expression = Expression::new(pattern)?;
        let mut pieces = Vec::new();
        let mut joiner = Joiner::new(Behavior::Isolated, false, &mut pieces);
        expression.tell(&Subject::new(text), 0..text.len(), &mut joiner)?;
        joiner.finish();
        Ok(pieces.into_iter().map(|range| &text[range]).collect())
    }

    #[test]
    fn stray_bytes_are_letters() {
        let text = b"a\xFF\xE4\xB8 \xC3\xA9\x80,\xF0";
        let expected: [&[u8]; 5] = [b"a\xFF\xE4\xB8", b" ", b"\xC3\xA9\x80", b",", b"\xF0"];
        assert_eq!(cut(r"\p{Lo}*\p{L}+", text).unwrap(), expected);
        let subject = Subject::new(text);
        for at in [0, 1, 2, 3, 4, 5, 7, 8, 9, 10] {
            assert_eq!(subject.to_bytes(subject.to_letters(at)), at);
        }
    }

    #[test]
    fn looks_around_and_matches_nothing() {
        let pieces = cut(r"(?=b)|\s+(?!\S)", b"abb  c").unwrap();
        assert_eq!(pieces, [&b"a"[..], b"b", b"b", b" ", b" c"]);
        assert_eq!(cut("", b"ab").unwrap(), [b"a", b"b"]);
    }

    #[test]
    fn hostile_patterns_are_refused() {
        let deep = "(".repeat(100_000) + &")".repeat(100_000);
        let long = format!("(?=a){}", "a?".repeat(100_000));
        for pattern in [
            "(",
            "[",
            r"\p{Nope}",
            "*",
            &deep,
            "(?:(?:a{1000}){1000}){1000}",
            "(?:(?:(?:(?=a)a{1000}){1000}){1000}){1000}",
            r"\1",
            r"(?<=a+b*c)",
            "a{99999999999}",
        ] {
            // What compiles must also run to an end.
            if let Ok(expression) = Expression::new(pattern) {
                let subject = Subject::new(b"aaaaaaaaaaaaaaaaaaaaaaaaab");
                let mut pieces = Vec::new();
                let mut joiner = Joiner::new(Behavior::Isolated, false, &mut pieces);
                let _ = expression.tell(&subject, 0..26, &mut joiner);
            }
        }
        assert!(cut(&long, b"aaaa").is_ok());
        let error = cut(r"(a*)*\1c", "a".repeat(40).as_bytes()).unwrap_err();
        assert_eq!(
            error.to_string(),
            r#"the pattern "(a*)*\\1c" tries too many ways to match this text"#
        );
        let error = cut(&format!("({}", "é".repeat(80)), b"")
            .unwrap_err()
            .to_string();
        assert!(error.contains("ééé...\" does not compile"), "{error}");
    }
}
