//! Long pieces and what became of them, in a ring of bounded size: the newest overwrites the oldest.

use crate::memory::asking::zeroed;
use crate::memory::huge_pages::LARGE_PAGE;
use crate::memory::prefetch::prefetch;
use crate::memory::table_pages::{TablePages, page_end};

/// Bytes of a word.
const WORD: usize = size_of::<u32>();
/// Words in a cache line.
const LINE: usize = 16;
/// Once the ring has gone round, one entry of so many is written.
const ADMITTED: u64 = 8;
/// A ring of (bytes of a piece, ids) entries. It grows with use.
///
/// A text that comes again and has more long pieces than the ring has room for would find none of them
/// if all were written: each would be overwritten before its turn. So a full ring changes slowly.
#[derive(Debug, Default)]
pub(super) struct Ring {
    words: Vec<u32>,
    /// Up to where there are pages for them, and which of these are large.
    ready: usize,
    pages: TablePages,
    /// How many words of four bytes it may have.
    room: u64,
    /// How many words were ever written, with those that were skipped at the ring's end.
    head: u64,
    /// How many entries came when the ring was full.
    late: u64,
}

impl Ring {
    /// Begins with nothing; it may take so many bytes.
    pub fn new(bytes: usize) -> Self {
        Self {
            room: (bytes / WORD) as u64,
            ..Self::default()
        }
    }

    /// The bytes that it has taken, used or not.
    pub fn bytes(&self) -> usize {
        self.words.capacity() * WORD
    }

    /// Changes how many bytes it may take: as many as `wanted`, or what it holds by now. Returns false if it holds more
    /// than `most`, and then it is to be thrown away.
    #[must_use]
    pub fn set_room(&mut self, wanted: usize, most: usize) -> bool {
        let held = self.head.min(self.room);
        if held > (most / WORD) as u64 {
            return false;
        }
        // Once it has gone round, places in it depend on its size.
        if self.head <= self.room {
            self.room = held.max((wanted.min(most) / WORD) as u64);
            self.words.truncate(self.room as usize);
            self.words.shrink_to(self.room as usize);
            self.ready = self.ready.min(self.words.len());
        }
        true
    }

    /// Writes an entry, if it is let in, and says where it is: a number that no other ever gets.
    pub fn write(&mut self, piece: &[u8], ids: &[u32]) -> Option<u64> {
        let letters = piece.len().div_ceil(WORD);
        let length = letters + ids.len();
        if length as u64 > self.room {
            return None;
        }
        if self.head >= self.room {
            self.late += 1;
            if !self.late.is_multiple_of(ADMITTED) {
                return None;
            }
        }
        let left = self.room - self.head % self.room;
        if left < length as u64 {
            self.head += left;
        }
        let position = self.head;
        let at = (position % self.room) as usize;
        if self.ready < at + length && !self.make_ready(at + length) {
            // In the first round no place depends on the size of the ring: it is what there is by now. Later the
            // entry is left out.
            if at as u64 == self.head {
                self.room = self.words.len() as u64;
            }
            return None;
        }
        let (bytes, rest) = self.words[at..at + length].split_at_mut(letters);
        bytemuck::cast_slice_mut(bytes)[..piece.len()].copy_from_slice(piece);
        rest.copy_from_slice(ids);
        self.head += length as u64;
        Some(position)
    }

    /// Sees to the pages of so many words; says whether there is memory for them.
    #[cold]
    fn make_ready(&mut self, least: usize) -> bool {
        if self.words.len() < least && !self.grow(least) {
            return false;
        }
        self.ready = page_end(&self.words, least);
        self.pages.make(&mut self.words[..self.ready]);
        true
    }

    /// Makes its pages large that came slowly, when they are due. To be called before each batch of look-ups.
    #[inline]
    pub fn improve(&mut self) {
        if self.pages.is_due() {
            self.pages.improve(&mut self.words[..self.ready]);
        }
    }

    /// Makes room for so many words: some more, or all there will ever be, of which the system makes
    /// no page before it is used. Says whether there is memory for them; if not, nothing changes.
    fn grow(&mut self, least: usize) -> bool {
        let some = 2 * least.max(LINE);
        let all = self.room as usize;
        let length = if some * WORD <= LARGE_PAGE {
            some.min(all)
        } else {
            all
        };
        let Some(mut words) = zeroed::<u32>(length) else {
            return false;
        };
        self.pages = TablePages::default();
        let ready = page_end(&words, least);
        self.pages.make(&mut words[..ready]); // before anything is in them
        words[..self.words.len()].copy_from_slice(&self.words);
        self.words = words;
        true
    }

    /// The ids of the entry that was written at a position, if it is there still and was of this piece.
    #[inline]
    pub fn read(&self, position: u64, piece: &[u8], ids: usize) -> Option<&[u32]> {
        // The word after this one's last neighbour in the ring is the next to be overwritten.
        if position + self.room < self.head {
            return None;
        }
        let at = (position % self.room) as usize;
        let letters = piece.len().div_ceil(WORD);
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
        for bytes in [0, 4, 4000, 1 << 24, 3 << 24] {
            gives_back_what_is_there_in(Ring::new(bytes), bytes);
        }
    }

    fn gives_back_what_is_there_in(mut ring: Ring, bytes: usize) {
        let mut written = Vec::new();
        let mut lost = 0;
        for number in 0..if bytes > 1 << 24 {
            1_800_000
        } else {
            600_000_u32
        } {
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
            assert!(ring.bytes() <= bytes);
        }
        assert!(bytes == 0 || lost > 0, "the ring went round");
    }

    #[test]
    fn keeps_what_it_holds_when_its_room_changes() {
        let mut ring = Ring::new(4000);
        let position = ring.write(&[7; 100], &[1, 2]).unwrap();
        for (wanted, most) in [(8000, 8000), (108, 108), (4, 5000), (5000, 5000)] {
            assert!(ring.set_room(wanted, most));
            assert_eq!(ring.read(position, &[7; 100], 2), Some(&[1, 2][..]));
            assert!((108..=wanted.max(108)).contains(&ring.bytes()));
        }
        assert!(!ring.set_room(4, 104), "it holds 108 bytes");
        while ring.head <= ring.room {
            ring.write(&[8; 100], &[3]);
        }
        assert_eq!(ring.read(position, &[7; 100], 2), None);
        let room = ring.room;
        assert!(ring.set_room(4, 5000) && ring.set_room(9000, 9000));
        assert_eq!(ring.room, room, "it has gone round");
        assert!(!ring.set_room(4, 4999));
    }

    #[test]
    fn what_the_system_refuses_leaves_it_as_it_is() {
        let mut ring = Ring {
            room: 1 << 61, // with more bytes than a list may have
            ..Ring::default()
        };
        let mut written = Vec::new();
        for number in 0..100_000_u32 {
            let (piece, ids) = ([number as u8; 100], [number; 20]);
            if let Some(position) = ring.write(&piece, &ids) {
                written.push((position, number));
            }
        }
        assert_eq!(ring.room, ring.words.len() as u64);
        assert!(ring.bytes() <= LARGE_PAGE);
        let mut kept = 0;
        for (position, number) in written {
            if let Some(ids) = ring.read(position, &[number as u8; 100], 20) {
                assert_eq!(ids, [number; 20]);
                kept += 1;
            }
        }
        assert!(kept > 5_000, "{kept} are there still");
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
        let mut ring = Ring::new(100);
        let position = ring.write(b"abcde", &[1, 2]).unwrap();
        assert_eq!(ring.read(position, b"abcde", 2), Some(&[1, 2][..]));
        assert_eq!(ring.read(position, b"abcdf", 2), None);
    }
}
