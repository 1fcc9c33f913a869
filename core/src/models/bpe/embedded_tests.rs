//! Short cuts and windows over the tables of real tokenizers, held to the way without them.

use super::tests::{encode, table};
use super::*;
use crate::models::merging::merge_long;
use crate::models::merging::queue::HeapQueue;

/// The way without any short cut: bytes in a linked list, and a heap.
fn slowly(model: &Bpe, piece: &[u8]) -> Vec<u32> {
    let mut ids = Vec::new();
    let byte = |offset| model.id_of_byte(piece, offset);
    let (queue, mut chain) = (HeapQueue::default(), Chain::default());
    merge_long(
        &model.merges,
        piece.len(),
        byte,
        queue,
        &mut chain,
        &mut ids,
    )
    .unwrap();
    ids
}

fn merged(model: &Bpe, piece: &[u8]) -> Vec<u32> {
    let mut ids = Vec::new();
    model
        .merge_piece(piece, &mut BpeScratch::default(), &mut ids)
        .unwrap();
    ids
}

fn embedded() -> impl Iterator<Item = Bpe> {
    crate::embedded::tables().map(|sha256| crate::embedded::find(sha256).unwrap().model())
}

#[test]
fn a_character_begins_as_what_it_becomes() {
    for model in embedded() {
        let text = "的中 é";
        let starts: Vec<bool> = [0, 3, 7]
            .map(|at| model.characters.start(text.as_bytes(), at).is_some())
            .to_vec();
        assert!(starts.contains(&true), "{starts:?}");
    }
    // What "é" becomes comes before it in the order: no merge may be done ahead of its turn.
    let tokens = ["éa", "é", "a"].map(|token| token.as_bytes().to_vec());
    let bytes = [vec![0xC3], vec![0xA9]];
    let odd = Bpe::from_ranks(table(&[&tokens[..], &bytes].concat())).unwrap();
    assert!(!odd.merges.monotone());
    assert_eq!(odd.characters.start("é".as_bytes(), 0), None);
    assert_eq!(
        encode(&odd, "ééa".as_bytes()),
        ["é".as_bytes(), "éa".as_bytes()]
    );
}

#[test]
fn characters_become_the_same_in_every_company() {
    let company = [
        "", " ", "a", "9", "\n", "é", "я", "ก", "ა", "—", "、", "一", "中", "的", "한", "🙂",
    ];
    let stray: [&[u8]; 4] = [b"\x80", b"\xAD", b"\xE4", b"\xF0\x9F"];
    let company: Vec<&[u8]> = company
        .iter()
        .map(|text| text.as_bytes())
        .chain(stray)
        .collect();
    for (number, model) in embedded().enumerate() {
        let characters = ('\u{80}'..='\u{FFFF}').skip(number).step_by(31);
        for (at, character) in characters.enumerate() {
            let mut bytes = [0; 4];
            let character = character.encode_utf8(&mut bytes).as_bytes();
            for (place, before) in company.iter().enumerate() {
                let after = company[(at + place) % company.len()];
                let piece = [before, character, after].concat();
                assert_eq!(merged(&model, &piece), slowly(&model, &piece), "{piece:x?}");
            }
        }
    }
}

#[test]
fn tokens_beside_each_other_are_merged_as_without_short_cuts() {
    for model in embedded() {
        let tokens = model.tokens().clone();
        let count = tokens.len() as u32;
        for id in (0..count).step_by(23) {
            for step in [1, 7919, 104_729] {
                let piece = [tokens.get(id), tokens.get((id + step) % count)].concat();
                assert_eq!(merged(&model, &piece), slowly(&model, &piece), "{piece:x?}");
            }
        }
    }
}

#[test]
fn bytes_of_ascii_become_the_same_in_every_company() {
    for model in embedded() {
        let mut draw = 0x9E37_79B9_7F4A_7C15_u64;
        for length in (1..80).cycle().take(60_000) {
            let text = (0..length).map(|_| {
                draw ^= draw << 13;
                draw ^= draw >> 7;
                draw ^= draw << 17;
                // Letters as often as in a text, and anything else now and then.
                let drawn = (draw >> 20) as usize;
                if drawn.is_multiple_of(16) {
                    (drawn >> 8) as u8 & 127
                } else {
                    b"etaoinshrdluETA 01-"[(drawn >> 8) % 19]
                }
            });
            let piece: Vec<u8> = text.collect();
            assert_eq!(
                merged(&model, &piece),
                slowly(&model, &piece),
                "{}",
                piece.escape_ascii()
            );
        }
    }
}

/// The build script reads them out of other arrays.
#[test]
fn the_merges_of_ascii_that_are_embedded_are_those_of_the_model() {
    for sha256 in crate::embedded::tables() {
        let model = crate::embedded::find(sha256).unwrap().model();
        let embedded = model.ascii.get().unwrap();
        let found = ascii::table(&model.merges, &model.tokens, &model.byte_ids);
        assert!(embedded.pairs() == found.pairs());
        assert!(embedded.ranks().count() > 300);
    }
}

#[test]
fn the_merges_of_ascii_are_found_when_much_is_merged() {
    let model = embedded().next().unwrap();
    let fresh = Bpe {
        ascii: MadeOnce::default(),
        ..model.clone()
    };
    let (mut scratch, mut ids) = (BpeScratch::default(), Vec::new());
    let rounds = FIND_AFTER * fresh.tokens.len() / b"unbelievably".len();
    for _ in 0..rounds {
        fresh
            .merge_piece(b"unbelievably", &mut scratch, &mut ids)
            .unwrap();
    }
    assert!(fresh.ascii.get().is_none());
    fresh
        .merge_piece(b"unbelievably", &mut scratch, &mut ids)
        .unwrap();
    assert!(fresh.ascii.get().is_some());
    let one = merged(&model, b"unbelievably");
    assert!(ids.chunks(one.len()).all(|ids| ids == one));
}

#[test]
fn windows_give_what_one_go_gives() {
    let text = "的中心 is unbelievably 重要的一部分, и это правда! 안녕하세요 🙂🙂 antidisestablishmentarianism";
    let letters = |step: usize| -> Vec<u8> {
        (0..3000)
            .map(|n| b'a' + (n * n / 7 * step % 26) as u8)
            .collect()
    };
    let mut pieces = vec![text.repeat(20).into_bytes(), letters(1), letters(5)];
    for unit in [
        "a", " ", "=", "ab", "\n", "0", "的", "ก", "\u{AD}", "🙂", "- ", "aaaaaab", "çã",
    ] {
        pieces.extend([62, 63, 64, 65, 127, 1000].map(|times| unit.repeat(times).into_bytes()));
    }
    pieces.push(
        (0..5000_u32)
            .map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8)
            .collect(),
    );
    for model in embedded() {
        for piece in &pieces {
            assert_eq!(
                merged(&model, piece),
                slowly(&model, piece),
                "{}",
                piece.escape_ascii()
            );
        }
    }
}

#[test]
fn long_windows_give_what_one_go_gives() {
    // Tokens of more bytes than a window on the stack has symbols, over several long windows.
    let mut pieces: Vec<Vec<u8>> = [" ", "=", "-", "\n", " \n", "_-", "ab"]
        .iter()
        .map(|unit| unit.repeat(50_011).into_bytes())
        .collect();
    let gaps = (0..3000_u32).map(|n| " ".repeat((n.wrapping_mul(2_654_435_761) >> 24) as usize));
    pieces.push(gaps.collect::<Vec<_>>().join("\t").into_bytes());
    // Of few letters at random: what a token is may depend on many that follow.
    for alphabet in [&b" \t"[..], b"ab", b"=-", b"\r\n ", b"etaoin"] {
        let draw =
            |n: u32| (n.wrapping_mul(2_654_435_761) >> 15 ^ n.wrapping_mul(40_503) >> 7) as usize;
        pieces.push(
            (0..60_000)
                .map(|n| alphabet[draw(n) % alphabet.len()])
                .collect(),
        );
    }
    for model in embedded() {
        let mut scratch = BpeScratch::default();
        for piece in &pieces {
            let mut ids = Vec::new();
            let found = model.merge_by_windows(piece, &mut scratch, &mut ids, None);
            assert!(found.unwrap(), "{}", piece[..9].escape_ascii());
            assert!(
                ids == slowly(&model, piece),
                "{}",
                piece[..9].escape_ascii()
            );
        }
    }
}
