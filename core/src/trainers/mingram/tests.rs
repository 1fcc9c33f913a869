//! A worked example, and laws; Python's textbook is the oracle for random corpora.

use proptest::prelude::*;

use super::*;
use crate::error::Error;

fn options(alphabet: &[u8], vocab_size: usize, seeds: usize) -> Options {
    Options {
        seed: bpe::Options {
            initial: alphabet.iter().map(|&byte| vec![byte]).collect(),
            symbols: (0..alphabet.len() as u32).collect(),
            vocab_size: seeds,
            min_frequency: 1,
            ..bpe::Options::default()
        },
        vocab_size,
        rounds: 2,
        delta: 1e-5,
        threads: 1,
    }
}

fn learn(pieces: &[(&[u8], u64)], options: &Options) -> Result<Training> {
    train(pieces.iter().copied(), options, &mut |_, _| Ok(()))
}

/// Byte-pair encoding makes bc, abc and ab. All are used, ab least; without it the piece ab is two bytes.
#[test]
fn what_is_used_least_goes() {
    let pieces: [(&[u8], u64); 3] = [(b"abc", 6), (b"bc", 3), (b"ab", 1)];
    let training = learn(&pieces, &options(b"abc", 5, 6)).unwrap();
    let tokens: Vec<&[u8]> = training.tokens.iter().map(|token| &token[..]).collect();
    assert_eq!(tokens, [&b"a"[..], b"b", b"c", b"abc", b"bc"]);
    assert_eq!(training.uses, [1, 1, 0, 6, 3]);
    // 10^12 * (1 + 10^-5 * ln(11 / uses)); a byte that is never used has 100 for the logarithm.
    assert_eq!(
        training.scores,
        [
            -1_000_023_978_953.0,
            -1_000_023_978_953.0,
            -1_001_000_000_000.0,
            -1_000_006_061_358.0,
            -1_000_012_992_830.0
        ]
    );
    assert_eq!((training.seeds, training.exhausted), (6, false));
}

#[test]
fn what_is_never_used_goes_at_once() {
    // ab is made on the way to abc, and then stands nowhere.
    let pieces: [(&[u8], u64); 2] = [(b"abc", 6), (b"b", 1)];
    let training = learn(&pieces, &options(b"abc", 9, 9)).unwrap();
    assert_eq!(training.tokens.len(), 4);
    assert_eq!(training.tokens[3], b"abc");
    assert_eq!((training.seeds, training.exhausted), (5, true));
}

#[test]
fn tokens_are_spelt_in_visible_characters() {
    let pieces: [(&[u8], u64); 1] = [(b" \xff", 3)];
    let training = learn(&pieces, &options(b" \xff", 3, 3)).unwrap();
    assert_eq!(training.tokens[2], "Ġÿ".as_bytes());
}

#[test]
fn says_what_does_not_fit_together() {
    let pieces: [(&[u8], u64); 1] = [(b"ab", 3)];
    let usual = options(b"ab", 3, 4);
    for wrong in [
        Options {
            vocab_size: 1,
            ..usual.clone()
        },
        Options {
            vocab_size: 5,
            ..usual.clone()
        },
        Options {
            rounds: 0,
            ..usual.clone()
        },
        Options {
            delta: f64::NAN,
            ..usual.clone()
        },
    ] {
        assert!(matches!(learn(&pieces, &wrong), Err(Error::Invalid(_))));
    }
    let enormous: [(&[u8], u64); 1] = [(b"ab", u64::MAX)];
    let error = learn(&enormous, &usual).unwrap_err();
    assert!(error.to_string().contains("2^64"), "{error}");
    let unknown: [(&[u8], u64); 1] = [(b"axb", 3)];
    assert!(matches!(
        learn(&unknown, &usual),
        Err(Error::MissingByte { .. })
    ));
    assert!(learn(&[], &usual).unwrap().tokens.len() == 2);
}

#[test]
fn progress_reaches_its_end_and_can_stop() {
    let pieces: [(&[u8], u64); 2] = [(b"abc", 6), (b"bc", 3)];
    let mut calls = Vec::new();
    let mut heard = |done, all| {
        calls.push((done, all));
        Ok(())
    };
    train(pieces.iter().copied(), &options(b"abc", 4, 9), &mut heard).unwrap();
    assert!(calls.is_sorted());
    assert_eq!(calls.last(), Some(&(9, 9)));
    let stopped = train(
        pieces.iter().copied(),
        &options(b"abc", 4, 9),
        &mut |_, _| Err(Error::Stopped),
    );
    assert_eq!(stopped, Err(Error::Stopped));
}

/// How few tokens a piece can be.
fn fewest(piece: &[u8], tokens: &[Vec<u8>]) -> u64 {
    let mut best = vec![u64::MAX; piece.len() + 1];
    best[0] = 0;
    for start in 0..piece.len() {
        for token in tokens {
            if piece[start..].starts_with(token) {
                let end = start + token.len();
                best[end] = best[end].min(best[start] + 1);
            }
        }
    }
    best[piece.len()]
}

proptest! {
    #[test]
    fn laws(
        words in proptest::collection::btree_map("[abcd]{1,9}", 1..9_u64, 1..12),
        vocab_size in 4..12_usize,
        more in 0..6_usize,
    ) {
        let pieces: Vec<(&[u8], u64)> = words.iter().map(|(word, &count)| (word.as_bytes(), count)).collect();
        let usual = options(b"abcd", vocab_size, vocab_size + more);
        let one = learn(&pieces, &usual).unwrap();
        prop_assert!(one.tokens.len() <= vocab_size);
        prop_assert!(one.uses[4..].is_sorted_by(|a, b| a >= b));
        prop_assert!(one.uses[4..].iter().all(|&uses| uses > 0));
        let three = learn(&pieces, &Options { threads: 3, ..usual.clone() }).unwrap();
        prop_assert_eq!(&three, &one);
        let turned: Vec<_> = pieces.iter().rev().copied().collect();
        prop_assert_eq!(&learn(&turned, &usual).unwrap(), &one);
        // What the last round did not use is gone, so that its segmentations are still the shortest.
        let found: u64 = pieces.iter().map(|(piece, count)| fewest(piece, &one.tokens) * count).sum();
        prop_assert_eq!(one.uses.iter().sum::<u64>(), found);
    }
}
