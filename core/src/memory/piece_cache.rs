//! A bounded memory of pieces met before: exact, two-way, one per thread.
//!
//! A slot holds a key of 16 bytes and a value of 16. The key of a piece of up to 15 bytes is the piece
//! itself, with its length; the value up to 4 ids. A longer piece has a hash for a key, and the value
//! says where the piece and its ids stand in a ring; so do the ids of a short piece that are more than
//! 4. Nothing is ever trusted to a hash: the whole piece is compared.
//!
//! Two slots are a bucket, which is a cache line. What is met for the first time takes the second
//! slot, what is met again there changes places with the first: a piece that occurs once drives out
//! nothing that occurs often. What finds no room at home may lie with the neighbour, where only those
//! look who would have to merge otherwise. The table begins small and grows with what it is told, up
//! to 16 MB, or 32 MB if the thread is alone. From some size on it grows where it is, since making pages
//! anew takes longer than putting the slots in order.

use crate::memory::huge_pages::{LARGE_PAGE, ask_for_large};
use crate::memory::ring::Ring;
use crate::memory::slots::{Buckets, UNITS, Value};
pub use crate::memory::slots::{MAX_IDS, MAX_LONG, MAX_PIECE, key, long_key};

const FIRST_BUCKETS: usize = 1 << 8;
/// How many there may be; twice as many if the thread is alone.
const LAST_BUCKETS: usize = 1 << 18;
const LINE: usize = 64;

/// Remembers what pieces became.
#[derive(Debug)]
pub struct PieceCache {
    /// Room for as many buckets as there may ever be, once there are many: zeroed memory that nobody has
    /// touched costs nothing. They begin on a cache line, after `padding` units.
    units: Vec<u128>,
    padding: usize,
    /// How many buckets: a power of two.
    buckets: usize,
    /// How many pieces were told.
    told: usize,
    ring: Ring,
    /// Whether it may become larger than one of several.
    alone: bool,
}

impl Default for PieceCache {
    fn default() -> Self {
        let mut cache = Self {
            units: Vec::new(),
            padding: 0,
            buckets: 0,
            told: 0,
            ring: Ring::default(),
            alone: false,
        };
        cache.allocate(FIRST_BUCKETS);
        cache
    }
}

impl PieceCache {
    /// Makes an empty table of so many buckets, which has room to grow if they fill a large page.
    fn allocate(&mut self, buckets: usize) {
        let (room, alignment) = if buckets * LINE < LARGE_PAGE {
            (buckets, LINE)
        } else {
            (buckets.max(self.most_buckets()), LARGE_PAGE)
        };
        let length = (room * LINE + alignment) / size_of::<u128>();
        // Zeroed by the system, which makes the pages when they are first used.
        self.units = vec![0; length];
        ask_for_large(&mut self.units);
        // Where addresses say nothing (under an interpreter), a bucket may lie on two lines.
        self.padding = match self.units.as_ptr().align_offset(alignment) {
            usize::MAX => 0,
            padding => padding,
        };
        self.buckets = buckets;
    }

    fn most_buckets(&self) -> usize {
        if self.alone {
            2 * LAST_BUCKETS
        } else {
            LAST_BUCKETS
        }
    }

    /// The table; it stays as large as it is until [`PieceCache::grow`].
    #[inline]
    #[must_use]
    pub fn buckets(&mut self) -> Buckets<'_> {
        let units = &mut self.units[self.padding..][..self.buckets * UNITS];
        Buckets::new(units.as_chunks_mut().0)
    }

    /// Says whether this is the only cache of a tokenizer, which may become larger.
    pub fn alone(&mut self, alone: bool) {
        self.alone = alone;
        self.ring.alone = alone;
    }

    /// Asks ahead for what comes after the buckets, which are near by now: ids in the ring, and the
    /// neighbours of buckets that do not have a key.
    #[inline]
    pub fn prefetch_more(&mut self, keys: &[u128], homes: &[u32]) {
        let ring = std::mem::take(&mut self.ring);
        let table = self.buckets();
        for (&key, &home) in keys.iter().zip(homes) {
            match table.look_at(home as usize, key).map(Value::place) {
                Some(Ok(_)) => {}
                Some(Err((position, _))) => ring.prefetch(position),
                None => table.prefetch(home as usize ^ 1),
            }
        }
        self.ring = ring;
    }

    /// Makes the table larger if it was told more than it has room for.
    #[inline]
    pub fn grow(&mut self) {
        if self.told > self.buckets && self.buckets < self.most_buckets() {
            self.enlarge(if self.buckets < LAST_BUCKETS { 4 } else { 2 });
        }
    }

    #[cold]
    fn enlarge(&mut self, times: usize) {
        let old = self.buckets;
        let room = (self.units.len() - self.padding) / UNITS;
        if old * times <= room {
            self.buckets *= times;
            self.buckets().spread(old);
            return;
        }
        let units = std::mem::take(&mut self.units);
        let padding = self.padding;
        self.allocate(old * times);
        let mut table = self.buckets();
        for bucket in units[padding..][..old * UNITS].as_chunks().0 {
            table.put_all(bucket);
        }
    }

    /// Appends the ids of a piece and says that it was remembered; `letters` are the bytes of a long
    /// piece, or none of a short one.
    #[inline]
    pub fn find(&mut self, key: u128, letters: &[u8], out: &mut Vec<u32>) -> bool {
        let mut table = self.buckets();
        let home = table.home(key);
        let Some(value) = table.find(home, key) else {
            return false;
        };
        let found = match value.place() {
            Ok(count) => {
                out.extend_from_slice(&value.ids()[..count]);
                return true;
            }
            Err((position, count)) => self.ring.read(position, letters, count),
        };
        out.extend_from_slice(found.unwrap_or_default());
        found.is_some()
    }

    /// Remembers the ids of a piece; `letters` are the bytes of a long piece, or none of a short one.
    #[inline]
    pub fn put(&mut self, key: u128, letters: &[u8], ids: &[u32]) {
        debug_assert!(!ids.is_empty() && ids.len() <= MAX_LONG);
        let value = if letters.is_empty() && ids.len() <= MAX_IDS {
            Value::of(ids)
        } else if let Some(position) = self.ring.write(letters, ids) {
            Value::in_ring(position, ids.len())
        } else {
            return;
        };
        self.told += 1;
        let mut table = self.buckets();
        let home = table.home(key);
        table.put(home, key, value);
    }

    /// Appends the ids of a piece of up to [`MAX_PIECE`] bytes and says that it was remembered.
    #[inline]
    pub fn recall(&mut self, key: u128, out: &mut Vec<u32>) -> bool {
        self.find(key, &[], out)
    }

    /// Remembers the ids of a piece of up to [`MAX_PIECE`] bytes.
    #[inline]
    pub fn remember(&mut self, key: u128, ids: &[u32]) {
        if !ids.is_empty() && ids.len() <= MAX_LONG {
            self.grow();
            self.put(key, &[], ids);
        }
    }
}

#[cfg(test)]
mod tests;
