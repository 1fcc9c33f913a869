//! Regular expressions over any bytes: the one place that runs `fancy-regex`.
//!
//! Who replaces or cuts text goes from match to match and keeps what lies between them. So matches must
//! come in order and must not overlap, and [`Expression::matches`] gives no others. The engine does not: a
//! `\K` inside a look-around lets a match begin before the last one ended, or end before it begins. Such
//! an expression is refused, as PCRE2 refuses it; whatever else went backwards would be an error, too.

use std::ops::Range;

use fancy_regex::{Expr, Regex, RegexBuilder, RuntimeError};

use super::subject::Subject;
use crate::error::{Error, Result, ensure, invalid};

/// How a kind of component reads expressions, and how long it lets them try.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Whether they mean what they mean to Oniguruma, the engine of Hugging Face's: `^` and `$` are at every line,
    /// and `(?m)` lets the dot match newlines. What remains different: `\w` also matches the two joiners here,
    /// and `[[:alpha:]]` and its like ASCII alone.
    oniguruma: bool,
    /// How many ways are tried to find one match, and how many characters are passed until there is one.
    tries: usize,
    /// The same for each byte of a long text, for looking at every place without finding anything takes tries too.
    tries_a_byte: usize,
}

impl Rules {
    /// For cutting text into pieces; about a second's work a match.
    pub const SPLIT: Self = Self {
        oniguruma: false,
        tries: 1 << 24,
        tries_a_byte: 0,
    };
    /// For normalizing text.
    pub const NORMALIZE: Self = Self {
        oniguruma: true,
        tries: 1_000_000,
        tries_a_byte: 16,
    };
    /// For decoding.
    pub const DECODE: Self = Self {
        oniguruma: false,
        tries: 1_000_000,
        tries_a_byte: 0,
    };

    fn compile(self, pattern: &str, tries: usize) -> Result<Regex> {
        let mut builder = RegexBuilder::new(pattern);
        if self.oniguruma {
            builder = RegexBuilder::new(&with_dot_option_renamed(pattern));
            builder.multi_line(true).oniguruma_mode(true);
        }
        builder
            .backtrack_limit(tries)
            .build()
            .map_err(|error| invalid!("the pattern {} does not compile: {error}", show(pattern)))
    }
}

/// A compiled expression.
///
/// One that goes wrong exponentially is stopped. One that looks far ahead from every character takes
/// quadratic time, as it does elsewhere.
#[derive(Debug)]
pub struct Expression {
    regex: Regex,
    /// As it was given.
    pattern: String,
    rules: Rules,
}

impl Expression {
    /// Compiles an expression.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub fn new(pattern: &str, rules: Rules) -> Result<Self> {
        let regex = rules.compile(pattern, rules.tries)?;
        ensure!(
            !keeps_out_around(pattern),
            r"the pattern {} has a \K inside a look-around, where a match could begin before the one before it ends",
            show(pattern)
        );
        Ok(Self {
            regex,
            pattern: pattern.to_owned(),
            rules,
        })
    }

    /// Whether it matches a text without any characters.
    #[must_use]
    pub fn matches_nothing(&self) -> bool {
        self.regex.is_match("").unwrap_or(true)
    }

    /// Finds the matches in a part of a text: in order, none beginning before the last one ended, without those
    /// that are empty and touch the one before. Nothing outside the part is looked at.
    ///
    /// # Errors
    /// When a match takes more tries than the rules allow.
    pub fn matches(&self, subject: &Subject<'_>, range: Range<usize>) -> Result<Vec<Range<usize>>> {
        let begins = subject.to_letters(range.start);
        let part = &subject.text()[begins..subject.to_letters(range.end)];
        let tries = part.len().saturating_mul(self.rules.tries_a_byte);
        let patient = if tries > self.rules.tries {
            Some(self.rules.compile(&self.pattern, tries)?)
        } else {
            None
        };
        let mut found = Vec::new();
        let mut reached = 0;
        for each in patient.as_ref().unwrap_or(&self.regex).find_iter(part) {
            let each = each.map_err(|error| self.explain(&error))?;
            // An engine that goes back may do so for ever.
            ensure!(
                each.start() >= reached && each.end() >= each.start(),
                "the pattern {} goes backwards in this text",
                show(&self.pattern)
            );
            reached = each.end();
            let start = subject.to_bytes(begins + each.start());
            found.push(start..subject.to_bytes(begins + reached));
        }
        Ok(found)
    }

    fn explain(&self, error: &fancy_regex::Error) -> Error {
        let pattern = show(&self.pattern);
        Error::Invalid(match error {
            fancy_regex::Error::RuntimeError(RuntimeError::BacktrackLimitExceeded) => {
                format!("the pattern {pattern} tries too many ways to match this text")
            }
            other => format!("the pattern {pattern} fails on this text: {other}"),
        })
    }
}

/// Whether an expression that compiles sets, inside of what looks around, where its match begins.
fn keeps_out_around(pattern: &str) -> bool {
    if !pattern.contains(r"\K") {
        return false;
    }
    let Ok(tree) = Expr::parse_tree(pattern) else {
        return false; // in another dialect only: what it matches is looked at, too
    };
    let is_around = |each: &Expr| {
        matches!(
            each,
            Expr::LookAround(..) | Expr::Conditional { .. } | Expr::Absent(_)
        )
    };
    // A call may be of a group that has it.
    let keeps = |each: &Expr| matches!(each, Expr::KeepOut | Expr::SubroutineCall(_));
    let keeps_inside = |each: &Expr| is_around(each) && each.has_descendant(keeps);
    let has_any = |each: &Expr| matches!(each, Expr::KeepOut);
    (has_any(&tree.expr) || tree.expr.has_descendant(has_any))
        && (keeps_inside(&tree.expr) || tree.expr.has_descendant(keeps_inside))
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

/// Writes a pattern for a message, cut when long.
fn show(pattern: &str) -> String {
    const LONGEST: usize = 60;
    if pattern.chars().nth(LONGEST).is_none() {
        return format!("{pattern:?}");
    }
    let beginning: String = pattern.chars().take(LONGEST - 3).collect();
    format!("{:?}", beginning + "...")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(pattern: &str, text: &[u8]) -> Result<Vec<Range<usize>>> {
        Expression::new(pattern, Rules::SPLIT)?.matches(&Subject::new(text), 0..text.len())
    }

    /// The matches and what lies between them.
    fn cut<'t>(pattern: &str, text: &'t [u8]) -> Result<Vec<&'t [u8]>> {
        let mut edges = vec![0];
        edges.extend(
            find(pattern, text)?
                .iter()
                .flat_map(|each| [each.start, each.end]),
        );
        edges.push(text.len());
        let pieces = edges.windows(2).map(|edges| &text[edges[0]..edges[1]]);
        Ok(pieces.filter(|piece| !piece.is_empty()).collect())
    }

    #[test]
    fn stray_bytes_are_letters() {
        let text = b"a\xFF\xE4\xB8 \xC3\xA9\x80,\xF0";
        let expected: [&[u8]; 5] = [b"a\xFF\xE4\xB8", b" ", b"\xC3\xA9\x80", b",", b"\xF0"];
        assert_eq!(cut(r"\p{Lo}*\p{L}+", text).unwrap(), expected);
    }

    #[test]
    fn looks_around_and_matches_nothing() {
        let pieces = cut(r"(?=b)|\s+(?!\S)", b"abb  c").unwrap();
        assert_eq!(pieces, [&b"a"[..], b"b", b"b", b" ", b" c"]);
        assert_eq!(cut("", b"ab").unwrap(), [b"a", b"b"]);
    }

    #[test]
    fn where_a_match_begins_is_not_set_from_around_it() {
        for pattern in [
            r"a|(?<=\Ka)b",
            r"(?=a\K)",
            r"(?<=(\Ka))b",
            r"x(?!(?:\K|y))",
            r"(a\K)?(?=\g<1>)b",
            r"(?((?=\Ka))b|c)",
        ] {
            for rules in [Rules::SPLIT, Rules::NORMALIZE, Rules::DECODE] {
                let error = Expression::new(pattern, rules).unwrap_err().to_string();
                assert!(
                    error.contains(r"\K inside a look-around"),
                    "{pattern}: {error}"
                );
            }
        }
        assert_eq!(find(r"a\Kb|\\K", b"abab").unwrap(), [1..2, 3..4]);
        assert_eq!(find(r"(?<=a)b\K", b"abab").unwrap(), [2..2, 4..4]);
        let in_class = find(r"[\K](?=b)", b"Kb").unwrap_or_default();
        assert_eq!((in_class.len(), in_class.first()), (1, Some(&(0..1))));
    }

    #[test]
    fn matches_that_go_backwards_are_an_error_and_no_endless_list() {
        // Some of them this engine sets right itself.
        for (pattern, goes_back) in [
            (r"a|(?<=\Ka)b", true),
            (r"(?=a\K)", false),
            (r"(?=ab\K)a", false),
        ] {
            let expression = Expression {
                regex: Regex::new(pattern).unwrap(),
                pattern: pattern.to_owned(),
                rules: Rules::SPLIT,
            };
            match expression.matches(&Subject::new(b"abab"), 0..4) {
                Ok(found) => assert!(!goes_back && found.is_sorted_by(|a, b| a.end <= b.start)),
                Err(error) => {
                    assert!(
                        error.to_string().ends_with("goes backwards in this text"),
                        "{error}"
                    );
                }
            }
        }
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
            let _ = find(pattern, b"aaaaaaaaaaaaaaaaaaaaaaaaab");
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
