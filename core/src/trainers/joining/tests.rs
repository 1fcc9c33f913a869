//! Tests of joining.

use super::*;
use crate::error::Error;

fn options(lines_per_word: f64) -> Options {
    Options {
        rounds: 2,
        factors: vec![1.0],
        lines_per_word,
        lines_per_count: 2000.0,
        ratio: 1.1,
        dictionary_size: 10,
        breaks: vec!['.', '#'],
        joins_over_space: true,
    }
}

fn words(dictionary: &Dictionary) -> Vec<(&str, u64)> {
    let text = |word: &'static [u8]| std::str::from_utf8(word).unwrap();
    let leak = |word: &Vec<u8>| text(word.clone().leak());
    dictionary
        .words
        .iter()
        .map(|(w, n)| (leak(w), *n))
        .collect()
}

fn run(lines: &[&str], options: &Options, threads: usize) -> Learnt {
    let lines = lines.iter().map(|line| line.as_bytes());
    let lines = Lines::new(lines, options).unwrap();
    lines.learn(options, threads, &mut |_| Ok(())).unwrap()
}

#[test]
fn counts_joins_and_counts_again() {
    // Rank 4 of ab 3, bc 2, cd 2, da 1: above 1 are ab, bc, cd. After ab is joined, c rests.
    let learnt = run(&["a b c d a b .", "abcd", "ab", "ab"], &options(0.75), 1);
    assert_eq!(learnt.lines, 3);
    assert_eq!(learnt.characters[0], (b"a".to_vec(), 4));
    let [first, second] = &learnt.dictionaries[..] else {
        panic!()
    };
    assert_eq!(words(first), [("ab", 4), ("bc", 2), ("cd", 2), ("da", 1)]);
    assert_eq!((first.threshold, first.joined), (1.0, 4));
    assert_eq!(words(second), [("abc", 2), ("cd", 2), ("dab", 1)]);
}

#[test]
fn threads_and_order_change_nothing() {
    let lines: Vec<String> = (0..40_000).map(|n| format!("{:b}.{n}", n * 7)).collect();
    let forward: Vec<&str> = lines.iter().map(String::as_str).collect();
    let backward: Vec<&str> = forward.iter().rev().copied().collect();
    let learnt = run(&forward, &options(2000.0), 1);
    assert_eq!(learnt, run(&backward, &options(2000.0), 4));
    assert!(learnt.dictionaries[0].joined > 0);
}

#[test]
fn refuses_what_is_no_number() {
    let wrong = Options {
        ratio: f64::NAN,
        ..options(1.0)
    };
    let lines = Lines::new(std::iter::empty(), &wrong).unwrap();
    let result = lines.learn(&wrong, 1, &mut |_| Ok(()));
    assert!(matches!(result, Err(Error::Invalid(_))));
    let learnt = run(&[" ", "."], &options(1.0), 1);
    assert_eq!((learnt.lines, learnt.dictionaries.len()), (1, 0));
}
