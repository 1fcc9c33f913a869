//! The pre-tokenizer: cuts a text into the pieces that no token crosses.
//!
//! A [`Scanner`] gives the same pieces as one of the regular expressions of GPT's families, on every
//! text, in one pass without backtracking. `oracle.rs` writes the expressions down and runs them as a
//! regex engine would; the tests hold the two against each other.
//!
//! Any bytes are text: see `class.rs` for what a byte means that is not UTF-8.

mod bits;
pub mod categories;
mod chain;
mod class;
mod cut;
mod cutters;
mod ends;
mod joining;
mod lanes;
#[cfg(any(test, fuzzing))]
mod oracle;
mod pattern;
mod pieces;
mod rewriting;
mod scanner;
pub mod stage;
#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::Arc;

use serde::Deserialize;

use crate::error::{Result, invalid};
use chain::Chain;
pub use chain::CutSpec;
pub use class::UNICODE_VERSION;
pub use ends::{AT_A_TIME, Ends};
use ends::{FEW_BYTES, Going, Walk, best_machine};
use lanes::{Machine, Progress};
use pattern::{Known, Pattern};
use scanner::Rules;

/// A pattern of GPT's families as data; the fields and values are those of `patterns.Scanner` in Python.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScannerSpec {
    /// What a word is.
    pub words: WordRule,
    /// What becomes of `'s 't 're 've 'm 'll 'd`.
    pub contractions: Contractions,
    /// Longest run of `\p{N}` in a piece, at most 3; 0 for ` ?\p{N}+`.
    pub digits: u8,
    /// What a run of symbols takes along.
    pub tail: Tail,
    /// Whether `\s*[\r\n]+` stands among the alternatives.
    pub newlines: bool,
    /// Whether `\s++$` stands before it.
    #[serde(default)]
    pub final_space: bool,
}

/// Tells whether the character that a text begins with is numeric (Unicode category N).
#[must_use]
pub fn is_numeric(text: &[u8]) -> bool {
    !text.is_empty() && class::read(text, 0).0 & bits::NUMBER != 0
}

/// What a word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WordRule {
    /// ` ?\p{L}+`.
    Spaced,
    /// `[^\r\n\p{L}\p{N}]?\p{L}+`.
    Prefixed,
    /// The two alternatives of o200k, which cut before a capital that follows a small letter.
    Cased,
}

/// What becomes of the English contractions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Contractions {
    /// Nothing special.
    None,
    /// Pieces of their own, in small letters only.
    Exact,
    /// Pieces of their own, in any case; U+017F is an s.
    Folded,
    /// The end of a cased word, in any case; U+017F is an s.
    Suffix,
}

/// What a run of symbols takes along.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Tail {
    /// Nothing.
    #[serde(rename = "")]
    Nothing,
    /// `[\r\n]*`.
    #[serde(rename = "\r\n")]
    Newlines,
    /// `[\r\n/]*`.
    #[serde(rename = "\r\n/")]
    NewlinesAndSlashes,
}

/// A compiled pre-tokenizer.
#[derive(Clone, Debug)]
pub struct Scanner(Way);

#[derive(Clone, Debug)]
enum Way {
    Whole,
    Rule(WordRule, Rules),
    Pattern(Arc<Pattern>),
    Chain(Arc<Chain>),
}

impl Scanner {
    /// Compile a scanner; without a specification it never splits.
    ///
    /// # Errors
    /// When the specification contradicts itself, with a sentence that says how.
    pub fn new(spec: Option<&ScannerSpec>) -> Result<Self> {
        let way = match spec {
            None => Way::Whole,
            Some(spec) => Way::Rule(spec.words, Rules::new(spec)?),
        };
        Ok(Self(way))
    }

    /// Compile several ways to cut, each of which cuts the pieces of the one before it.
    ///
    /// # Errors
    /// When one cannot be compiled, with a sentence that says why.
    pub fn chain(specs: &[CutSpec]) -> Result<Self> {
        Ok(Self(match specs {
            [] => Way::Whole,
            [CutSpec::Pattern { pattern }] => Way::Pattern(Arc::new(Pattern::new(pattern)?)),
            several => Way::Chain(Arc::new(Chain::new(several)?)),
        }))
    }

    /// Compile a scanner from JSON: an object like `ScannerSpec`, a list of objects like `CutSpec`, or
    /// `null`.
    ///
    /// # Errors
    /// When the JSON is none, has other fields or values, or contradicts itself.
    pub fn from_json(json: &str) -> Result<Self> {
        let refused = |error: serde_json::Error| invalid!("not a scanner: {error}");
        if json.trim_start().starts_with('[') {
            let specs: Vec<CutSpec> = serde_json::from_str(json).map_err(refused)?;
            return Self::chain(&specs);
        }
        let spec: Option<ScannerSpec> = serde_json::from_str(json).map_err(refused)?;
        Self::new(spec.as_ref())
    }

    /// Give what finds the ends of a text's pieces, some at a time.
    #[must_use]
    #[inline]
    pub fn ends<'t>(&'t self, text: &'t [u8]) -> Ends<'t> {
        self.ends_by(best_machine(text), text)
    }

    /// Give what finds the ends of a text's pieces with some of the machine's instructions, or a
    /// character at a time.
    #[inline]
    fn ends_by<'t>(&'t self, machine: Option<Machine>, text: &'t [u8]) -> Ends<'t> {
        let way = match &self.0 {
            Way::Whole => Going::Whole,
            &Way::Rule(words, rules) => Going::Rule(words, rules),
            Way::Pattern(pattern) => Going::Pattern(pattern, Known::default()),
            Way::Chain(chain) => Going::Chain(Box::new(Walk::new(chain, text))),
        };
        Ends {
            way,
            text,
            machine,
            progress: Progress::default(),
        }
    }

    /// Call `f(start, end)` for every piece, in order.
    #[inline]
    pub fn for_each_piece(&self, text: &[u8], f: impl FnMut(usize, usize)) {
        // A text of few bytes has few pieces: for a word, room for many would cost more than finding them.
        match text.len() <= FEW_BYTES {
            true => self.for_each_piece_with([0; FEW_BYTES], text, f),
            false => self.for_each_piece_with([0; AT_A_TIME], text, f),
        }
    }

    #[inline]
    fn for_each_piece_with<const ROOM: usize>(
        &self,
        mut room: [usize; ROOM],
        text: &[u8],
        mut f: impl FnMut(usize, usize),
    ) {
        let mut ends = self.ends(text);
        let mut start = 0;
        loop {
            let found = ends.fill(&mut room);
            if found == 0 {
                return;
            }
            for &end in &room[..found] {
                f(start, end);
                start = end;
            }
        }
    }

    /// Return the matches of a common pattern ([`Scanner::is_common_pattern`]). Any other pattern has none here.
    pub(crate) fn matches<'t>(&'t self, text: &'t [u8]) -> impl Iterator<Item = Range<usize>> + 't {
        let pattern = match &self.0 {
            Way::Pattern(pattern) => Some(pattern),
            _ => None,
        };
        pattern
            .into_iter()
            .flat_map(|pattern| pattern.matches(text))
    }

    /// Give the pieces as an iterator of `(start, end)`, for callers that stop early.
    pub fn pieces<'t>(&'t self, text: &'t [u8]) -> impl Iterator<Item = (usize, usize)> + use<'t> {
        let mut ends = self.ends_by(None, text);
        let (mut start, mut room) = (0, [0]);
        std::iter::from_fn(move || {
            (ends.fill(&mut room) > 0).then(|| (std::mem::replace(&mut start, room[0]), room[0]))
        })
    }

    /// Give the end of every piece.
    #[must_use]
    pub fn split(&self, text: &[u8]) -> Vec<u64> {
        let mut ends = Vec::new();
        self.for_each_piece(text, |_, end| ends.push(end as u64));
        ends
    }

    /// Give the last offset inside a text at which it can be cut without changing any piece, whatever
    /// stands before or after the text; 0 when there is none.
    ///
    /// Invariant: for `c = safe_cut(t)` and any bytes `y`, `split(t + y)` is `split(t[..c])` followed
    /// by `split(t[c..] + y)`. Complexity: the distance from the end of the text to the cut.
    #[must_use]
    pub fn safe_cut(&self, text: &[u8]) -> usize {
        match &self.0 {
            &Way::Rule(words, rules) => cut::safe_cut(words, rules, text),
            Way::Pattern(pattern) => pattern.safe_cut(text),
            Way::Chain(chain) => chain.safe_cut(text),
            Way::Whole => 0,
        }
    }

    /// Returns where the run of blanks at the end of a text may be cut: a cut there divides a piece into two parts, and
    /// each part is a piece. 0 if no such place is known. The text must begin where a piece does.
    ///
    /// Invariant: for `c = cut_in_run(t)` and any bytes `y`, `split(t + y)` is `split(t[..c])` followed by `split(t[c..] + y)`
    /// but for the end `c`; two blanks at least stand behind it. Complexity: the length of the run.
    #[must_use]
    pub fn cut_in_run(&self, text: &[u8]) -> usize {
        match self.0 {
            Way::Rule(WordRule::Spaced | WordRule::Prefixed | WordRule::Cased, rules) => {
                cut::cut_in_run(rules.newlines, text)
            }
            Way::Whole | Way::Pattern(_) | Way::Chain(_) => 0,
        }
    }

    /// Whether a text can be cut before a space that stands between two ASCII letters, and a piece ends there.
    #[must_use]
    pub(crate) fn ends_at_spaces(&self) -> bool {
        match &self.0 {
            Way::Rule(..) => true, // no word or run of symbols goes on from a letter to a space
            Way::Pattern(pattern) => pattern.ends_at_spaces(),
            Way::Whole | Way::Chain(_) => false,
        }
    }

    /// Whether a text can be cut before a space that stands behind any character but white space, and a piece ends there.
    #[must_use]
    pub(crate) fn ends_behind_visible(&self) -> bool {
        match &self.0 {
            Way::Rule(..) => true, // but white space, nothing goes on with a space
            Way::Pattern(pattern) => pattern.ends_behind_visible(),
            Way::Whole | Way::Chain(_) => false,
        }
    }

    /// Whether it is an expression that all engines of the field run alike.
    #[must_use]
    pub(crate) fn is_common_pattern(&self) -> bool {
        match &self.0 {
            Way::Pattern(pattern) => pattern.is_common(),
            Way::Rule(..) | Way::Whole | Way::Chain(_) => false,
        }
    }

    /// Whether [`Scanner::safe_cut`] finds any cuts at all.
    #[must_use]
    pub fn knows_cuts(&self) -> bool {
        match &self.0 {
            Way::Rule(..) => true,
            Way::Pattern(pattern) => pattern.knows_cuts(),
            Way::Chain(chain) => chain.knows_cuts(),
            Way::Whole => false,
        }
    }
}

/// Holds every named scanner to its oracle, with every kind of instructions that the machine has. For the
/// fuzz targets.
///
/// # Panics
/// When they differ.
#[cfg(fuzzing)]
#[doc(hidden)]
pub fn hold_to_oracle(text: &[u8]) {
    type Patterns = Vec<(&'static str, Scanner, Vec<Vec<oracle::Term>>)>;
    static PATTERNS: std::sync::LazyLock<Patterns> = std::sync::LazyLock::new(oracle::patterns);
    for (name, scanner, alternatives) in PATTERNS.iter() {
        let expected = oracle::split(alternatives, text);
        for machine in Machine::all().map(Some).chain([None]) {
            let mut ends = scanner.ends_by(machine, text);
            let (mut found, mut room) = (Vec::new(), [0; AT_A_TIME]);
            loop {
                let filled = ends.fill(&mut room);
                found.extend(room[..filled].iter().map(|&end| end as u64));
                if filled == 0 {
                    break;
                }
            }
            assert_eq!(found, expected, "{name}, {machine:?}");
        }
    }
}
