//! What became of a few ids or characters lately. There are few places, so that they stay near the processor.

use crate::memory::asking::exact_room_for;
use crate::memory::key;
use crate::memory::prefetch::prefetch;
use crate::memory::slots::Value;

/// A place for each hash, where what comes replaces what is there.
#[derive(Debug)]
pub struct Lately<const BITS: u32>(Vec<(u128, Value)>);

impl<const BITS: u32> Default for Lately<BITS> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<const BITS: u32> Lately<BITS> {
    /// The ids of what has this key, which are in the value.
    #[inline]
    #[must_use]
    pub fn find(&self, key: u128) -> Option<Value> {
        let &(there, value) = self.0.get(Self::place_of(key))?;
        (there == key && key != key::NONE).then_some(value)
    }

    /// Asks for the place of a key ahead.
    #[inline]
    pub fn ask(&self, key: u128) {
        prefetch(&self.0, Self::place_of(key));
    }

    /// Remembers the ids of what has this key, if they are few, in place of what is there.
    #[inline]
    pub fn remember(&mut self, key: u128, ids: &[u32]) {
        if key == key::NONE {
            return;
        }
        if self.0.is_empty() && exact_room_for(&mut self.0, 1 << BITS) {
            self.0.resize(1 << BITS, (key::NONE, Value::NONE));
        }
        let place = self.0.get_mut(Self::place_of(key));
        if let (Some(place), Some(value)) = (place, Value::of(ids, None)) {
            *place = (key, value);
        }
    }

    #[inline]
    fn place_of(key: u128) -> usize {
        (key::hash(key) >> (u64::BITS - BITS)) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_last_stands_at_its_place() {
        let mut lately = Lately::<2>::default();
        assert_eq!(lately.find(1), None, "no places yet");
        lately.ask(1);
        lately.remember(key::NONE, &[1]);
        assert_eq!(lately.find(key::NONE), None, "no key");
        for key in 1..100 {
            lately.remember(key, &[key as u32, 5]);
            let value = lately.find(key).unwrap();
            assert_eq!(&value.ids()[..value.count().unwrap()], [key as u32, 5]);
        }
        let left = (1..100).filter(|&key| lately.find(key).is_some()).count();
        assert_eq!(left, 4, "one for each place");
        lately.remember(99, &[1, 2, 3, 4, 5]);
        let kept = lately.find(99).unwrap();
        assert_eq!(kept.ids()[0], 99, "too many ids for a value");
    }
}
