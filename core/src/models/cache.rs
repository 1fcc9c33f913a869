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
//! to 16 MB, or 32 MB if the thread is alone and keeps meeting what it does not know.

use super::ring::Ring;
use crate::pages::{LARGE_PAGE, ask_for_large};
use crate::prefetch::prefetch;

/// Longest piece that is its own key.
pub const MAX_PIECE: usize = 15;
/// Longest piece that is remembered.
pub const MAX_LONG: usize = 256;
/// Most ids in a slot.
pub const MAX_IDS: usize = 4;

/// Ids are below 2^21 (those of [`crate::pipeline`] below 2^29), so the first one's top bits have room
/// for how many there are.
const COUNT_SHIFT: u32 = 29;
/// Says in place of a count that the ids are in the ring; the low bits then say how many.
const IN_RING: u32 = 7;
const LOW_BITS: u32 = (1 << COUNT_SHIFT) - 1;

const FIRST_BUCKETS: usize = 1 << 8;
const LAST_BUCKETS: usize = 1 << 18;
/// Once so many pieces were told, the table of a thread that is alone becomes twice as large.
const MANY: usize = 3 * LAST_BUCKETS;
/// Units of 16 bytes in a bucket: two keys, two values.
const UNITS: usize = 4;
const LINE: usize = 64;

/// Remembers what pieces became.
#[derive(Debug)]
pub struct PieceCache {
    /// Buckets that begin on a cache line: after `padding` units. Zeroed memory that nobody has
    /// touched costs nothing.
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
        Self::of(FIRST_BUCKETS)
    }
}

/// The bits of the first so many bytes. A table, because shifting 128 bits by what only shows takes longer.
const FIRST_BYTES: [u128; 16] = {
    let mut masks = [0; 16];
    let mut length = 1;
    while length < masks.len() {
        masks[length] = masks[length - 1] << 8 | 0xff;
        length += 1;
    }
    masks
};

/// Packs the piece at `start..end` of a text: 15 bytes and the length, or None if it is longer.
#[inline]
#[must_use]
pub fn key(text: &[u8], start: usize, end: usize) -> Option<u128> {
    let length = end - start;
    if length > MAX_PIECE {
        return None;
    }
    let packed = if let Some(window) = text.get(start..start + 16) {
        let all = u128::from_le_bytes(window.try_into().unwrap_or_default());
        all & FIRST_BYTES[length]
    } else {
        let mut bytes = [0; 16];
        bytes[..length].copy_from_slice(&text[start..end]);
        u128::from_le_bytes(bytes)
    };
    Some(packed | (length as u128) << 120)
}

/// The key of a piece of 16 to [`MAX_LONG`] bytes, which others may share; or None if it is longer.
#[inline]
#[must_use]
pub fn long_key(piece: &[u8]) -> Option<u128> {
    debug_assert!(piece.len() > MAX_PIECE);
    if piece.len() > MAX_LONG {
        return None;
    }
    let word = |at: usize| {
        piece[at..]
            .first_chunk()
            .map_or(0, |bytes| u64::from_le_bytes(*bytes))
    };
    let mut state = 0;
    for at in (0..piece.len() - 8).step_by(8) {
        state = fold(state ^ word(at));
    }
    state = fold(state ^ word(piece.len() - 8));
    Some(u128::from(state) | (piece.len() as u128) << 64 | 0xff << 120)
}

/// The two halves of a 128-bit product, xored.
#[inline]
fn fold(word: u64) -> u64 {
    let product = u128::from(word ^ 0x2545_F491_4F6C_DD1D) * 0x9E37_79B9_7F4A_7C15;
    (product as u64) ^ (product >> 64) as u64
}

/// Where keys belong in a table, and the table.
#[derive(Debug)]
pub struct Buckets<'a> {
    all: &'a mut [[u128; UNITS]],
    shift: u32,
}

impl Buckets<'_> {
    /// The bucket of a key.
    #[inline]
    #[must_use]
    pub fn home(&self, key: u128) -> usize {
        // A product of two halves, of which each is changed first: a short piece's high half is
        // nothing but its length.
        let low = key as u64 ^ 0x2545_F491_4F6C_DD1D;
        let high = (key >> 64) as u64 ^ 0x9E37_79B9_7F4A_7C15;
        let product = u128::from(low) * u128::from(high);
        (((product as u64) ^ (product >> 64) as u64) >> self.shift) as usize
    }

    /// Asks for a bucket ahead.
    #[inline]
    pub fn prefetch(&self, home: usize) {
        prefetch(self.all, home);
    }

    /// The value of a key that is at home.
    #[inline]
    #[must_use]
    pub fn get(&mut self, home: usize, key: u128) -> Option<Value> {
        let bucket = &mut self.all[home];
        if bucket[0] == key {
            return Some(Value(bucket[2]));
        }
        if bucket[1] == key {
            bucket.swap(0, 1);
            bucket.swap(2, 3);
            return Some(Value(bucket[2]));
        }
        None
    }

    /// The value of a key that is at home, which stays where it is.
    #[inline]
    fn look_at(&self, home: usize, key: u128) -> Option<Value> {
        let bucket = &self.all[home];
        let way = bucket[..2].iter().position(|&there| there == key)?;
        Some(Value(bucket[2 + way]))
    }

    /// The value of a key that is at home or with the neighbour.
    #[inline]
    fn find(&mut self, home: usize, key: u128) -> Option<Value> {
        self.get(home, key).or_else(|| self.look_at(home ^ 1, key))
    }

    #[inline]
    fn put(&mut self, home: usize, key: u128, value: Value) {
        // Zero is no key: a piece's length is part of it.
        let free = [(home, 0), (home, 1), (home ^ 1, 0), (home ^ 1, 1)]
            .into_iter()
            .find(|&(bucket, way)| {
                let there = self.all[bucket][way];
                there == 0 || there == key
            });
        let (bucket, way) = free.unwrap_or((home, 1));
        self.all[bucket][way] = key;
        self.all[bucket][2 + way] = value.0;
    }
}

/// What a slot holds: up to four ids, or where more are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value(u128);

impl Value {
    /// How many ids there are, if they are here.
    #[inline]
    #[must_use]
    pub fn count(self) -> Option<usize> {
        let count = self.words()[0] >> COUNT_SHIFT;
        (count <= MAX_IDS as u32).then_some(count as usize)
    }

    /// How many ids are here, or else their place in the ring and their number.
    #[inline]
    fn place(self) -> std::result::Result<usize, (u64, usize)> {
        self.count().ok_or_else(|| {
            let [first, low, high, _] = self.words();
            let position = u64::from(low) | u64::from(high) << 32;
            (position, (first & LOW_BITS) as usize)
        })
    }

    /// The ids, if they are here: as many as [`Value::count`] says, then anything.
    #[inline]
    #[must_use]
    pub fn ids(self) -> [u32; MAX_IDS] {
        let mut words = self.words();
        words[0] &= LOW_BITS;
        words
    }

    #[inline]
    fn words(self) -> [u32; 4] {
        bytemuck::cast(self.0)
    }

    fn of(ids: &[u32]) -> Self {
        let mut words = [0; 4];
        words[..ids.len()].copy_from_slice(ids);
        words[0] |= (ids.len() as u32) << COUNT_SHIFT;
        Self(bytemuck::cast(words))
    }

    fn in_ring(position: u64, count: usize) -> Self {
        let first = IN_RING << COUNT_SHIFT | count as u32;
        let words = [first, position as u32, (position >> 32) as u32, 0];
        Self(bytemuck::cast(words))
    }
}

impl PieceCache {
    fn of(buckets: usize) -> Self {
        let bytes = buckets * LINE;
        let alignment = if bytes < LARGE_PAGE { LINE } else { LARGE_PAGE };
        let length = (bytes + alignment) / size_of::<u128>();
        // Zeroed by the system, which makes the pages when they are first used.
        let mut units = vec![0_u128; length];
        ask_for_large(&mut units);
        // Where addresses say nothing (under an interpreter), a bucket may lie on two lines.
        let padding = match units.as_ptr().align_offset(alignment) {
            usize::MAX => 0,
            padding => padding,
        };
        Self {
            padding,
            units,
            buckets,
            told: 0,
            ring: Ring::default(),
            alone: false,
        }
    }

    /// The table; it stays as large as it is until [`PieceCache::grow`].
    #[inline]
    #[must_use]
    pub fn buckets(&mut self) -> Buckets<'_> {
        let units = &mut self.units[self.padding..][..self.buckets * UNITS];
        Buckets {
            all: units.as_chunks_mut().0,
            shift: 64 - self.buckets.trailing_zeros(),
        }
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
        if self.told > self.buckets {
            if self.buckets < LAST_BUCKETS {
                self.enlarge(4);
            } else if self.told > MANY && self.alone && self.buckets == LAST_BUCKETS {
                self.enlarge(2);
            }
        }
    }

    #[cold]
    fn enlarge(&mut self, times: usize) {
        let mut larger = Self::of(self.buckets * times);
        larger.ring = std::mem::take(&mut self.ring);
        larger.told = self.told;
        larger.alone = self.alone;
        let mut table = larger.buckets();
        for bucket in self.buckets().all {
            for way in 0..2 {
                if bucket[way] != 0 {
                    let home = table.home(bucket[way]);
                    table.put(home, bucket[way], Value(bucket[2 + way]));
                }
            }
        }
        *self = larger;
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
#[path = "cache_tests.rs"]
mod tests;
