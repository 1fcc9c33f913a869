//! Slots of a memory of pieces: keys, values, and the buckets that hold two of each.

use crate::memory::prefetch::prefetch;

/// Longest piece that is its own key.
pub const MAX_PIECE: usize = 15;
/// Longest piece that is remembered.
pub const MAX_LONG: usize = 256;
/// Most ids in a slot.
pub const MAX_IDS: usize = 4;

/// Ids are below 2^21 (those of [`crate::encode::staged`] below 2^29), so the first one's top bits have room
/// for how many there are.
pub(super) const COUNT_SHIFT: u32 = 29;
/// Says in place of a count that the ids are in the ring; the low bits then say how many.
const IN_RING: u32 = 7;
const LOW_BITS: u32 = (1 << COUNT_SHIFT) - 1;

/// Units of 16 bytes in a bucket: two keys, two values.
pub const UNITS: usize = 4;

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

impl<'a> Buckets<'a> {
    /// The table of so many buckets as there are: a power of two.
    #[inline]
    pub fn new(all: &'a mut [[u128; UNITS]]) -> Self {
        let shift = 64 - all.len().trailing_zeros();
        Self { all, shift }
    }

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
    pub fn look_at(&self, home: usize, key: u128) -> Option<Value> {
        let bucket = &self.all[home];
        let way = bucket[..2].iter().position(|&there| there == key)?;
        Some(Value(bucket[2 + way]))
    }

    /// The value of a key that is at home or with the neighbour.
    #[inline]
    pub fn find(&mut self, home: usize, key: u128) -> Option<Value> {
        // Nobody lies with the neighbour as long as there is room at home.
        let crowded = self.all[home][1] != 0;
        self.get(home, key).or_else(|| {
            if crowded {
                self.look_at(home ^ 1, key)
            } else {
                None
            }
        })
    }

    /// Spreads what is in the first buckets, of which there were `old` and some even number of times as many now.
    pub fn spread(&mut self, old: usize) {
        let times = self.all.len() / old;
        // The first bits of a hash say where a key is at home. So what two neighbours hold belongs to
        // `times` as many neighbours, which come no earlier: from the end on, nothing is overwritten that
        // has not been taken out.
        for first in (0..old).step_by(2).rev() {
            let pair = [self.all[first], self.all[first + 1]];
            self.all[first * times..][..2 * times].fill([0; UNITS]);
            for bucket in &pair {
                self.put_all(bucket);
            }
        }
    }

    /// Puts what is in a bucket of a smaller table where it belongs.
    pub fn put_all(&mut self, bucket: &[u128; UNITS]) {
        for way in 0..2 {
            if bucket[way] != 0 {
                let home = self.home(bucket[way]);
                self.put(home, bucket[way], Value(bucket[2 + way]));
            }
        }
    }

    /// Puts a value where its key belongs, in place of another if there is no room.
    #[inline]
    pub fn put(&mut self, home: usize, key: u128, value: Value) {
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
    pub fn place(self) -> std::result::Result<usize, (u64, usize)> {
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

    /// A value of one to four ids.
    pub fn of(ids: &[u32]) -> Self {
        let mut words = [0; 4];
        words[..ids.len()].copy_from_slice(ids);
        words[0] |= (ids.len() as u32) << COUNT_SHIFT;
        Self(bytemuck::cast(words))
    }

    /// A value that says where the ids are, and how many.
    pub fn in_ring(position: u64, count: usize) -> Self {
        let first = IN_RING << COUNT_SHIFT | count as u32;
        let words = [first, position as u32, (position >> 32) as u32, 0];
        Self(bytemuck::cast(words))
    }
}
