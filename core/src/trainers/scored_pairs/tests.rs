//! What SentencePiece's rules merge, on corpora small enough to check by hand.

use super::*;

fn train(pieces: &[(&str, u64)], merges: usize) -> Training {
    let mut alphabet: Vec<char> = pieces.iter().flat_map(|(piece, _)| piece.chars()).collect();
    alphabet.sort_unstable();
    let options = Options {
        alphabet,
        merges,
        min_frequency: 1,
        rules: Rules::default(),
    };
    let pieces = pieces
        .iter()
        .map(|&(piece, count)| (piece.as_bytes(), count));
    Trainer::new(pieces, &options)
        .unwrap()
        .run(&mut |_| Ok(()))
        .unwrap()
}

#[test]
fn counts_with_overlap_and_prefers_short_then_first() {
    let training = train(&[("aaaa", 1), ("ab", 3), ("aba", 1)], 4);
    assert_eq!(training.tokens, ["ab", "aa", "aba", "aaaa"]);
    assert_eq!(training.counts, [4, 3, 1, 1]);
}

#[test]
fn merges_a_text_once_and_stops_when_nothing_is_left() {
    let training = train(&[("abc", 3), ("bcd", 2), ("abx", 1)], 10);
    assert!(training.exhausted);
    let mut sorted = training.tokens.clone();
    sorted.sort();
    sorted.dedup();
    assert_eq!(sorted.len(), training.tokens.len());
    assert_eq!(training.tokens[0], "bc");
}

#[test]
fn keeps_marks_at_the_beginning_and_scripts_apart() {
    let training = train(&[("▁a▁", 5), ("aж", 9), ("漢字かな", 2)], 20);
    assert_eq!(training.tokens, ["▁a", "かな", "漢字", "漢字かな"]);
}
