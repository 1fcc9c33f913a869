//! Every way that dropout can go, with its probability, as the oracle for what is drawn.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::models::bpe::Bpe;
use crate::models::character_pairs::{CharacterPairs, Settings};
use crate::models::model::{Model, Tables};
use crate::models::scored_pairs::ScoredPairs;
use crate::models::scratch::Scratch;
use crate::random::Place;
use crate::tables::TokenTable;

type Distribution = BTreeMap<Vec<u32>, f64>;

const TOKENS: [&str; 8] = ["a", "b", "c", "ab", "bc", "abc", "aa", "ca"];
/// `abc` has a split that comes after it in the list, and a part that comes before its own.
const MERGES: [[u32; 3]; 6] = [
    [0, 1, 3],
    [3, 2, 5],
    [1, 2, 4],
    [0, 4, 5],
    [0, 0, 6],
    [2, 0, 7],
];

fn tokens() -> TokenTable<'static> {
    TokenTable::of(TOKENS).unwrap()
}

fn pairs() -> [Box<dyn Model>; 2] {
    [
        Box::new(Bpe::from_merges(tokens(), &MERGES, false).unwrap()),
        Box::new(CharacterPairs::new(tokens(), &MERGES, Settings::default()).unwrap()),
    ]
}

fn scored(kinds: &[u8]) -> ScoredPairs {
    let tables = Tables {
        tokens: tokens(),
        scores: vec![0.0, 0.0, 0.0, -1.0, -1.0, -2.0, -4.0, -5.0],
        kinds: kinds.to_vec(),
        ..Tables::default()
    };
    ScoredPairs::new(tables, 99, false).unwrap()
}

fn by_list(left: u32, right: u32) -> Option<(u32, u32)> {
    let number = MERGES.iter().position(|m| m[..2] == [left, right])?;
    Some((number as u32, MERGES[number][2]))
}

/// `ab` and `bc` share a score, so that the leftmost goes first.
fn by_score(left: u32, right: u32) -> Option<(u32, u32)> {
    let text = [TOKENS[left as usize], TOKENS[right as usize]].concat();
    let product = TOKENS.iter().position(|token| *token == text)? as u32;
    Some((product.max(4), product))
}

type Order = fn(u32, u32) -> Option<(u32, u32)>;

/// Candidates, first to last: (place, product).
fn candidates(parts: &[u32], order: Order) -> Vec<(usize, u32)> {
    let mut found: Vec<_> = (0..parts.len() - 1)
        .filter_map(|at| order(parts[at], parts[at + 1]).map(|(number, id)| (number, at, id)))
        .collect();
    found.sort_unstable();
    found.into_iter().map(|(_, at, id)| (at, id)).collect()
}

fn merged(parts: &[u32], at: usize, product: u32) -> Vec<u32> {
    [&parts[..at], &[product], &parts[at + 2..]].concat()
}

fn drawn_anew(parts: &[u32], order: Order, p: f64, weight: f64, out: &mut Distribution) {
    let mut weight = weight;
    for (at, product) in candidates(parts, order) {
        let next = merged(parts, at, product);
        drawn_anew(&next, order, p, weight * (1.0 - p), out);
        weight *= p;
    }
    *out.entry(parts.to_vec()).or_default() += weight;
}

fn lasting(
    parts: &[u32],
    order: Order,
    dropped: &BTreeSet<(usize, usize)>,
    p: f64,
    weight: f64,
    out: &mut Distribution,
) {
    // A candidate is known by the letters that it spans.
    let offset = |at: usize| {
        let before = parts[..at].iter();
        before.map(|&id| TOKENS[id as usize].len()).sum::<usize>()
    };
    let span = |at: usize| (offset(at), offset(at + 2));
    let mut first = candidates(parts, order)
        .into_iter()
        .filter(|&(at, _)| !dropped.contains(&span(at)));
    let Some((at, product)) = first.next() else {
        *out.entry(parts.to_vec()).or_default() += weight;
        return;
    };
    let next = merged(parts, at, product);
    lasting(&next, order, dropped, p, weight * (1.0 - p), out);
    let mut dropped = dropped.clone();
    dropped.insert(span(at));
    lasting(parts, order, &dropped, p, weight * p, out);
}

fn spell(piece: &str) -> Vec<u32> {
    piece.bytes().map(|byte| u32::from(byte - b'a')).collect()
}

fn drawn(model: &dyn Model, piece: &str, sampling: Sampling, times: usize) -> Distribution {
    let mut scratch = Scratch::default();
    let mut out = Distribution::new();
    let mut draw = Draw::at(Place {
        seed: 7,
        document: 0,
        offset: 0,
    });
    for _ in 0..times {
        let mut found = Vec::new();
        let bytes = piece.as_bytes();
        model
            .sample_piece(bytes, sampling, &mut draw, &mut scratch, &mut found)
            .unwrap();
        let ids = found.iter().map(|found| found.id).collect();
        *out.entry(ids).or_default() += 1.0 / times as f64;
    }
    out
}

/// Frequencies lie within six standard deviations of the probabilities.
fn assert_close(found: &Distribution, expected: &Distribution, times: usize) {
    let total: f64 = expected.values().sum();
    assert!((total - 1.0).abs() < 1e-9, "{total}");
    for ids in found.keys() {
        assert!(expected.contains_key(ids), "{ids:?} cannot be");
    }
    for (ids, &probability) in expected {
        let frequency = found.get(ids).copied().unwrap_or(0.0);
        let deviation = (probability * (1.0 - probability) / times as f64).sqrt();
        assert!(
            (frequency - probability).abs() <= 6.0 * deviation + 1e-12,
            "{ids:?}: {frequency} instead of {probability}"
        );
    }
}

#[test]
fn two_independent_merges() {
    // Of ab and ca, both, one or none: letters apart are a, b, c, a.
    let piece = "abca";
    let both = vec![3, 7];
    let (first, second, none) = (vec![3, 2, 0], vec![0, 1, 7], vec![0, 1, 2, 0]);
    let merges = [MERGES[0], MERGES[5]];
    let model = CharacterPairs::new(tokens(), &merges, Settings::default()).unwrap();
    let times = 40_000;
    for (sampling, probabilities) in [
        (Sampling::Dropout(0.5), [0.375, 0.25, 0.25, 0.125]),
        (Sampling::LastingDropout(0.5), [0.25; 4]),
    ] {
        let [p_both, p_first, p_none, p_second] = probabilities;
        let expected = Distribution::from([
            (both.clone(), p_both),
            (first.clone(), p_first),
            (none.clone(), p_none),
            (second.clone(), p_second),
        ]);
        assert_close(&drawn(&model, piece, sampling, times), &expected, times);
    }
}

#[test]
fn what_is_drawn_has_the_probabilities_of_all_ways() {
    let times = 20_000;
    let [bytes, characters] = pairs();
    let scored = scored(&[]);
    let models: [(&dyn Model, Order); 3] = [
        (&*bytes, by_list),
        (&*characters, by_list),
        (&scored, by_score),
    ];
    for (model, order) in models {
        for piece in ["abc", "aabca", "abcabc", "aaaa"] {
            for p in [0.1, 0.5, 0.8] {
                let mut expected = Distribution::new();
                drawn_anew(&spell(piece), order, p, 1.0, &mut expected);
                let found = drawn(model, piece, Sampling::Dropout(p), times);
                assert_close(&found, &expected, times);

                let mut expected = Distribution::new();
                let none = BTreeSet::new();
                lasting(&spell(piece), order, &none, p, 1.0, &mut expected);
                let found = drawn(model, piece, Sampling::LastingDropout(p), times);
                assert_close(&found, &expected, times);
            }
        }
    }
}

#[test]
fn nothing_or_everything_is_dropped() {
    let [bytes, characters] = pairs();
    let long = "abc".repeat(30);
    for model in [&*bytes, &*characters, &scored(&[]) as &dyn Model] {
        for sampling in [Sampling::Dropout(1.0), Sampling::LastingDropout(1.0)] {
            let found = drawn(model, &long, sampling, 1);
            assert_eq!(found.keys().next(), Some(&spell(&long)));
        }
        let mut whole = Vec::new();
        let mut scratch = Scratch::default();
        model
            .encode_piece(long.as_bytes(), &mut scratch, &mut whole)
            .unwrap();
        let ids: Vec<u32> = whole.iter().map(|found| found.id).collect();
        for sampling in [
            Sampling::Dropout(0.0),
            Sampling::LastingDropout(0.0),
            Sampling::Dropout(1e-300),
        ] {
            assert_eq!(
                drawn(model, &long, sampling, 1).keys().next(),
                Some(&ids),
                "{sampling:?}"
            );
        }
    }
}

#[test]
fn an_unused_piece_becomes_what_it_was_merged_from() {
    // abc is unused: from ab and c, or with ab dropped from a and bc.
    let model = scored(&[1, 1, 1, 1, 1, 5, 1, 1]);
    let found = drawn(&model, "abc", Sampling::Dropout(0.5), 1000);
    let seen: Vec<_> = found.keys().cloned().collect();
    assert_eq!(seen, [vec![0, 1, 2], vec![0, 4], vec![3, 2]]);
}

#[test]
fn what_is_no_probability_is_refused() {
    for number in [-0.1, 1.5, f64::NAN] {
        let error = Dropout::of(Sampling::Dropout(number)).unwrap_err();
        assert!(error.to_string().contains("from 0 to 1"), "{error}");
    }
    let segmentation = Sampling::Segmentation {
        alpha: 1.0,
        nbest: 0,
    };
    assert!(Dropout::of(segmentation).is_err());
}
