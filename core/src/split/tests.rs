//! Tests of the scanners: worked examples, the oracle, and what a safe cut promises.

use std::hint::black_box;

use super::Scanner;
use super::oracle::{self, Term, patterns};

/// At least one of each kind of character that a pattern tells apart, and bytes that are part of none.
pub(super) const SYMBOLS: [&[u8]; 24] = [
    b"A",
    b"a",
    "ʰ".as_bytes(),
    "\u{301}".as_bytes(),
    b"s",
    b"l",
    b"1",
    b" ",
    b"\t",
    b"\n",
    b"\r",
    b"'",
    b"/",
    b"!",
    // Up to here for strings of five; the rest are of the same kinds in other bytes, or parts of characters.
    b"\xE3",
    b"\x80",
    "ſ".as_bytes(),
    b"t",
    "字".as_bytes(),
    "²".as_bytes(),
    "\u{A0}".as_bytes(),
    "’".as_bytes(),
    "😀".as_bytes(),
    b"\xFF",
];
const KINDS: &[&[u8]] = SYMBOLS.split_at(14).0;

fn scanner(name: &str) -> Scanner {
    patterns()
        .into_iter()
        .find(|pattern| pattern.0 == name)
        .unwrap()
        .1
}

/// Call `f` with every string of a number of symbols.
pub(super) fn for_each_string(symbols: &[&[u8]], length: usize, f: &mut impl FnMut(&[u8])) {
    fn extend(symbols: &[&[u8]], room: usize, text: &mut Vec<u8>, f: &mut impl FnMut(&[u8])) {
        if room == 0 {
            return f(text);
        }
        for symbol in symbols {
            text.extend_from_slice(symbol);
            extend(symbols, room - 1, text, f);
            text.truncate(text.len() - symbol.len());
        }
    }
    extend(symbols, length, &mut Vec::new(), f);
}

/// A small random number generator (xorshift), the same on every run.
pub(super) struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }

    /// Give a string of less than `bound` symbols.
    fn string(&mut self, bound: usize) -> Vec<u8> {
        (0..self.below(bound))
            .flat_map(|_| SYMBOLS[self.below(SYMBOLS.len())])
            .copied()
            .collect()
    }
}

fn pieces<'t>(name: &str, text: &'t str) -> Vec<&'t str> {
    scanner(name)
        .pieces(text.as_bytes())
        .map(|(start, end)| &text[start..end])
        .collect()
}

#[test]
fn cuts_worked_examples() {
    let text = "I'll see  42000 HTTPServers,\n\n  don't!\n";
    let ours = |name| pieces(name, text);
    #[rustfmt::skip]
    assert_eq!(
        ours("gpt2"),
        ["I", "'ll", " see", " ", " 42000", " HTTPServers", ",", "\n\n ", " don", "'t", "!", "\n"]
    );
    #[rustfmt::skip]
    assert_eq!(
        ours("cl100k"),
        ["I", "'ll", " see", " ", " ", "420", "00", " HTTPServers", ",\n\n", " ", " don", "'t", "!\n"]
    );
    #[rustfmt::skip]
    assert_eq!(
        ours("o200k"),
        ["I'll", " see", " ", " ", "420", "00", " HTTPServers", ",\n\n", " ", " don't", "!\n"]
    );
    assert_eq!(
        pieces("o200k", "camelCase \u{301}ABC ʰABC"),
        ["camel", "Case", " \u{301}", "ABC", " ʰ", "ABC"]
    );
    assert_eq!(pieces("llama3", "x\n "), ["x", "\n", " "]);
    assert_eq!(pieces("cl100k", "x\n "), ["x", "\n "]);
    assert_eq!(
        Scanner::new(None).unwrap().split(text.as_bytes()),
        [text.len() as u64]
    );
    assert!(Scanner::new(None).unwrap().split(b"").is_empty());
}

/// Hold a scanner against the oracle on one text.
fn check((name, scanner, alternatives): &(&str, Scanner, Vec<Vec<Term>>), text: &[u8]) {
    let expected = oracle::split(alternatives, text);
    assert_eq!(
        scanner.split(text),
        expected,
        "{name}: {}",
        text.escape_ascii()
    );
}

#[test]
fn agrees_with_the_oracle_on_all_short_strings() {
    for pattern in patterns() {
        for length in 0..=4 {
            for_each_string(&SYMBOLS, length, &mut |text| check(&pattern, text));
        }
        for_each_string(KINDS, 5, &mut |text| check(&pattern, text));
    }
}

#[test]
fn agrees_with_the_oracle_on_random_strings() {
    for pattern in patterns() {
        let mut random = Random(1);
        for _ in 0..20_000 {
            check(&pattern, &random.string(30));
        }
    }
}

/// Hold a text that stands between two others to what `safe_cut` promises; tell whether there is a cut.
fn check_cut(name: &str, scanner: &Scanner, before: &[u8], text: &[u8], after: &[u8]) -> bool {
    let cut = scanner.safe_cut(text);
    if cut == 0 {
        return false;
    }
    assert!(cut < text.len());
    let left = [before, &text[..cut]].concat();
    let right = [&text[cut..], after].concat();
    let whole = scanner.split(&[before, text, after].concat());
    let mut parts = scanner.split(&left);
    parts.extend(
        scanner
            .split(&right)
            .iter()
            .map(|end| end + left.len() as u64),
    );
    let shown = [before, text, after].map(|text| text.escape_ascii().to_string());
    assert_eq!(whole, parts, "{name}: {shown:?} cut at {cut}");
    true
}

#[test]
fn cuts_are_safe_between_all_short_strings() {
    for (name, scanner, _) in patterns() {
        for_each_string(&SYMBOLS, 2, &mut |text| {
            for length in 0..=1 {
                for_each_string(&SYMBOLS, length, &mut |before| {
                    check_cut(name, &scanner, before, text, b"");
                    for_each_string(&SYMBOLS, 1, &mut |after| {
                        check_cut(name, &scanner, before, text, after);
                    });
                });
            }
        });
    }
}

#[test]
fn cuts_are_safe_between_random_strings() {
    for (name, scanner, _) in patterns() {
        let mut random = Random(2);
        let mut cuts = 0;
        for _ in 0..100_000 {
            let [before, text, after] = [6, 8, 6].map(|bound| random.string(bound));
            cuts += usize::from(check_cut(name, &scanner, &before, &text, &after));
        }
        assert!(cuts > 30_000, "{name}: only {cuts}");
    }
}

#[test]
fn a_cut_is_the_last_one_also_where_runs_are_skipped() {
    for (name, scanner, _) in patterns() {
        let super::Way::Rule(words, rules) = &scanner.0 else {
            continue;
        };
        let mut random = Random(3);
        for _ in 0..20_000 {
            // Runs of each of a few characters.
            let few = random.string(6);
            let text: Vec<u8> = (few.iter().enumerate())
                .flat_map(|(place, &byte)| {
                    std::iter::repeat_n(byte, 1 + (place * 7 + few.len()) % 4)
                })
                .collect();
            let is_safe = |&at: &usize| super::cut::is_safe(*words, *rules, &text, at);
            let last = (1..text.len()).rev().find(is_safe).unwrap_or(0);
            assert_eq!(
                scanner.safe_cut(&text),
                last,
                "{name}: {}",
                text.escape_ascii()
            );
        }
    }
}

#[test]
fn finds_cuts_near_the_end_of_prose() {
    let cut = |name, text: &str| scanner(name).safe_cut(text.as_bytes());
    for name in [
        "gpt2", "cl100k", "llama3", "nanochat", "qwen2", "o200k", "tekken",
    ] {
        assert_eq!(cut(name, "two words"), 3);
        assert_eq!(cut(name, "two  words"), 3);
        assert_eq!(cut(name, "x = f(1)"), 7);
        assert_eq!(cut(name, "f(x); y"), 5);
        assert_eq!(cut(name, "文字，文字"), 6);
        assert_eq!(cut(name, "one"), 0);
        assert_eq!(cut(name, "12 "), 2);
        assert_eq!(cut(name, ""), 0);
    }
    assert_eq!(cut("llama3", "!\n!"), 2);
    assert_eq!(cut("o200k", "don't"), 0);
    assert_eq!(Scanner::new(None).unwrap().safe_cut(b"two words"), 0);
}

#[test]
fn cuts_only_where_both_characters_are_complete() {
    for (name, scanner, _) in patterns() {
        // The bytes before may make an ideographic space (E3 80 80) of it, and the bytes behind as well.
        assert_eq!(scanner.safe_cut(b"\x80 "), 0, "{name}");
        assert_eq!(scanner.safe_cut(b"\x80\x80 "), 0, "{name}");
        assert_eq!(scanner.safe_cut(b"\x80\x80\x80\x80 "), 4, "{name}");
        assert_eq!(scanner.safe_cut(b"a\xE3\x80"), 0, "{name}");
        assert_eq!(scanner.safe_cut(b"a\xE3\x80\x80"), 1, "{name}");
    }
}

/// The units of texts that are long runs of one kind, or go back and forth between two.
#[rustfmt::skip]
const UNITS: [&str; 20] = [
    "A", "a", "aA", " ", "\n", " \n", "\n/", "!\n", "^", "😀", "'", "1", "A\u{301}", "\u{301}", "\u{301}AAA", "ʰA",
    "\u{A0}", "\t", "字", "'s",
];

/// The seconds that the processor has worked for this thread.
#[cfg(target_os = "linux")]
fn spent() -> f64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `now` is a `timespec` to write to.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut now) };
    assert_eq!(status, 0);
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}

/// The seconds since some moment.
#[cfg(not(target_os = "linux"))]
fn spent() -> f64 {
    static BEGIN: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    BEGIN
        .get_or_init(std::time::Instant::now)
        .elapsed()
        .as_secs_f64()
}

/// How long something takes beside looking at each byte by itself, in the quickest of a few runs; a run within `most`
/// is quick enough. Of the time that the processor works for this thread, where the system tells it: what else a busy
/// machine does is not counted.
fn cost(text: &[u8], most: f64, mut work: impl FnMut(&[u8])) -> f64 {
    let timed = |work: &mut dyn FnMut()| {
        let begun = spent();
        work();
        spent() - begun
    };
    let (mut mine, mut theirs) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..9 {
        theirs = theirs.min(timed(&mut || {
            text.iter().for_each(|byte| {
                black_box(*byte);
            });
        }));
        mine = mine.min(timed(&mut || work(text)));
        if mine <= most * theirs {
            break;
        }
    }
    mine / theirs
}

/// One that is not linear would cost four times as much for the longer texts, and more than a limit for both.
#[test]
fn hostile_texts_take_linear_time() {
    const MOST: f64 = 60.0;
    for (name, scanner, _) in patterns() {
        for unit in UNITS {
            for count in [50_000, 200_000] {
                let text = unit.repeat(count);
                let found = cost(text.as_bytes(), MOST, |text| {
                    let mut end_of_last = 0;
                    scanner.for_each_piece(text, |_, end| end_of_last = end);
                    assert_eq!(end_of_last, text.len());
                    let _ = scanner.safe_cut(text);
                });
                assert!(found <= MOST, "{name}: {unit:?}, {count} times: {found}");
            }
        }
        let mut spaces = " ".repeat(1_000_000);
        spaces.insert(0, '\n');
        spaces.push('a');
        let found = cost(spaces.as_bytes(), MOST, |text| {
            assert!(scanner.split(text).len() <= 3)
        });
        assert!(found <= MOST, "{name}: spaces: {found}");
    }
}

/// Words of eight bytes are looked at together: every byte in every place of one.
#[test]
fn finds_the_end_of_a_word_at_any_byte() {
    for (name, scanner, _) in patterns() {
        for byte in (0..0x80).filter(|byte| *byte != b'\'') {
            for length in 1..=17 {
                let mut text = vec![b'a'; 30];
                text[length] = byte;
                let goes_on = match name {
                    "o200k" | "tekken" => byte.is_ascii_lowercase(),
                    _ => byte.is_ascii_alphabetic(),
                };
                let expected = if goes_on { text.len() } else { length };
                let first = scanner.pieces(&text).next();
                assert_eq!(first, Some((0, expected)), "{name}: {byte} at {length}");
            }
        }
    }
}

#[test]
fn refuses_contradictions() {
    let error = |json: &str| Scanner::from_json(json).unwrap_err().to_string();
    let spec = |words: &str, contractions: &str, digits: u8, rest: &str| {
        format!(
            r#"{{"words": "{words}", "contractions": "{contractions}", "digits": {digits}, "tail": "",
                "newlines": false{rest}}}"#
        )
    };
    assert!(Scanner::from_json(&spec("spaced", "none", 0, "")).is_ok());
    assert!(Scanner::from_json("null").is_ok());
    assert_eq!(
        error(&spec("spaced", "suffix", 0, "")),
        "contractions can be a suffix of cased words only"
    );
    assert_eq!(
        error(&spec("cased", "exact", 0, "")),
        "cased words take contractions as a suffix or not at all"
    );
    assert_eq!(
        error(&spec("spaced", "none", 4, "")),
        "digits is 4, but a scanner takes 0 to 3"
    );
    assert!(
        error(&spec("spaced", "none", 0, r#", "final_space": true"#)).starts_with("final_space")
    );
    assert!(
        error(&spec("spaced", "none", 0, r#", "speed": 1"#))
            .starts_with("not a scanner: unknown field")
    );
    assert!(error(&spec("split", "none", 0, "")).starts_with("not a scanner: unknown variant"));
    assert!(error("").starts_with("not a scanner"));
}

#[test]
fn scanners_are_shared_by_threads() {
    fn check<T: Clone + Send + Sync>() {}
    check::<Scanner>();
}
