//! Regular expressions over any bytes: the one place that runs `fancy-regex`.
//!
//! Who replaces or cuts text goes from match to match and keeps what lies between them. So matches must
//! come in order and must not overlap, and [`Expression::matches`] gives no others. The engine does not: a
//! `\K` inside a look-around lets a match begin before the last one ended, or end before it begins. Such
//! an expression is refused, as PCRE2 refuses it; whatever else went backwards would be an error, too. Look-behinds
//! that the engine does not try at every length are refused as well.

use std::ops::Range;

use fancy_regex::{Assertion, Expr, LookAround, Regex, RegexBuilder, RuntimeError};

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
        ensure!(
            !misses_lengths(pattern),
            "the pattern {} has a look-behind that is not tried at every length; write alternatives of one length each",
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

/// Whether an expression that compiles has a look-behind of varying length whose match hangs on more than the
/// characters in it. The engine matches what varies once, backwards: `(?<=\b-?x)` takes a minus if there is one, and
/// the boundary is tried only before that. Alternatives of the look-behind are tried one by one.
fn misses_lengths(pattern: &str) -> bool {
    if !pattern.contains("(?<") {
        return false;
    }
    let Ok(tree) = Expr::parse_tree(pattern) else {
        return false; // in another dialect only
    };
    let is_in = |within: &Expr, is: fn(&Expr) -> bool| is(within) || within.has_descendant(is);
    let misses = |each: &Expr| match each {
        Expr::LookAround(behind, LookAround::LookBehind | LookAround::LookBehindNeg) => {
            let mut ways = match &**behind {
                Expr::Alt(ways) => ways.iter(),
                way => std::slice::from_ref(way).iter(),
            };
            ways.any(|way| is_in(way, varies) && is_in(way, hangs_on_more))
        }
        _ => false,
    };
    misses(&tree.expr) || tree.expr.has_descendant(misses)
}

fn varies(each: &Expr) -> bool {
    match each {
        Expr::Repeat { lo, hi, .. } => lo != hi,
        Expr::Alt(_) | Expr::GeneralNewline { .. } => true,
        _ => false,
    }
}

fn hangs_on_more(each: &Expr) -> bool {
    !matches!(
        each,
        Expr::Empty
            | Expr::Any { .. }
            | Expr::GeneralNewline { .. }
            | Expr::Literal { .. }
            | Expr::Concat(_)
            | Expr::Alt(_)
            | Expr::Group(_)
            | Expr::Repeat { .. }
            | Expr::Delegate { .. }
            | Expr::Assertion(
                Assertion::StartText
                    | Assertion::EndText
                    | Assertion::StartLine { .. }
                    | Assertion::EndLine { .. }
            )
    )
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
mod tests;
