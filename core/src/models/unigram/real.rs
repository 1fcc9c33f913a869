//! The two precisions in which scores are added.
//!
//! Libraries disagree: one adds in f32, and where segmentations have nearly the same score its rounding
//! decides; the other adds in f64. Whoever wants the same tokens rounds in the same places.

use std::fmt::Debug;

/// f32 or f64.
pub trait Real: Copy + Debug + Default + PartialOrd + Send + Sync + 'static {
    /// Whether large sums begin again at 0, as rounding costs much there.
    const BEGINS_AGAIN: bool;

    /// Rounds to this precision.
    fn round(value: f64) -> Self;
    /// The same number in f64.
    fn wide(self) -> f64;

    /// The sum of two, rounded.
    #[must_use]
    fn plus(self, other: Self) -> Self {
        // A sum of two f32 rounded to f64 and then to f32 is the sum rounded once: f64 has more than
        // twice the digits (Figueroa 1995).
        Self::round(self.wide() + other.wide())
    }

    /// The difference of two, rounded.
    #[must_use]
    fn minus(self, other: Self) -> Self {
        Self::round(self.wide() - other.wide())
    }

    /// log(exp(self) + exp(other)).
    #[must_use]
    fn log_add(self, other: Self) -> Self {
        let (low, high) = if self < other {
            (self, other)
        } else {
            (other, self)
        };
        // What lies 50 below adds less than the last digit of f32; in f64 it is never that.
        if size_of::<Self>() == size_of::<f32>() && high > low.plus(Self::round(50.0)) {
            return high;
        }
        let difference = low.minus(high).wide();
        if size_of::<Self>() == size_of::<f32>() {
            Self::round(high.wide() + (difference.exp() + 1.0).ln())
        } else {
            Self::round(high.wide() + difference.exp().ln_1p())
        }
    }
}

impl Real for f32 {
    const BEGINS_AGAIN: bool = true;

    #[inline]
    fn round(value: f64) -> Self {
        value as f32
    }

    #[inline]
    fn wide(self) -> f64 {
        f64::from(self)
    }
}

impl Real for f64 {
    const BEGINS_AGAIN: bool = false;

    #[inline]
    fn round(value: f64) -> Self {
        value
    }

    #[inline]
    fn wide(self) -> f64 {
        self
    }
}
