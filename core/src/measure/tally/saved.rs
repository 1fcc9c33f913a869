//! A tally as bytes, and back: what is counted in one process is added up in another.

use std::sync::Arc;

use super::{Sums, Tables, Tally};
use crate::error::{Error, Result};
use crate::leb128;

impl Tally {
    /// Serialises the sums over documents that ended, and how often each id occurs.
    ///
    /// LEB128 numbers: six sums; the id of each that occurs less the one before, and its count. The sum
    /// of ratios stands before them, as the eight bytes of its bits, the lowest first.
    #[must_use]
    pub fn dump(&self) -> Vec<u8> {
        let Sums {
            words,
            split_words,
            unknown_bytes,
            checked,
            failed,
            with_tokens,
            sum_of_ratios,
        } = self.sums;
        let mut bytes = sum_of_ratios.to_le_bytes().to_vec();
        for number in [
            words,
            split_words,
            unknown_bytes,
            checked,
            failed,
            with_tokens,
        ] {
            leb128::write(&mut bytes, number);
        }
        let mut before = 0;
        for (id, count) in self.frequencies.iter() {
            leb128::write(&mut bytes, u64::from(id - before));
            leb128::write(&mut bytes, count);
            before = id;
        }
        bytes
    }

    /// Reads what [`Tally::dump`] wrote of the same tokenizer.
    ///
    /// # Errors
    /// [`Error::Invalid`] where the data is cut, or is nothing that was counted.
    pub fn load(tables: Arc<Tables>, bytes: &[u8]) -> Result<Self> {
        let broken = || Error::Invalid("the tally is damaged".to_owned());
        let mut tally = Self::new(tables);
        let (ratios, numbers) = bytes.split_first_chunk().ok_or_else(broken)?;
        let mut at = 0;
        let mut next = || leb128::read(numbers, &mut at);
        let mut sums = || {
            Some(Sums {
                words: next()?,
                split_words: next()?,
                unknown_bytes: next()?,
                checked: next()?,
                failed: next()?,
                with_tokens: next()?,
                sum_of_ratios: f64::from_le_bytes(*ratios),
            })
        };
        tally.sums = sums().ok_or_else(broken)?;
        let (mut before, mut total) = (None, 0u64);
        while at < numbers.len() {
            let mut next = || leb128::read(numbers, &mut at).ok_or_else(broken);
            let (gap, count) = (next()?, next()?);
            let id = gap.checked_add(before.map_or(0, u64::from));
            let id = id.and_then(|id| u32::try_from(id).ok());
            let id = id.filter(|&id| count > 0 && before.is_none_or(|before| id > before));
            let id = id.ok_or_else(broken)?;
            total = total.checked_add(count).ok_or_else(broken)?;
            tally.frequencies.add_many(id, count);
            before = Some(id);
        }
        let is_finite = tally.sums.sum_of_ratios.is_finite();
        is_finite.then_some(tally).ok_or_else(broken)
    }
}
