//! Random numbers that depend on what is drawn for, never on who draws: the seed, the document and the
//! place in it. So the same seed gives the same ids for any number of threads and any size of blocks.
//!
//! The generator is SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), begun at a hash of the three.

use serde::Deserialize;

/// What is drawn for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// The user's.
    pub seed: u64,
    /// Number of the document in the whole input.
    pub document: u64,
    /// Offset in the document of what is encoded, in bytes.
    pub offset: u64,
}

/// How a model is asked to vary its answers.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Sampling {
    /// Leave each merge out with this probability, drawing anew at every step (Provilkov et al. 2020).
    Dropout(f64),
    /// Leave a merge out for good when it was dropped once, as SentencePiece does.
    LastingDropout(f64),
    /// Draw a segmentation by its probability to the power of `alpha`: among the `nbest` best, or among
    /// all of them if that is 0.
    Segmentation {
        /// 1 draws by the model's own probabilities, 0 evenly.
        alpha: f64,
        /// Among how many.
        nbest: usize,
    },
}

/// A generator for one place.
#[derive(Clone, Debug)]
pub struct Draw(u64);

const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

impl Draw {
    /// Begins at a place.
    #[must_use]
    pub fn at(place: Place) -> Self {
        let state = [place.seed, place.document, place.offset]
            .into_iter()
            .fold(0, |state, part| {
                mix(state ^ mix(part.wrapping_add(GOLDEN))).wrapping_add(GOLDEN)
            });
        Self(state)
    }

    /// Gives 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        mix(self.0)
    }

    /// Gives a number in [0, 1), a multiple of 2^-53.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Begins to draw for a test.
    pub fn begin(seed: u64) -> Draw {
        Draw::at(Place {
            seed,
            document: 0,
            offset: 0,
        })
    }

    /// Draws a number below a limit.
    pub fn below(draw: &mut Draw, limit: usize) -> usize {
        (draw.bits() % limit as u64) as usize
    }

    /// The first numbers that SplitMix64 gives from this state, by its authors' program.
    #[test]
    fn draws_what_splitmix64_draws() {
        let mut draw = Draw(1_234_567);
        let wanted = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
        ];
        assert_eq!([(); 3].map(|()| draw.bits()), wanted);
        let mut draw = Draw(1_234_567);
        assert_eq!(
            draw.unit().to_bits(),
            ((wanted[0] >> 11) as f64 / 2f64.powi(53)).to_bits()
        );
    }

    #[test]
    fn draws_evenly_and_by_place_alone() {
        let place = Place {
            seed: 1,
            document: 2,
            offset: 3,
        };
        let mut draw = Draw::at(place);
        let mean = (0..100_000).map(|_| draw.unit()).sum::<f64>() / 1e5;
        assert!((mean - 0.5).abs() < 0.005, "{mean}");
        assert_eq!(Draw::at(place).bits(), Draw::at(place).bits());
        for other in [
            Place { seed: 2, ..place },
            Place {
                document: 1,
                ..place
            },
            Place { offset: 4, ..place },
            Place {
                seed: 3,
                document: 2,
                offset: 1,
            },
        ] {
            assert_ne!(Draw::at(place).bits(), Draw::at(other).bits());
        }
    }
}
