//! What the cache of pieces says, and that it says nothing else.

use super::*;
use crate::memory::slots::COUNT_SHIFT;

#[test]
fn keys_differ_by_content_and_length() {
    let text = b"a\0\0bcdefghijklmnopqrstuvwxyz";
    assert_ne!(
        key(text, 0, 1),
        key(text, 0, 2),
        "trailing zero bytes count"
    );
    assert_eq!(
        key(text, 3, 6),
        key(b"bcd", 0, 3),
        "the way it is loaded does not"
    );
    assert_eq!(key(text, 3, 18), key(&text[..18], 3, 18));
    assert_eq!(key(text, 3, 19), None);
    assert_ne!(long_key(&text[..16]), long_key(&text[..17]));
    assert_eq!(long_key(&[0; MAX_LONG + 1]), None);
}

#[test]
fn recalls_exactly_what_it_was_told() {
    let mut cache = PieceCache::default();
    let highest = (1 << COUNT_SHIFT) - 1;
    for count in 1..=15 {
        let key = key(b"piece of a text", 0, count).unwrap();
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
    let key = long_key(piece).unwrap();
    cache.put(key, piece, &[1, 2]);
    let mut out = Vec::new();
    assert!(!cache.find(key, other, &mut out), "the key is not enough");
    assert!(cache.find(key, piece, &mut out));
    assert_eq!(out, [1, 2]);
}

#[test]
fn grows_and_never_says_what_it_was_not_told() {
    let mut cache = PieceCache::default();
    let ids = |number: u64| [number as u32, !number as u32 >> 3];
    let key = |number: u64| key(&number.to_le_bytes(), 0, 8).unwrap();
    let (mut out, mut found) = (Vec::new(), 0);
    for number in 0..1_000_000 {
        cache.remember(key(number), &ids(number));
        let other = number * 7919 % 1_000_000;
        out.clear();
        if cache.recall(key(other), &mut out) {
            assert!(other <= number && out == ids(other));
            found += 1;
        }
    }
    assert!(found > 100_000, "{found} were found again");
    assert_eq!(cache.buckets, LAST_BUCKETS);
    assert_eq!(cache.units[cache.padding..].as_ptr().addr() % LINE, 0);
}

#[test]
fn growing_loses_nothing() {
    let key = |number: u64| {
        let digits = number.to_string();
        key(digits.as_bytes(), 0, digits.len()).unwrap()
    };
    for (first, times) in [(FIRST_BUCKETS, 4), (1 << 15, 4), (LAST_BUCKETS, 2)] {
        for alone in [false, true] {
            let mut cache = PieceCache::default();
            cache.alone(alone);
            cache.allocate(first);
            let room = cache.units.len();
            for number in 0..2 * first as u64 {
                cache.put(key(number), &[], &[number as u32]);
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
            let in_place = first == 1 << 15 || first == LAST_BUCKETS && alone;
            assert_eq!(cache.units.len() == room, in_place, "{first} {alone}");
        }
    }
}
