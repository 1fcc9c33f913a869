//! A worked example, and the rule told plainly on random words; Python's textbook is the oracle for corpora.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

fn options(tokens: usize) -> Options {
    Options {
        tokens,
        max_token_length: 16,
        min_word_count: 1,
        reserved: Vec::new(),
        max_memory: 1 << 20,
        threads: 1,
    }
}

fn learn(words: &[(&[u8], u64)], options: &Options) -> Training {
    train(words.iter().copied(), options, &mut |_, _| Ok(())).unwrap()
}

#[test]
fn what_saves_most_is_placed_first() {
    let words: [(&[u8], u64); 3] = [(b"lower", 3), (b"low", 4), (b"er", 1)];
    let training = learn(&words, &options(9));
    assert_eq!(training.tokens, [&b"low"[..], b"lower", b"er"]);
    // 7 times two pieces fewer; then low, e and r are one, three times; then one er is left.
    assert_eq!(training.scores, [14, 6, 1]);
    assert_eq!(training.candidates, 10);
}

#[test]
fn places_of_one_token_do_not_overlap() {
    let training = learn(&[(b"aaaaa", 2)], &options(9));
    assert_eq!(training.tokens, [b"aaaaa"]);
    let two = Options {
        max_token_length: 2,
        ..options(9)
    };
    let training = learn(&[(b"aaaaa", 2)], &two);
    assert_eq!(
        (&training.tokens[..], &training.scores[..]),
        (&[b"aa".to_vec()][..], &[4][..])
    );
}

#[test]
fn rare_words_and_reserved_texts_are_left_out() {
    let words: [(&[u8], u64); 2] = [(b"abc", 5), (b"xy", 1)];
    let chosen = Options {
        min_word_count: 2,
        reserved: vec![b"abc".to_vec()],
        ..options(9)
    };
    assert_eq!(learn(&words, &chosen).tokens, [b"ab"]);
    assert_eq!(learn(&[(b"a", 9)], &options(9)), Training::default());
}

#[test]
fn too_many_candidates_are_refused() {
    let bytes: Vec<u8> = (0..=255).collect();
    let small = Options {
        max_memory: 80_000,
        ..options(9)
    };
    let refused = train([(&bytes[..], 1)].into_iter(), &small, &mut |_, _| Ok(()));
    // 256 bytes, and 241 places with 15 candidates, and then 14 to 1.
    let needed = 46 * 256 + 25 * (241 * 15 + 14 * 15 / 2);
    assert_eq!(
        refused,
        Err(Error::Bound(format!(
            "the candidates take {needed} bytes of memory or more, and 80000 are allowed"
        )))
    );
}

#[test]
fn stops_when_asked_to() {
    let mut calls = 0;
    let stopped = train(
        [(&b"abcabd"[..], 3)].into_iter(),
        &options(9),
        &mut |_, _| {
            calls += 1;
            if calls > 3 {
                Err(Error::Stopped)
            } else {
                Ok(())
            }
        },
    );
    assert_eq!(stopped, Err(Error::Stopped));
}

/// The rule as it is told, with everything counted anew for each token.
fn plainly(words: &[(Vec<u8>, u64)], tokens: usize, longest: usize) -> (Vec<Vec<u8>>, Vec<u64>) {
    let mut closed: Vec<Vec<bool>> = words
        .iter()
        .map(|(word, _)| vec![false; word.len() + 1])
        .collect();
    let (mut chosen, mut scores) = (Vec::new(), Vec::new());
    while chosen.len() < tokens {
        let mut saved: BTreeMap<(usize, &[u8]), u64> = BTreeMap::new();
        for ((word, count), closed) in words.iter().zip(&closed) {
            let mut free: BTreeMap<&[u8], usize> = BTreeMap::new();
            for start in 0..word.len() {
                for end in start + 2..=word.len().min(start + longest) {
                    let text = &word[start..end];
                    let fits = start >= *free.get(text).unwrap_or(&0);
                    if fits && !closed[start] && !closed[end] {
                        let pieces = closed[start..end].iter().filter(|&&inside| !inside);
                        *saved.entry((text.len(), text)).or_default() +=
                            count * (pieces.count() as u64 - 1);
                        free.insert(text, end);
                    }
                }
            }
        }
        let most = saved.values().copied().max().unwrap_or(0);
        let Some((&(_, best), _)) = saved.iter().find(|&(_, &score)| score == most && most > 0)
        else {
            break;
        };
        for ((word, _), closed) in words.iter().zip(&mut closed) {
            for start in 0..word.len() {
                let end = start + best.len();
                if word[start..].starts_with(best) && !closed[start] && !closed[end] {
                    closed[start + 1..end].fill(true);
                }
            }
        }
        chosen.push(best.to_vec());
        scores.push(most);
    }
    (chosen, scores)
}

proptest! {
    #[test]
    fn is_what_is_told(
        words in proptest::collection::btree_map(proptest::collection::vec(97u8..100, 1..14), 1u64..6, 1..12),
        longest in 2usize..9,
        threads in 1usize..4,
    ) {
        let words: Vec<(Vec<u8>, u64)> = words.into_iter().collect();
        let options = Options { max_token_length: longest, threads, ..options(30) };
        let pieces = words.iter().rev().map(|(word, count)| (&word[..], *count));
        let training = train(pieces, &options, &mut |_, _| Ok(())).unwrap();
        prop_assert_eq!((training.tokens, training.scores), plainly(&words, 30, longest));
    }
}
