//! Counts as bytes, and back.

use super::Counts;
use crate::error::{Result, invalid};
use crate::leb128;

impl Counts {
    /// Serialises: for each piece a LEB128 length, a LEB128 count, the bytes.
    #[must_use]
    pub fn dump(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.arena.len() + 4 * self.entries.len());
        for (piece, count) in self.iter() {
            leb128::write(&mut bytes, piece.len() as u64);
            leb128::write(&mut bytes, count);
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
            let length = leb128::read(bytes, &mut at).ok_or_else(|| broken("a length is cut"))?;
            let count = leb128::read(bytes, &mut at).ok_or_else(|| broken("a count is cut"))?;
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
