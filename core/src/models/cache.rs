//! A bounded memory of pieces met before: exact, direct-mapped, one per thread.
//!
//! A slot holds a piece of up to 15 bytes and up to 4 ids. Nothing is ever trusted to a hash: the
//! whole piece is compared. A piece that maps to a taken slot replaces what is there.

/// Longest piece that is remembered.
pub const MAX_PIECE: usize = 15;
/// Most ids that are remembered of a piece.
pub const MAX_IDS: usize = 4;

const SLOTS: usize = 1 << 15;
/// Ids are below 2^21, so the first one's top bits have room for how many there are.
const COUNT_SHIFT: u32 = 29;

#[derive(Clone, Copy, Default)]
#[repr(C, align(32))]
struct Slot {
    key: u128,
    ids: [u32; MAX_IDS],
}

/// Remembers what pieces became.
pub struct PieceCache {
    slots: Box<[Slot]>,
}

impl Default for PieceCache {
    fn default() -> Self {
        Self {
            slots: vec![Slot::default(); SLOTS].into_boxed_slice(),
        }
    }
}

impl std::fmt::Debug for PieceCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PieceCache")
    }
}

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
        all & ((1 << (8 * length)) - 1)
    } else {
        let mut bytes = [0; 16];
        bytes[..length].copy_from_slice(&text[start..end]);
        u128::from_le_bytes(bytes)
    };
    Some(packed | (length as u128) << 120)
}

#[inline]
fn home(key: u128) -> usize {
    let folded = (key as u64) ^ ((key >> 64) as u64).rotate_left(23);
    (folded.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - SLOTS.trailing_zeros())) as usize
}

impl PieceCache {
    /// Appends the ids of a piece and says that it was remembered.
    #[inline]
    pub fn recall(&self, key: u128, out: &mut Vec<u32>) -> bool {
        let slot = &self.slots[home(key)];
        if slot.key != key {
            return false;
        }
        let first = slot.ids[0];
        out.push(first & ((1 << COUNT_SHIFT) - 1));
        let count = (first >> COUNT_SHIFT) as usize;
        if count > 1 {
            out.extend_from_slice(&slot.ids[1..count]);
        }
        true
    }

    /// Remembers a piece's ids, if they are few enough.
    #[inline]
    pub fn remember(&mut self, key: u128, ids: &[u32]) {
        if ids.is_empty() || ids.len() > MAX_IDS {
            return;
        }
        let slot = &mut self.slots[home(key)];
        slot.key = key;
        slot.ids[..ids.len()].copy_from_slice(ids);
        slot.ids[0] |= (ids.len() as u32) << COUNT_SHIFT;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_differ_by_content_and_length() {
        let text = b"a\0\0bcdefghijklmnopqrstuvwxyz";
        assert_ne!(
            key(text, 0, 1),
            key(text, 0, 2),
            "trailing zero bytes count"
        );
        assert_eq!(
            key(text, 3, 6),
            key(b"bcd", 0, 3),
            "the way it is loaded does not"
        );
        assert_eq!(key(text, 3, 18), key(&text[..18], 3, 18));
        assert_eq!(key(text, 3, 19), None);
    }

    #[test]
    fn recalls_exactly_what_it_was_told() {
        let mut cache = PieceCache::default();
        let highest = bpe_tables::MAX_TOKENS as u32 - 1;
        for count in 1..=MAX_IDS {
            let key = key(b"piece", 0, count).unwrap();
            let ids = vec![highest; count];
            let mut out = vec![7];
            assert!(!cache.recall(key, &mut out));
            cache.remember(key, &ids);
            assert!(cache.recall(key, &mut out));
            assert_eq!(out[1..], ids);
        }
        let long = key(b"long", 0, 4).unwrap();
        cache.remember(long, &[1; 5]);
        assert_ne!(cache.slots[home(long)].ids, [1; 4]);
    }
}
