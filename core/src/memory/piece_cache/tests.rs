//! What the cache of pieces says, and that it says nothing else.

use super::*;
use crate::memory::budget::{Budget, LEAST};
use crate::memory::key::pack;
use crate::memory::slots::COUNT_SHIFT;
use proptest::prelude::*;

/// Buckets of a worker that gets what it wants.
const WANTED: usize = 1 << 20;
/// Buckets of one of [`MANY`] workers.
const FEWER: usize = 1 << 18;
const MANY: usize = 32;

#[test]
fn recalls_exactly_what_it_was_told() {
    let mut cache = PieceCache::default();
    let highest = (1 << COUNT_SHIFT) - 1;
    for count in 1..=15 {
        let key = pack(b"piece of a text", 0, count).unwrap();
        let ids = vec![highest; count];
        let mut out = vec![7];
        assert!(!cache.recall(key, &mut out));
        cache.remember(key, &ids);
        assert!(cache.recall(key, &mut out));
        assert_eq!(out[1..], ids);
    }
}

#[test]
fn a_long_piece_is_compared() {
    let mut cache = PieceCache::default();
    let (piece, other) = (b"a piece of 24 letters...", b"another with 24 letters.");
    let key = key::pack_any(piece, 0, piece.len());
    cache.insert(key, piece, &[1, 2], Some(0.5));
    let mut out = Vec::new();
    assert_eq!(
        cache.find(key, other, &mut out),
        None,
        "the key is not enough"
    );
    assert_eq!(cache.find(key, piece, &mut out), Some(0.5));
    assert_eq!(out, [1, 2]);
}

#[test]
fn grows_and_never_says_what_it_was_not_told() {
    let mut cache = PieceCache::default();
    let ids = |number: u64| [number as u32, !number as u32 >> 3];
    let key = |number: u64| pack(&number.to_le_bytes(), 0, 8).unwrap();
    let (mut out, mut found) = (Vec::new(), 0);
    let mut sizes = vec![cache.buckets];
    for number in 0..1_000_000 {
        cache.remember(key(number), &ids(number));
        if sizes.last() != Some(&cache.buckets) {
            sizes.push(cache.buckets);
        }
        let other = number * 7919 % 1_000_000;
        out.clear();
        if cache.recall(key(other), &mut out) {
            assert!(other <= number && out == ids(other));
            found += 1;
        }
    }
    assert!(found > 100_000, "{found} were found again");
    assert_eq!(cache.buckets, WANTED);
    assert_eq!(sizes, [8, 10, 12, 14, 16, 18, 19, 20].map(|bits| 1 << bits));
    assert_eq!(cache.units[cache.padding..].as_ptr().addr() % LINE, 0);
}

#[test]
fn growing_loses_nothing() {
    let key = |number: u64| {
        let digits = number.to_string();
        pack(digits.as_bytes(), 0, digits.len()).unwrap()
    };
    for (first, times) in [(FIRST_BUCKETS, 4), (1 << 16, 4), (FEWER, 2)] {
        for workers in [1, MANY] {
            let mut cache = PieceCache::new(Budget::default().share(workers));
            assert!(cache.allocate(first));
            let room = cache.units.len();
            for number in 0..2 * first as u64 {
                cache.insert(key(number), &[], &[number as u32], None);
            }
            let known = |cache: &mut PieceCache| -> Vec<Vec<u32>> {
                let recall = |number| {
                    let mut ids = Vec::new();
                    cache.recall(key(number), &mut ids);
                    ids
                };
                (0..2 * first as u64).map(recall).collect()
            };
            let before = known(&mut cache);
            cache.enlarge(times);
            assert!(known(&mut cache) == before, "{first} x {times}");
            let there = before.iter().filter(|ids| !ids.is_empty()).count();
            assert!(there > first, "{there} of {first}");
            let in_place = first == 1 << 16 || first == FEWER && workers == 1;
            assert_eq!(cache.units.len() == room, in_place, "{first} {workers}");
        }
    }
}

#[test]
fn what_the_system_refuses_leaves_it_as_it_is() {
    let mut cache = PieceCache::new(Share::default());
    cache.most_buckets = 1 << 57; // with more bytes than a list may have
    let key = |number: u32| pack(&number.to_le_bytes(), 0, 4).unwrap();
    let numbers = 0..1 << 18;
    for number in numbers.clone() {
        cache.remember(key(number), &[number]);
    }
    // The next one would have room for all there may be.
    assert_eq!((cache.buckets, cache.most_buckets), (1 << 14, 1 << 14));
    let mut found = 0;
    for number in numbers {
        let mut out = Vec::new();
        if cache.recall(key(number), &mut out) {
            assert_eq!(out, [number]);
            found += 1;
        }
    }
    assert!(found > 1 << 14, "{found} were found again");
}

/// A piece of any length, and ids that are its own.
fn piece(number: usize) -> (Vec<u8>, Vec<u32>) {
    let mut piece = number.to_string().into_bytes();
    piece.resize(piece.len() + number * number % 40, b'.');
    let ids = (0..1 + number % 7).map(|at| (number + at) as u32);
    (piece, ids.collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Whatever a cache may take, and however that changes: it takes no more, and says nothing that it was not told.
    #[test]
    fn heeds_its_share(
        shares in prop::collection::vec((0..=24_u32, 0..1000_usize, 1..70_usize), 1..8), pieces in 1..30_000_usize,
    ) {
        let mut cache = PieceCache::default();
        let mut number = 0;
        for (bits, more, workers) in shares {
            let share = Budget { bytes: (1 << bits) * (1000 + more) / 50 }.share(workers);
            cache.set_share(share);
            for _ in 0..pieces {
                number += 1;
                let (bytes, ids) = piece(number % 50_000);
                let key = key::pack_any(&bytes, 0, bytes.len());
                cache.grow();
                cache.insert(key, &bytes, &ids, Some(number as f32));
                let (bytes, ids) = piece(number * 7919 % 50_000);
                let mut out = Vec::new();
                let key = key::pack_any(&bytes, 0, bytes.len());
                if cache.find(key, &bytes, &mut out).is_some() {
                    prop_assert_eq!(out, ids);
                }
            }
            prop_assert!(cache.bytes() <= share.most.max(LEAST), "{} of {}", cache.bytes(), share.most);
        }
        cache.clear();
        prop_assert!(cache.bytes() <= FIRST_BUCKETS * LINE + LINE);
    }
}

#[test]
fn gives_back_only_what_is_over() {
    let budget = Budget::default();
    let mut cache = PieceCache::new(budget.share(1));
    let (key, mut out) = (pack(b"a", 0, 1).unwrap(), Vec::new());
    cache.allocate(WANTED);
    cache.remember(key, &[1]);
    for workers in [2, 8, 1, 7] {
        cache.set_share(budget.share(workers));
        assert!(cache.recall(key, &mut out), "{workers} workers");
    }
    cache.set_share(budget.share(9));
    assert!(
        !cache.recall(key, &mut out),
        "it was too large for one of 9"
    );
    assert!(cache.bytes() < 1 << 15);
}
