//! Pieces word by word are what the model makes of them whole, with and without what is remembered.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::*;
use crate::documents::Documents;
use crate::encode::workers::tests::budgets_are_heeded;
use crate::encode::{Encoder, Plain};
use crate::error::Error;
use crate::models::bpe::Bpe;
use crate::random::Draw;
use crate::random::tests::{begin, below};
use crate::split::Scanner;
use crate::tables::TokenTable;
use crate::tokenizer::Tokenizer;

const GPT2: &str =
    r#"{"words":"spaced","contractions":"exact","digits":0,"tail":"","newlines":false}"#;

/// A text of words, some of them often and some of them once.
fn text(draw: &mut Draw, words: usize) -> Vec<u8> {
    let common = [
        " of",
        " the",
        " in",
        " and",
        ",",
        ".\n",
        " words",
        "  ",
        "\t",
        " \u{e9}t\u{e9}",
    ];
    let mut text = Vec::new();
    for _ in 0..words {
        match below(draw, 8) {
            0 => {
                text.push(b' ');
                let letters = below(draw, 9) * below(draw, 5);
                text.extend((0..letters).map(|_| b'a' + below(draw, 26) as u8));
            }
            _ => text.extend_from_slice(common[below(draw, common.len())].as_bytes()),
        }
    }
    text
}

/// Learns words from a text, and then what stands side by side most often, whatever it is.
fn learn(text: &[u8], superwords: usize) -> Bpe {
    let trained = Tokenizer::train([text], 350, Scanner::from_json(GPT2).unwrap()).unwrap();
    let tokens = trained.tokens().iter();
    let mut tokens: Vec<Vec<u8>> = tokens.map(|(_, token)| token.to_vec()).collect();
    let mut merges = trained.merges().unwrap().to_vec();
    for _ in 0..superwords {
        let ids = encode(&model(&tokens, &merges), text);
        let mut counts = BTreeMap::new();
        for two in ids.windows(2) {
            *counts.entry([two[0], two[1]]).or_insert(0) += 1;
        }
        let most = counts
            .iter()
            .max_by_key(|&(two, count)| (*count, Reverse(*two)));
        let &[left, right] = most.unwrap().0;
        let both = [&tokens[left as usize][..], &tokens[right as usize]].concat();
        let made = tokens.iter().position(|token| *token == both);
        merges.push([left, right, made.unwrap_or(tokens.len()) as u32]);
        if made.is_none() {
            tokens.push(both);
        }
    }
    model(&tokens, &merges)
}

fn model(tokens: &[Vec<u8>], merges: &[[u32; 3]]) -> Bpe {
    Bpe::from_merges(TokenTable::of(tokens).unwrap(), merges, false).unwrap()
}

/// The ids of a piece as a whole.
fn encode(model: &Bpe, piece: &[u8]) -> Vec<u32> {
    let mut ids = Vec::new();
    let done = model.encode_piece(piece, &mut BpeScratch::default(), &mut ids);
    done.unwrap();
    ids
}

/// An engine that takes each document as one piece.
fn engine(model: Bpe) -> Encoder<Plain> {
    Encoder::plain(Scanner::from_json("null").unwrap(), model, false)
}

/// Whether pieces go word by word by now.
fn goes_by_words(model: &Bpe) -> bool {
    model.superwords().is_some()
}

#[test]
fn pieces_of_every_length_are_what_they_are_as_a_whole() {
    let draw = &mut begin(1);
    let text = text(draw, 6_000);
    let engine = engine(learn(&text, 40));
    for longest in [4, 40, 250, 2_000, 70_000] {
        let (mut ends, mut expected, mut counts) = (Vec::new(), Vec::new(), Vec::new());
        let mut end = 0;
        while end < text.len() {
            let from = end;
            end = text.len().min(end + below(draw, longest));
            let ids = encode(engine.model(), &text[from..end]);
            ends.push(end as u64);
            counts.push(ids.len() as u64);
            expected.extend(ids);
        }
        let documents = Documents {
            text: &text,
            ends: &ends,
            continued: false,
        };
        for threads in [1, 2, 1] {
            let encoded = engine.encode(&documents, None, threads).unwrap();
            assert_eq!(encoded.ids, expected, "{longest}");
            assert_eq!(engine.count(&documents, None, threads).unwrap(), counts);
        }
        assert_eq!(engine.encode_pieces(&text, &ends).unwrap(), expected);
    }
    assert!(goes_by_words(engine.model()));
}

#[test]
fn a_model_of_words_goes_piece_by_piece() {
    let text = text(&mut begin(2), 2_000);
    let engine = engine(learn(&text, 0));
    let ends: Vec<u64> = (1..=9)
        .map(|ninth| (text.len() * ninth / 9) as u64)
        .collect();
    for _ in 0..3 {
        engine.encode_pieces(&text, &ends).unwrap();
    }
    let model = engine.model();
    model.ask_for_superwords(1 << 20, &mut BpeScratch::default());
    assert!(!goes_by_words(model));
}

/// The same bytes are another thing as a word than as a piece, and each has its own ids.
#[test]
fn words_are_remembered_apart_from_pieces() {
    // "ab" and "b" are merged inside words, "abb" only after them.
    let tokens =
        ["a", "b", " ", "ab", " ab", "ab ab", "abb"].map(|token| token.as_bytes().to_vec());
    let merges = [[0, 1, 3], [2, 3, 4], [3, 4, 5], [3, 1, 6]];
    let engine = engine(model(&tokens, &merges));
    let long = b"abb ab abb ab abb ab abb";
    for _ in 0..3 {
        let text = [&long[..], b"abb", long, b"abb ab", b"abb"].concat();
        let ends = [24, 27, 51, 57, 60];
        let mut expected = Vec::new();
        let mut from = 0;
        for end in ends {
            expected.extend(encode(engine.model(), &text[from..end as usize]));
            from = end as usize;
        }
        assert_eq!(engine.encode_pieces(&text, &ends).unwrap(), expected);
    }
    assert!(goes_by_words(engine.model()));
}

#[test]
fn texts_that_look_up_in_vain() {
    let text = text(&mut begin(3), 6_000);
    let engine = engine(learn(&text, 40));
    engine
        .encode_pieces(&text, &[text.len() as u64 / 2, text.len() as u64])
        .unwrap();
    assert!(goes_by_words(engine.model()));
    let draw = &mut begin(4);
    let random: Vec<u8> = (0..3_000).map(|_| draw.bits() as u8).collect();
    let runs = [" ", ",", "a", " of", " of the", "\n ", "\u{e9}"];
    let runs = runs.map(|run| run.repeat(3_000 / run.len()).into_bytes());
    for piece in runs.iter().chain([&random]) {
        let ends = [piece.len() as u64];
        let ids = engine.encode_pieces(piece, &ends).unwrap();
        assert_eq!(ids, encode(engine.model(), piece));
    }
}

#[test]
fn the_first_missing_byte_is_named() {
    let tokens = ["a", "b", " ", "ab", " ab", "ab ab"].map(|token| token.as_bytes().to_vec());
    let engine = engine(model(&tokens, &[[0, 1, 3], [2, 3, 4], [3, 4, 5]]));
    let mut text = b" ab".repeat(60);
    for missing in [&[b'x'; 0][..], b"x"] {
        if let [byte] = *missing {
            (text[130], text[150]) = (byte, byte);
        }
        let expected = missing
            .first()
            .map(|&byte| Error::MissingByte { byte, offset: 130 });
        let found = engine.encode_pieces(&text, &[60, 120, 180]);
        assert_eq!(found.err(), expected);
    }
    assert!(goes_by_words(engine.model()));
}

#[test]
fn caches_of_any_size_change_nothing() {
    let text = text(&mut begin(5), 20_000);
    let engine = engine(learn(&text[..20_000], 40));
    let model = engine.model().clone();
    budgets_are_heeded(&engine, &text, |text| encode(&model, text));
    assert!(goes_by_words(engine.model()));
}
