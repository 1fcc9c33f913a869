//! The textbook as the oracle: count all pairs anew for each merge, and all tokens for each choice.

use proptest::prelude::*;

use super::*;
use crate::text::visible::of_byte;

type Piece = (Vec<u8>, u64);
type Corpus = Vec<Piece>;
type Word = (Vec<Vec<u8>>, u64);

/// A merge: both texts, how often the pair stood in all languages, and who chose it.
type Step = (Vec<u8>, Vec<u8>, u64, u32);

fn words(corpus: &[Piece]) -> Vec<Word> {
    let symbols = |piece: &[u8]| piece.iter().map(|&byte| vec![byte]).collect();
    let pieces = corpus.iter();
    pieces
        .map(|(piece, count)| (symbols(piece), *count))
        .collect()
}

fn length(words: &[Word]) -> u64 {
    words
        .iter()
        .map(|(word, count)| word.len() as u64 * count)
        .sum()
}

fn count(words: &[Word], left: &[u8], right: &[u8]) -> u64 {
    let pairs = words
        .iter()
        .flat_map(|(word, count)| word.windows(2).map(move |pair| (pair, *count)));
    let same = pairs.filter(|(pair, _)| pair[0] == left && pair[1] == right);
    same.map(|(_, count)| count).sum()
}

fn merge(words: &mut [Word], left: &[u8], right: &[u8]) {
    for (word, _) in words {
        let mut at = 0;
        while at + 1 < word.len() {
            if word[at] == left && word[at + 1] == right {
                word[at] = [left, right].concat();
                word.remove(at + 1);
            }
            at += 1;
        }
    }
}

/// The most frequent pair of several texts together.
fn best(texts: &[&[Word]]) -> Option<(u64, Vec<u8>, Vec<u8>)> {
    let visible = |text: &[u8]| -> String { text.iter().copied().map(of_byte).collect() };
    let all = texts.iter().flat_map(|words| words.iter());
    let pairs = all.flat_map(|(word, _)| word.windows(2));
    let sum = |pair: &[Vec<u8>]| {
        texts
            .iter()
            .map(|words| count(words, &pair[0], &pair[1]))
            .sum::<u64>()
    };
    pairs
        .map(|pair| (sum(pair), pair[0].clone(), pair[1].clone()))
        .max_by_key(|(count, left, right)| (*count, visible(left), visible(right)))
}

/// What is learnt; None if every language has chosen too often.
fn by_the_book(
    training: &[Corpus],
    development: &[Corpus],
    options: &ParityOptions,
) -> Option<Vec<Step>> {
    let mut texts: Vec<Vec<Word>> = training.iter().map(|text| words(text)).collect();
    let mut judged: Vec<Vec<Word>> = development.iter().map(|text| words(text)).collect();
    let symbols: Vec<u64> = texts.iter().map(|words| length(words)).collect();
    let mut tokens = options.merging.initial.clone();
    let mut steps: Vec<Step> = Vec::new();
    let mut lately: Vec<usize> = Vec::new();
    for &[left, right] in &options.preload {
        let (left, right) = (
            tokens[left as usize].clone(),
            tokens[right as usize].clone(),
        );
        texts
            .iter_mut()
            .chain(&mut judged)
            .for_each(|words| merge(words, &left, &right));
        let product = [&left[..], &right].concat();
        if !tokens.contains(&product) {
            tokens.push(product);
        }
        steps.push((left, right, 0, NO_LANGUAGE));
    }
    let minimum = options.merging.min_frequency.max(1);
    while tokens.len() < options.merging.vocab_size {
        let is_shared = steps.len() - options.preload.len() < options.shared_merges;
        let mut chooser = NO_LANGUAGE;
        let found = if is_shared {
            best(&texts.iter().map(Vec::as_slice).collect::<Vec<_>>())
        } else {
            let mut order: Vec<usize> = (0..texts.len()).collect();
            let badness = |language: usize| match options.ratios.get(language) {
                None => length(&judged[language]) as f64,
                Some(ratio) => {
                    -(symbols[language] as f64 / length(&texts[language]) as f64 / ratio)
                }
            };
            order.sort_by(|&a, &b| badness(b).total_cmp(&badness(a)));
            let voices = texts.len() + usize::from(options.shared_merges > 0);
            let may_choose = |language: &usize| {
                options.window.is_none_or(|size| {
                    let recent = &lately[lately.len().saturating_sub(size)..];
                    let times = recent.iter().filter(|&other| other == language).count();
                    times as f64 / size as f64 <= options.alpha / voices as f64
                })
            };
            if options.pass_over {
                let has_pairs = |language: &usize| {
                    best(&[&texts[*language]]).is_some_and(|(count, ..)| count >= minimum)
                };
                order.retain(has_pairs);
            }
            let Some(&worst) = order.first() else {
                break;
            };
            let in_turn = order.into_iter().find(may_choose);
            let language = in_turn.or(options.pass_over.then_some(worst))?;
            lately.push(language);
            chooser = language as u32;
            best(&[&texts[language]])
        };
        let Some((_, left, right)) = found.filter(|(count, ..)| *count >= minimum) else {
            break;
        };
        let sum: u64 = texts.iter().map(|words| count(words, &left, &right)).sum();
        texts
            .iter_mut()
            .chain(&mut judged)
            .for_each(|words| merge(words, &left, &right));
        let product = [&left[..], &right].concat();
        if !tokens.contains(&product) {
            tokens.push(product);
        }
        steps.push((left, right, sum, chooser));
    }
    Some(steps)
}

/// Pieces with the marks of their languages, in an order that mixes them.
fn marked(training: &[Corpus], development: &[Corpus]) -> Corpus {
    let mut all = Vec::new();
    for (kind, texts) in [training, development].into_iter().enumerate() {
        for (language, corpus) in texts.iter().enumerate() {
            let mark = [kind as u8, language as u8];
            all.extend(
                corpus
                    .iter()
                    .map(|(piece, count)| ([&mark[..], piece].concat(), *count)),
            );
        }
    }
    all.sort_by(|a, b| a.0[2..].cmp(&b.0[2..]));
    all
}

fn learn(pieces: &[Piece], options: &ParityOptions, threads: usize) -> Result<ParityTraining> {
    let pieces = || pieces.iter().map(|(piece, count)| (&piece[..], *count));
    let first = match together(pieces(), options, threads)? {
        Some(trainer) => trainer.run(&mut |_| Ok(()))?,
        None => Training::default(),
    };
    Languages::new(pieces(), first, options, threads)?.run(&mut |_| Ok(()))
}

fn steps(learnt: &ParityTraining) -> Vec<Step> {
    let training = &learnt.training;
    let text = |id: u32| training.tokens[id as usize].clone();
    let merges = training
        .merges
        .iter()
        .zip(&training.counts)
        .zip(&learnt.chosen_by);
    merges
        .map(|((merge, &count), &chooser)| (text(merge[0]), text(merge[1]), count, chooser))
        .collect()
}

fn options(languages: usize, has_development: bool, vocab_size: usize) -> ParityOptions {
    let initial: Vec<Vec<u8>> = b" abc".iter().map(|&byte| vec![byte]).collect();
    let marks = |kind: u8| {
        (0..languages)
            .map(|language| vec![kind, language as u8])
            .collect()
    };
    ParityOptions {
        merging: Options {
            symbols: (0..initial.len() as u32).collect(),
            initial,
            vocab_size,
            min_frequency: 2,
            tie: Tie::LargestVisible,
            ..Options::default()
        },
        training: marks(0),
        development: if has_development {
            marks(1)
        } else {
            Vec::new()
        },
        ratios: vec![1.0; if has_development { 0 } else { languages }],
        shared_merges: 0,
        window: None,
        alpha: 2.0,
        pass_over: false,
        preload: Vec::new(),
    }
}

fn corpus() -> impl Strategy<Value = Corpus> {
    proptest::collection::btree_map("[ abc]{1,9}", 1..6_u64, 1..8).prop_map(|pieces| {
        let pieces = pieces.into_iter();
        pieces
            .map(|(piece, count)| (piece.into_bytes(), count))
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn merges_are_the_textbook_s(
        texts in proptest::collection::vec((corpus(), corpus(), 1..4_u32), 1..4), has_development: bool,
        size in 6..30_usize, shared in 0..6_usize, window in proptest::option::of(1..6_usize), alpha in 1..4_u32,
        minimum in 0..4_u64, pass_over: bool,
        preload in proptest::sample::select(vec![vec![], vec![[1_u32, 2]], vec![[0, 1], [4, 4]]]),
        threads in 1..3_usize,
    ) {
        let training: Vec<Corpus> = texts.iter().map(|(text, ..)| text.clone()).collect();
        let mut options = options(texts.len(), has_development, size);
        let development = texts.iter().filter(|_| has_development);
        let development: Vec<Corpus> = development.map(|(_, text, _)| text.clone()).collect();
        for (ratio, (.., wished)) in options.ratios.iter_mut().zip(&texts) {
            *ratio = f64::from(*wished) / 2.0;
        }
        (options.merging.min_frequency, options.pass_over) = (minimum, pass_over);
        (options.shared_merges, options.window) = (shared, window);
        (options.alpha, options.preload) = (f64::from(alpha) / 2.0, preload);
        let expected = by_the_book(&training, &development, &options);
        match learn(&marked(&training, &development), &options, threads) {
            Ok(learnt) => prop_assert_eq!(Some(steps(&learnt)), expected),
            Err(error) => {
                prop_assert_eq!(error.to_string(), "every language has chosen too often lately");
                prop_assert_eq!(expected, None);
            }
        }
    }
}

#[test]
fn the_worst_compressed_language_chooses() {
    let corpus = |words: &[(&str, u64)]| -> Corpus {
        let words = words.iter();
        words
            .map(|(word, count)| (word.as_bytes().to_vec(), *count))
            .collect()
    };
    let training = [
        corpus(&[("abc", 9), ("ba", 3)]),
        corpus(&[(" ca", 4), (" b", 2)]),
    ];
    let development = [corpus(&[("abc", 1)]), corpus(&[(" ca", 2)])];
    let learnt = learn(&marked(&training, &development), &options(2, true, 7), 1).unwrap();
    let chosen: Vec<(Vec<u8>, Vec<u8>, u64, u32)> = [
        (" ", "c", 4, 1), // of equals the larger one: a space is written Ġ
        (" c", "a", 4, 1),
        ("b", "c", 9, 0),
    ]
    .map(|(left, right, count, language)| (left.into(), right.into(), count, language))
    .to_vec();
    assert_eq!(steps(&learnt), chosen);
}

#[test]
fn a_language_without_frequent_pairs_ends_the_training() {
    let training = [vec![(b"abc".to_vec(), 9)], vec![(b"ab".to_vec(), 1)]];
    let learnt = learn(&marked(&training, &[]), &options(2, false, 9), 1).unwrap();
    assert_eq!(steps(&learnt), [(b"b".to_vec(), b"c".to_vec(), 9, 0)]);
    assert!(learnt.training.exhausted);
}

#[test]
fn a_language_without_frequent_pairs_is_passed_over() {
    let training = [vec![(b"abc".to_vec(), 9)], vec![(b"ab".to_vec(), 1)]];
    let mut options = options(2, false, 9);
    options.pass_over = true;
    for window in [None, Some(1)] {
        (options.window, options.alpha) = (window, 0.5);
        let learnt = learn(&marked(&training, &[]), &options, 1).unwrap();
        let texts = |left: &[u8], right: &[u8]| (left.to_vec(), right.to_vec(), 9, 0);
        assert_eq!(steps(&learnt), [texts(b"b", b"c"), texts(b"a", b"bc")]);
        assert!(learnt.training.exhausted);
    }
}

#[test]
fn contradictions_are_named() {
    type Change = fn(&mut ParityOptions);
    let training = [vec![(b"abc".to_vec(), 9)]];
    let pieces = marked(&training, &[]);
    let refusal = |change: Change| {
        let mut broken = options(1, false, 9);
        change(&mut broken);
        learn(&pieces, &broken, 1).unwrap_err().to_string()
    };
    let cases: [(Change, &str); 9] = [
        (
            |options| options.training.clear(),
            "there is no language to learn from",
        ),
        (
            |options| options.ratios.clear(),
            "each language needs a development set, or each a ratio",
        ),
        (
            |options| options.ratios[0] = f64::NAN,
            "ratios and alpha are numbers above 0",
        ),
        (
            |options| options.window = Some(0),
            "a window remembers one choice at least",
        ),
        (
            |options| options.merging.tie = Tie::LowestIds,
            "languages decide ties by the largest visible text",
        ),
        (
            |options| options.training[0] = vec![7, 7],
            "a piece has no mark of a language",
        ),
        (
            |options| options.preload = vec![[0, 4]],
            "the pair of 0 and 4 stands before a token that it is made of",
        ),
        (
            |options| (options.preload, options.merging.vocab_size) = (vec![[0, 1]], 4),
            "the merges that are given make 5 tokens, and the vocabulary has 4",
        ),
        (
            |options| options.merging.boundary_mark = b"|".to_vec(),
            "languages are learnt from by plain bytes",
        ),
    ];
    for (change, sentence) in cases {
        assert_eq!(refusal(change), sentence);
    }
}
