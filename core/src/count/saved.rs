//! Counts as bytes, and back.

use super::Counts;
use crate::error::{Result, invalid};

impl Counts {
    /// Serialises: for each piece a LEB128 length, a LEB128 count, the bytes.
    #[must_use]
    pub fn dump(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.arena.len() + 4 * self.entries.len());
        for (piece, count) in self.iter() {
            write_number(&mut bytes, piece.len() as u64);
            write_number(&mut bytes, count);
            bytes.extend_from_slice(piece);
        }
        bytes
    }

    /// Reads what [`Counts::dump`] wrote.
    ///
    /// # Errors
    /// Names the byte where the data is cut, a length lies, or a piece stands twice.
    pub fn load(bytes: &[u8], max_bytes: usize) -> Result<Self> {
        let mut counts = Self::new(max_bytes);
        let mut at = 0;
        while at < bytes.len() {
            let begin = at;
            let broken = |what: &str| invalid!("{what} at byte {begin} of the counts");
            let length = read_number(bytes, &mut at).ok_or_else(|| broken("a length is cut"))?;
            let count = read_number(bytes, &mut at).ok_or_else(|| broken("a count is cut"))?;
            let end = usize::try_from(length)
                .ok()
                .and_then(|length| at.checked_add(length));
            let piece = end
                .and_then(|end| bytes.get(at..end))
                .ok_or_else(|| broken("a length lies"))?;
            if piece.is_empty() || count == 0 {
                return Err(broken("an empty piece or count stands"));
            }
            let before = counts.unique();
            counts.add(piece, count)?;
            if counts.unique() == before {
                return Err(broken("a piece stands for the second time"));
            }
            at += piece.len();
        }
        Ok(counts)
    }
}

fn write_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn read_number(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.get(*at)?;
        *at += 1;
        let bits = u64::from(byte & 0x7F);
        if shift == 63 && bits > 1 {
            return None;
        }
        number |= bits << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}
