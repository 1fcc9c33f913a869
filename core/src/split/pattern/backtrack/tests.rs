//! Backtracking is held to the oracle, with all that failed remembered and without; and hostile expressions end.

use std::cell::Cell;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::super::parse::parse;
use super::super::tests::{expected, expressions, texts};
use super::{Backtracker, Tried};

const FOREVER: usize = usize::MAX;

fn ends(engine: &Backtracker, text: &[u8], patience: usize) -> Vec<usize> {
    let (mut ends, mut room, mut tried) = (Vec::new(), [0; 3], Tried::new(patience));
    loop {
        let from = ends.last().copied().unwrap_or(0);
        let found = engine.fill(text, from, &mut room, &mut tried);
        if found == 0 {
            return ends;
        }
        ends.extend(&room[..found]);
    }
}

fn compiled(expression: &str) -> Backtracker {
    Backtracker::new(&parse(expression).unwrap().tree).unwrap()
}

#[test]
fn worked_examples() {
    let cut = |expression: &str, text: &str| ends(&compiled(expression), text.as_bytes(), FOREVER);
    assert_eq!(cut(r"(?=(?:\d{3})+(?!\d))", "a1234567b"), [2, 5, 9]);
    assert_eq!(cut(r"(?<=ab)c|.", "abcc"), [1, 2, 3, 4]);
    assert_eq!(cut("(?>a|ab)c|.", "abcac"), [1, 2, 3, 5]);
    assert_eq!(cut("(?>a|ab)c", "abcac"), [3, 5]);
    assert_eq!(cut("a|", "aab"), [1, 2, 3]);
    assert_eq!(cut("|a", "aab"), [1, 2, 3]);
    assert_eq!(cut("(?i:ÉS)", "ésÉſe"), [3, 7, 8]);
    assert_eq!(cut("(?<=(?:漢|é)+)x", "漢éxx"), [5, 6, 7]);
    assert_eq!(cut("x", ""), [0; 0]);
}

#[test]
fn random_expressions_cut_as_the_oracle_does_whatever_is_remembered() {
    let mut runner = TestRunner::new(Config::with_cases(600));
    let (accepted, cut) = (Cell::new(0), Cell::new(0));
    let several = proptest::collection::vec(texts(), 6);
    let alternatives =
        proptest::collection::vec(expressions(), 1..4).prop_map(|parts| parts.join("|"));
    let checked = runner.run(&(alternatives, several), |(expression, texts)| {
        let Ok(parsed) = parse(&expression) else {
            return Ok(());
        };
        let engine = Backtracker::new(&parsed.tree).unwrap();
        accepted.set(accepted.get() + 1);
        for text in &texts {
            let whole = expected(&expression, text);
            for patience in [0, FOREVER] {
                let found = ends(&engine, text.as_bytes(), patience);
                prop_assert_eq!(&found, &whole, "{} {:?} {}", expression, text, patience);
            }
            for known in 0..=text.len() {
                let at = engine
                    .safe
                    .last_cut(&engine.alphabet, &text.as_bytes()[..known]);
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
fn hostile_expressions_end() {
    let long = "a".repeat(10_000);
    for expression in [
        "(?:a+)+b",
        "(?:a|aa)+b",
        "(?:(?:a+)+)+(?=b)",
        "(?:a{1,3}){2,}+b|a",
        "(?>(?:a|aa)+)b|aa",
        "(?:a?){1,1}(?:a*?a)+?b",
        "(?=(?:a+)+b)a",
        "(?<=b(?:a+)+)a",
        "a{1,9999}b",
        "(?:a{2,90}|a{3,80}){9,}b",
    ] {
        let found = ends(&compiled(expression), long.as_bytes(), 1 << 16);
        assert_eq!(found.last(), Some(&long.len()), "{expression}");
    }
    // Each piece looks through the whole text behind it: at single steps of a loop, which count too, and where steps run
    // out at the end of a search.
    for length in [20_000, 60_000] {
        let long = &"a".repeat(length);
        for expression in [
            r"(?:[a-z]|\d)+@(?!\.\.)|.",
            r"[a-z]+?@(?!\.\.)|.",
            r"[a-z]+@(?!\.\.)|.",
            r"(?:(?=a)[a-z])+@(?!\.\.)|.",
        ] {
            let found = ends(&compiled(expression), long.as_bytes(), 1 << 16);
            assert_eq!(found.len(), length, "{expression}");
        }
    }
    let some = &long[..3000];
    for expression in ["(?=a*+)aa*b|a", "(?!(?>a*)b)a", "(?=(?=(?=a*)a*)a*)a"] {
        let found = ends(&compiled(expression), some.as_bytes(), 1 << 16);
        assert_eq!(found.len(), some.len(), "{expression}");
    }
}

#[test]
fn what_is_too_large_is_refused() {
    for expression in [
        "(?:(?:a{1000}){1000}){1000}".to_owned(),
        format!("(?:a(?:x{})?){{9999}}(?=ab)", "|".repeat(4000)),
    ] {
        let tree = parse(&expression).unwrap().tree;
        let refused = Backtracker::new(&tree).unwrap_err().to_string();
        assert!(refused.contains("too large"), "{refused}");
    }
}
