//! The split patterns run as a regex engine runs them: alternative after alternative, with backtracking.
//!
//! The oracle for the scanners. It shares nothing with them: it decodes with the standard library, and
//! takes the categories of characters from a list that a reader can check.

use super::Scanner;
use Term::{Contraction, Greedy, MaybeContraction, NotBeforeNonSpace, Possessive, TextEnd};

/// A character, or None for a byte that belongs to none.
pub type Symbol = Option<char>;

/// A bracket of a pattern.
type Set = fn(Symbol) -> bool;

/// A part of an alternative.
#[derive(Clone, Copy)]
pub enum Term {
    /// `[...]{min,max}`.
    Greedy(Set, usize, usize),
    /// `[...]{min,max}+`.
    Possessive(Set, usize, usize),
    /// `'s|'t|'re|'ve|'m|'ll|'d`, under `(?i:...)` if true.
    Contraction(bool),
    /// `(?i:'s|'t|'re|'ve|'m|'ll|'d)?`.
    MaybeContraction,
    /// `(?!\S)`.
    NotBeforeNonSpace,
    /// `$`, without any flag.
    TextEnd,
}

const MANY: usize = usize::MAX;

/// Give the end of every piece, in bytes, as the alternatives of a pattern find them.
pub fn split(alternatives: &[Vec<Term>], bytes: &[u8]) -> Vec<u64> {
    let (text, offsets) = decode(bytes);
    let mut ends = Vec::new();
    let mut at = 0;
    while at < text.len() {
        at = alternatives
            .iter()
            .find_map(|terms| match_terms(terms, &text, at))
            .unwrap_or_else(|| panic!("no alternative matches {text:?} at {at}"));
        ends.push(offsets[at]);
    }
    ends
}

/// Give the end of the first way to match all terms from `at` on.
fn match_terms(terms: &[Term], text: &[Symbol], at: usize) -> Option<usize> {
    let Some((&term, rest)) = terms.split_first() else {
        return Some(at);
    };
    let run = |set: Set, max| {
        text[at..]
            .iter()
            .take(max)
            .take_while(|&&symbol| set(symbol))
            .count()
    };
    let go_on = |length: usize| match_terms(rest, text, at + length);
    match term {
        Greedy(set, min, max) => (min..=run(set, max)).rev().find_map(go_on),
        Possessive(set, min, max) => Some(run(set, max))
            .filter(|&length| length >= min)
            .and_then(go_on),
        Contraction(folded) => contractions(folded, &text[at..]).find_map(go_on),
        MaybeContraction => contractions(true, &text[at..]).chain([0]).find_map(go_on),
        NotBeforeNonSpace => text[at..]
            .first()
            .is_none_or(|&next| space(next))
            .then(|| go_on(0))?,
        TextEnd => (at == text.len()).then(|| go_on(0))?,
    }
}

/// Give the lengths of the contractions that a text begins with.
fn contractions(folded: bool, text: &[Symbol]) -> impl Iterator<Item = usize> {
    let fold = move |symbol: Symbol| match symbol {
        Some('ſ') if folded => Some('s'),
        Some(c) if folded => Some(c.to_ascii_lowercase()),
        other => other,
    };
    let begins_with = move |word: &str| {
        word.chars().count() <= text.len()
            && word
                .chars()
                .zip(text)
                .all(|(c, &symbol)| fold(symbol) == Some(c))
    };
    ["'s", "'t", "'re", "'ve", "'m", "'ll", "'d"]
        .into_iter()
        .filter(move |word| begins_with(word))
        .map(str::len)
}

/// Give the characters of a text, and the offset of each and of the end.
fn decode(bytes: &[u8]) -> (Vec<Symbol>, Vec<u64>) {
    let mut text = Vec::new();
    let mut offsets = vec![0];
    let mut put = |symbol: Symbol, length: usize| {
        text.push(symbol);
        offsets.push(offsets[offsets.len() - 1] + length as u64);
    };
    for chunk in bytes.utf8_chunks() {
        chunk
            .valid()
            .chars()
            .for_each(|c| put(Some(c), c.len_utf8()));
        chunk.invalid().iter().for_each(|_| put(None, 1));
    }
    (text, offsets)
}

/// Give the general category of the characters that occur in tests.
fn category(symbol: Symbol) -> &'static str {
    match symbol {
        Some('A' | 'S' | 'L') => "Lu",
        Some('ǅ') => "Lt",
        Some('a' | 's' | 't' | 'l' | 'ſ') => "Ll",
        Some('ʰ') => "Lm",
        None | Some('字') => "Lo",
        Some('\u{301}') => "M",
        Some('1' | '²') => "N",
        Some(' ' | '\t' | '\r' | '\n' | '\u{A0}' | '\u{3000}') => "white space",
        Some('\'' | '’' | '/' | '!' | '😀') => "other",
        Some(c) => category_of_any(c),
    }
}

#[cfg(not(fuzzing))]
fn category_of_any(c: char) -> &'static str {
    panic!("{c:?} is not listed")
}

/// The fuzzer finds all other characters too: the tables of the expressions' engine know them.
#[cfg(fuzzing)]
fn category_of_any(c: char) -> &'static str {
    use regex_syntax::hir::{Class, ClassUnicode, HirKind};

    const CATEGORIES: [(&str, &str); 8] = [
        ("Lu", r"\p{Lu}"),
        ("Lt", r"\p{Lt}"),
        ("Ll", r"\p{Ll}"),
        ("Lm", r"\p{Lm}"),
        ("Lo", r"\p{Lo}"),
        ("M", r"\p{M}"),
        ("N", r"\p{N}"),
        ("white space", r"\s"),
    ];
    static CLASSES: std::sync::LazyLock<Vec<(&str, ClassUnicode)>> =
        std::sync::LazyLock::new(|| {
            let class = |pattern| match regex_syntax::parse(pattern)
                .expect("it is a class")
                .into_kind()
            {
                HirKind::Class(Class::Unicode(class)) => class,
                other => panic!("{other:?} is no class"),
            };
            CATEGORIES
                .map(|(name, pattern)| (name, class(pattern)))
                .into()
        });
    let holds = |class: &ClassUnicode| {
        class
            .ranges()
            .iter()
            .any(|range| range.start() <= c && c <= range.end())
    };
    let found = CLASSES.iter().find(|(_, class)| holds(class));
    found.map_or("other", |&(name, _)| name)
}

fn letter(s: Symbol) -> bool {
    category(s).starts_with('L')
}
fn number(s: Symbol) -> bool {
    category(s) == "N"
}
fn space(s: Symbol) -> bool {
    category(s) == "white space"
}
/// ` `
fn blank(s: Symbol) -> bool {
    s == Some(' ')
}
/// `[\r\n]`
fn newline(s: Symbol) -> bool {
    matches!(s, Some('\r' | '\n'))
}
/// `[\r\n/]`
fn newline_or_slash(s: Symbol) -> bool {
    newline(s) || s == Some('/')
}
/// `[^\s\p{L}\p{N}]`
fn symbol(s: Symbol) -> bool {
    !space(s) && !letter(s) && !number(s)
}
/// `[^\r\n\p{L}\p{N}]`
fn prefix(s: Symbol) -> bool {
    !newline(s) && !letter(s) && !number(s)
}
/// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`
fn upper(s: Symbol) -> bool {
    matches!(category(s), "Lu" | "Lt" | "Lm" | "Lo" | "M")
}
/// `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`
fn lower(s: Symbol) -> bool {
    matches!(category(s), "Ll" | "Lm" | "Lo" | "M")
}

/// `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
pub fn gpt2() -> Vec<Vec<Term>> {
    vec![
        vec![Contraction(false)],
        vec![Greedy(blank, 0, 1), Greedy(letter, 1, MANY)],
        vec![Greedy(blank, 0, 1), Greedy(number, 1, MANY)],
        vec![Greedy(blank, 0, 1), Greedy(symbol, 1, MANY)],
        vec![Greedy(space, 1, MANY), NotBeforeNonSpace],
        vec![Greedy(space, 1, MANY)],
    ]
}

/// `'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$
/// |\s*[\r\n]|\s+(?!\S)|\s`
pub fn cl100k() -> Vec<Vec<Term>> {
    vec![
        vec![Contraction(true)],
        vec![Possessive(prefix, 0, 1), Possessive(letter, 1, MANY)],
        vec![Possessive(number, 1, 3)],
        vec![
            Greedy(blank, 0, 1),
            Possessive(symbol, 1, MANY),
            Possessive(newline, 0, MANY),
        ],
        vec![Possessive(space, 1, MANY), TextEnd],
        vec![Greedy(space, 0, MANY), Greedy(newline, 1, 1)],
        vec![Greedy(space, 1, MANY), NotBeforeNonSpace],
        vec![Greedy(space, 1, 1)],
    ]
}

/// `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,DIGITS}| ?[^\s\p{L}\p{N}]+[\r\n]*
/// |\s*[\r\n]+|\s+(?!\S)|\s+`
pub fn llama3(digits: usize) -> Vec<Vec<Term>> {
    vec![
        vec![Contraction(true)],
        vec![Greedy(prefix, 0, 1), Greedy(letter, 1, MANY)],
        vec![Greedy(number, 1, digits)],
        vec![
            Greedy(blank, 0, 1),
            Greedy(symbol, 1, MANY),
            Greedy(newline, 0, MANY),
        ],
        vec![Greedy(space, 0, MANY), Greedy(newline, 1, MANY)],
        vec![Greedy(space, 1, MANY), NotBeforeNonSpace],
        vec![Greedy(space, 1, MANY)],
    ]
}

/// `P?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+SUFFIX?
/// |P?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*SUFFIX?
/// |\p{N}{1,DIGITS}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
/// where P is `[^\r\n\p{L}\p{N}]` and SUFFIX is `(?i:'s|'t|'re|'ve|'m|'ll|'d)` or nothing.
pub fn cased(suffix: &[Term], digits: usize) -> Vec<Vec<Term>> {
    let first = [
        Greedy(prefix, 0, 1),
        Greedy(upper, 0, MANY),
        Greedy(lower, 1, MANY),
    ];
    let second = [
        Greedy(prefix, 0, 1),
        Greedy(upper, 1, MANY),
        Greedy(lower, 0, MANY),
    ];
    vec![
        [&first, suffix].concat(),
        [&second, suffix].concat(),
        vec![Greedy(number, 1, digits)],
        vec![
            Greedy(blank, 0, 1),
            Greedy(symbol, 1, MANY),
            Greedy(newline_or_slash, 0, MANY),
        ],
        vec![Greedy(space, 0, MANY), Greedy(newline, 1, MANY)],
        vec![Greedy(space, 1, MANY), NotBeforeNonSpace],
        vec![Greedy(space, 1, MANY)],
    ]
}

/// The suffix of o200k.
pub const SUFFIX: &[Term] = &[MaybeContraction];

/// Every named pattern: its scanner, and its expression for the oracle.
pub fn patterns() -> Vec<(&'static str, Scanner, Vec<Vec<Term>>)> {
    let pattern =
        |name, json, alternatives| (name, Scanner::from_json(json).unwrap(), alternatives);
    vec![
        pattern(
            "gpt2",
            r#"{"words": "spaced", "contractions": "exact", "digits": 0, "tail": "", "newlines": false}"#,
            gpt2(),
        ),
        pattern(
            "cl100k",
            r#"{"words": "prefixed", "contractions": "folded", "digits": 3, "tail": "\r\n", "newlines": true,
                "final_space": true}"#,
            cl100k(),
        ),
        pattern(
            "llama3",
            r#"{"words": "prefixed", "contractions": "folded", "digits": 3, "tail": "\r\n", "newlines": true}"#,
            llama3(3),
        ),
        pattern(
            "nanochat",
            r#"{"words": "prefixed", "contractions": "folded", "digits": 2, "tail": "\r\n", "newlines": true}"#,
            llama3(2),
        ),
        pattern(
            "qwen2",
            r#"{"words": "prefixed", "contractions": "folded", "digits": 1, "tail": "\r\n", "newlines": true}"#,
            llama3(1),
        ),
        pattern(
            "o200k",
            r#"{"words": "cased", "contractions": "suffix", "digits": 3, "tail": "\r\n/", "newlines": true}"#,
            cased(SUFFIX, 3),
        ),
        pattern(
            "tekken",
            r#"{"words": "cased", "contractions": "none", "digits": 1, "tail": "\r\n/", "newlines": true}"#,
            cased(&[], 1),
        ),
    ]
}
