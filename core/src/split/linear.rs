//! Regular expressions that are matched in linear time, without backtracking.
//!
//! What GPT's families and their kin write is alternatives of classes and counts, which an automaton
//! matches, and at the end one that looks ahead: of a stretch of white space all but the last
//! character, which goes with the word behind it. An automaton cannot look ahead; so the stretch is
//! matched as an expression of its own, after all others, and cut here.

use std::collections::VecDeque;
use std::ops::Range;

use regex_automata::meta::{Config, Regex};
use regex_automata::util::syntax;
use regex_automata::{Input, PatternID};

use crate::error::{Result, invalid};

/// The end of an expression that leaves the last blank of a stretch to what follows.
const LAST_APART: &str = r"|\s+(?!\S)|\s+";

/// The end of one that cuts a stretch into powers of two.
const HALVING: &str = concat!(
    r"|\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S)|\s{64}(?!\S)|\s{32}(?!\S)|\s{16}(?!\S)",
    r"|\s{8}(?!\S)|\s{4}(?!\S)|\s{1,2}(?!\S)|\s"
);

/// The most memory that an automaton may take before it is run.
const MOST_BYTES: usize = 10 << 20;

/// What becomes of a stretch of white space that no other alternative matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Blanks {
    /// The expression says nothing of it.
    Unsaid,
    /// All but the last character, unless nothing follows.
    LastApart,
    /// The longest power of two up to 512 that leaves a character, or all if nothing follows.
    Halving,
}

/// A compiled expression.
#[derive(Clone, Debug)]
pub(super) struct Linear {
    regex: Regex,
    blanks: Blanks,
}

impl Linear {
    /// Compiles an expression; of what looks ahead only the two ends above can be compiled.
    ///
    /// # Errors
    /// When it cannot be matched without backtracking, or would take too much memory.
    pub fn new(pattern: &str) -> Result<Self> {
        let ends = [(LAST_APART, Blanks::LastApart), (HALVING, Blanks::Halving)];
        let cut = ends
            .iter()
            .find_map(|&(end, blanks)| Some((pattern.strip_suffix(end)?, blanks)));
        let (patterns, blanks) = match cut {
            Some((rest, blanks)) => (vec![rest, r"\s+"], blanks),
            None => (vec![pattern], Blanks::Unsaid),
        };
        let config = Config::new().nfa_size_limit(Some(MOST_BYTES));
        let built = Regex::builder()
            .configure(config)
            .syntax(syntax::Config::new().nest_limit(64))
            .build_many(&patterns);
        match built {
            Ok(regex) => Ok(Self { regex, blanks }),
            Err(error) => Err(invalid!(
                "an expression cannot be matched without backtracking: {error}"
            )),
        }
    }

    /// Adds the ends of the next pieces at an offset of a text: what comes before a match, and the match.
    pub fn tell(&self, text: &str, at: usize, ends: &mut VecDeque<usize>) {
        let Some(found) = self.regex.search(&Input::new(text).range(at..)) else {
            ends.push_back(text.len());
            return;
        };
        if found.start() > at {
            ends.push_back(found.start());
        }
        if self.blanks != Blanks::Unsaid && found.pattern() == PatternID::must(1) {
            self.cut_blanks(text, found.range(), ends);
        } else if found.end() > at {
            ends.push_back(found.end());
        } else {
            // An empty match, which no expression given here has: go on all the same.
            let next = text[at..].chars().next().map_or(1, char::len_utf8);
            ends.push_back(at + next);
        }
    }

    /// Cuts a stretch of white space, of which the last character may be left for later.
    fn cut_blanks(&self, text: &str, range: Range<usize>, ends: &mut VecDeque<usize>) {
        let followed = range.end < text.len();
        let stretch = &text[range.clone()];
        if self.blanks == Blanks::LastApart {
            let last = stretch.char_indices().next_back().map_or(0, |(at, _)| at);
            let length = if followed && last > 0 {
                last
            } else {
                stretch.len()
            };
            ends.push_back(range.start + length);
            return;
        }
        let offsets: Vec<usize> = stretch.char_indices().map(|(at, _)| at).collect();
        let mut done = 0;
        while done < offsets.len() {
            let left = offsets.len() - done;
            // The last one is left to what follows, unless it is all there is.
            let most = if followed { (left - 1).max(1) } else { left };
            if followed && left == 1 && done > 0 {
                break;
            }
            done += if most >= 4 {
                1 << most.ilog2().min(9)
            } else {
                most.min(2)
            };
            ends.push_back(range.start + offsets.get(done).copied().unwrap_or(stretch.len()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut<'t>(pattern: &str, text: &'t str) -> Vec<&'t str> {
        let linear = Linear::new(pattern).unwrap();
        let (mut ends, mut at, mut pieces) = (VecDeque::new(), 0, Vec::new());
        while at < text.len() {
            linear.tell(text, at, &mut ends);
            for end in ends.drain(..) {
                pieces.push(&text[at..end]);
                at = end;
            }
        }
        pieces
    }

    #[test]
    fn the_last_blank_goes_with_what_follows() {
        let pattern = r" ?\p{L}+|\s+(?!\S)|\s+";
        assert_eq!(cut(pattern, "a  b \n"), ["a", " ", " b", " \n"]);
        assert_eq!(
            cut(pattern, "a\tb\u{a0}\u{a0}b"),
            ["a", "\t", "b", "\u{a0}", "\u{a0}", "b"]
        );
        assert_eq!(cut(pattern, "1 2"), ["1", " ", "2"]);
    }

    #[test]
    fn stretches_are_halved() {
        let pattern = format!(r"\p{{L}}+{HALVING}");
        let lengths = |text: &str| {
            cut(&pattern, text)
                .iter()
                .map(|piece| piece.len())
                .collect::<Vec<_>>()
        };
        assert_eq!(lengths(&" ".repeat(7)), [4, 2, 1]);
        assert_eq!(lengths(&(" ".repeat(8) + "a")), [4, 2, 1, 1, 1]);
        assert_eq!(lengths(&" ".repeat(1025)), [512, 512, 1]);
        assert_eq!(lengths("  a"), [1, 1, 1]);
    }

    #[test]
    fn what_must_backtrack_is_refused() {
        for pattern in [
            "(?=a)",
            r"(a)\1",
            "(?<!a)b",
            "(",
            "(?:(?:a{1000}){1000}){1000}",
        ] {
            assert!(Linear::new(pattern).is_err(), "{pattern}");
        }
        assert_eq!(
            cut("", "ab"),
            ["a", "b"],
            "an expression that matches nothing goes on"
        );
    }
}
