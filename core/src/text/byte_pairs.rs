//! A set of pairs of bytes that stand side by side: which of them are in it is read with one look, or for 64 places at
//! once.

mod classes;
mod fewer;

use classes::Classes;
pub use classes::PLACES;

/// By the first byte, a bit for the second.
type Rows = [[u64; 4]; 256];

/// A set of pairs of bytes.
#[derive(Clone, Debug)]
pub struct BytePairs {
    rows: Box<Rows>,
    classes: Box<Classes>,
}

impl BytePairs {
    /// Takes the pairs for which a function says so.
    #[must_use]
    pub fn of(mut holds: impl FnMut(u8, u8) -> bool) -> Self {
        let mut rows = Box::new([[0; 4]; 256]);
        for (first, row) in (0..=u8::MAX).zip(rows.iter_mut()) {
            for second in 0..=u8::MAX {
                row[usize::from(second / 64)] |= u64::from(holds(first, second)) << (second % 64);
            }
        }
        Self::with(rows)
    }

    /// Takes as many of the pairs as eight classes of bytes can tell from all others, so that [`BytePairs::likely`] is certain.
    ///
    /// What a pair is worth is the product of what its bytes are worth, as the first and as the second one.
    #[must_use]
    pub fn certain(&self, first: &[u64; 256], second: &[u64; 256]) -> Self {
        Self::with(Box::new(fewer::told_apart(&self.rows, first, second)))
    }

    fn with(rows: Box<Rows>) -> Self {
        let classes = Box::new(Classes::of(&rows));
        Self { rows, classes }
    }

    /// Whether [`BytePairs::likely`] gives no place that is none.
    #[must_use]
    pub fn is_certain(&self) -> bool {
        classes::kinds_of(&self.rows).len() <= classes::MOST
    }

    /// Whether a pair is in the set.
    #[inline]
    #[must_use]
    pub fn has(&self, first: u8, second: u8) -> bool {
        self.rows[usize::from(first)][usize::from(second / 64)] >> (second % 64) & 1 != 0
    }

    /// At which of the [`PLACES`] from `at` on a byte and the one behind it can be in the set, the first one's bit the lowest:
    /// a zero is certain. A place behind which the text ends has a zero.
    #[inline]
    #[must_use]
    pub fn likely(&self, text: &[u8], at: usize) -> u64 {
        match text[at..].first_chunk() {
            Some(stretch) => self.classes.likely(stretch),
            None => self.likely_at_end(&text[at..]),
        }
    }

    #[cold]
    fn likely_at_end(&self, rest: &[u8]) -> u64 {
        let mut stretch = [0; PLACES + 1];
        stretch[..rest.len()].copy_from_slice(rest);
        let pairs = rest.len().saturating_sub(1);
        self.classes.likely(&stretch) & !(u64::MAX << pairs)
    }
}

#[cfg(test)]
mod tests;
