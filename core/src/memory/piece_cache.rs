//! A bounded memory of pieces met before: exact, two-way, one per thread.
//!
//! A slot holds a key of 16 bytes and a value of 16: [`key`] says what is in a key; the value is up to 4
//! ids. A long piece's value says where the piece and its ids are in a ring; so does a short one's that has more ids.
//! Nothing is ever trusted to a hash: the whole piece is compared. Beside its ids a piece may have a bound, for models whose
//! sums are rounded: it says up to where the ids hold.
//!
//! Two slots are a bucket, which is a cache line. What is met for the first time takes the second
//! slot, what is met again there changes places with the first: a piece that occurs once evicts
//! nothing that occurs often. What finds no room in its bucket may lie with the neighbour, where only those
//! look who would have to merge otherwise. The table begins small and grows with what is inserted, as far as
//! its [`Share`] goes. From some size on it grows where it is, since making pages anew takes longer than
//! putting the slots in order.

use crate::memory::asking::zeroed;
use crate::memory::budget::Share;
use crate::memory::huge_pages::LARGE_PAGE;
use crate::memory::key::{self, MAX_PIECE};
use crate::memory::ring::Ring;
pub use crate::memory::slots::MAX_IDS;
use crate::memory::slots::{Buckets, UNITS, Value};
use crate::memory::table_pages::TablePages;

/// Most ids of a piece.
pub const MOST_IDS: usize = 256;
const FIRST_BUCKETS: usize = 1 << 8;
const LINE: usize = 64;
/// Up to so many buckets, 16 MB of them, a table grows fourfold, and from there on twofold: it is filled by then with what a text
/// has, and making what stays empty would take longer than it saves.
const MOST_FOURFOLD: usize = 1 << 18;

/// Remembers what pieces became.
#[derive(Debug)]
pub struct PieceCache {
    /// Room for as many buckets as there may ever be, once there are many: zeroed memory that nobody has
    /// touched costs nothing. They begin on a cache line, after `padding` units.
    units: Vec<u128>,
    padding: usize,
    /// Which pages of the buckets are large.
    pages: TablePages,
    /// How many buckets: a power of two.
    buckets: usize,
    /// How many there may be.
    most_buckets: usize,
    /// How many pieces were inserted.
    inserted: usize,
    ring: Ring,
    share: Share,
}

impl Default for PieceCache {
    fn default() -> Self {
        Self::new(Share::default())
    }
}

/// How many buckets a cache of so many bytes has, and how many bytes its ring.
fn divide(bytes: usize) -> (usize, usize) {
    let buckets = (bytes / 8 * 5 / LINE).max(2);
    let buckets = 1 << buckets.ilog2();
    (buckets, bytes.saturating_sub(table_bytes(buckets)))
}

/// What the place of a table of so many buckets is a multiple of.
fn alignment(buckets: usize) -> usize {
    if buckets * LINE < 2 * LARGE_PAGE {
        LINE
    } else {
        LARGE_PAGE
    }
}

fn table_bytes(buckets: usize) -> usize {
    buckets * LINE + alignment(buckets)
}

impl PieceCache {
    /// Begins with nothing; it may take a share of memory.
    #[must_use]
    pub fn new(share: Share) -> Self {
        let (most_buckets, ring) = divide(share.wanted);
        let mut cache = Self {
            units: Vec::new(),
            padding: 0,
            pages: TablePages::default(),
            buckets: 0,
            most_buckets,
            inserted: 0,
            ring: Ring::new(ring),
            share,
        };
        let first = most_buckets.min(FIRST_BUCKETS);
        let units = vec![0; cache.units_for(first)]; // so few that nobody works without them
        cache.begin(units, first);
        cache
    }

    /// How many units there are for a table of so many buckets, which has room to grow if they fill large pages.
    fn units_for(&self, buckets: usize) -> usize {
        let room = match alignment(buckets) {
            LINE => buckets,
            _ => buckets.max(self.most_buckets),
        };
        table_bytes(room) / size_of::<u128>()
    }

    /// Makes an empty table of so many buckets; says whether there is memory for it. If not, nothing changes.
    fn allocate(&mut self, buckets: usize) -> bool {
        // Zeroed by the system, which makes the pages when they are first used.
        let Some(units) = zeroed::<u128>(self.units_for(buckets)) else {
            return false;
        };
        self.begin(units, buckets);
        true
    }

    /// Begins an empty table of so many buckets in memory that is zero.
    fn begin(&mut self, units: Vec<u128>, buckets: usize) {
        // Where addresses say nothing (under an interpreter), a bucket may lie on two lines.
        self.padding = match units.as_ptr().align_offset(alignment(buckets)) {
            usize::MAX => 0,
            padding => padding,
        };
        self.units = units;
        self.buckets = buckets;
        self.pages = TablePages::default();
        self.pages
            .make(&mut self.units[self.padding..][..buckets * UNITS]);
    }

    /// The bytes that it has taken, used or not.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.units.capacity() * size_of::<u128>() + self.ring.bytes()
    }

    /// Changes how much it may take. If it holds more than that, it begins anew.
    pub fn set_share(&mut self, share: Share) {
        if share == self.share {
            return;
        }
        self.share = share;
        let (wanted, ring) = divide(share.wanted);
        self.most_buckets = wanted.max(self.buckets);
        let room = self.padding + self.most_buckets * UNITS;
        if self.units.len() > room {
            self.units.truncate(room);
            self.units.shrink_to_fit();
        }
        let left = share.most.checked_sub(table_bytes(self.most_buckets));
        if !left.is_some_and(|left| self.ring.set_room(ring, left)) {
            self.clear();
        }
    }

    /// Forgets everything and gives its memory back.
    pub fn clear(&mut self) {
        *self = Self::new(self.share);
    }

    /// The table; it stays as large as it is until [`PieceCache::grow`].
    #[inline]
    #[must_use]
    pub fn buckets(&mut self) -> Buckets<'_> {
        let units = &mut self.units[self.padding..][..self.buckets * UNITS];
        Buckets::new(units.as_chunks_mut().0)
    }

    /// Asks ahead for what comes after the buckets, which are near by now: ids in the ring, and the
    /// neighbours of buckets that do not have a key.
    #[inline]
    pub fn prefetch_more(&mut self, looked_for: impl Iterator<Item = (u128, u32)>) {
        let ring = std::mem::take(&mut self.ring);
        let table = self.buckets();
        for (key, index) in looked_for {
            match table.peek(index as usize, key).map(Value::place) {
                Some(Ok(_)) => {}
                Some(Err((position, _))) => ring.prefetch(position),
                None => table.prefetch(index as usize ^ 1),
            }
        }
        self.ring = ring;
    }

    /// Makes the table larger if more was inserted than it has room for. To be called before each batch of look-ups.
    #[inline]
    pub fn grow(&mut self) {
        if self.pages.is_due() {
            self.pages
                .improve(&mut self.units[self.padding..][..self.buckets * UNITS]);
        }
        self.ring.improve();
        if self.inserted > self.buckets && self.buckets < self.most_buckets {
            let fourfold = 4 * self.buckets <= self.most_buckets.min(MOST_FOURFOLD);
            self.enlarge(if fourfold { 4 } else { 2 });
        }
    }

    #[cold]
    fn enlarge(&mut self, times: usize) {
        let old = self.buckets;
        let room = (self.units.len() - self.padding) / UNITS;
        if old * times <= room {
            self.buckets *= times;
            self.pages
                .make(&mut self.units[self.padding..][..self.buckets * UNITS]);
            self.buckets().rehash_in_place(old);
            return;
        }
        let units = std::mem::take(&mut self.units);
        let padding = self.padding;
        if !self.allocate(old * times) {
            // A cache that does not grow changes no id. It asks for no more before its share changes.
            self.units = units;
            self.most_buckets = old;
            return;
        }
        let mut table = self.buckets();
        for bucket in units[padding..][..old * UNITS].as_chunks().0 {
            table.insert_all(bucket);
        }
    }

    /// Appends the ids of a piece with this key and returns its bound, or None if it is not known.
    #[inline]
    pub fn find(&mut self, key: u128, piece: &[u8], out: &mut Vec<u32>) -> Option<f32> {
        let mut table = self.buckets();
        let value = table.find(table.bucket_of(key), key)?;
        match value.place() {
            Ok(count) => out.extend_from_slice(&value.ids()[..count]),
            Err((position, count)) => {
                out.extend_from_slice(self.ring.read(position, letters(piece), count)?);
            }
        }
        Some(value.bound())
    }

    /// Remembers the ids of a piece with this key, and perhaps a bound, unless they are too many.
    #[inline]
    pub fn insert(&mut self, key: u128, piece: &[u8], ids: &[u32], bound: Option<f32>) {
        if key == key::NONE || ids.len() > MOST_IDS {
            return;
        }
        let here = Value::of(ids, bound).filter(|_| piece.len() <= MAX_PIECE);
        let value = here.or_else(|| {
            let position = self.ring.write(letters(piece), ids)?;
            Some(Value::in_ring(position, ids.len(), bound))
        });
        if let Some(value) = value {
            self.inserted += 1;
            self.buckets().insert(key, value);
        }
    }

    /// Appends the ids of a piece that is its own key and says whether it is known.
    #[inline]
    pub fn recall(&mut self, key: u128, out: &mut Vec<u32>) -> bool {
        self.find(key, &[], out).is_some()
    }

    /// Remembers the ids of a piece that is its own key.
    #[inline]
    pub fn remember(&mut self, key: u128, ids: &[u32]) {
        self.grow();
        self.insert(key, &[], ids, None);
    }
}

/// The bytes of a piece that its key does not hold.
#[inline]
fn letters(piece: &[u8]) -> &[u8] {
    if piece.len() > MAX_PIECE { piece } else { &[] }
}

#[cfg(test)]
mod tests;
