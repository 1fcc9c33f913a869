//! The textbook as the oracle: count all pairs anew for each merge.

use proptest::prelude::*;

use super::*;
use crate::text::visible::of_byte;

fn train<'a>(
    pieces: impl Iterator<Item = (&'a [u8], u64)>,
    options: &Options,
    progress: &mut dyn FnMut(usize) -> Result<()>,
) -> Result<Training> {
    Trainer::new(pieces, options)?.run(progress)
}

type Word = (Vec<Vec<u8>>, u64);

/// A text in the visible alphabet.
fn visible(text: &[u8]) -> String {
    text.iter().copied().map(of_byte).collect()
}

/// Learns merges by recounting: (left, right, product) texts and counts.
fn by_the_book(pieces: &[(Vec<u8>, u64)], options: &Options) -> Vec<(Vec<u8>, Vec<u8>, u64)> {
    let mut words: Vec<Word> = pieces
        .iter()
        .map(|(piece, count)| (piece.iter().map(|&byte| vec![byte]).collect(), *count))
        .collect();
    let mut tokens = options.initial.clone();
    let mut merges = Vec::new();
    while tokens.len() < options.vocab_size {
        let mut pairs: Vec<(Vec<u8>, Vec<u8>, u64)> = Vec::new(); // in order of first occurrence
        for (word, count) in &words {
            for neighbours in word.windows(2) {
                let product = neighbours.concat();
                if !options.vetoes.allow_length(product.len() as u64)
                    || !options.vetoes.allow_text(&product)
                {
                    continue;
                }
                match pairs
                    .iter_mut()
                    .find(|p| p.0 == neighbours[0] && p.1 == neighbours[1])
                {
                    Some(pair) => pair.2 += count,
                    None => pairs.push((neighbours[0].clone(), neighbours[1].clone(), *count)),
                }
            }
        }
        let Some(most) = pairs.iter().map(|pair| pair.2).max() else {
            break;
        };
        if most < options.min_frequency.max(1) {
            break;
        }
        let id = |text: &Vec<u8>| tokens.iter().position(|token| token == text);
        let best = pairs.into_iter().filter(|pair| pair.2 == most);
        let best = match options.tie {
            Tie::FirstSeen => best.into_iter().next(),
            Tie::LowestIds => best.min_by_key(|pair| (id(&pair.0), id(&pair.1))),
            Tie::LargestText => best.max_by_key(|pair| (pair.0.clone(), pair.1.clone())),
            Tie::LargestVisible => best.max_by_key(|pair| (visible(&pair.0), visible(&pair.1))),
        };
        let (left, right, count) = best.unwrap();
        let product = [&left[..], &right].concat();
        for (word, _) in &mut words {
            let mut at = 0;
            while at + 1 < word.len() {
                if word[at] == left && word[at + 1] == right {
                    word[at] = product.clone();
                    word.remove(at + 1);
                }
                at += 1;
            }
        }
        if !tokens.contains(&product) {
            tokens.push(product);
        }
        merges.push((left, right, count));
    }
    merges
}

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
    train(
        pieces.iter().map(|(piece, count)| (&piece[..], *count)),
        options,
        &mut |_| Ok(()),
    )
    .unwrap()
}

fn texts(training: &Training) -> Vec<(Vec<u8>, Vec<u8>, u64)> {
    let text = |id: u32| training.tokens[id as usize].clone();
    training
        .merges
        .iter()
        .zip(&training.counts)
        .map(|(m, &count)| (text(m[0]), text(m[1]), count))
        .collect()
}

/// Counts that are all alike, or so far apart that rare pairs are not kept from the beginning.
fn count() -> impl Strategy<Value = u64> {
    prop_oneof![
        1..5_u64,
        (0..16_u32, 1..4_u64).prop_map(|(shift, count)| count << shift)
    ]
}

fn corpus() -> impl Strategy<Value = Vec<(Vec<u8>, u64)>> {
    proptest::collection::btree_map("[abcd]{1,9}", count(), 1..12).prop_map(|pieces| {
        pieces
            .into_iter()
            .map(|(piece, count)| (piece.into_bytes(), count))
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn merges_are_the_textbook_s(
        mut pieces in corpus(), tie in 0..4_usize, size in 4..40_usize, minimum in prop_oneof![0..4_u64, 0..500_u64],
        longest in proptest::option::of(1..6_u32), turn: bool,
    ) {
        if turn {
            pieces.reverse();
        }
        let tie = [Tie::LowestIds, Tie::FirstSeen, Tie::LargestText, Tie::LargestVisible][tie];
        let vetoes = Vetoes { max_token_length: longest, ..Vetoes::default() };
        let options = Options { min_frequency: minimum, vetoes, ..options(tie, size) };
        let training = learn(&pieces, &options);
        prop_assert_eq!(texts(&training), by_the_book(&pieces, &options));
        prop_assert_eq!(training.exhausted, training.tokens.len() < size);
    }

    #[test]
    fn a_special_token_s_text_keeps_its_id(pieces in corpus(), size in 6..30_usize) {
        let mut options = options(Tie::LowestIds, size);
        options.initial.insert(0, b"ab".to_vec());
        options.initial.insert(0, Vec::new());
        options.symbols = (2..6).collect();
        let training = learn(&pieces, &options);
        prop_assert_eq!(texts(&training), by_the_book(&pieces, &options));
        let distinct: std::collections::HashSet<_> = training.tokens.iter().collect();
        prop_assert_eq!(distinct.len(), training.tokens.len());
    }
}

#[test]
fn the_seed_s_compression_example() {
    let pieces = [(b"aaabdaaabac".to_vec(), 1)];
    let training = learn(
        &pieces,
        &Options {
            min_frequency: 2,
            ..options(Tie::FirstSeen, 100)
        },
    );
    let merged: Vec<&[u8]> = training.tokens[4..].iter().map(Vec::as_slice).collect();
    assert_eq!(merged, [&b"aa"[..], b"aaa", b"aaab"]);
    assert_eq!(training.counts, [4, 2, 2]);
    assert!(training.exhausted);
}

#[test]
fn counts_beyond_32_bits_are_exact() {
    let many = u64::from(u32::MAX);
    let pieces = [(b"ab".to_vec(), many), (b"cd".to_vec(), many + 1)];
    let training = learn(&pieces, &options(Tie::LowestIds, 5));
    assert_eq!(texts(&training), [(b"c".to_vec(), b"d".to_vec(), many + 1)]);
}

#[test]
fn characters_can_be_symbols() {
    let initial: Vec<Vec<u8>> = ["ж", "о", "x"]
        .map(|text| text.as_bytes().to_vec())
        .to_vec();
    let options = Options {
        initial,
        symbols: vec![0, 1, 2],
        by_character: true,
        ..options(Tie::LowestIds, 4)
    };
    let training = learn(&[("жоаx".as_bytes().to_vec(), 1)], &options);
    assert_eq!(texts(&training), [("ж".into(), "о".into(), 1)]);
    let training = learn(&[("жаo".as_bytes().to_vec(), 1)], &options);
    assert!(
        training.merges.is_empty() && training.exhausted,
        "what is outside the alphabet is left out"
    );
}

#[test]
fn merges_cross_what_is_left_out_unless_it_separates() {
    let bytes = options(Tie::LowestIds, 9);
    let characters = Options {
        by_character: true,
        decoration: Decoration {
            suffix: b"$".to_vec(),
            ..Decoration::default()
        },
        ..bytes.clone()
    };
    let pieces = [(b"axb".to_vec(), 4), (b"cd".to_vec(), 3)];
    for (left_out, end) in [(bytes, ""), (characters, "$")] {
        let merge = |left: &str, right, count| {
            let right: String = [right, end].concat();
            (left.as_bytes().to_vec(), right.into_bytes(), count)
        };
        assert_eq!(
            texts(&learn(&pieces, &left_out)),
            [merge("a", "b", 4), merge("c", "d", 3)]
        );
        let separating = Options {
            unknown_separates: true,
            ..left_out
        };
        assert_eq!(texts(&learn(&pieces, &separating)), [merge("c", "d", 3)]);
    }
}

#[test]
fn contradictions_are_named() {
    let broken = Options {
        symbols: vec![7],
        ..options(Tie::LowestIds, 9)
    };
    let error = train([(&b"a"[..], 1)].into_iter(), &broken, &mut |_| Ok(())).unwrap_err();
    assert_eq!(error.to_string(), "the initial token 7 is no symbol");
}
