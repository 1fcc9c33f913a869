//! Expressions are held to the oracle, at random and over random texts; and what is refused is refused.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::parse::parse;
use super::{Known, Pattern, Way, oracle};

const PATTERNS: [&str; 13] = [
    r" ?\p{L}+| ?\p{N}{1,2}| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s",
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
    r"\p{Lu}?\p{Ll}+|\p{Lu}+(?!\p{Ll})|\p{N}|\s+",
    r"(?:\p{L}+ ?)+|[^\p{L}]",
    r"(?<![a-z])a|b(?<=b)|\b1+\b|(?m:^!|'$)|.",
    r"a*?b|a{2,3}?1|(?>ab|b)1|(?:ab?+)++1|(?s:.)",
    r"\A'|!\Z|\s+\Z",
    r"(?=a)\p{L}+|(?!\s|')\P{L}|(?=\s+|$)\s",
    r"[\r\n]+(?!x)|\s{4}(?!\S)|\s{2}(?!\S)|\s{1,2}(?!\S)|\S+",
    r"(?>a+|b)(?>[ab]1?)|(?>\s*)!\n?|(?>ab|a1|1!)!",
    r"aaab|aab|b\B",
    RUNS,
];

/// Most of a text lies between two matches.
const RUNS: &str = r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]{2,}[\r\n/]*| +(?!\S)";

const CHARACTERS: [&str; 16] = [
    "a", "b", "B", "s", "é", "漢", "1", "²", " ", "\n", "\t", "!", "'", "\u{301}", "ǅ", "🙂",
];

pub(super) fn ends(pattern: &Pattern, text: &[u8], room: usize) -> Vec<usize> {
    let (mut ends, mut room, mut known) = (Vec::new(), vec![0; room], Known::default());
    loop {
        let found = pattern.fill(
            text,
            ends.last().copied().unwrap_or(0),
            &mut room,
            &mut known,
        );
        if found == 0 {
            return ends;
        }
        ends.extend(&room[..found]);
    }
}

pub(super) fn expected(expression: &str, text: &str) -> Vec<usize> {
    let characters: Vec<char> = text.chars().collect();
    let mut offsets: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    offsets.push(text.len());
    let split = oracle::split(&parse(expression).unwrap().tree, &characters);
    split.into_iter().map(|end| offsets[end]).collect()
}

pub(super) fn texts() -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(&CHARACTERS[..]), 0..14)
        .prop_map(|parts| parts.concat())
}

#[test]
fn pieces_are_those_of_the_oracle() {
    for expression in PATTERNS {
        let pattern = Pattern::new(expression).unwrap();
        let mut runner = TestRunner::new(Config::with_cases(150));
        let checked = runner.run(&texts(), |text| {
            let expected = expected(expression, &text);
            for room in [1, 2, 64] {
                prop_assert_eq!(
                    &ends(&pattern, text.as_bytes(), room),
                    &expected,
                    "{}",
                    expression
                );
            }
            Ok(())
        });
        checked.unwrap();
    }
}

#[test]
fn two_bytes_say_where_no_match_begins() {
    let matchless = |expression: &str, two: &[u8; 2]| {
        let Way::Table(table) = Pattern::new(expression).unwrap().way else {
            panic!("{expression} is backtracked");
        };
        !table.hopeful.has(two[0], two[1])
    };
    for two in [b"ab", b"b ", b" a", b"! ", b"!a", b"\na"] {
        assert!(matchless(RUNS, two), "{two:?}");
    }
    for two in [b"1a", b"!!", b" !", b"  ", b" \n", b"\xC3\xA9", b"a\xC3"] {
        assert!(!matchless(RUNS, two), "{two:?}");
    }
    assert!(matchless(r"(?<=b)a1|\b!", b"aa"), "whatever stands before");
    assert!(
        !matchless(r"(?<=b)a1|\b!", b"a1"),
        "a match behind a letter"
    );
    assert!(
        !matchless(r"a$", b"b\n"),
        "the last line feed is another character"
    );
}

const REPEATS: [&str; 14] = [
    "*", "+", "?", "{2}", "{1,3}", "{2,}", "*?", "+?", "??", "{1,2}?", "*+", "++", "?+", "{1,2}+",
];

/// Random expressions of all that the dialect has here.
pub(super) fn expressions() -> impl Strategy<Value = String> {
    let one = proptest::sample::select(
        &[
            "a",
            "b",
            " ",
            r"\n",
            r"\s",
            r"\S",
            r"\w",
            r"\p{L}",
            r"\p{Lu}",
            r"\p{N}",
            "[ab]",
            "[^a]",
            r"[\s!]",
            r"[^\s\p{L}]",
            ".",
            "(?i:s)",
            "1",
            "!",
        ][..],
    );
    let leaf = prop_oneof![
        8 => one.prop_map(str::to_owned),
        1 => proptest::sample::select(&[
            r"\b", r"\B", "^", "$", r"\Z", r"(?!\S)", "(?=a|$)", r"(?<=\s)", r"(?<!\p{L})", "(?m:$)", r"(?!\s+)",
            "(?=a.)", r"(?!\s*b)", r"(?=(?:1{2})+(?!1))", "(?<=ab)", r"(?<!\p{L}\s|!)", r"(?<=a\s*)", "(?i:É)",
        ][..]).prop_map(str::to_owned),
    ];
    leaf.prop_recursive(4, 16, 4, |inner| {
        prop_oneof![
            4 => proptest::collection::vec(inner.clone(), 1..4).prop_map(|parts| parts.concat()),
            2 => proptest::collection::vec(inner.clone(), 1..4).prop_map(|parts| format!("(?:{})", parts.join("|"))),
            3 => (inner.clone(), proptest::sample::select(&REPEATS[..]))
                .prop_map(|(body, repeat)| format!("(?:{body}){repeat}")),
            1 => inner.clone().prop_map(|body| format!("(?>{body})")),
            1 => inner.clone().prop_map(|body| format!("(?={body})")),
            1 => inner.prop_map(|body| format!("(?!{body})")),
        ]
    })
}

#[test]
fn random_expressions_cut_as_the_oracle_does_and_only_at_safe_places() {
    let mut runner = TestRunner::new(Config::with_cases(600));
    let (accepted, cut) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
    let several = proptest::collection::vec(texts(), 6);
    let alternatives =
        proptest::collection::vec(expressions(), 1..4).prop_map(|parts| parts.join("|"));
    let checked = runner.run(&(alternatives, several), |(expression, texts)| {
        let Ok(pattern) = Pattern::new(&expression) else {
            return Ok(());
        };
        accepted.set(accepted.get() + 1);
        for text in &texts {
            let whole = expected(&expression, text);
            prop_assert_eq!(
                &ends(&pattern, text.as_bytes(), 3),
                &whole,
                "{} {:?}",
                expression,
                text
            );
            for known in 0..=text.len() {
                let at = pattern.safe_cut(&text.as_bytes()[..known]);
                if at > 0 {
                    cut.set(cut.get() + 1);
                    let (before, behind) = text.split_at(at);
                    let mut parts = expected(&expression, before);
                    parts.extend(expected(&expression, behind).iter().map(|end| at + end));
                    prop_assert_eq!(&parts, &whole, "{} {:?} cut at {}", expression, text, at);
                }
            }
        }
        Ok(())
    });
    checked.unwrap();
    assert!(accepted.get() > 300, "{} accepted", accepted.get());
    assert!(cut.get() > 200, "{} cuts", cut.get());
}

#[test]
fn what_is_not_certain_is_refused() {
    let deep = "(?:".repeat(60) + "a" + &")".repeat(60);
    for pattern in [
        "(",
        ")",
        "a)",
        "[",
        "[]",
        "[a",
        r"\",
        "*a",
        "a**",
        "a{2}{3}",
        "a{3",
        "{",
        "a{2,1}",
        "a{0}",
        "a{,}",
        r"(a)\1",
        r"\K",
        r"a\Kb",
        r"\G",
        r"\X",
        r"\R",
        r"\h",
        r"\q",
        r"\07",
        r"\p{Nope}",
        r"\p{Block=Basic Latin}",
        r"[b-a]",
        r"[a-\d]",
        r"[\d-a]",
        "[[:alpha:]]",
        "[[a]",
        "[^a[]",
        "[!-[]",
        r"[\p{L}&&[^\p{Han}]]",
        "[a&&b]",
        r"[\p{L}--\p{Han}]",
        "[+--]",
        "[--a]",
        "[a~~b]",
        "(?x)a",
        "(?V1)a",
        "a(?i)b",
        "(?|a|b)",
        "(?#a)b",
        "(?:a*)*b",
        r"(?i:\p{Lowercase})",
        r"(?i:[a\P{Lu}])",
        "(?=a)*b",
        "a{10001}",
        "(?:(?:a{1000}){1000}){1000}",
        r"\N{LATIN SMALL LETTER A}",
        "(?P<1>a)",
        "(?P=a)",
        "(?R)",
        "(?&a)",
        "a{e<=1}",
        &deep,
    ] {
        assert!(Pattern::new(pattern).is_err(), "{pattern}");
    }
}

#[test]
fn stray_bytes_are_letters_without_case() {
    let pattern = Pattern::new(r"\p{Lu}+|\p{Lo}+|\p{L}+|.").unwrap();
    assert_eq!(
        ends(&pattern, b"A\xFF\xE4\xB8a\xC3\xA9\x80!", 9),
        [1, 4, 8, 9]
    );
}

#[test]
fn texts_are_cut_between_characters_that_decide() {
    let safe =
        |expression: &str, text: &str| Pattern::new(expression).unwrap().safe_cut(text.as_bytes());
    let gpt = r" ?\p{L}+| ?\p{N}{1,2}| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";
    assert_eq!(safe(gpt, "one two  "), 7);
    assert_eq!(safe(gpt, "one two thre"), 7);
    assert_eq!(safe(gpt, "aaaaaaaa"), 0);
    assert_eq!(safe(gpt, "  \t  "), 0);
    // The last newline of the part would be that of the text.
    assert_eq!(safe(r"a+|\n$|\n", "\n\naa"), 0);
    assert_eq!(safe(r"a+|\n$|\n", "aa\n\n"), 2);
    assert_eq!(safe(r"(?<=a) |.", "a "), 0);
    assert!(!Pattern::new(r"\p{L}+$|\p{L}").unwrap().knows_cuts());
}

#[test]
fn a_visible_character_before_a_space_ends_a_piece_if_none_goes_on() {
    let ends = |expression: &str| Pattern::new(expression).unwrap().ends_behind_visible();
    assert!(ends(
        r" ?\p{L}+| ?\p{N}{1,2}| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
    ));
    assert!(ends(r"<\|a\|>|\p{L}+|\p{N}|[^\s\p{L}\p{N}]+"));
    // One that goes on, and one that is no match.
    assert!(!ends(r"\p{L}+|[^\p{L}]+"));
    assert!(!ends(r"[\p{L}\p{P}]+|\s+"));
    assert!(!ends(r"\p{L}+|∈ |[^\s\p{L}]+|\s+"));
}

#[test]
fn what_looks_far_ahead_in_vain_reads_a_text_a_bounded_number_of_times() {
    let text = "a".repeat(300_000);
    for (expression, pieces) in [
        ("a+b|a", text.len()),
        ("a+b", 1),
        ("(?:aa)+b|a{7}|a", text.len() / 7 + 3),
    ] {
        let found = ends(&Pattern::new(expression).unwrap(), text.as_bytes(), 256);
        assert!(
            found.len().abs_diff(pieces) < 4,
            "{expression}: {}",
            found.len()
        );
    }
    // In another state at the same place for each piece: nothing that is remembered helps, and it is forgotten again. In
    // one of nine: the nearer dead ends are kept.
    let some = "a".repeat(20_000);
    for expression in ["a{300,700}b|a", "(?:a{9})+b|a"] {
        let found = ends(&Pattern::new(expression).unwrap(), some.as_bytes(), 256);
        assert_eq!(found.len(), some.len());
    }
    let long = "a".repeat(3000) + "b";
    let (few, many) = (long.repeat(2), long.repeat(2) + "a");
    for text in [&few, &many] {
        assert_eq!(
            ends(&Pattern::new("a+b|a").unwrap(), text.as_bytes(), 7)[..2],
            [3001, 6002]
        );
    }
}
