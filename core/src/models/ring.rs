//! Long pieces and what became of them, in a ring of bounded size: the newest overwrites the oldest.

/// Words of four bytes that a ring has at most: 16 MB.
const WORDS: u64 = 1 << 22;
/// Once the ring has gone round, one entry of so many is written.
const ADMITTED: u64 = 8;

/// A ring of (bytes of a piece, ids) entries. It grows with use.
///
/// A text that comes again and has more long pieces than the ring has room for would find none of them
/// if all were written: each would be overwritten before its turn. So a full ring changes slowly.
#[derive(Debug, Default)]
pub(super) struct Ring {
    words: Vec<u32>,
    /// How many words were ever written, with those that were skipped at the ring's end.
    head: u64,
    /// How many entries came when the ring was full.
    late: u64,
}

impl Ring {
    /// Writes an entry, if it is let in, and says where it is: a number that no other ever gets.
    pub fn write(&mut self, piece: &[u8], ids: &[u32]) -> Option<u64> {
        if self.head >= WORDS {
            self.late += 1;
            if !self.late.is_multiple_of(ADMITTED) {
                return None;
            }
        }
        let letters = piece.len().div_ceil(4);
        let length = letters + ids.len();
        debug_assert!((length as u64) <= WORDS);
        let left = WORDS - self.head % WORDS;
        if left < length as u64 {
            self.head += left;
        }
        let position = self.head;
        let at = (position % WORDS) as usize;
        if self.words.len() < at + length {
            self.words.resize(at + length, 0);
        }
        let (bytes, rest) = self.words[at..at + length].split_at_mut(letters);
        bytemuck::cast_slice_mut(bytes)[..piece.len()].copy_from_slice(piece);
        rest.copy_from_slice(ids);
        self.head += length as u64;
        Some(position)
    }

    /// The ids of the entry that was written at a position, if it is there still and was of this piece.
    #[inline]
    pub fn read(&self, position: u64, piece: &[u8], ids: usize) -> Option<&[u32]> {
        // The word after this one's last neighbour in the ring is the next to be overwritten.
        if position + WORDS < self.head {
            return None;
        }
        let at = (position % WORDS) as usize;
        let letters = piece.len().div_ceil(4);
        let (bytes, rest) = self.words[at..at + letters + ids].split_at(letters);
        (bytemuck::cast_slice::<u32, u8>(bytes)[..piece.len()] == *piece).then_some(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_back_what_is_there_still() {
        let mut ring = Ring::default();
        let mut written = Vec::new();
        let mut lost = 0;
        for number in 0..600_000_u32 {
            let piece = vec![number as u8; (number % 257) as usize];
            let ids = vec![number; 1 + (number % 31) as usize];
            if let Some(position) = ring.write(&piece, &ids) {
                written.push((position, piece, ids));
            }
            if number % 50_000 != 0 {
                continue;
            }
            let kept: Vec<bool> = written
                .iter()
                .map(|(position, piece, ids)| {
                    let read = ring.read(*position, piece, ids.len());
                    assert!(read.is_none_or(|read| read == ids));
                    read.is_some()
                })
                .collect();
            assert!(kept.is_sorted(), "the oldest go first");
            lost = kept.iter().filter(|&&kept| !kept).count();
            assert!(ring.words.len() as u64 <= WORDS);
        }
        assert!(lost > 0, "the ring went round");
    }

    #[test]
    fn compares_the_piece() {
        let mut ring = Ring::default();
        let position = ring.write(b"abcde", &[1, 2]).unwrap();
        assert_eq!(ring.read(position, b"abcde", 2), Some(&[1, 2][..]));
        assert_eq!(ring.read(position, b"abcdf", 2), None);
    }
}
