//! Slots of a memory of pieces: keys, values, and the buckets that hold two of each.

use crate::memory::key;
use crate::memory::prefetch::prefetch;

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

/// Where keys belong in a table, and the table.
#[derive(Debug)]
pub struct Buckets<'a> {
    all: &'a mut [[u128; UNITS]],
    shift: u32,
}

impl<'a> Buckets<'a> {
    /// The table of so many buckets as there are: a power of two, and not one.
    #[inline]
    pub fn new(all: &'a mut [[u128; UNITS]]) -> Self {
        let shift = 64 - all.len().trailing_zeros();
        Self { all, shift }
    }

    /// The bucket of a key.
    #[inline]
    #[must_use]
    pub fn bucket_of(&self, key: u128) -> usize {
        (key::hash(key) >> self.shift) as usize
    }

    /// Asks for a bucket ahead.
    #[inline]
    pub fn prefetch(&self, index: usize) {
        prefetch(self.all, index);
    }

    /// The value of a key that is in its bucket.
    #[inline]
    #[must_use]
    pub fn get(&mut self, index: usize, key: u128) -> Option<Value> {
        let bucket = &mut self.all[index];
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

    /// The value of a key that is in a bucket, where it stays in its slot.
    #[inline]
    pub fn peek(&self, index: usize, key: u128) -> Option<Value> {
        let bucket = &self.all[index];
        let way = bucket[..2].iter().position(|&there| there == key)?;
        Some(Value(bucket[2 + way]))
    }

    /// The value of a key that is in its bucket or with the neighbour.
    #[inline]
    pub fn find(&mut self, index: usize, key: u128) -> Option<Value> {
        // Nobody lies with the neighbour as long as there is room in the own bucket.
        let crowded = self.all[index][1] != 0;
        self.get(index, key).or_else(|| {
            if crowded {
                self.peek(index ^ 1, key)
            } else {
                None
            }
        })
    }

    /// Puts everything where it belongs after the table has grown from `old` buckets, some even number of times.
    pub fn rehash_in_place(&mut self, old: usize) {
        let times = self.all.len() / old;
        // The first bits of a hash say which bucket is a key's. So what two neighbours hold belongs to
        // `times` as many neighbours, which come no earlier: from the end on, nothing is overwritten that
        // has not been taken out.
        for first in (0..old).step_by(2).rev() {
            let pair = [self.all[first], self.all[first + 1]];
            self.all[first * times..][..2 * times].fill([0; UNITS]);
            for bucket in &pair {
                self.insert_all(bucket);
            }
        }
    }

    /// Puts what is in a bucket of a smaller table where it belongs.
    pub fn insert_all(&mut self, bucket: &[u128; UNITS]) {
        for way in 0..2 {
            if bucket[way] != 0 {
                self.insert(bucket[way], Value(bucket[2 + way]));
            }
        }
    }

    /// Puts a value where its key belongs, in place of another if there is no room.
    #[inline]
    pub fn insert(&mut self, key: u128, value: Value) {
        let own = self.bucket_of(key);
        // Zero is no key: a piece's length is part of it.
        let free = [(own, 0), (own, 1), (own ^ 1, 0), (own ^ 1, 1)]
            .into_iter()
            .find(|&(index, way)| {
                let there = self.all[index][way];
                there == 0 || there == key
            });
        let (index, way) = free.unwrap_or((own, 1));
        self.all[index][way] = key;
        self.all[index][2 + way] = value.0;
    }
}

/// What a slot holds: up to four ids, or where more are; and perhaps a bound in the last one's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value(u128);

impl Value {
    /// No ids.
    pub const NONE: Self = Self(0);

    /// How many ids there are, if they are here.
    #[inline]
    #[must_use]
    pub fn count(self) -> Option<usize> {
        let count = self.words()[0] >> COUNT_SHIFT;
        (count <= MAX_IDS as u32).then_some(count as usize)
    }

    /// How many ids are here, or else their position in the ring and their number.
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

    /// The bound that the value was made with; anything if there was none.
    #[inline]
    #[must_use]
    pub fn bound(self) -> f32 {
        f32::from_bits(self.last())
    }

    /// What stands in the last id's place.
    #[inline]
    #[must_use]
    pub fn last(self) -> u32 {
        self.words()[MAX_IDS - 1]
    }

    /// The same with something else in the last id's place, where there is no fourth id.
    #[must_use]
    pub fn with_last(self, last: u32) -> Self {
        let [first, second, third, _] = self.words();
        Self(bytemuck::cast([first, second, third, last]))
    }

    #[inline]
    fn words(self) -> [u32; 4] {
        bytemuck::cast(self.0)
    }

    /// A value of a few ids: up to four, or three and a bound; None if there are more.
    #[must_use]
    pub fn of(ids: &[u32], bound: Option<f32>) -> Option<Self> {
        if ids.len() + usize::from(bound.is_some()) > MAX_IDS {
            return None;
        }
        let mut words = [0; MAX_IDS];
        words[..ids.len()].copy_from_slice(ids);
        words[0] |= (ids.len() as u32) << COUNT_SHIFT;
        if let Some(bound) = bound {
            words[MAX_IDS - 1] = bound.to_bits();
        }
        Some(Self(bytemuck::cast(words)))
    }

    /// A value that says where the ids are, and how many.
    #[must_use]
    pub fn in_ring(position: u64, count: usize, bound: Option<f32>) -> Self {
        let first = IN_RING << COUNT_SHIFT | count as u32;
        let bound = bound.map_or(0, f32::to_bits);
        let words = [first, position as u32, (position >> 32) as u32, bound];
        Self(bytemuck::cast(words))
    }
}
