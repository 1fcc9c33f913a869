//! Holds the scanner of 64 bytes at a time to the one of a character at a time, with every kind of
//! instructions that the machine has.

use std::path::Path;

use proptest::prelude::*;

use crate::split::lanes::Machine;
use crate::split::oracle::patterns;
use crate::split::tests::{Random, SYMBOLS, for_each_string};
use crate::split::{Contractions, Scanner, ScannerSpec, Tail, WordRule};

/// Every kind of instructions that the machine has, and none.
fn machines() -> impl Iterator<Item = Option<Machine>> {
    Machine::all().map(Some).chain([None])
}

/// Gives every end, `size` at a time.
fn ends(scanner: &Scanner, machine: Option<Machine>, text: &[u8], size: usize) -> Vec<usize> {
    let mut ends = scanner.ends_by(machine, text);
    let mut all = Vec::new();
    let mut room = vec![usize::MAX; size];
    loop {
        let found = ends.fill(&mut room);
        all.extend_from_slice(&room[..found]);
        if found == 0 {
            assert_eq!(ends.fill(&mut room), 0, "the end stays the end");
            return all;
        }
        assert!(found == size || all.last() == Some(&text.len()));
    }
}

/// Holds every machine to the scanner of a character at a time.
fn check(name: &str, scanner: &Scanner, text: &[u8]) {
    let expected: Vec<usize> = scanner.pieces(text).map(|(_, end)| end).collect();
    for machine in machines() {
        let found = ends(scanner, machine, text, 256);
        if found != expected {
            let differs = found.iter().zip(&expected).position(|(a, b)| a != b);
            let place = differs.unwrap_or(found.len().min(expected.len()));
            let near = expected.get(place).copied().unwrap_or(text.len());
            let shown = &text[near.saturating_sub(80)..text.len().min(near + 20)];
            panic!(
                "{name}, {machine:?}: end {place} is {:?}, not {:?}: {}",
                found.get(place),
                expected.get(place),
                shown.escape_ascii()
            );
        }
    }
}

/// Every specification that a scanner takes.
fn all_scanners() -> Vec<Scanner> {
    let mut scanners = Vec::new();
    for words in [WordRule::Spaced, WordRule::Prefixed, WordRule::Cased] {
        for contractions in [
            Contractions::None,
            Contractions::Exact,
            Contractions::Folded,
            Contractions::Suffix,
        ] {
            for digits in 0..=3 {
                for tail in [Tail::Nothing, Tail::Newlines, Tail::NewlinesAndSlashes] {
                    for (newlines, final_space) in [(false, false), (true, false), (true, true)] {
                        scanners.extend(Scanner::new(Some(&ScannerSpec {
                            words,
                            contractions,
                            digits,
                            tail,
                            newlines,
                            final_space,
                        })));
                    }
                }
            }
        }
    }
    assert_eq!(scanners.len(), (2 * 3 + 2) * 4 * 3 * 3);
    scanners
}

/// All strings of a length, with something else before each, behind `offset` letters.
fn laid_out(length: usize, offset: usize) -> Vec<u8> {
    let between: [&[u8]; 9] = [
        b" ",
        b"a",
        b"",
        b". ",
        b"\n",
        "文字文字文字".as_bytes(),
        b"A",
        b"  ",
        b"the words of a sentence",
    ];
    let mut text = vec![b'x'; offset];
    let mut count = 0;
    for_each_string(&SYMBOLS, length, &mut |string| {
        text.extend_from_slice(between[count % between.len()]);
        text.extend_from_slice(string);
        count += 1;
    });
    text
}

#[test]
fn agrees_on_all_short_strings_at_every_place() {
    for (name, scanner, _) in patterns() {
        for offset in 0..70 {
            check(name, &scanner, &laid_out(3, offset));
        }
        for offset in [0, 1, 22, 43, 64] {
            check(name, &scanner, &laid_out(4, offset));
        }
    }
}

#[test]
fn agrees_on_short_strings_for_every_specification() {
    for (number, scanner) in all_scanners().iter().enumerate() {
        check(&number.to_string(), scanner, &laid_out(3, number % 64));
    }
}

/// Runs of a symbol, long enough for whole windows of one kind.
fn random_runs(random: &mut Random, bound: usize) -> Vec<u8> {
    let mut text = Vec::new();
    for _ in 0..random.below(bound) {
        let length = match random.below(4) {
            0 => random.below(150),
            1 => random.below(6),
            _ => 1,
        };
        let symbol = SYMBOLS[random.below(SYMBOLS.len())];
        text.extend(symbol.repeat(length));
    }
    text
}

#[test]
fn agrees_on_random_runs_for_every_specification() {
    for (number, scanner) in all_scanners().iter().enumerate() {
        let mut random = Random(number as u64 + 1);
        for _ in 0..150 {
            check(&number.to_string(), scanner, &random_runs(&mut random, 40));
        }
    }
}

#[test]
fn agrees_on_few_kinds_in_long_strings() {
    // Few kinds in one string: what depends on what is far before comes about more often.
    for (name, scanner, _) in patterns() {
        let mut random = Random(7);
        for _ in 0..4_000 {
            let kinds: [&[u8]; 3] = std::array::from_fn(|_| SYMBOLS[random.below(SYMBOLS.len())]);
            let length = random.below(200);
            let text: Vec<u8> = (0..length)
                .flat_map(|_| kinds[random.below(3)])
                .copied()
                .collect();
            check(name, &scanner, &text);
        }
    }
}

#[test]
fn agrees_on_the_corpora_cut_anywhere() {
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpora");
    let mut texts = Vec::new();
    for folder in std::fs::read_dir(corpora).expect("the corpora are in the repository") {
        for file in std::fs::read_dir(folder.unwrap().path())
            .into_iter()
            .flatten()
        {
            let mut text = std::fs::read(file.unwrap().path()).unwrap();
            text.truncate(10_000);
            texts.push(text);
        }
    }
    assert!(texts.len() > 5);
    for (name, scanner, _) in patterns() {
        for text in &texts {
            for offset in 0..text.len().min(70) {
                check(name, &scanner, &text[offset..]);
                check(name, &scanner, &text[..text.len() - offset]);
            }
        }
    }
}

#[test]
fn every_room_is_filled() {
    let mut random = Random(3);
    for (name, scanner, _) in patterns() {
        let text = random_runs(&mut random, 60);
        let expected: Vec<usize> = scanner.pieces(&text).map(|(_, end)| end).collect();
        for machine in machines() {
            for size in 1..=80 {
                assert_eq!(
                    ends(&scanner, machine, &text, size),
                    expected,
                    "{name}, {machine:?}: {size} at a time"
                );
            }
            assert_eq!(scanner.ends_by(machine, &text).fill(&mut []), 0);
        }
    }
    let whole = Scanner::new(None).unwrap();
    let mut ends = whole.ends(b"two words");
    assert_eq!(ends.fill(&mut []), 0);
    assert_eq!(ends.fill(&mut [0; 2]), 1);
    assert_eq!(ends.fill(&mut [0; 2]), 0);
}

/// The time of one that is not linear would be minutes.
#[test]
fn long_runs_take_linear_time_however_they_are_asked_for() {
    for (name, scanner, _) in patterns() {
        for unit in [
            " ", "\n", "\n ", "1", "²", "'", "a", "aA", "A", "ʰA", "\u{301}", "\u{A0}", "!", "\n/",
            "字", "'s",
        ] {
            for around in ["", "\n", "ʰ", "!"] {
                let text = [around, &unit.repeat(100_000), around].concat();
                check(name, &scanner, text.as_bytes());
                for machine in machines() {
                    let last = ends(&scanner, machine, text.as_bytes(), 1).pop();
                    assert_eq!(last, Some(text.len()));
                }
            }
        }
    }
}

#[test]
fn every_character_is_of_its_kind() {
    let scanners = patterns();
    let mut text = String::new();
    for c in (0..=0x10_FFFF).filter_map(char::from_u32) {
        text.push(c);
        // What it is shows in where the pieces around it end.
        text.push_str([" a", "A", "1", "!", "  "][c as usize % 5]);
    }
    for (name, scanner, _) in &scanners {
        check(name, scanner, text.as_bytes());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn agrees_on_any_bytes(text in proptest::collection::vec(any::<u8>(), 0..400)) {
        for (name, scanner, _) in patterns() {
            check(name, &scanner, &text);
        }
    }

    #[test]
    fn agrees_on_any_characters(text in "\\PC{0,200}") {
        for (name, scanner, _) in patterns() {
            check(name, &scanner, text.as_bytes());
        }
    }

    #[test]
    fn agrees_on_bytes_that_nearly_are_characters(
        text in proptest::collection::vec(
            prop::sample::select(&b"a 1\n\x80\x9F\xA0\xBF\xC1\xC2\xDF\xE0\xE4\xE5\xED\xEF\xF0\xF4\xF5\xB7"[..]),
            0..300,
        )
    ) {
        for (name, scanner, _) in patterns() {
            check(name, &scanner, &text);
        }
    }
}
