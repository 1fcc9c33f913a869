//! What is said of many places at once is what is said of each.

use super::*;
use crate::random::tests::{begin, below};

#[test]
fn the_pairs_are_those_that_were_given() {
    let holds = |first: u8, second: u8| first.wrapping_mul(37) ^ second > 100;
    let pairs = BytePairs::of(holds);
    for first in 0..=u8::MAX {
        for second in 0..=u8::MAX {
            assert_eq!(pairs.has(first, second), holds(first, second));
        }
    }
}

/// Few kinds of first bytes, or many.
fn sets() -> [(BytePairs, bool); 4] {
    [
        (BytePairs::of(|_, _| false), true),
        (BytePairs::of(|_, _| true), true),
        (
            BytePairs::of(|a, b| a % 5 == 1 && b > 140 || a % 5 == 3 && b == b' '),
            true,
        ),
        (BytePairs::of(|a, b| a.wrapping_mul(37) ^ b > 230), false),
    ]
}

#[test]
fn no_place_is_missed_and_none_too_many_where_kinds_are_few() {
    let draw = &mut begin(1);
    let text: Vec<u8> = (0..500).map(|_| below(draw, 256) as u8).collect();
    let mut sure = 0;
    for (pairs, is_exact) in sets() {
        for length in [0, 1, 2, 63, 64, 65, 66, 130, 500] {
            let text = &text[..length];
            for at in 0..=length {
                let bits = pairs.likely(text, at);
                for place in 0..PLACES {
                    let two = text[at..].get(place..place + 2);
                    let has = two.is_some_and(|two| pairs.has(two[0], two[1]));
                    let likely = bits >> place & 1 != 0;
                    assert!(likely || !has);
                    assert!(!likely || has || !is_exact && two.is_some());
                    sure += usize::from(!likely);
                }
            }
        }
    }
    assert!(sure > 1000);
}

#[test]
fn fewer_pairs_are_certain_and_those_that_are_worth_most_stay() {
    let draw = &mut begin(3);
    let (mut all, mut kept) = (0, 0);
    for round in 0..15 {
        // As many kinds of first bytes as can be told apart, or more; and some bytes that are worth nothing.
        let kinds = 1 + below(draw, if round % 3 == 0 { 8 } else { 60 });
        let rows: Vec<[u8; 256]> = (0..kinds)
            .map(|_| std::array::from_fn(|_| u8::from(below(draw, 4) > 0)))
            .collect();
        let of: [usize; 256] = std::array::from_fn(|_| below(draw, kinds + 1));
        let pairs = BytePairs::of(|first, second| {
            let row = rows.get(of[usize::from(first)]);
            row.is_some_and(|row| row[usize::from(second)] != 0)
        });
        let first: [u64; 256] = std::array::from_fn(|_| below(draw, 3) as u64);
        let second: [u64; 256] = std::array::from_fn(|byte| if byte == 32 { 1 << 40 } else { 1 });
        let fewer = pairs.certain(&first, &second);
        assert!(fewer.is_certain());
        assert_eq!(pairs.is_certain(), kinds <= 8, "{round}");
        for a in 0..=u8::MAX {
            for b in 0..=u8::MAX {
                assert!(pairs.has(a, b) || !fewer.has(a, b));
                assert!(!pairs.is_certain() || fewer.has(a, b) == pairs.has(a, b));
                let counts = first[usize::from(a)] > 0 && b == 32;
                all += usize::from(counts && pairs.has(a, b));
                kept += usize::from(counts && fewer.has(a, b));
            }
        }
        let text: Vec<u8> = (0..200).map(|_| below(draw, 256) as u8).collect();
        let bits = fewer.likely(&text, 5);
        for place in 0..PLACES {
            assert_eq!(
                bits >> place & 1 != 0,
                fewer.has(text[5 + place], text[6 + place])
            );
        }
    }
    assert_eq!(kept, all, "what is worth most is never lost");
}

#[test]
fn every_machine_says_the_same() {
    let draw = &mut begin(2);
    for (pairs, _) in sets() {
        for _ in 0..200 {
            let stretch = std::array::from_fn(|_| below(draw, 256) as u8);
            let anywhere = pairs.classes.likely_anywhere(&stretch);
            assert_eq!(pairs.classes.likely(&stretch), anywhere);
        }
    }
}
