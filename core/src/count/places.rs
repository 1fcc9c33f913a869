//! A hash table from pieces to their places in a list, which can be asked for ahead.
//!
//! A slot holds 32 bits of the hash and the place. So growing reads no piece, and a piece is only looked
//! at if it is almost surely the right one: whether it is, whoever asks has to see.

/// Slots of the smallest table.
const SMALLEST: usize = 1 << 6;
/// More slots than this have no room in the 32 bits of a hash.
const LARGEST: usize = 1 << 32;

/// Open addressing with linear probing; at most 3/4 of the slots are taken, until there are 2^32.
#[derive(Debug)]
pub struct Places {
    /// The top half of the hash, and the place from 1; 0: free.
    slots: Vec<u64>,
    taken: usize,
}

impl Places {
    /// Starts empty.
    pub fn new() -> Self {
        Self {
            slots: vec![0; SMALLEST],
            taken: 0,
        }
    }

    #[inline]
    fn home(&self, hash: u64) -> usize {
        (hash >> (64 - self.slots.len().trailing_zeros())) as usize
    }

    /// The place with a hash that `is` the one looked for.
    #[inline]
    pub fn find(&self, hash: u64, mut is: impl FnMut(u32) -> bool) -> Option<u32> {
        let mut at = self.home(hash);
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                return None;
            }
            if slot >> 32 == hash >> 32 && is(slot as u32 - 1) {
                return Some(slot as u32 - 1);
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    /// The first place with the top half of a hash that is met: likely the one looked for.
    #[inline]
    pub fn guess(&self, hash: u64) -> Option<u32> {
        let slot = self.slots[self.home(hash)];
        (slot != 0 && slot >> 32 == hash >> 32).then(|| slot as u32 - 1)
    }

    /// Takes in a place below 2^32 - 1, which is not there.
    pub fn insert(&mut self, hash: u64, place: u32) {
        self.reserve(1);
        self.put(hash >> 32 << 32 | u64::from(place + 1));
        self.taken += 1;
    }

    /// Makes room for so many more.
    #[inline]
    pub fn reserve(&mut self, more: usize) {
        let mut wanted = self.slots.len();
        while self.taken + more > wanted / 4 * 3 && wanted < LARGEST {
            wanted *= 2;
        }
        if wanted > self.slots.len() {
            self.grow(wanted);
        }
    }

    fn put(&mut self, slot: u64) {
        let mut at = self.home(slot);
        while self.slots[at] != 0 {
            at = (at + 1) & (self.slots.len() - 1);
        }
        self.slots[at] = slot;
    }

    #[cold]
    fn grow(&mut self, wanted: usize) {
        let slots = std::mem::replace(&mut self.slots, vec![0; wanted]);
        for slot in slots.into_iter().filter(|&slot| slot != 0) {
            self.put(slot);
        }
    }

    /// Asks for the slot that a hash leads to.
    #[inline]
    pub fn prefetch(&self, hash: u64) {
        crate::memory::prefetch::prefetch(&self.slots, self.home(hash));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_found_whatever_their_hashes() {
        for spread in [0, 1 << 30, 1 << 33, 0x9E37_79B9_7F4A_7C15] {
            let hash = |place: u32| u64::from(place / 2).wrapping_mul(spread);
            let mut places = Places::new();
            for place in 0..1000 {
                assert_eq!(places.find(hash(place), |found| found == place), None);
                places.insert(hash(place), place);
                assert!(places.guess(hash(place)).is_none_or(|found| found <= place));
            }
            for place in 0..1000 {
                let found = places.find(hash(place), |found| found == place);
                assert_eq!(found, Some(place));
            }
        }
    }
}
