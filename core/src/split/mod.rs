//! The pre-tokenizer: cuts a text into the pieces that no token crosses.
//!
//! A [`Scanner`] gives the same pieces as one of the regular expressions of GPT's families, on every
//! text, in one pass without backtracking. `oracle.rs` writes the expressions down and runs them as a
//! regex engine would; the tests hold the two against each other.
//!
//! Any bytes are text: see `class.rs` for what a byte means that is not UTF-8.

mod bits;
pub mod categories;
mod class;
mod cut;
mod cutters;
mod expression;
mod joining;
mod lanes;
#[cfg(test)]
mod lanes_tests;
#[cfg(test)]
mod oracle;
mod rewriting;
mod scanner;
pub mod stage;
#[cfg(test)]
mod tests;
pub mod visible;

use serde::Deserialize;

pub use class::UNICODE_VERSION;
use lanes::{Machine, Progress};
use scanner::{Cased, Prefixed, Rules, Spaced, Words};

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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scanner(Option<(WordRule, Rules)>);

impl Scanner {
    /// Compile a scanner; without a specification it never splits.
    ///
    /// # Errors
    /// When the specification contradicts itself, with a sentence that says how.
    pub fn new(spec: Option<&ScannerSpec>) -> Result<Self, String> {
        spec.map(|spec| Ok((spec.words, Rules::new(spec)?)))
            .transpose()
            .map(Self)
    }

    /// Compile a scanner from JSON: an object like `ScannerSpec`, or `null`.
    ///
    /// # Errors
    /// When the JSON is none, has other fields or values, or contradicts itself.
    pub fn from_json(json: &str) -> Result<Self, String> {
        let spec: Option<ScannerSpec> =
            serde_json::from_str(json).map_err(|error| format!("not a scanner: {error}"))?;
        Self::new(spec.as_ref())
    }

    /// Give the end of the piece that starts at `at`, which is before the end of `text`.
    ///
    /// For a whole text, [`for_each_piece`](Self::for_each_piece) asks only once which scanner to run.
    ///
    /// # Panics
    /// When `at` is not before the end of `text`.
    #[must_use]
    #[inline]
    pub fn next_piece(&self, text: &[u8], at: usize) -> usize {
        match self.0 {
            None => text.len(),
            Some((WordRule::Spaced, rules)) => Spaced::piece(rules, text, at),
            Some((WordRule::Prefixed, rules)) => Prefixed::piece(rules, text, at),
            Some((WordRule::Cased, rules)) => Cased::piece(rules, text, at),
        }
    }

    /// Give what finds the ends of a text's pieces, some at a time.
    #[must_use]
    #[inline]
    pub fn ends<'t>(&self, text: &'t [u8]) -> Ends<'t> {
        self.ends_by((text.len() > FEW_BYTES).then(Machine::best), text)
    }

    /// Give what finds the ends of a text's pieces with some of the machine's instructions, or a
    /// character at a time.
    #[inline]
    fn ends_by<'t>(&self, machine: Option<Machine>, text: &'t [u8]) -> Ends<'t> {
        Ends {
            rule: self.0,
            text,
            machine,
            progress: Progress::default(),
        }
    }

    /// Call `f(start, end)` for every piece, in order.
    #[inline]
    pub fn for_each_piece(&self, text: &[u8], mut f: impl FnMut(usize, usize)) {
        let mut ends = self.ends(text);
        let mut room = [0; AT_A_TIME];
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

    /// Give the pieces as an iterator of `(start, end)`, for callers that stop early.
    pub fn pieces<'t>(&'t self, text: &'t [u8]) -> impl Iterator<Item = (usize, usize)> + 't {
        let mut start = 0;
        std::iter::from_fn(move || {
            (start < text.len()).then(|| {
                let piece = (start, self.next_piece(text, start));
                start = piece.1;
                piece
            })
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
        self.0
            .map_or(0, |(words, rules)| cut::safe_cut(words, rules, text))
    }
}

/// How many ends are found at a time: few enough to stay in the nearest cache, many enough that what
/// is done once for all of them costs nothing.
pub const AT_A_TIME: usize = 256;

/// In a text of no more bytes, the pieces are found sooner a character at a time than in windows.
const FEW_BYTES: usize = 48;

/// Finds the ends of a text's pieces, some at a time, so that the loops that use them know the next
/// pieces ahead.
#[derive(Clone, Debug)]
pub struct Ends<'t> {
    rule: Option<(WordRule, Rules)>,
    text: &'t [u8],
    /// What windows are looked at with; None for one character at a time.
    machine: Option<Machine>,
    progress: Progress,
}

impl Ends<'_> {
    /// Write the ends of the next pieces and give their number: as many as there is room for, or as the
    /// text has left.
    #[inline]
    pub fn fill(&mut self, room: &mut [usize]) -> usize {
        let (text, progress) = (self.text, &mut self.progress);
        match (&self.rule, self.machine) {
            (Some((words, rules)), Some(machine)) => {
                lanes::fill(machine, *words, rules, text, progress, room)
            }
            (Some((WordRule::Spaced, rules)), None) => {
                progress.fill_by(text, room, |at| Spaced::piece(*rules, text, at))
            }
            (Some((WordRule::Prefixed, rules)), None) => {
                progress.fill_by(text, room, |at| Prefixed::piece(*rules, text, at))
            }
            (Some((WordRule::Cased, rules)), None) => {
                progress.fill_by(text, room, |at| Cased::piece(*rules, text, at))
            }
            (None, _) => progress.fill_by(text, room, |_| text.len()),
        }
    }
}
