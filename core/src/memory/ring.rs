//! Long pieces and what became of them, in a ring of bounded size: the newest overwrites the oldest.

use crate::memory::huge_pages::{LARGE_PAGE, ask_for_large};
use crate::memory::prefetch::prefetch;

/// Words of four bytes that a ring has at most: 16 MB; three times that for a thread that is alone.
const WORDS: u64 = 1 << 22;
const ALONE: u64 = 3 * WORDS;
/// Words in a cache line.
const LINE: usize = 16;
/// Once the ring has gone round, one entry of so many is written.
const ADMITTED: u64 = 8;
/// More words than any entry has.
const MARGIN: u64 = 1 << 10;

/// A ring of (bytes of a piece, ids) entries. It grows with use.
///
/// A text that comes again and has more long pieces than the ring has room for would find none of them
/// if all were written: each would be overwritten before its turn. So a full ring changes slowly.
#[derive(Debug)]
pub(super) struct Ring {
    words: Vec<u32>,
    /// How many words it has room for: it may grow as long as it has not gone round.
    room: u64,
    /// Whether it may.
    pub alone: bool,
    /// How many words were ever written, with those that were skipped at the ring's end.
    head: u64,
    /// How many entries came when the ring was full.
    late: u64,
}

impl Default for Ring {
    fn default() -> Self {
        Self {
            words: Vec::new(),
            room: WORDS,
            alone: false,
            head: 0,
            late: 0,
        }
    }
}

impl Ring {
    /// Writes an entry, if it is let in, and says where it is: a number that no other ever gets.
    pub fn write(&mut self, piece: &[u8], ids: &[u32]) -> Option<u64> {
        if self.alone && self.room == WORDS && self.head < WORDS && self.head + MARGIN > WORDS {
            self.room = ALONE;
        }
        if self.head >= self.room {
            self.late += 1;
            if !self.late.is_multiple_of(ADMITTED) {
                return None;
            }
        }
        let letters = piece.len().div_ceil(4);
        let length = letters + ids.len();
        debug_assert!((length as u64) <= MARGIN);
        let left = self.room - self.head % self.room;
        if left < length as u64 {
            self.head += left;
        }
        let position = self.head;
        let at = (position % self.room) as usize;
        if self.words.len() < at + length {
            self.grow(at + length);
        }
        let (bytes, rest) = self.words[at..at + length].split_at_mut(letters);
        bytemuck::cast_slice_mut(bytes)[..piece.len()].copy_from_slice(piece);
        rest.copy_from_slice(ids);
        self.head += length as u64;
        Some(position)
    }

    /// Makes room for so many words: some more, or all there will ever be, of which the system makes
    /// no page before it is used.
    #[cold]
    fn grow(&mut self, least: usize) {
        let mut words = if 2 * least * size_of::<u32>() <= LARGE_PAGE {
            vec![0; 2 * least]
        } else {
            vec![0; if self.alone { ALONE } else { self.room } as usize]
        };
        ask_for_large(&mut words);
        words[..self.words.len()].copy_from_slice(&self.words);
        self.words = words;
    }

    /// The ids of the entry that was written at a position, if it is there still and was of this piece.
    #[inline]
    pub fn read(&self, position: u64, piece: &[u8], ids: usize) -> Option<&[u32]> {
        // The word after this one's last neighbour in the ring is the next to be overwritten.
        if position + self.room < self.head {
            return None;
        }
        let at = (position % self.room) as usize;
        let letters = piece.len().div_ceil(4);
        let (bytes, rest) = self.words[at..at + letters + ids].split_at(letters);
        same(&bytemuck::cast_slice(bytes)[..piece.len()], piece).then_some(rest)
    }

    /// Asks for the entry at a position ahead.
    #[inline]
    pub fn prefetch(&self, position: u64) {
        let at = (position % self.room) as usize;
        prefetch(&self.words, at);
        prefetch(&self.words, at + LINE);
    }
}

/// Tells whether two byte strings of one length are the same: most are so short that calling somebody
/// to compare them takes longer.
#[inline]
fn same(one: &[u8], other: &[u8]) -> bool {
    let (Some(end), Some(other_end)) = (one.last_chunk::<16>(), other.last_chunk::<16>()) else {
        return one == other;
    };
    let (chunks, other_chunks) = (one.as_chunks::<16>().0, other.as_chunks::<16>().0);
    end == other_end && chunks.iter().zip(other_chunks).all(|(a, b)| a == b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_back_what_is_there_still() {
        for alone in [false, true] {
            gives_back_what_is_there_in(Ring {
                alone,
                ..Ring::default()
            });
        }
    }

    fn gives_back_what_is_there_in(mut ring: Ring) {
        let most = if ring.alone { ALONE } else { WORDS };
        let mut written = Vec::new();
        let mut lost = 0;
        for number in 0..if ring.alone { 1_800_000 } else { 600_000_u32 } {
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
            assert!(ring.words.len() as u64 <= most);
        }
        assert!(lost > 0, "the ring went round");
    }

    #[test]
    fn sees_each_byte_that_differs() {
        for length in 0..70_usize {
            let piece: Vec<u8> = (0..length as u8).collect();
            assert!(same(&piece, &piece.clone()));
            for at in 0..length {
                let mut other = piece.clone();
                other[at] ^= 0x80;
                assert!(!same(&piece, &other), "{length} {at}");
            }
        }
    }

    #[test]
    fn compares_the_piece() {
        let mut ring = Ring::default();
        let position = ring.write(b"abcde", &[1, 2]).unwrap();
        assert_eq!(ring.read(position, b"abcde", 2), Some(&[1, 2][..]));
        assert_eq!(ring.read(position, b"abcdf", 2), None);
    }
}
