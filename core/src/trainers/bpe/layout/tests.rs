//! Training that goes on from segmented pieces gives what training at once gives.

use proptest::prelude::*;

use crate::error::Result;
use crate::trainers::bpe::{Options, Tie, Trainer, Training};

fn options(tie: Tie, vocab_size: usize) -> Options {
    let initial: Vec<Vec<u8>> = b"dcba".iter().map(|&byte| vec![byte]).collect();
    Options {
        symbols: (0..initial.len() as u32).collect(),
        initial,
        vocab_size,
        min_frequency: 1,
        tie,
        ..Options::default()
    }
}

fn learn(pieces: &[(Vec<u8>, u64)], options: &Options) -> Training {
    let pieces = pieces.iter().map(|(piece, count)| (&piece[..], *count));
    let trainer = Trainer::new(pieces, options).unwrap();
    trainer.run(&mut |_| Ok(())).unwrap()
}

fn resume(pieces: &[(Vec<u32>, u64)], options: &Options) -> Result<Training> {
    let pieces = pieces.iter().map(|(piece, count)| (&piece[..], *count));
    Trainer::resume(pieces, options)?.run(&mut |_| Ok(()))
}

/// Applies merges in their order, each from left to right.
fn segment(piece: &[u8], training: &Training) -> Vec<u32> {
    let id = |byte: &u8| training.tokens.iter().position(|token| token == &[*byte]);
    let mut ids: Vec<u32> = piece.iter().map(|byte| id(byte).unwrap() as u32).collect();
    for &[left, right, product] in &training.merges {
        let mut at = 0;
        while at + 1 < ids.len() {
            if (ids[at], ids[at + 1]) == (left, right) {
                ids[at] = product;
                ids.remove(at + 1);
            }
            at += 1;
        }
    }
    ids
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn at_once_and_in_two_goes(
        pieces in proptest::collection::btree_map("[abcd]{1,9}", 1..5_u64, 1..12),
        tie in 0..3_usize, first in 4..20_usize, more in 0..20_usize,
    ) {
        let pieces: Vec<(Vec<u8>, u64)> =
            pieces.into_iter().map(|(piece, count)| (piece.into_bytes(), count)).collect();
        let tie = [Tie::LowestIds, Tie::FirstSeen, Tie::LargestText][tie];
        let once = learn(&pieces, &options(tie, first + more));
        let begun = learn(&pieces, &options(tie, first));
        let segmented: Vec<(Vec<u32>, u64)> =
            pieces.iter().map(|(piece, count)| (segment(piece, &begun), *count)).collect();
        let further = Options {
            initial: begun.tokens.clone(),
            symbols: Vec::new(),
            ..options(tie, first + more)
        };
        let further = resume(&segmented, &further).unwrap();
        prop_assert_eq!([begun.merges, further.merges].concat(), once.merges);
        prop_assert_eq!([begun.counts, further.counts].concat(), once.counts);
        prop_assert_eq!(further.tokens, once.tokens);
    }
}

#[test]
fn a_token_without_text_divides() {
    let options = Options {
        initial: vec![b"a".to_vec(), Vec::new(), b"b".to_vec()],
        symbols: Vec::new(),
        ..options(Tie::LowestIds, 9)
    };
    let training = resume(&[(vec![0, 1, 2, 0, 1, 1], 2)], &options).unwrap();
    assert_eq!(
        (training.merges, training.counts),
        (vec![[2, 0, 3]], vec![2])
    );
}

#[test]
fn an_id_that_is_none_is_named() {
    let error = resume(&[(vec![4], 1)], &options(Tie::LowestIds, 9)).unwrap_err();
    let said = "a piece has the id 4, which no initial token has";
    assert_eq!(error.to_string(), said);
}
