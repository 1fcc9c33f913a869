//! Text becomes what all stages make of it, and goes through them only where it has to.

use super::*;
use crate::documents::Documents;
use crate::encode::workers::tests::budgets_are_heeded;
use crate::error::Error;
use crate::random::tests::{begin, below};
use crate::special::{NORMALIZED, SpecialMatcher};
use crate::tables::TokenTable;

const SCANNER: &str =
    r#"{"words": "spaced", "contractions": "exact", "digits": 0, "tail": "", "newlines": false}"#;

fn stages() -> Arc<Stages> {
    let pattern =
        r"'(?:[sdmt]|ll|ve|re)| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";
    let spec = format!(
        r#"{{"normalizers": [{{"type": "NFC"}}], "pre_tokenizers": [{{"type": "Split", "pattern": {{"Regex": "{pattern}"}}, "behavior": "Isolated", "invert": false}}]}}"#
    );
    Arc::new(Stages::from_json(&spec).unwrap())
}

/// Bytes up to one, and some words.
fn model(last: u8) -> Bpe {
    let words = [" l", "lo", "ow", "low", " low", "\u{E9}", "e\u{301}"];
    let bytes = (0..=last).map(|byte| vec![byte]);
    let tokens = bytes.chain(words.map(|word| word.as_bytes().to_vec()));
    Bpe::from_ranks(TokenTable::of(tokens).unwrap()).unwrap()
}

/// The same tokenizer by its text, and through all stages.
fn both(last: u8) -> (Encoder<ByText>, Encoder<Staged>) {
    let scanner = Scanner::from_json(SCANNER).unwrap();
    (
        Encoder::by_text(stages(), scanner, model(last), false),
        Encoder::staged(stages(), Box::new(model(last))),
    )
}

/// Special tokens, the last of which is looked for in normalized text if `normalized`.
fn matcher(normalized: bool) -> SpecialMatcher {
    let flags = if normalized { NORMALIZED } else { 0 };
    let contents = [&b"<s>"[..], "\u{E9}l".as_bytes()];
    let tokens = contents.iter().map(|content| content.to_vec()).collect();
    SpecialMatcher::new(tokens, vec![300, 301], &[0, flags], Some(stages())).unwrap()
}

/// Documents of what NFC leaves, and of what it does not.
fn documents(seed: u64) -> (Vec<u8>, Vec<u64>) {
    let clean = [
        "lower ", " low", "<s>", "\u{E9}l ", "\u{4E2D}", "12\n", "x", " ",
    ];
    let other = [
        "e\u{301}",
        "\u{301}",
        "\u{212B} ",
        "e\u{301}l",
        "\u{1100}\u{1161}",
    ];
    let mut draw = begin(seed);
    let (mut text, mut ends) = (Vec::new(), Vec::new());
    for _ in 0..1 + below(&mut draw, 6) {
        let size = [0, 3, 40, 400, 4000][below(&mut draw, 5)];
        let share = [0, 1, 50][below(&mut draw, 3)];
        for _ in 0..size {
            let parts = if below(&mut draw, 100) < share {
                &other[..]
            } else {
                &clean
            };
            text.extend(parts[below(&mut draw, parts.len())].as_bytes());
            if below(&mut draw, 2000) == 0 {
                text.push(0xFF);
            }
        }
        ends.push(text.len() as u64);
    }
    (text, ends)
}

#[test]
fn it_becomes_what_all_stages_make_of_it() {
    let (by_text, staged) = both(255);
    let matchers = [None, Some(matcher(false)), Some(matcher(true))];
    let mut long = documents(0);
    while long.0.len() < 600_000 {
        let (text, ends) = documents(long.1.len() as u64);
        let before = long.0.len() as u64;
        long.0.extend(text);
        long.1.extend(ends.iter().map(|end| before + end));
    }
    let one = (long.0.clone(), vec![long.0.len() as u64]);
    for (text, ends) in (0..80).map(documents).chain([long, one]) {
        for matcher in &matchers {
            for continued in [false, true] {
                let documents = Documents::new(&text, &ends, continued);
                let expected = staged.encode(&documents, matcher.as_ref(), 1).unwrap();
                let counts = staged.count(&documents, matcher.as_ref(), 1).unwrap();
                for threads in [1, 3] {
                    let found = by_text.encode(&documents, matcher.as_ref(), threads);
                    assert_eq!(found.unwrap(), expected);
                    let found = by_text.count(&documents, matcher.as_ref(), threads);
                    assert_eq!(found.unwrap(), counts);
                }
            }
        }
    }
}

#[test]
fn what_stays_as_it_is_needs_no_stages() {
    let (by_text, _) = both(255);
    let encode = |text: &str| {
        let ends = [text.len() as u64];
        let documents = Documents::new(text.as_bytes(), &ends, false);
        by_text.encode(&documents, None, 2).unwrap();
    };
    encode(&"lower \u{E9}l low\n".repeat(10_000));
    assert!(by_text.way.staged.get().is_none());
    encode("lower e\u{301}l");
    assert!(by_text.way.staged.get().is_some());
}

#[test]
fn an_error_names_its_place_in_the_whole() {
    let (by_text, staged) = both(127);
    for text in [
        "low e\u{301} ".repeat(100) + "\u{7}\u{FF}",
        "low ".repeat(9000) + "\u{FF} low",
    ] {
        let ends = [2, text.len() as u64];
        let documents = Documents::new(text.as_bytes(), &ends, false);
        let place = |error: Error| match error {
            Error::MissingByte { offset, .. } => offset,
            other => panic!("{other}"),
        };
        let found = by_text
            .encode(&documents, None, 2)
            .map_err(place)
            .unwrap_err();
        assert_eq!(
            found,
            staged
                .encode(&documents, None, 1)
                .map_err(place)
                .unwrap_err()
        );
    }
}

#[test]
fn memory_is_bounded() {
    let (by_text, staged) = both(255);
    let (text, _) = documents(7);
    let text = [text, documents(8).0].concat();
    budgets_are_heeded(&by_text, &text, |text| {
        let ends = [text.len() as u64];
        staged
            .encode(&Documents::new(text, &ends, false), None, 1)
            .unwrap()
            .ids
    });
}
