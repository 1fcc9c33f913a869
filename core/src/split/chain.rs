//! Several ways to cut, one after the other, each cutting the pieces of the one before it.

use std::collections::VecDeque;

use serde::Deserialize;

use super::bits::NUMBER;
use super::pattern::{Pattern, Runs};
use super::scanner::Rules;
use super::{ScannerSpec, WordRule, class, cut};
use crate::error::{Result, ensure};

/// One way to cut, as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "type", deny_unknown_fields)]
pub enum CutSpec {
    /// A pattern of GPT's families.
    Scanner {
        /// The pattern.
        scanner: ScannerSpec,
    },
    /// An expression in the dialect of Python's `regex` module, of those that an automaton runs.
    Pattern {
        /// The expression.
        pattern: String,
    },
    /// Numbers in groups of three characters, counted from the right.
    DigitGroups {
        /// Whether only 0 to 9 count, and a piece begins before each group of three and nowhere else.
        /// Otherwise all of `\p{N}` counts, and a piece ends behind each group and nowhere else.
        ascii: bool,
    },
}

/// The most cells that the tables of all expressions have.
const MOST_CELLS: usize = 1 << 20;

#[derive(Debug)]
pub(super) enum Cut {
    Rule(WordRule, Rules),
    Pattern(Box<Pattern>),
    /// Patterns one after the other, and the first of them, which knows where a text can be cut.
    Runs(Box<(Runs, Pattern)>),
    DigitGroups {
        ascii: bool,
    },
}

/// Compiled ways to cut.
#[derive(Debug)]
pub(super) struct Chain(pub(super) Vec<Cut>);

impl Chain {
    /// Gives the last offset inside a text at which it can be cut, whatever stands before or after it, or 0: pieces of
    /// the first way end there, so that no later one sees across.
    pub fn safe_cut(&self, text: &[u8]) -> usize {
        match self.0.first() {
            Some(&Cut::Rule(words, rules)) => cut::safe_cut(words, rules, text),
            Some(Cut::Pattern(pattern)) => pattern.safe_cut(text),
            Some(Cut::Runs(runs)) => runs.1.safe_cut(text),
            Some(Cut::DigitGroups { .. }) | None => 0,
        }
    }

    /// Whether there are such offsets in any text.
    pub fn knows_cuts(&self) -> bool {
        match self.0.first() {
            Some(Cut::Rule(..)) => true,
            Some(Cut::Pattern(pattern)) => pattern.knows_cuts(),
            Some(Cut::Runs(runs)) => runs.1.knows_cuts(),
            Some(Cut::DigitGroups { .. }) | None => false,
        }
    }

    /// Compiles them.
    ///
    /// # Errors
    /// When one cannot be, with a sentence that says why.
    pub fn new(specs: &[CutSpec]) -> Result<Self> {
        let compile = |spec: &CutSpec| {
            Ok(match spec {
                CutSpec::Scanner { scanner } => Cut::Rule(scanner.words, Rules::new(scanner)?),
                CutSpec::Pattern { pattern } => Cut::Pattern(Box::new(Pattern::new(pattern)?)),
                &CutSpec::DigitGroups { ascii } => Cut::DigitGroups { ascii },
            })
        };
        let (mut cuts, mut cells) = (Vec::with_capacity(specs.len()), 0);
        for spec in specs {
            let cut = compile(spec)?;
            if let Cut::Pattern(pattern) = &cut {
                cells += pattern.cells();
            }
            ensure!(
                cells <= MOST_CELLS,
                "the expressions together need too large automata"
            );
            cuts.push(cut);
        }
        read_together(specs, cuts).map(Self)
    }
}

/// Puts the patterns from the first on that are runs in one.
fn read_together(specs: &[CutSpec], mut cuts: Vec<Cut>) -> Result<Vec<Cut>> {
    let patterns = specs.iter().map_while(|spec| match spec {
        CutSpec::Pattern { pattern } => Some(&pattern[..]),
        _ => None,
    });
    let tame = |count: usize, set: &_| match &cuts[count..] {
        [Cut::Pattern(last)] => last.tame(set),
        _ => None,
    };
    let Some((runs, count)) = Runs::of(patterns, tame)? else {
        return Ok(cuts);
    };
    let rest = cuts.split_off(count);
    let mut together = Vec::with_capacity(1 + rest.len());
    if let Some(Cut::Pattern(first)) = cuts.into_iter().next() {
        together.push(Cut::Runs(Box::new((runs, *first))));
    }
    together.extend(rest);
    Ok(together)
}

/// Writes the ends of pieces from `at` on, those that wait first, and gives their number.
pub(super) fn fill_digit_groups(
    text: &[u8],
    mut at: usize,
    ascii: bool,
    waiting: &mut VecDeque<usize>,
    room: &mut [usize],
) -> usize {
    for (found, place) in room.iter_mut().enumerate() {
        if waiting.is_empty() && at < text.len() {
            group_digits(text, at, ascii, waiting);
        }
        let Some(end) = waiting.pop_front() else {
            return found;
        };
        (*place, at) = (end, end);
    }
    room.len()
}

const GROUP: usize = 3;

/// Adds the ends of pieces up to the end of the next number that is cut, or of the text.
fn group_digits(text: &[u8], at: usize, ascii: bool, ends: &mut VecDeque<usize>) {
    let read = |at: usize| {
        let (class, length) = class::read(text, at);
        let counts = if ascii {
            text[at].is_ascii_digit()
        } else {
            class & NUMBER != 0
        };
        (counts, length)
    };
    let mut digits = Vec::new();
    let mut end = at;
    while end < text.len() && ends.is_empty() {
        while end < text.len() && !read(end).0 {
            end += read(end).1;
        }
        digits.clear();
        while end < text.len() && read(end).0 {
            digits.push(end);
            end += read(end).1;
        }
        let shorter = digits.len() % GROUP;
        let first = if shorter == 0 && !ascii {
            GROUP
        } else {
            shorter
        };
        let cuts = digits.iter().skip(first).step_by(GROUP).copied();
        ends.extend(cuts.filter(|&cut| cut > at));
        if !ascii {
            ends.push_back(end);
        }
    }
    if ends.is_empty() {
        ends.push_back(text.len());
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::sync::LazyLock;

    use proptest::prelude::*;
    use proptest::sample::{select, subsequence};

    use super::super::Scanner;
    use super::CutSpec;

    const RUNS: [&str; 9] = [
        r"\p{N}{1,3}",
        r"\p{N}",
        "[一-龥぀-ゟ゠-ヿ]+",
        "[a-c]{1,2}",
        "[^a]+",
        r"\s++",
        r"[\p{L}1\n]+",
        "[ab1]{1,4}",
        r"[\p{N}a]{1,2}",
    ];
    const OTHERS: [&str; 9] = [
        r"[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        r" ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
        r"a+$|1",
        r"[^b]+$",
        r"(?<=a)b|1(?!1)",
        r"^a|\b1",
        r"a*?b",
        r"(?:ab|a)+",
        r"[^\n]",
    ];

    const UNITS: [&[u8]; 20] = [
        b"a",
        b"a",
        b"b",
        b"c",
        b"1",
        b"11",
        b" ",
        b"\n",
        b".",
        b"aaaaaaaaa",
        "²".as_bytes(),
        "é".as_bytes(),
        "中".as_bytes(),
        "文".as_bytes(),
        "。".as_bytes(),
        "ひ".as_bytes(),
        "𝟙".as_bytes(),
        b"\xFF",
        b"\xE4",
        b"\xB8",
    ];

    /// Each pattern by itself.
    static SINGLE: LazyLock<HashMap<&str, Scanner>> = LazyLock::new(|| {
        let all = RUNS.iter().chain(&OTHERS);
        all.map(|&pattern| {
            let spec = CutSpec::Pattern {
                pattern: pattern.to_owned(),
            };
            (pattern, Scanner::chain(&[spec]).unwrap())
        })
        .collect()
    });

    /// What single patterns make of a text, one after the other.
    fn one_by_one(patterns: &[&str], text: &[u8]) -> Vec<usize> {
        let mut ends = vec![text.len()];
        for pattern in patterns {
            let scanner = &SINGLE[pattern];
            let begins = std::iter::once(0).chain(ends.clone());
            ends = begins
                .zip(ends)
                .flat_map(|(begin, end)| {
                    let pieces = scanner.pieces(&text[begin..end]);
                    pieces.map(move |(_, end)| begin + end).collect::<Vec<_>>()
                })
                .collect();
        }
        ends
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn together_they_cut_as_one_by_one(
            runs in subsequence(RUNS.to_vec(), 0..6).prop_shuffle(),
            others in subsequence(OTHERS.to_vec(), 0..3).prop_shuffle(),
            units in prop::collection::vec(select(&UNITS[..]), 0..40),
            sizes in prop::collection::vec(1..5_usize, 1..4),
        ) {
            let patterns: Vec<&str> = runs.into_iter().chain(others).collect();
            let text = units.concat();
            let specs: Vec<CutSpec> = (patterns.iter())
                .map(|&pattern| CutSpec::Pattern { pattern: pattern.to_owned() })
                .collect();
            let scanner = Scanner::chain(&specs).unwrap();
            let mut expected = one_by_one(&patterns, &text);
            expected.retain(|&end| end > 0);
            let mut ends = scanner.ends(&text);
            let mut found: Vec<usize> = Vec::new();
            for size in sizes.iter().cycle() {
                let mut room = vec![0; *size];
                match ends.fill(&mut room) {
                    0 => break,
                    count => found.extend(&room[..count]),
                }
            }
            prop_assert_eq!(&found, &expected, "{:?}", patterns);
            let cut = scanner.safe_cut(&text);
            prop_assert!(cut == 0 || expected.contains(&cut), "{:?}: {}", patterns, cut);
        }
    }

    fn cut<'t>(json: &str, text: &'t [u8]) -> Vec<&'t [u8]> {
        let scanner = Scanner::from_json(json).unwrap();
        let pieces: Vec<_> = scanner
            .pieces(text)
            .map(|(start, end)| &text[start..end])
            .collect();
        let ends: Vec<u64> = pieces
            .iter()
            .scan(0, |end, piece| {
                *end += piece.len() as u64;
                Some(*end)
            })
            .collect();
        assert_eq!(ends, scanner.split(text), "some at a time, or one by one");
        pieces
    }

    #[test]
    fn each_cuts_the_pieces_of_the_one_before() {
        let json = r#"[{"type": "Pattern", "pattern": "\\p{N}"}, {"type": "Pattern", "pattern": "[a1]+"}]"#;
        assert_eq!(
            cut(json, b"aab11\xC3\xA9\xFF"),
            [&b"aa"[..], b"b", b"1", b"1", b"\xC3\xA9\xFF"]
        );
        assert!(cut(json, b"").is_empty());
        assert_eq!(cut("[]", b"a 1"), [b"a 1"]);
    }

    #[test]
    fn digits_are_grouped_from_the_right() {
        let all = r#"[{"type": "DigitGroups", "ascii": false}]"#;
        assert_eq!(cut(all, b"a12345b123"), [&b"a12"[..], b"345", b"b123"]);
        let ascii = r#"[{"type": "DigitGroups", "ascii": true}]"#;
        assert_eq!(cut(ascii, b"a12345b123c"), [&b"a12"[..], b"345b", b"123c"]);
        assert_eq!(cut(ascii, "²1²1²".repeat(9).as_bytes()).len(), 1);
    }

    #[test]
    fn what_cannot_be_is_said() {
        let refused = |json| Scanner::from_json(json).unwrap_err().to_string();
        assert!(refused("[1]").contains("not a scanner"));
        assert!(refused(r#"[{"type": "Pattern", "pattern": "(a)\\1"}]"#).contains("escape \\1"));
    }
}
