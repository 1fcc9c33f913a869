//! The textbook's form as the oracle: counts of all beginnings, from which those of longer texts are
//! taken off.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

fn options(vocab_size: usize, prefix: &str) -> Options {
    Options {
        reserved: vec![b"[UNK]".to_vec(), b"aa".to_vec()],
        continuing_subword_prefix: prefix.to_owned(),
        vocab_size,
        min_frequency: 1,
        max_frequency: 10_000_000,
        iterations: 4,
        max_word_length: 6,
        max_alphabet: 3,
        max_words: 5,
    }
}

/// What a threshold keeps, counted by beginnings; `split` says where tokens begin in a word.
fn kept_by_the_book(
    words: &[(&[u8], u64)],
    prefix: &str,
    threshold: u64,
    split: impl Fn(&[u8]) -> Vec<usize>,
) -> BTreeMap<Vec<u8>, u64> {
    let mut counts: BTreeMap<(usize, Vec<u8>), u64> = BTreeMap::new(); // by length without prefix
    for &(word, count) in words {
        for start in split(word) {
            let mark: &[u8] = if start > 0 { prefix.as_bytes() } else { b"" };
            for end in start + 1..=word.len() {
                let token = [mark, &word[start..end]].concat();
                *counts.entry((end - start, token)).or_insert(0) += count;
            }
        }
    }
    let mut kept = BTreeMap::new();
    let keys: Vec<(usize, Vec<u8>)> = counts.keys().rev().cloned().collect();
    for (length, token) in keys {
        let count = counts[&(length, token.clone())];
        if count >= threshold {
            kept.insert(token.clone(), count);
        }
        let mark = token.len() - length;
        for shorter in 1..length {
            let beginning = token[..mark + shorter].to_vec();
            if let Some(present) = counts.get_mut(&(shorter, beginning)) {
                *present -= count;
            }
        }
    }
    kept
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn counts_of_ends_are_what_taking_off_leaves(
        words in prop::collection::btree_map("[ab#]{1,6}", 1..9_u64, 1..9),
        prefix in prop::sample::select(vec!["##", "", "#", "a"]),
        threshold in 1..12_u64,
    ) {
        let words: Vec<(&[u8], u64)> = words.iter().map(|(w, &n)| (w.as_bytes(), n)).collect();
        let options = Options { max_words: 99, reserved: Vec::new(), ..options(99, prefix) };
        let learner = Learner::new(words.clone(), &options);
        let mut kept = learner.keep(&learner.counts, threshold);
        let mut expected =
            kept_by_the_book(&words, prefix, threshold, |word| (0..word.len()).collect());
        for _ in 0..3 {
            for character in &learner.alphabet {
                expected.entry(character.to_vec()).or_insert(1);
                expected.entry(learner.with_prefix(character)).or_insert(1);
            }
            prop_assert_eq!(&kept.clone().into_iter().collect::<BTreeMap<_, _>>(), &expected);
            let tokens = expected.clone();
            kept = learner.keep(&learner.count(&kept).unwrap(), threshold);
            expected = kept_by_the_book(&words, prefix, threshold, |word| {
                let mut starts = Vec::new();
                let mut start = 0;
                while start < word.len() {
                    starts.push(start);
                    let mark: &[u8] = if start > 0 { prefix.as_bytes() } else { b"" };
                    start = (start + 1..=word.len())
                        .rev()
                        .find(|&end| tokens.contains_key(&[mark, &word[start..end]].concat()))
                        .unwrap();
                }
                starts
            });
        }
    }
}

#[test]
fn learns_from_the_words_that_count() {
    let words: Vec<(&[u8], u64)> = vec![
        (b"aaaaaaa", 99), // too long
        (b"aa", 99),      // reserved
        (b"ab", 8),
        (b"b\xff", 7), // a stray byte
        (b"cb", 6),
        (b"d", 5), // a rare character
        (b"abab", 4),
    ];
    let learned = learn(words.into_iter(), &options(11, "##"), &mut |_| Ok(())).unwrap();
    let tokens: Vec<&str> = learned
        .tokens
        .iter()
        .map(|token| std::str::from_utf8(token).unwrap())
        .collect();
    assert_eq!(tokens[..5], ["[UNK]", "aa", "a", "b", "c"]);
    assert!(tokens.contains(&"ab"));
    assert!(!tokens.contains(&"d"));
}

#[test]
fn stops_where_there_is_nothing_to_learn_or_too_much_to_count() {
    let learn = |words: Vec<(&'static [u8], u64)>| {
        learn(words.into_iter(), &options(9, "##"), &mut |_| Ok(()))
    };
    let nothing = learn(vec![]).unwrap();
    assert_eq!((nothing.tokens.len(), nothing.threshold), (2, 0));
    assert!(
        learn(vec![(b"ab", u64::MAX)])
            .unwrap_err()
            .to_string()
            .contains("2^64")
    );
}
