//! What long words became, and those that became many ids: a bounded, exact memory for one thread.
//!
//! There are few of them in most text, so a slot may be large: up to 63 bytes of text as they were given,
//! and up to 14 ids. As in the other memory, two slots stand together, and the older one goes.

/// Longest word that is remembered.
pub const MAX_WORD: usize = 63;
/// Most ids that are remembered of a word.
pub const MAX_IDS: usize = 14;

const SLOTS: usize = 1 << 15;
const COUNT: usize = MAX_IDS;
const BOUND: usize = MAX_IDS + 1;

/// A word's bytes, zeros, and its length; then its ids, how many there are, and their bound. All zero: a
/// free slot, for no word has no bytes.
type Slot = [u32; 32];
const KEY: usize = 16;
type Key = [u32; KEY];

/// Remembers what long words became.
#[derive(Default)]
pub struct LongCache {
    /// Empty before it is used.
    slots: Vec<Slot>,
}

impl std::fmt::Debug for LongCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LongCache")
    }
}

/// Whether a slot is a word's.
#[inline]
fn is_of(slot: &Slot, key: &Key) -> bool {
    let own: Option<&Key> = slot.first_chunk();
    own.is_some_and(|own| {
        own.iter()
            .zip(key)
            .fold(0, |all, (own, key)| all | own ^ key)
            == 0
    })
}

fn key(word: &[u8]) -> Key {
    let mut bytes = [0; 4 * KEY];
    bytes[..word.len()].copy_from_slice(word);
    bytes[MAX_WORD] = word.len() as u8;
    bytemuck::cast(bytes)
}

/// The first of the two slots that a word may be in.
fn home(key: &Key) -> usize {
    const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;
    let words: [u64; KEY / 2] = bytemuck::cast(*key);
    let mixed = words.iter().fold(0_u64, |state, word| {
        (state ^ word).wrapping_mul(MULTIPLIER).rotate_left(29)
    });
    (mixed.wrapping_mul(MULTIPLIER) >> (64 - SLOTS.trailing_zeros())) as usize & !1
}

impl LongCache {
    /// Gives the ids that are known of a word, and up to which absolute sum of scores before it they hold.
    pub fn recall(&self, word: &[u8]) -> Option<(&[u32], f32)> {
        if word.len() > MAX_WORD || self.slots.is_empty() {
            return None;
        }
        let key = key(word);
        let home = home(&key);
        let slot = self.slots[home..home + 2]
            .iter()
            .find(|slot| is_of(slot, &key))?;
        let ids = &slot[KEY..];
        Some((&ids[..ids[COUNT] as usize], f32::from_bits(ids[BOUND])))
    }

    /// Remembers a word's ids, if it is not too long and they are few enough.
    pub fn remember(&mut self, word: &[u8], ids: &[u32], bound: f32) {
        if word.is_empty() || word.len() > MAX_WORD || ids.len() > MAX_IDS {
            return;
        }
        if self.slots.is_empty() {
            self.slots = vec![[0; 32]; SLOTS];
        }
        let key = key(word);
        let home = home(&key);
        if !is_of(&self.slots[home], &key) {
            self.slots[home + 1] = self.slots[home];
        }
        let slot = &mut self.slots[home];
        slot[..KEY].copy_from_slice(&key);
        slot[KEY..KEY + ids.len()].copy_from_slice(ids);
        slot[KEY + COUNT] = ids.len() as u32;
        slot[KEY + BOUND] = bound.to_bits();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recalls_exactly_what_it_was_told() {
        let mut cache = LongCache::default();
        let word = [b'x'; MAX_WORD + 1];
        for length in 1..=MAX_WORD {
            assert_eq!(cache.recall(&word[..length]), None);
            cache.remember(&word[..length], &vec![length as u32; length % 15], 0.5);
        }
        for length in 1..=MAX_WORD {
            let ids = vec![length as u32; length % 15];
            assert_eq!(cache.recall(&word[..length]), Some((&ids[..], 0.5)));
        }
        cache.remember(&word, &[1], 0.5);
        cache.remember(b"many", &[1; MAX_IDS + 1], 0.5);
        assert_eq!((cache.recall(&word), cache.recall(b"many")), (None, None));
    }

    #[test]
    fn two_words_stand_together_and_the_older_one_goes() {
        let mut cache = LongCache::default();
        let words: Vec<String> = (0..200_000)
            .map(|number: u32| number.to_string())
            .filter(|word| home(&key(word.as_bytes())) == 0)
            .take(3)
            .collect();
        for word in &words {
            cache.remember(word.as_bytes(), &[1], 0.0);
        }
        let known = |number: usize| cache.recall(words[number].as_bytes()).is_some();
        assert_eq!([known(0), known(1), known(2)], [false, true, true]);
    }
}
