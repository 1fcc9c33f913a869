use std::collections::{HashMap, HashSet};

use proptest::prelude::*;

use super::*;
use crate::error::Error;

pub(super) fn options(vocab_size: usize) -> Options {
    Options {
        vocab_size,
        reserved: 1,
        character_coverage: 1.0,
        required: String::new(),
        seed_size: 1_000_000,
        shrinking_factor: 0.75,
        sub_iterations: 2,
        rules: Rules::default(),
        single_precision: false,
        threads: 1,
        record: true,
    }
}

fn learn(words: &[(String, u64)], options: &Options) -> Result<Training> {
    let pieces = words.iter().map(|(word, count)| (word.as_bytes(), *count));
    train(pieces, options, &mut |_, _| Ok(()))
}

/// Words of a small language, so that something is to be learnt.
fn corpus(number: u64) -> Vec<(String, u64)> {
    let parts = [
        "ing", "er", "the", "un", "ly", "talk", "walk", "é", "日本", "s",
    ];
    let mut draw = crate::random::Draw::at(crate::random::Place {
        seed: 1,
        document: 0,
        offset: 0,
    });
    (0..number)
        .map(|_| {
            let count = draw.bits() % 3 + 1;
            let word: String = (0..count)
                .map(|_| parts[(draw.bits() % parts.len() as u64) as usize])
                .collect();
            (format!("▁{word}"), draw.bits() % 20 + 1)
        })
        .collect()
}

#[test]
fn gives_the_same_model_for_any_number_of_threads() {
    let words = corpus(3000);
    let one = learn(&words, &options(60)).unwrap();
    assert_eq!(one.tokens.len(), 59);
    assert!(one.scores.is_sorted_by(|a, b| a >= b));
    for token in ["walk", "talk", "ing"] {
        assert!(one.tokens.contains(&token.into()), "{token}");
    }
    for threads in [2, 5] {
        let more = Options {
            threads,
            ..options(60)
        };
        assert_eq!(learn(&words, &more).unwrap(), one);
    }
}

/// Sentences in several stretches, with words that stand in more than one of them, before the same and before others.
#[test]
fn sentences_give_the_same_model_for_any_number_of_threads() {
    let words = corpus(40_000);
    let sentences: Vec<(String, u64)> = words
        .chunks(3)
        .map(|words| {
            (
                words.iter().map(|(word, _)| &word[..]).collect(),
                words[0].1,
            )
        })
        .collect();
    let single = |threads| Options {
        single_precision: true,
        threads,
        ..options(60)
    };
    let one = learn(&sentences, &single(1)).unwrap();
    assert_eq!(one.tokens.len(), 59);
    for threads in [2, 3, 8] {
        assert_eq!(learn(&sentences, &single(threads)).unwrap(), one);
    }
}

#[test]
fn keeps_the_characters_and_leaves_out_rare_ones() {
    let words = [
        ("▁aab".to_owned(), 50),
        ("▁ba".to_owned(), 49),
        ("▁z".to_owned(), 1),
    ];
    let all = learn(&words, &options(8)).unwrap();
    assert_eq!(all.characters, 4);
    let covered = Options {
        character_coverage: 0.99,
        ..options(8)
    };
    assert_eq!(learn(&words, &covered).unwrap().characters, 3);
    let required = Options {
        required: "zq".to_owned(),
        ..covered
    };
    let some = learn(&words, &required).unwrap();
    assert_eq!(some.characters, 5);
    assert!(some.tokens.contains(&b"q".to_vec()));
}

#[test]
fn refuses_contradictions() {
    let words = [("▁ab".to_owned(), 5)];
    let sentence = |options: Options| learn(&words, &options).unwrap_err().to_string();
    assert_eq!(
        sentence(options(3)),
        "a vocabulary of 3 is smaller than its 3 characters and 1 reserved tokens"
    );
    assert_eq!(
        sentence(Options {
            shrinking_factor: 1.0,
            ..options(9)
        }),
        "the shrinking factor 1 does not lie between 0 and 1"
    );
    assert_eq!(
        learn(&[], &options(9)).unwrap_err().to_string(),
        "there is nothing to train on: the text has no characters"
    );
    let stopped = train(
        words.iter().map(|(word, count)| (word.as_bytes(), *count)),
        &options(9),
        &mut |_, _| Err(Error::Stopped),
    );
    assert_eq!(stopped, Err(Error::Stopped));
}

#[test]
fn hostile_text_is_no_trouble() {
    let long = "a".repeat(1 << 16);
    for words in [
        vec![(long, 1)],
        vec![("\0\t \u{2585}▁▁".to_owned(), 3), ("a\0".to_owned(), 2)],
    ] {
        learn(&words, &options(40)).unwrap();
        let single = Options {
            single_precision: true,
            ..options(40)
        };
        let _ = learn(&words, &single);
    }
    let pieces = [(&b"\xff\xfea\xe2\x96"[..], 9u64), (b"a", 1)];
    let trained = train(pieces.into_iter(), &options(5), &mut |_, _| Ok(())).unwrap();
    assert_eq!(trained.tokens, [b"a"]);
}

/// The substrings by their definition: how often each occurs and what follows it.
fn substrings(words: &[(String, u64)], rules: Rules) -> HashMap<String, u64> {
    let mut counts: HashMap<String, u64> = HashMap::new();
    let mut follows: HashMap<String, HashSet<Option<char>>> = HashMap::new();
    let mut ends: HashMap<String, u64> = HashMap::new();
    for (word, count) in words {
        let characters: Vec<char> = word.chars().collect();
        for first in 0..characters.len() {
            for last in first + 2..=characters.len() {
                let text: String = characters[first..last].iter().collect();
                *counts.entry(text.clone()).or_default() += count;
                follows
                    .entry(text.clone())
                    .or_default()
                    .insert(characters.get(last).copied());
                if last == characters.len() {
                    *ends.entry(text).or_default() += count;
                }
            }
        }
    }
    counts.retain(|text, count| {
        let classes: Vec<_> = text
            .chars()
            .map(crate::trainers::valid_piece::class_of)
            .collect();
        let branches = follows[text].len() >= 2 || ends.get(text).is_some_and(|&count| count >= 2);
        *count >= 2 && branches && rules.allow(&classes)
    });
    counts
}

/// Words in parts that no token goes beyond, each counted once.
fn parted(words: &[(String, u64)], rules: Rules) -> Vec<(String, u64)> {
    let mut parts: std::collections::BTreeMap<String, u64> = std::collections::BTreeMap::new();
    for (word, count) in words {
        let mut part = String::new();
        for character in word.chars() {
            let class = crate::trainers::valid_piece::class_of;
            if part
                .chars()
                .last()
                .is_some_and(|last| !rules.may_join(class(last), class(character)))
            {
                *parts.entry(std::mem::take(&mut part)).or_default() += count;
            }
            part.push(character);
        }
        *parts.entry(part).or_default() += count;
    }
    parts.into_iter().collect()
}

/// How often tokens are expected, by all segmentations of whole words.
fn expected_by_definition(words: &[(String, u64)], found: &ScoredPieces<f64>) -> Vec<f64> {
    fn walk(
        rest: &str,
        so_far: f64,
        path: &mut Vec<usize>,
        found: &ScoredPieces<f64>,
        each: &mut dyn FnMut(f64, &[usize]),
    ) {
        if rest.is_empty() {
            return each(so_far, path);
        }
        for id in (0..found.len()).filter(|&id| rest.as_bytes().starts_with(found.get(id))) {
            path.push(id);
            walk(
                &rest[found.get(id).len()..],
                so_far * found.score(id).exp(),
                path,
                found,
                each,
            );
            path.pop();
        }
    }
    let mut expected = vec![0.0; found.len()];
    for (word, count) in words {
        let (mut whole, mut shares) = (0.0, vec![0.0; found.len()]);
        walk(
            word,
            1.0,
            &mut Vec::new(),
            found,
            &mut |probability, path| {
                whole += probability;
                path.iter().for_each(|&id| shares[id] += probability);
            },
        );
        for (total, share) in expected.iter_mut().zip(shares) {
            *total += *count as f64 * share / whole;
        }
    }
    expected
}

proptest! {
    /// Words are cut, and their lattices thinned out; what is expected is as if neither were done.
    #[test]
    fn expects_what_whole_words_have(
        words in proptest::collection::btree_map("▁?[ab.1]{1,8}", 1u64..4, 1..8),
        dropped in 0u64..u64::MAX,
    ) {
        let words: Vec<(String, u64)> = words.into_iter().collect();
        let options = options(99);
        let pieces = words.iter().map(|(word, count)| (word.as_bytes(), *count));
        let counted = Words::new(pieces, &options).unwrap();
        let found: ScoredPieces<f64> = seeds::find(&counted, &options).unwrap();
        let mut lattices = Lattices::new(&counted, &found, 1).unwrap();
        // Some tokens go, but no character.
        let stays = |id: usize| found.get(id).len() == 1 || found.get(id) == "▁".as_bytes() || dropped >> (id % 64) & 1 == 1;
        let kept: Vec<usize> = (0..found.len()).filter(|&id| stays(id)).collect();
        let mut new_ids = vec![lattices::GONE; found.len()];
        for (new, &id) in kept.iter().enumerate() {
            new_ids[id] = new as u32;
        }
        lattices.rename(&new_ids, kept.len(), 1);
        let left = ScoredPieces::new(kept.iter().map(|&id| (found.get(id), found.score(id))));
        let expected = expected_by_definition(&words, &left);
        for (fast, slow) in em::expect(&left, &lattices, 1).iter().zip(&expected) {
            prop_assert!((fast - slow).abs() <= 1e-9 * slow.max(1.0), "{fast} {slow}");
        }
        let homes: usize = lattices.shards().iter().map(|shard| {
            let mut homes = 0;
            lattices.homes(shard, |_| homes += 1);
            homes
        }).sum();
        prop_assert_eq!(homes, left.len());
    }

    #[test]
    fn finds_the_substrings(
        words in proptest::collection::btree_map("▁?[abé.1]{1,9}", 1u64..4, 1..12),
        max_length in 1usize..8,
    ) {
        let words: Vec<(String, u64)> = words.into_iter().collect();
        let mut options = options(99);
        options.rules.max_length = max_length;
        let cut = parted(&words, options.rules);
        let pieces = words.iter().map(|(word, count)| (word.as_bytes(), *count));
        let counted = Words::new(pieces, &options).unwrap();
        let found: ScoredPieces<f64> = seeds::find(&counted, &options).unwrap();
        let expected = substrings(&cut, options.rules);
        let characters = counted.characters.len();
        prop_assert_eq!(found.len(), expected.len() + characters);
        let total: u64 = expected.iter().map(|(text, count)| count * text.chars().count() as u64).sum::<u64>()
            + counted.characters.iter().map(|(_, count)| count).sum::<u64>();
        for id in 0..found.len() {
            let text = String::from_utf8(found.get(id).to_vec()).unwrap();
            let length = text.chars().count() as u64;
            if length > 1 {
                let score = (expected[&text] * length) as f64 / total as f64;
                prop_assert!((found.scores()[id] - score.ln()).abs() < 1e-12);
            }
        }
    }

    /// Forward-backward in probabilities and in logarithms, and Viterbi's algorithm in its two forms.
    #[test]
    fn two_ways_agree(words in proptest::collection::btree_map("▁?[abc]{1,40}", 1u64..9, 1..9)) {
        let words: Vec<(String, u64)> = words.into_iter().collect();
        let options = options(99);
        let pieces = words.iter().map(|(word, count)| (word.as_bytes(), *count));
        let counted = Words::new(pieces, &options).unwrap();
        let found: ScoredPieces<f64> = seeds::find(&counted, &options).unwrap();
        let lattices = Lattices::new(&counted, &found, 1).unwrap();
        let packing = lattices.packing();
        let fast = em::expect(&found, &lattices, 1);
        let mut exact = vec![0.0; found.len()];
        for word in lattices.words() {
            exact::expect_word(&found, word, packing, &mut exact, None);
        }
        for (fast, exact) in fast.iter().zip(&exact) {
            prop_assert!((fast - exact).abs() <= 1e-9 * exact.max(1.0), "{fast} {exact}");
        }
        let (mut viterbi, mut others, mut homes) = (prune::Viterbi::default(), Vec::new(), 0);
        for shard in lattices.shards() {
            lattices.homes(shard, |home| {
                homes += 1;
                let alternative = prune::alternative(&found, packing, home, &mut viterbi, &mut others);
                if alternative == prune::Alternative::Without {
                    let text: Vec<u8> = others.iter().rev().flat_map(|&id| found.get(id)).copied().collect();
                    assert_eq!(text, found.get(home.id));
                    assert!(!others.contains(&home.id));
                    let score = others.iter().map(|&id| found.score(id)).sum::<f64>();
                    assert!(score <= found.scores()[home.id] + 1e-9);
                }
            });
        }
        prop_assert_eq!(homes, found.len());
    }
}

/// A word so long that its probability is no f64.
#[test]
fn survives_underflow() {
    let word = "ab".repeat(3000);
    let words = [(word, 1), ("▁ab".to_owned(), 3)];
    let trained = learn(&words, &options(30)).unwrap();
    assert!(trained.scores.iter().all(|score| score.is_finite()));
}

#[test]
fn the_textbook_s_rule_is_stopped_while_it_counts_and_refuses_long_stretches() {
    let options = Textbook {
        vocab_size: 10,
        initial_size: 100,
        dropped: 0.1,
    };
    let learn = |length: usize, called: &mut dyn FnMut(usize, usize) -> Result<()>| {
        let letters = (0..length).map(|at| b'a' + (at * at % 7) as u8);
        let word: Vec<u8> = letters.collect();
        train_textbook([(&word[..], 1)].into_iter(), options, called)
    };
    let mut calls = 0;
    let stopped = learn(1000, &mut |_, _| {
        calls += 1;
        if calls == 3 {
            return Err(Error::Stopped);
        }
        Ok(())
    });
    assert_eq!(stopped, Err(Error::Stopped));
    assert_eq!(calls, 3, "long before all is counted");
    let refused = learn(2000, &mut |_, _| panic!("nothing is counted"));
    let message = refused.unwrap_err().to_string();
    assert!(message.contains("too long"), "{message}");
}
