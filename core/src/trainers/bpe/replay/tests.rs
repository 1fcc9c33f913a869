//! Replaying whole pieces, and word by word.

use super::*;
use crate::random::{Draw, Place};

/// What 0 to 3 and the products of the merges by hand say.
fn texts() -> Vec<Vec<u8>> {
    let mut texts = vec![b"x".to_vec(); 14];
    (texts[0], texts[1], texts[2]) = (b"a".to_vec(), b"b".to_vec(), b"c".to_vec());
    texts
}

fn replayed(merges: &[[u32; 3]], symbols: &[u32]) -> (Vec<u32>, Vec<bool>) {
    let replay = Replay::new(merges, &texts());
    let (mut memory, mut merged) = (replay.memory(), Vec::new());
    replay.apply_to_word(&[1], &mut memory, &mut Vec::new());
    replay.apply_to_word(symbols, &mut memory, &mut merged);
    (merged, memory.met)
}

#[test]
fn a_merge_whose_places_are_used_up_is_met() {
    let merges = [[0, 1, 10], [1, 2, 11], [2, 0, 12], [10, 2, 13]];
    let expected = (vec![13], vec![true, true, false, true]);
    assert_eq!(replayed(&merges, &[0, 1, 2]), expected);
}

#[test]
fn places_do_not_overlap() {
    let merges = [[0, 0, 10], [10, 10, 11]];
    assert_eq!(replayed(&merges, &[0; 7]).0, [11, 10, 0]);
}

#[test]
fn each_merge_has_its_turn_once() {
    // 10 is made again after its own merge had its turn, and the third merge is the first one again.
    let merges = [[10, 2, 11], [0, 1, 10], [10, 2, 12]];
    assert_eq!(replayed(&merges[..2], &[0, 1, 2]).0, [10, 2]);
    let (merged, met) = replayed(&merges, &[0, 1, 2]);
    assert_eq!((merged, met), (vec![12], vec![false, true, true]));
}

/// Symbols of one byte or two, one without text, and merges of which few cross a space.
fn drawn(draw: &mut Draw) -> (Vec<Vec<u8>>, Vec<[u32; 3]>) {
    let symbols = ["", "a", "b", " ", ",", "\n", "é"];
    let mut tokens = symbols.map(|text| text.as_bytes().to_vec()).to_vec();
    let mut merges = Vec::new();
    for _ in 0..draw.bits() % 40 {
        let [left, right] = [(); 2].map(|()| 1 + draw.bits() as usize % (tokens.len() - 1));
        let crosses = tokens[left].last() != Some(&b' ') && tokens[right][0] == b' ';
        if crosses && !draw.bits().is_multiple_of(16) {
            continue;
        }
        let both = [&tokens[left][..], &tokens[right]].concat();
        // Some tokens are made in several ways.
        let product = tokens.iter().position(|token| *token == both);
        merges.push([
            left as u32,
            right as u32,
            product.unwrap_or(tokens.len()) as u32,
        ]);
        if product.is_none() {
            tokens.push(both);
        }
    }
    (tokens, merges)
}

#[test]
fn word_by_word_is_the_same_as_whole() {
    let draw = &mut Draw::at(Place {
        seed: 1,
        document: 0,
        offset: 0,
    });
    let mut divided = 0;
    for _ in 0..300 {
        let (tokens, merges) = drawn(draw);
        let replay = Replay::new(&merges, &tokens);
        let (mut symbols, mut ends, mut expected) = (Vec::new(), vec![0], Vec::new());
        let mut whole = replay.memory();
        for _ in 0..10 {
            let length = draw.bits() % 60;
            // Pieces also contain symbols that are not tokens.
            let id = |draw: &mut Draw| match draw.bits() % 8 {
                7 => super::super::cells::SEPARATOR,
                id => id as u32,
            };
            symbols.extend((0..length).map(|_| id(draw)));
            let piece = &symbols[ends[ends.len() - 1]..];
            divided += usize::from(replay.ends.words(piece).count() > 2);
            replay.apply_to_word(piece, &mut whole, &mut expected);
            ends.push(symbols.len());
        }
        for _ in 0..2 {
            let merged = replay.apply_all(&symbols, &ends, 2);
            let merged: Vec<u32> = merged.into_iter().flat_map(|(tokens, _)| tokens).collect();
            assert_eq!(merged, expected, "{merges:?}");
            assert_eq!(replay.met(), whole.met, "{merges:?}");
        }
    }
    assert!(divided > 500, "{divided}");
}

#[test]
fn only_so_much_is_remembered() {
    let mut known = Known::default();
    let long = [1; 33];
    known.insert(&long, &[7]);
    known.insert(&long[1..], &[8, 9]);
    assert_eq!(known.find(&long), None);
    assert_eq!(known.find(&long[1..]), Some(&[8, 9][..]));
}
