//! Documents that lie apart become what they become in a block.

use super::{LONG, TOGETHER};
use crate::documents::Documents;
use crate::encode::{Encoder, Plain};
use crate::error::Error;
use crate::models::bpe::Bpe;
use crate::split::Scanner;
use crate::tables::TokenTable;

const SCANNER: &str =
    r#"{"words": "spaced", "contractions": "exact", "digits": 0, "tail": "", "newlines": false}"#;

/// A tokenizer of these letters and a few pairs of them.
fn tokenizer(letters: &[u8]) -> Encoder<Plain> {
    let pairs = [&b" a"[..], b"ab", b" ab"];
    let (mut blob, mut ends) = (Vec::new(), Vec::new());
    for token in letters.chunks(1).chain(pairs) {
        blob.extend(token);
        ends.push(blob.len() as u32);
    }
    let tokens = TokenTable::new(blob.into(), ends.into()).unwrap();
    let scanner = Scanner::from_json(SCANNER).unwrap();
    Encoder::plain(scanner, Bpe::from_ranks(tokens).unwrap(), false)
}

/// Documents around the sizes at which something else happens.
fn texts() -> Vec<Vec<u8>> {
    let sizes = [
        0,
        5,
        LONG - 1,
        LONG,
        0,
        LONG + 1,
        7,
        5 * TOGETHER,
        0,
        3,
        LONG / 2,
    ];
    let many = std::iter::repeat_n(LONG / 3, 40);
    let text = |size| b"ab a, bb a".iter().copied().cycle().take(size).collect();
    sizes
        .into_iter()
        .chain(many)
        .chain([0, 0])
        .map(text)
        .collect()
}

#[test]
fn they_become_what_they_become_in_a_block() {
    let encoder = tokenizer(b"ab ,");
    let texts = texts();
    for first in 0..texts.len() {
        let texts: Vec<&[u8]> = texts[first..].iter().map(Vec::as_slice).collect();
        let mut reached = 0;
        let ends: Vec<u64> = texts
            .iter()
            .map(|text| {
                reached += text.len() as u64;
                reached
            })
            .collect();
        let documents = Documents {
            text: &texts.concat(),
            ends: &ends,
            continued: false,
        };
        let expected = encoder.encode(&documents, None, 1).unwrap();
        let counts = encoder.count(&documents, None, 1).unwrap();
        for threads in [1, 2, 3] {
            assert!(encoder.count_apart(&texts, None, threads).unwrap() == counts);
            let apart = encoder.encode_apart(&texts, None, threads).unwrap();
            assert!(apart == expected, "from {first} on, {threads} threads");
        }
    }
    assert_eq!(
        encoder.encode_apart(&[], None, 2).unwrap(),
        Default::default()
    );
}

#[test]
fn the_offset_of_an_error_is_that_in_all_of_them() {
    let encoder = tokenizer(b"ab ,");
    let mut texts = texts();
    for (number, at) in [(1, 2), (5, LONG), (7, 4 * TOGETHER), (9, 0), (30, 77)]
        .into_iter()
        .rev()
    {
        texts[number][at] = b'!';
        let before: usize = texts[..number].iter().map(Vec::len).sum();
        let texts: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
        for threads in [1, 2, 3] {
            let error = encoder.encode_apart(&texts, None, threads).unwrap_err();
            let expected = Error::MissingByte {
                byte: b'!',
                offset: before + at,
            };
            assert_eq!(error, expected);
        }
    }
}
