//! Scores as Hugging Face's library has them once it has read them.
//!
//! Its reader of JSON takes the digits of a number for a whole one and divides it by a power of ten, which rounds twice: a
//! number of 16 or 17 digits, as logarithms have, may come out one unit in the last place beside what is written. Of the
//! 32,100 scores of T5, 8,334 do. That decides between segmentations whose exact sums are the same: of seven hyphens, which
//! T5 has as one and as three, the single one comes last there, and first by the numbers that are written. The ids that
//! models were trained with are the library's, so scores are taken as it reads them.

/// Powers of ten that a number of this kind holds exactly.
const EXACT: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// The score that the library has where this one is written, in as few digits as tell it from all others.
pub(super) fn as_read(score: f64) -> f64 {
    if !score.is_finite() {
        return score;
    }
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format_finite(score.abs());
    let (digits, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let digits = whole.bytes().chain(fraction.bytes()); // 18 at most besides leading zeros
    let significand = digits.fold(0_u64, |number, digit| 10 * number + u64::from(digit - b'0'));
    let exponent = exponent.parse::<i32>().unwrap_or(0) - fraction.len() as i32;
    scaled(significand as f64, exponent).copysign(score)
}

/// A number times a power of ten, rounded as the library does.
fn scaled(number: f64, exponent: i32) -> f64 {
    let power = |exponent: i32| {
        let exact = EXACT.get(exponent as usize).copied();
        exact.unwrap_or_else(|| format!("1e{exponent}").parse().unwrap_or(f64::INFINITY))
    };
    match exponent {
        0.. => number * power(exponent),
        -308.. => number / power(-exponent),
        _ => number / power(308) / power(-exponent - 308),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn scores_of_t5_are_those_that_the_library_shows() {
        for (written, read) in [
            (-2.012_292_861_938_476_6, -2.012_292_861_938_477),
            (-3.959_851_264_953_613_3, -3.959_851_264_953_613_7),
            (-7.437_090_396_881_103_5, -7.437_090_396_881_104),
            (-12.130_167_007_446_289, -12.130_167_007_446_287),
            (-5.129_043_102_264_404, -5.129_043_102_264_404),
        ] {
            assert_eq!(as_read(written).to_bits(), f64::to_bits(read), "{written}");
        }
    }

    #[test]
    fn numbers_at_the_limits_stay() {
        for number in [
            0.0,
            -0.0,
            1.0,
            -1e300,
            1e-300,
            f64::MIN_POSITIVE,
            f64::MAX,
            5e-324,
            1e22,
            -1e-7,
        ] {
            let read = as_read(number);
            assert!(
                (read - number).abs() <= number.abs() * 4.0 * f64::EPSILON,
                "{number} {read}"
            );
            assert_eq!(read.is_sign_negative(), number.is_sign_negative());
        }
        for number in [f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(as_read(number), number);
        }
        assert!(as_read(f64::NAN).is_nan());
    }

    proptest! {
        #[test]
        fn what_has_few_digits_is_what_is_written(digits in 0..1_000_000_000_000_000_i64, places in 0..=15_u32) {
            let number = digits as f64 / 10_f64.powi(places as i32);
            prop_assert_eq!(as_read(-number), -number);
        }

        #[test]
        fn no_score_moves_far(score in -1e3..0.0) {
            prop_assert!((as_read(score) - score).abs() <= 2.0 * f64::EPSILON * score.abs());
        }
    }
}
