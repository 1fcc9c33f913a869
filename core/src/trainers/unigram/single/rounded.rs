//! Sums of logarithms and exponentials in f32, bit for bit as the C library gives them, mostly without it.
//!
//! What is wanted is a number in f64, rounded to f32. An approximation whose error is bounded gives two
//! numbers that the wanted one lies between. Rounding never changes the order of numbers: if both round to
//! the same f32, the wanted one does. Else, once in thousands of times, the library is asked.

use std::sync::LazyLock;

use crate::models::unigram::real::Real;

/// Into how many cells 1 is cut, in each of which a polynomial stands for a function; a power of two.
const CELLS: f32 = 32.0;
/// A number from here on has its last bit worth 1 / [`CELLS`]: adding it rounds to the middle of a cell.
const GRID: f32 = (1 << 18) as f32;
/// How many cells a table has; the last bits of a rounded number say which one.
const ROWS: usize = 1 << 11;
/// What lies lower counts as this.
const LOWEST: f32 = -30.0;
/// Where differences begin in their table, and exponents in theirs.
const DIFFERENCES: f32 = GRID + 32.0;
const EXPONENTS: f32 = GRID + 62.0;

/// By how much log(1 + exp(x)) is missed at most.
///
/// In a cell: what Taylor's polynomial of the third degree leaves is at most h⁴ / 24 times the largest fourth
/// derivative, s (1 - s) (1 - 6s + 6s²) for s = 1 / (1 + exp(-x)), which is nowhere beyond 1/8; half a cell is
/// h = 1/64, so that is 3.11e-10. Below -22, where 0 stands for it, it is less than 2.8e-10. The rest is more than
/// what rounding in f64 makes of it, here and in the library, whose terms are all about 1 or less.
const SUM_ERROR: f64 = 3.2e-10;
/// By which share of it exp(x) is missed at most: Taylor's polynomial of the fourth degree leaves h⁵ / 120 (1 + h),
/// which is 7.9e-12; the rest is more than what rounding makes of it.
const EXP_ERROR: f64 = 1e-11;

/// The middle of a cell.
fn middle(row: usize, start: f32) -> f64 {
    f64::from(row as f32 / CELLS - (start - GRID))
}

fn row_of(rounded: f32) -> usize {
    rounded.to_bits() as usize % ROWS
}

/// Polynomials in place of the functions.
pub struct Rounded {
    /// log(1 + exp(x)): the coefficients of 1, x, x² and x³.
    softplus: Box<[[f64; 4]; ROWS]>,
    /// exp(x) in the middle of each cell; no number where there are no cells.
    exponentials: Box<[f64; ROWS]>,
}

static ROUNDED: LazyLock<Rounded> = LazyLock::new(Rounded::new);

impl Rounded {
    /// The tables, which are made once.
    pub fn get() -> &'static Self {
        &ROUNDED
    }

    fn new() -> Self {
        let mut softplus = Box::new([[0.0; 4]; ROWS]);
        let mut exponentials = Box::new([f64::NAN; ROWS]);
        for row in 0..ROWS {
            let x = middle(row, DIFFERENCES);
            if (-22.0..=0.0).contains(&x) {
                let slope = 1.0 / (1.0 + (-x).exp());
                let second = slope * (1.0 - slope) / 2.0;
                let third = second * (1.0 - 2.0 * slope) / 3.0;
                // From powers of the distance to the middle to powers of the number.
                softplus[row] = [
                    x.exp().ln_1p() - x * (slope - x * (second - x * third)),
                    slope - x * (2.0 * second - 3.0 * third * x),
                    second - 3.0 * third * x,
                    third,
                ];
            }
            let x = middle(row, EXPONENTS);
            if (-60.0..=0.5).contains(&x) {
                exponentials[row] = x.exp();
            }
        }
        Self {
            softplus,
            exponentials,
        }
    }

    /// [`Real::log_add`] of two finite numbers, the first of which may be minus infinity, too.
    #[inline(always)]
    pub fn log_add(&self, one: f32, other: f32) -> f32 {
        let (low, high) = if one < other {
            (one, other)
        } else {
            (other, one)
        };
        let difference = (low - high).max(LOWEST);
        let [a, b, c, d] = self.softplus[row_of(difference + DIFFERENCES)];
        let x = f64::from(difference);
        let more = (a + b * x) + x * x * (c + d * x);
        let high = f64::from(high);
        let least = (high + (more - SUM_ERROR)) as f32;
        let most = (high + (more + SUM_ERROR)) as f32;
        if least == most {
            least
        } else {
            ask_for_sum(one, other)
        }
    }

    /// About `count` times the exponential, or no number where that is not known well enough.
    #[inline(always)]
    pub fn times_exp(&self, count: f64, exponent: f32) -> f64 {
        let rounded = exponent.clamp(LOWEST - 31.0, 1.0) + EXPONENTS;
        let middle = rounded - EXPONENTS;
        let x = f64::from(exponent) - f64::from(middle);
        let series = 1.0 + x + x * x * (0.5 + x * (1.0 / 6.0) + x * x * (1.0 / 24.0));
        count * self.exponentials[row_of(rounded)] * series
    }
}

/// Adds `count` times an exponential to a sum, of which [`Rounded::times_exp`] gave about how much it is.
#[inline(always)]
pub fn add_exp(sum: &mut f32, count: f64, exponent: f32, about: f64) {
    let wide = f64::from(*sum);
    let least = (wide + about * (1.0 - EXP_ERROR)) as f32;
    let most = (wide + about * (1.0 + EXP_ERROR)) as f32;
    *sum = if least == most {
        least
    } else {
        ask_for_exp(wide, count, exponent)
    };
}

#[cold]
fn ask_for_sum(one: f32, other: f32) -> f32 {
    one.log_add(other)
}

#[cold]
fn ask_for_exp(sum: f64, count: f64, exponent: f32) -> f32 {
    (sum + count * f64::from(exponent).exp()) as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Draw, Place};

    fn draw() -> Draw {
        Draw::at(Place {
            seed: 7,
            document: 0,
            offset: 0,
        })
    }

    /// In each cell, at its borders, in its middle and between: no approximation is farther off than it may be.
    #[test]
    fn errors_stay_within_their_bounds() {
        let rounded = Rounded::get();
        let step = 1.0 / (64.0 * f64::from(CELLS));
        for number in 0..=(64.0 * f64::from(CELLS) * 31.0) as usize {
            let x = -(number as f64) * step;
            let cell = (x as f32).max(LOWEST);
            let [a, b, c, d] = rounded.softplus[row_of(cell + DIFFERENCES)];
            let z = f64::from(cell);
            let more = (a + b * z) + z * z * (c + d * z);
            assert!((more - x.exp().ln_1p()).abs() < SUM_ERROR, "{x}");
        }
        let mut known = 0;
        for number in 0..=(64.0 * f64::from(CELLS) * 64.0) as usize {
            let x = 1.0 - number as f64 * step;
            let about = rounded.times_exp(1.0, x as f32);
            known += usize::from(!about.is_nan());
            let exact = x.exp();
            assert!(
                about.is_nan() || (about - exact).abs() < EXP_ERROR * exact,
                "{x}"
            );
        }
        assert!(known > (60.0 / step) as usize);
    }

    #[test]
    fn sums_are_those_of_the_library() {
        let rounded = Rounded::get();
        let mut draw = draw();
        let same = |one: f32, other: f32| {
            let (fast, slow) = (rounded.log_add(one, other), one.log_add(other));
            assert_eq!(fast.to_bits(), slow.to_bits(), "{one} {other}");
        };
        for _ in 0..2_000_000 {
            // Of all sizes that scores have, and near to each other or not.
            let scale = [1e-3, 1.0, 20.0, 300.0, 50_000.0][(draw.bits() % 5) as usize];
            let apart = [1e-4, 0.1, 4.0, 60.0][(draw.bits() % 4) as usize];
            let unit = |bits: u64| (bits >> 40) as f32 / (1u64 << 24) as f32;
            let one = -scale * unit(draw.bits());
            let other = one + apart * (unit(draw.bits()) - 0.5);
            same(one, other);
            same(other, one);
        }
        for one in [0.0, -0.0, -1.5, 3.0, -1e-30, -1e30] {
            same(f32::NEG_INFINITY, one);
            for apart in [0.0, 1e-38, 21.9, 22.0, 30.0, 49.9, 50.0, 51.0, 1e9] {
                same(one, one - apart);
            }
        }
    }

    #[test]
    fn exponentials_are_those_of_the_library() {
        let rounded = Rounded::get();
        let mut draw = draw();
        for number in 0..2_000_000 {
            let unit = |bits: u64| (bits >> 11) as f64 / (1u64 << 53) as f64;
            let wide = [1.0, 8.0, 130.0][number % 3];
            let exponent = (0.01 - wide * unit(draw.bits())) as f32;
            let count = (draw.bits() % [2, 50, 1 << 26][number / 3 % 3]) as f64;
            let size = [0.0, 1.0, 300.0, 1e8][number / 9 % 4];
            let before = (unit(draw.bits()) * size) as f32;
            let mut sum = before;
            add_exp(
                &mut sum,
                count,
                exponent,
                rounded.times_exp(count, exponent),
            );
            let exact = (f64::from(before) + count * f64::from(exponent).exp()) as f32;
            assert_eq!(
                sum.to_bits(),
                exact.to_bits(),
                "{before} {count} {exponent}"
            );
        }
    }
}
