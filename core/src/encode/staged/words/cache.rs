//! What words of the original text became: a bounded, exact memory for one thread.
//!
//! A slot holds up to 15 bytes of text as they were given, blanks included, and up to 4 ids; the whole
//! text is compared. Two slots share a line of the processor's cache: of two words that meet there the
//! one that came last is looked at first, and the older one of a line goes. It is not the memory of
//! pieces in `models::cache`: that one is asked after the stages, this one instead of them, and it also
//! says how far its answer can be trusted where a model's sums are rounded.

/// Longest word that is remembered.
pub const MAX_WORD: usize = 15;
/// Most ids that are remembered of a word.
pub const MAX_IDS: usize = 4;

/// Lines of two slots.
const LINES: usize = 1 << 17;
/// u128s of a slot: a key, and ids; and of a line.
const SLOT: usize = 2;
const LINE: usize = 2 * SLOT;
const LINE_BYTES: usize = 64;
/// Ids are below 2^21, so the first one's top bits have room for how many there are.
const COUNT_SHIFT: u32 = 29;
const ID: u32 = (1 << COUNT_SHIFT) - 1;
/// A number of ids that says that they are elsewhere.
pub const MANY: usize = 7;

/// What a word became.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Known {
    /// The ids, and what else is in the slot.
    pub ids: [u32; MAX_IDS],
    /// How many of them are ids; [`MANY`]: they are too many.
    pub count: usize,
}

impl Known {
    /// Up to which absolute sum of scores before the word the ids hold: in the place of the last id.
    #[inline]
    pub fn bound(&self) -> f32 {
        f32::from_bits(self.ids[MAX_IDS - 1])
    }
}

/// Remembers what words became.
pub struct WordCache {
    /// All zero at first, so that the memory is not touched before it is used.
    units: Vec<u128>,
    /// Where the first line begins.
    first: usize,
}

impl Default for WordCache {
    fn default() -> Self {
        let units = vec![0; LINES * LINE + LINE];
        let first = units.as_ptr().align_offset(LINE_BYTES);
        Self {
            first: first.min(LINE),
            units,
        }
    }
}

impl std::fmt::Debug for WordCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("WordCache")
    }
}

/// Packs the word at `start..end` of a text, which has 1 to 15 bytes: the bytes and the length.
#[inline]
pub fn key(text: &[u8], start: usize, end: usize) -> u128 {
    let length = end - start;
    let packed = if let Some(window) = text.get(start..start + 16) {
        let all = u128::from_le_bytes(window.try_into().unwrap_or_default());
        all & !(u128::MAX << (8 * length))
    } else {
        let mut bytes = [0; 16];
        bytes[..length].copy_from_slice(&text[start..end]);
        u128::from_le_bytes(bytes)
    };
    packed | (length as u128) << 120
}

impl WordCache {
    /// Where a word's line begins.
    #[inline]
    fn line(&self, key: u128) -> usize {
        const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;
        let folded = (key as u64).wrapping_mul(MULTIPLIER) ^ (key >> 64) as u64;
        let mixed = folded.wrapping_mul(MULTIPLIER);
        self.first + (mixed >> (64 - LINES.trailing_zeros())) as usize * LINE
    }

    /// Asks the processor to have a word's line at hand soon.
    #[inline]
    pub fn prepare(&self, key: u128) {
        prefetch(&self.units, self.line(key));
    }

    /// Gives what is known of a word.
    #[inline]
    pub fn recall(&self, key: u128) -> Option<Known> {
        let line = self.line(key);
        let units: &[u128; LINE] = self.units[line..].first_chunk()?;
        let value = if units[0] == key {
            units[1]
        } else if units[SLOT] == key {
            units[SLOT + 1]
        } else {
            return None;
        };
        let mut ids = bytemuck::cast::<u128, [u32; MAX_IDS]>(value);
        let count = (ids[0] >> COUNT_SHIFT) as usize;
        ids[0] &= ID;
        Some(Known { ids, count })
    }

    /// Remembers a word's ids, if they are few enough; with a bound, there is room for one less.
    /// Says whether they are; else only that is remembered.
    pub fn remember(&mut self, key: u128, ids: &[u32], bound: Option<f32>) -> bool {
        let fits = ids.len() <= MAX_IDS - usize::from(bound.is_some());
        let mut value = [0; MAX_IDS];
        if fits {
            value[..ids.len()].copy_from_slice(ids);
        }
        let count = if fits { ids.len() } else { MANY };
        value[0] |= (count as u32) << COUNT_SHIFT;
        if let Some(bound) = bound {
            value[MAX_IDS - 1] = bound.to_bits();
        }
        let line = self.line(key);
        if self.units[line] != key {
            self.units.copy_within(line..line + SLOT, line + SLOT);
        }
        self.units[line] = key;
        self.units[line + 1] = bytemuck::cast::<[u32; MAX_IDS], u128>(value);
        fits
    }
}

/// Asks for the memory that holds an item of a list. It is a hint that no result depends on.
#[inline]
fn prefetch(list: &[u128], at: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let place = list.as_ptr().wrapping_add(at).cast::<i8>();
        // SAFETY: a prefetch reads nothing and cannot fault, whatever the address; SSE is part of every
        // x86-64 processor.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(place) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (list, at);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_differ_by_content_and_length() {
        let text = b"a\0\0bcdefghijklmnopqrstuvwxyz";
        assert_ne!(key(text, 0, 1), key(text, 0, 2));
        assert_eq!(key(text, 3, 6), key(b"bcd", 0, 3));
        assert_eq!(key(text, 3, 18), key(&text[..18], 3, 18));
    }

    #[test]
    fn recalls_exactly_what_it_was_told() {
        let mut cache = WordCache::default();
        let highest = crate::tables::MAX_TOKENS as u32 - 1;
        for count in 0..=MAX_IDS {
            let key = key(b"words", 0, count + 1);
            assert_eq!(cache.recall(key), None);
            cache.remember(key, &vec![highest; count], None);
            let known = cache.recall(key).unwrap();
            assert_eq!(known.ids[..known.count], vec![highest; count]);
        }
        let short = key(b"w", 0, 1);
        cache.remember(short, &[1; 5], None);
        assert_eq!(cache.recall(short).unwrap().count, MANY);
        let bounded = key(b"bounded", 0, 7);
        cache.remember(bounded, &[1; 4], Some(2.0));
        assert_eq!(cache.recall(bounded).unwrap().count, MANY);
        cache.remember(bounded, &[1, 2, 3], Some(2.5));
        let known = cache.recall(bounded).unwrap();
        assert_eq!(
            (known.ids[..3].to_vec(), known.bound()),
            (vec![1, 2, 3], 2.5)
        );
    }

    #[test]
    fn two_words_share_a_line_and_the_older_one_goes() {
        let mut cache = WordCache::default();
        let words: Vec<u128> = (0..1_000_000_u128)
            .map(|number| number | 15 << 120)
            .filter(|&word| cache.line(word) == cache.first)
            .take(3)
            .collect();
        for (id, &word) in words.iter().enumerate() {
            cache.remember(word, &[id as u32], None);
        }
        assert_eq!(cache.recall(words[0]), None);
        assert_eq!(cache.recall(words[1]).unwrap().ids[0], 1);
        assert_eq!(cache.recall(words[2]).unwrap().ids[0], 2);
        cache.remember(words[2], &[7], None);
        assert_eq!(cache.recall(words[2]).unwrap().ids[0], 7);
        assert_eq!(cache.recall(words[1]).unwrap().ids[0], 1);
    }
}
