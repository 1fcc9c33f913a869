//! Every way through the batches equals the plain one: a piece after the other, nothing remembered.

use super::*;
use crate::embedded;
use crate::encode::encoded::Encoded;
use crate::encode::workers::tests::budgets_are_heeded;
use crate::error::Error;
use crate::random::Draw;
use crate::random::tests::{begin, below};

const GPT2: &str =
    r#"{"words":"spaced","contractions":"exact","digits":0,"tail":"","newlines":false}"#;
pub(super) const CL100K: &str =
    r#"{"words":"prefixed","contractions":"folded","digits":3,"tail":"\r\n","newlines":true}"#;

/// An engine of a built-in table with so many tokens at least.
fn engine(spec: &str, tokens: usize, prefix_space: bool) -> Encoder<Plain> {
    let table = embedded::tables()
        .filter_map(embedded::find)
        .filter(|table| table.tokens().len() >= tokens)
        .min_by_key(|table| table.tokens().len())
        .unwrap();
    Encoder::plain(
        Scanner::from_json(spec).unwrap(),
        table.model(),
        prefix_space,
    )
}

/// The ids of a text as a whole, with no matcher.
pub(super) fn plainly(engine: &Encoder<Plain>, text: &[u8], ids: &mut Vec<u32>) {
    for (start, end) in engine.way.scanner.pieces(text) {
        engine
            .model()
            .encode_piece(&text[start..end], &mut Default::default(), ids)
            .unwrap();
    }
}

/// What a block must become.
fn expected(
    engine: &Encoder<Plain>,
    documents: &Documents<'_>,
    matcher: Option<&SpecialMatcher>,
) -> Encoded {
    let mut encoded = Encoded::default();
    let mut start = 0;
    for (number, &end) in documents.ends.iter().enumerate() {
        let document = &documents.text[start..end as usize];
        let mut first = true;
        documents::segments(document, matcher, |segment| {
            match segment {
                Segment::Special { id, .. } => encoded.ids.push(id),
                Segment::Text { start, end } => {
                    let continued = first && number == 0 && documents.continued;
                    let mut text = document[start..end].to_vec();
                    if engine.prefix_space() && !continued && text[0] != b' ' {
                        text.insert(0, b' ');
                    }
                    plainly(engine, &text, &mut encoded.ids);
                }
            }
            first = false;
            Ok(())
        })
        .unwrap();
        encoded.ends.push(encoded.ids.len() as u64);
        start = end as usize;
    }
    encoded
}

/// Twice on each number of threads: with what was remembered, too.
fn check(engine: &Encoder<Plain>, documents: &Documents<'_>, matcher: Option<&SpecialMatcher>) {
    let expected = expected(engine, documents, matcher);
    let mut counts = expected.ends.clone();
    for number in (1..counts.len()).rev() {
        counts[number] -= counts[number - 1];
    }
    for threads in [1, 2, 3, 1, 2] {
        assert_eq!(
            engine.encode(documents, matcher, threads).unwrap(),
            expected
        );
        assert_eq!(engine.count(documents, matcher, threads).unwrap(), counts);
    }
}

pub(super) fn check_text(engine: &Encoder<Plain>, text: &[u8], ends: &[u64]) {
    let documents = Documents {
        text,
        ends,
        continued: false,
    };
    check(engine, &documents, None);
}

/// A text of words of all lengths in several scripts, some of them again and again.
fn text(draw: &mut Draw, words: usize) -> Vec<u8> {
    let letters = [
        "e",
        "t",
        "A",
        "0",
        "\u{e9}",
        "\u{4e2d}",
        "\u{6587}",
        "-",
        "\n",
        "\u{1f600}",
    ];
    let mut text = Vec::new();
    for _ in 0..words {
        if below(draw, 4) > 0 {
            let common = [
                "the",
                " of",
                ", and",
                " \u{4e2d}\u{6587}",
                "\n\n",
                " token",
                "ization",
            ];
            text.extend_from_slice(common[below(draw, 7)].as_bytes());
            continue;
        }
        text.push(b' ');
        for _ in 0..below(draw, 24) * below(draw, 4) {
            text.extend_from_slice(letters[below(draw, letters.len())].as_bytes());
        }
        if below(draw, 40) == 0 {
            text.push(0xff);
        }
    }
    text
}

#[test]
fn equals_the_plain_way_on_texts_cut_anywhere() {
    let draw = &mut begin(7);
    for engine in [engine(GPT2, 0, false), engine(CL100K, 100_000, false)] {
        let text = text(draw, 120_000);
        check_text(&engine, &text, &[text.len() as u64]);
        for longest in [3, 40, 3_000, 300_000] {
            let mut ends = Vec::new();
            let mut end = 0;
            while end < text.len() {
                end = text.len().min(end + below(draw, longest));
                ends.push(end as u64);
            }
            check_text(&engine, &text, &ends);
        }
    }
}

/// Pieces whose ids are not held where they are only counted: runs, and letters that no cache knows.
#[test]
fn giant_pieces_are_counted_as_they_are_encoded() {
    let draw = &mut begin(9);
    let units = [&b" "[..], b"a", b"ab", b"\n", b"\t ", "\u{4e2d}".as_bytes()];
    for engine in [engine(GPT2, 0, false), engine(CL100K, 100_000, false)] {
        for length in [255, 256, 257, 5_000, 70_000] {
            let drawn: Vec<u8> = (0..length).map(|_| b'a' + below(draw, 26) as u8).collect();
            let runs = units.map(|unit| unit.iter().copied().cycle().take(length).collect());
            for run in runs.iter().chain([&drawn]) {
                let text = [b"x ", &run[..], b"y"].concat();
                check_text(&engine, &text, &[text.len() as u64]);
                check_text(&engine, &text, &[1, length as u64 / 2, text.len() as u64]);
            }
        }
    }
}

#[test]
fn special_tokens_and_spaces_before_texts() {
    let draw = &mut begin(8);
    let contents = vec![b"of".to_vec(), b"\n\n".to_vec()];
    let matcher = SpecialMatcher::new(contents, vec![100_257, 7], &[], None).unwrap();
    for prefix_space in [false, true] {
        let engine = engine(CL100K, 100_000, prefix_space);
        let text = text(draw, 3_000);
        let ends: Vec<u64> = (1..=9)
            .map(|ninth| (text.len() * ninth / 9) as u64)
            .collect();
        for continued in [false, true] {
            let documents = Documents {
                text: &text,
                ends: &ends,
                continued,
            };
            check(&engine, &documents, None);
            check(&engine, &documents, Some(&matcher));
        }
    }
}

#[test]
fn pieces_of_every_length_at_the_end_of_a_text() {
    let engine = engine(GPT2, 0, false);
    let letters =
        "the quick \u{4e2d}\u{6587} 0123456789 zzzzzzzzzz \u{1f600} pneumonoultramicroscopic"
            .as_bytes();
    for length in 0..=300 {
        for before in 0..3 {
            let text: Vec<u8> = letters
                .iter()
                .copied()
                .cycle()
                .take(before + length)
                .collect();
            let ends = [before as u64, text.len() as u64];
            let mut expected = Vec::new();
            for piece in [&text[..before], &text[before..]] {
                let mut scratch = Default::default();
                engine
                    .model()
                    .encode_piece(piece, &mut scratch, &mut expected)
                    .unwrap();
            }
            for _ in 0..2 {
                assert_eq!(engine.encode_pieces(&text, &ends).unwrap(), expected);
            }
        }
    }
}

#[test]
fn batches_end_anywhere() {
    let engine = engine(GPT2, 0, false);
    for pieces in [0, 1, 254, 255, 256, 257, 511, 512, 513] {
        let text = " a".repeat(pieces);
        let length = text.len() as u64;
        check_text(&engine, text.as_bytes(), &[length]);
        check_text(&engine, text.as_bytes(), &[0, 0, length, length]);
        let ends: Vec<u64> = (0..=length).collect();
        check_text(&engine, text.as_bytes(), &ends);
    }
}

#[test]
fn names_the_first_missing_byte() {
    let tokens =
        crate::tables::TokenTable::new(b"ab c"[..].into(), vec![1, 2, 3, 4].into()).unwrap();
    for prefix_space in [false, true] {
        let model = Bpe::from_ranks(tokens.clone()).unwrap();
        let engine = Encoder::plain(Scanner::from_json(GPT2).unwrap(), model, prefix_space);
        for at in [0, 1, 300, 700] {
            let mut text = "ab c".repeat(200).into_bytes();
            text[at] = b'x';
            text[750] = b'y';
            let missing = Error::MissingByte {
                byte: b'x',
                offset: at,
            };
            for threads in 1..3 {
                let documents = Documents {
                    text: &text,
                    ends: &[500, 800],
                    continued: false,
                };
                let found = engine.encode(&documents, None, threads);
                assert_eq!(found.as_ref(), Err(&missing));
                assert_eq!(
                    engine.count(&documents, None, threads),
                    Err(missing.clone())
                );
            }
            text[at] = b'a';
            text[750] = b'a';
            check_text(&engine, &text, &[500, 800]);
        }
    }
}

#[test]
fn caches_of_any_size_change_nothing() {
    let engine = engine(CL100K, 50_000, false);
    let text = text(&mut begin(5), 60_000);
    budgets_are_heeded(&engine, &text, |text| {
        let mut ids = Vec::new();
        plainly(&engine, text, &mut ids);
        ids
    });
}
