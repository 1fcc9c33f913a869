//! Leaving merges out at random, so that a text becomes other tokens each time: BPE-dropout.
//!
//! Source: Provilkov, Emelianenko and Voita, "BPE-Dropout: Simple and Effective Subword
//! Regularization", arXiv:1910.13267, algorithm 1. The lasting form is another distribution: a
//! candidate that was dropped once stays dropped, while in the paper it may come up in the next step.

use super::Variant;
use crate::error::{Result, ensure, invalid};
use crate::random::{Draw, Sampling};

/// A probability of leaving a merge out, and for how long.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dropout {
    probability: f64,
    lasting: bool,
}

impl Dropout {
    /// Reads what is asked for; None when nothing is ever dropped.
    ///
    /// # Errors
    /// Says that the number is not a probability, or that another kind of variation is asked for.
    pub fn of(sampling: Sampling) -> Result<Option<Self>> {
        let (probability, lasting) = match sampling {
            Sampling::Dropout(probability) => (probability, false),
            Sampling::LastingDropout(probability) => (probability, true),
            Sampling::Segmentation { .. } => {
                return Err(invalid!("this model gives no probabilities to draw by"));
            }
        };
        ensure!(
            (0.0..=1.0).contains(&probability),
            "a dropout is a probability from 0 to 1, not {probability}"
        );
        Ok((probability > 0.0).then_some(Self {
            probability,
            lasting,
        }))
    }

    /// The way of merging, with numbers from `draw`.
    pub fn variant<U: Fn(u32) -> bool>(
        self,
        draw: &mut Draw,
        unwanted: U,
    ) -> Variant<impl FnMut() -> bool, U> {
        Variant {
            drops: move || draw.unit() < self.probability,
            lasting: self.lasting,
            unwanted,
        }
    }
}

#[cfg(test)]
mod tests;
