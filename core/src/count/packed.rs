//! Counts that are only read: as they are serialised, a few bytes a piece besides its own.

use crate::error::{Result, invalid};
use crate::leb128;

/// How many pieces lie between two whose places are known.
const STEP: usize = 64;

/// Counts of different pieces, in order of first occurrence.
#[derive(Debug)]
pub struct Packed {
    bytes: Vec<u8>,
    /// Where every [`STEP`]-th piece lies.
    steps: Vec<usize>,
    unique: usize,
    total: u64,
    total_bytes: u64,
}

impl Packed {
    /// Takes what [`Counts::dump`](super::Counts::dump) gives, of different pieces.
    ///
    /// # Errors
    /// When it is none, or the counts together pass 2^64.
    pub fn new(bytes: Vec<u8>) -> Result<Self> {
        let mut packed = Self {
            bytes,
            steps: Vec::new(),
            unique: 0,
            total: 0,
            total_bytes: 0,
        };
        let mut at = 0;
        while at < packed.bytes.len() {
            if packed.unique.is_multiple_of(STEP) {
                packed.steps.push(at);
            }
            let begin = at;
            let (piece, count) = read(&packed.bytes, &mut at)
                .ok_or_else(|| invalid!("the counts are cut at byte {begin}"))?;
            packed.unique += 1;
            let passes = || invalid!("the counts of all pieces together pass 2^64");
            let bytes = count.checked_mul(piece.len() as u64).ok_or_else(passes)?;
            packed.total = packed.total.checked_add(count).ok_or_else(passes)?;
            packed.total_bytes = packed.total_bytes.checked_add(bytes).ok_or_else(passes)?;
        }
        Ok(packed)
    }

    /// Number of different pieces.
    #[must_use]
    pub fn unique(&self) -> usize {
        self.unique
    }

    /// Number of pieces, repetitions counted.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Bytes of all pieces, repetitions counted.
    #[must_use]
    pub fn total_bytes(&self) -> u64 {
        self.total_bytes
    }

    /// As it was given.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// (piece, count) from a place on, in order of first occurrence.
    pub fn iter_from(&self, place: usize) -> impl Iterator<Item = (&[u8], u64)> {
        let place = place.min(self.unique);
        let (step, rest) = (place / STEP, place % STEP);
        let mut at = self.steps.get(step).copied().unwrap_or(self.bytes.len());
        std::iter::from_fn(move || read(&self.bytes, &mut at)).skip(rest)
    }
}

fn read<'a>(bytes: &'a [u8], at: &mut usize) -> Option<(&'a [u8], u64)> {
    let length = usize::try_from(leb128::read(bytes, at)?).ok()?;
    let count = leb128::read(bytes, at)?;
    let piece = bytes.get(*at..at.checked_add(length)?)?;
    *at += length;
    Some((piece, count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::count::Counts;

    #[test]
    fn is_what_the_table_is() {
        let mut counts = Counts::new(usize::MAX);
        for number in 0..200_u64 {
            counts
                .add(format!("{number}").as_bytes(), number % 7 + 1)
                .unwrap();
        }
        let packed = Packed::new(counts.dump()).unwrap();
        let totals = (packed.unique(), packed.total(), packed.total_bytes());
        assert_eq!(
            totals,
            (counts.unique(), counts.total(), counts.total_bytes())
        );
        assert_eq!(counts.dump(), packed.bytes());
        for place in [0, 1, 63, 64, 65, 127, 128, 199, 200, 300] {
            assert!(
                packed.iter_from(place).eq(counts.iter().skip(place)),
                "{place}"
            );
        }
    }

    #[test]
    fn what_is_cut_is_refused() {
        assert!(Packed::new(vec![1, 1]).is_err());
        assert!(Packed::new(vec![0x80]).is_err());
        assert_eq!(Packed::new(Vec::new()).unwrap().iter_from(0).count(), 0);
    }
}
