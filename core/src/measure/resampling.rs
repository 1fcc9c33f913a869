//! How sure a difference is: two tokenizers' counts on the same units, drawn again and again.
//!
//! The paired bootstrap (Efron and Tibshirani, *An Introduction to the Bootstrap*, 1993) draws units
//! with replacement; the sign-flip test (approximate randomization: Noreen, *Computer-Intensive Methods
//! for Testing Hypotheses*, 1989) swaps the two tokenizers at random in each unit. Each resample has a
//! generator of its own, so threads change nothing. An index is drawn as the high half of 32 random
//! bits times the number of units: it favours none by more than the number of units in 2^32.
//!
//! Complexity: units times resamples.

use std::cmp::Ordering;

use crate::error::{Result, ensure};
use crate::random::{Draw, Place};
use crate::threads;

/// What draws are for, so that the two kinds of them are independent.
const BOOTSTRAP: u64 = 0;
const SIGN_FLIP: u64 = 1;

/// Resamples that a thread takes at once.
const BATCH: usize = 64;

/// The 95% percentile interval of the ratio of sums, first to second, over resampled units.
///
/// Of R ratios in order, its ends are those that have floor(0.025 (R + 1)) - 1 ratios before them and
/// after them. None if there are no units, or a resample has none of the second's tokens.
///
/// # Errors
/// [`Error::Invalid`](crate::Error::Invalid) when there are not as many units on both sides, too many, or too few resamples
/// for such an interval (39).
pub fn bootstrap_interval(
    first: &[u64],
    second: &[u64],
    resamples: usize,
    seed: u64,
    threads: usize,
) -> Result<Option<(f64, f64)>> {
    check(first, second)?;
    let tail = (resamples + 1) / 40;
    ensure!(
        tail != 0,
        "{resamples} resamples are too few for a 95% interval: it takes 39"
    );
    if first.is_empty() {
        return Ok(None);
    }
    let units: Vec<[u64; 2]> = first.iter().zip(second).map(|(&a, &b)| [a, b]).collect();
    let mut ratios = resample(resamples, threads, |number| {
        let mut draw = begin(seed, number, BOOTSTRAP);
        let [a, b] = sums_of_drawn(&units, &mut draw);
        (b > 0).then(|| a as f64 / b as f64)
    });
    if ratios.iter().any(Option::is_none) {
        return Ok(None);
    }
    ratios.sort_unstable_by(|one, other| one.partial_cmp(other).unwrap_or(Ordering::Equal));
    let end = |place: usize| ratios[place].unwrap_or_default();
    Ok(Some((end(tail - 1), end(resamples - tail))))
}

/// Draws as many units as there are, with replacement, and adds them up.
#[inline]
fn sums_of_drawn(units: &[[u64; 2]], draw: &mut Draw) -> [u64; 2] {
    let count = units.len() as u64;
    let mut sums = [0; 2];
    let mut add = |bits: u64| {
        let [a, b] = units[((bits * count) >> 32) as usize];
        sums[0] += a;
        sums[1] += b;
    };
    for _ in 0..units.len() / 2 {
        let bits = draw.bits();
        add(bits & 0xFFFF_FFFF);
        add(bits >> 32);
    }
    if !units.len().is_multiple_of(2) {
        add(draw.bits() >> 32);
    }
    sums
}

/// The probability of a difference of sums as large as this one, to either side, if in each unit it
/// were up to chance which count is whose: (1 + how many of R swapped ones are as large) / (1 + R).
///
/// Swapping leaves the sum of both as it is, so the order of |log(a / b)| is that of |a - b|, which is
/// compared exactly.
///
/// # Errors
/// [`Error::Invalid`](crate::Error::Invalid) when there are not as many units on both sides, or too many.
pub fn sign_flip(
    first: &[u64],
    second: &[u64],
    resamples: usize,
    seed: u64,
    threads: usize,
) -> Result<f64> {
    check(first, second)?;
    let differences: Vec<i64> = first
        .iter()
        .zip(second)
        .map(|(&a, &b)| a as i64 - b as i64)
        .collect();
    let observed: i64 = differences.iter().sum();
    let as_large = resample(resamples, threads, |number| {
        let mut draw = begin(seed, number, SIGN_FLIP);
        let mut swapped = 0;
        for some in differences.chunks(64) {
            let bits = draw.bits();
            swapped += some
                .iter()
                .enumerate()
                .map(|(place, &difference)| difference & -((bits >> place & 1) as i64))
                .sum::<i64>();
        }
        (observed - 2 * swapped).abs() >= observed.abs()
    });
    let count = as_large.iter().filter(|&&large| large).count();
    Ok((1 + count) as f64 / (1 + resamples) as f64)
}

fn check(first: &[u64], second: &[u64]) -> Result<()> {
    ensure!(
        first.len() == second.len(),
        "{} units of one tokenizer cannot be paired with {}",
        first.len(),
        second.len()
    );
    ensure!(
        u32::try_from(first.len()).is_ok(),
        "there are 2^32 units or more"
    );
    // No sum of as many as are drawn, and no difference of sums, may pass i64.
    let largest = first.iter().chain(second).max().copied().unwrap_or(0);
    ensure!(
        u128::from(largest) * first.len() as u128 * 2 <= i64::MAX as u128,
        "the units' counts are too large to be added"
    );
    Ok(())
}

fn begin(seed: u64, number: usize, what_for: u64) -> Draw {
    Draw::at(Place {
        seed,
        document: number as u64,
        offset: what_for,
    })
}

/// Calls `each` for every resample, on several threads, and gives the results in order.
fn resample<R: Send>(resamples: usize, threads: usize, each: impl Fn(usize) -> R + Sync) -> Vec<R> {
    let batches = (0..resamples).step_by(BATCH);
    let batch = |start| -> Vec<R> { (start..resamples.min(start + BATCH)).map(&each).collect() };
    let batches = threads::map(batches, threads, batch);
    batches.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_constant_ratio_is_certain() {
        let (first, second) = ([2, 4, 6, 8, 10, 12], [1, 2, 3, 4, 5, 6]);
        let interval = bootstrap_interval(&first, &second, 999, 1, 2).unwrap();
        assert_eq!(interval, Some((2.0, 2.0)));
        // All flips that keep |a - b| are the two with all signs alike: 2 of 64.
        let p = sign_flip(&first, &second, 100_000, 1, 2).unwrap();
        assert!((p - 2.0 / 64.0).abs() < 0.003, "{p}");
    }

    #[test]
    fn the_test_is_exact_where_all_flips_can_be_listed() {
        let (first, second) = ([9_u64, 4, 7, 3, 8], [5_u64, 6, 5, 1, 8]);
        let observed: i64 = 31 - 25;
        let as_large = (0..32u32).filter(|flips| {
            let sum: i64 = (0..5)
                .map(|i| {
                    (first[i] as i64 - second[i] as i64) * if flips >> i & 1 == 1 { -1 } else { 1 }
                })
                .sum();
            sum.abs() >= observed.abs()
        });
        let expected = as_large.count() as f64 / 32.0;
        let p = sign_flip(&first, &second, 200_000, 0, 1).unwrap();
        assert!((p - expected).abs() < 0.004, "{p} {expected}");
    }

    #[test]
    fn what_cannot_be_told() {
        assert_eq!(bootstrap_interval(&[], &[], 100, 0, 1), Ok(None));
        assert_eq!(bootstrap_interval(&[1, 1], &[0, 1], 100, 0, 1), Ok(None));
        assert!(bootstrap_interval(&[1], &[1], 38, 0, 1).is_err());
        assert!(bootstrap_interval(&[1], &[1, 2], 100, 0, 1).is_err());
        assert!(sign_flip(&[u64::MAX], &[1], 100, 0, 1).is_err());
        assert_eq!(sign_flip(&[3, 1], &[3, 1], 100, 0, 1), Ok(1.0));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn threads_change_nothing_and_ends_are_in_order(
            pairs in proptest::collection::vec((1u64..1000, 1u64..1000), 1..70),
            seed in any::<u64>(),
        ) {
            let first: Vec<u64> = pairs.iter().map(|pair| pair.0).collect();
            let second: Vec<u64> = pairs.iter().map(|pair| pair.1).collect();
            let one = bootstrap_interval(&first, &second, 500, seed, 1).unwrap();
            prop_assert_eq!(one, bootstrap_interval(&first, &second, 500, seed, 3).unwrap());
            let (low, high) = one.unwrap();
            let ratios = pairs.iter().map(|pair| pair.0 as f64 / pair.1 as f64);
            prop_assert!(low <= high);
            prop_assert!(ratios.clone().fold(f64::MAX, f64::min) <= low);
            prop_assert!(high <= ratios.fold(0.0, f64::max));
            let p = sign_flip(&first, &second, 500, seed, 1).unwrap();
            prop_assert_eq!(p, sign_flip(&second, &first, 500, seed, 4).unwrap());
        }
    }
}
