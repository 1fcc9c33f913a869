//! What a piece of text is looked up by: 16 bytes, and a hash of them.
//!
//! A piece of up to 15 bytes is its own key: its bytes and its length, compared as one number, so that nothing is trusted
//! to a hash. A longer one has a hash of its bytes for a key, which others may share: whoever finds it compares the bytes.
//! The last byte tells the kinds apart.

/// The longest piece that is its own key.
pub const MAX_PIECE: usize = 15;
/// The longest piece that has a key.
pub const MAX_LONG: usize = 256;

/// The last byte of a key.
const LAST: u32 = 120;
/// The last byte of the key of a long piece: more than any short one's length.
const LONG: u128 = 0x10 << LAST;
/// Set in the keys of words inside pieces.
const WORD: u128 = 0x40 << LAST;
/// Set in the keys of some of a piece's characters.
const SOME: u128 = 0x20 << LAST;
/// No piece's key: zero is not either, but stands in slots that are free.
pub const NONE: u128 = u128::MAX;

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

/// Packs the piece at `start..end` of a text: its bytes and its length, or None if it is longer than [`MAX_PIECE`].
///
/// Inlined wherever it is called: as a call of its own it costs a tenth of the time of byte-level encoding.
#[inline(always)]
#[must_use]
pub fn pack(text: &[u8], start: usize, end: usize) -> Option<u128> {
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
    Some(packed | (length as u128) << LAST)
}

/// The key of any piece: of one longer than [`MAX_PIECE`] a key that others may share, of one longer than [`MAX_LONG`]
/// [`NONE`].
#[inline(always)]
#[must_use]
pub fn pack_any(text: &[u8], start: usize, end: usize) -> u128 {
    match pack(text, start, end) {
        Some(key) => key,
        None => pack_long(&text[start..end]),
    }
}

/// The key of a piece of 16 bytes or more.
#[inline(never)]
fn pack_long(piece: &[u8]) -> u128 {
    if piece.len() > MAX_LONG {
        return NONE;
    }
    let word = |at: usize| {
        piece[at..]
            .first_chunk()
            .map_or(0, |bytes| u64::from_le_bytes(*bytes))
    };
    let mut state = 0;
    for at in (0..piece.len() - 8).step_by(8) {
        state = fold(state ^ word(at), MULTIPLIER);
    }
    state = fold(state ^ word(piece.len() - 8), MULTIPLIER);
    u128::from(state) | (piece.len() as u128) << 64 | LONG
}

/// The key of a word inside a piece, which may become something else than the same bytes as a piece; given the key of these.
/// [`NONE`] stays what it is.
#[inline]
#[must_use]
pub fn of_word(key: u128) -> u128 {
    key | WORD
}

/// The key of characters inside a piece that are merged as if they were all of it; given the key of the same bytes as a piece.
/// [`NONE`] stays what it is.
#[inline]
#[must_use]
pub fn of_some(key: u128) -> u128 {
    key | SOME
}

/// So many ids have a key.
pub const MAX_IDS: usize = 5;
/// Bits of an id in a key.
const ID_BITS: usize = 24;

/// The key of the first so many of a few ids below 2^24, which nothing else has among keys of ids; [`NONE`] if there are more.
#[inline]
#[must_use]
pub fn of_ids(ids: &[u32; MAX_IDS], count: usize) -> u128 {
    if count > MAX_IDS {
        return NONE;
    }
    let places = ids.iter().enumerate();
    let all = places.fold(0, |all, (place, &id)| {
        all | u128::from(id) << (ID_BITS * place)
    });
    all & FIRST_BYTES[ID_BITS / 8 * count] | (count as u128) << LAST
}

/// Whether a key is one that others may share.
#[inline]
#[must_use]
pub fn is_long(key: u128) -> bool {
    key >> LAST == LONG >> LAST
}

const MASK: u64 = 0x2545_F491_4F6C_DD1D;
const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

/// The two halves of a 128-bit product, xored.
#[inline]
fn fold(word: u64, factor: u64) -> u64 {
    let product = u128::from(word ^ MASK) * u128::from(factor);
    (product as u64) ^ (product >> 64) as u64
}

/// The hash of a key, for tables that lose nothing but time where text is written to collide.
#[inline]
#[must_use]
pub fn hash(key: u128) -> u64 {
    // Both halves are changed first: a short piece's high half is nothing but its length.
    fold(key as u64, (key >> 64) as u64 ^ MULTIPLIER)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pieces_with_one_key_are_one(
            text in proptest::collection::vec(0..2_u8, 0..60), cuts in proptest::array::uniform4(0..60_usize),
        ) {
            let [a, b, c, d] = cuts.map(|cut| cut.min(text.len()));
            let (one, other) = (a.min(b)..a.max(b), c.min(d)..c.max(d));
            let keys = [&one, &other].map(|range| pack(&text, range.start, range.end));
            prop_assert_eq!(keys[0].is_none(), one.len() > MAX_PIECE);
            if let [Some(key), Some(other_key)] = keys {
                prop_assert_eq!(key == other_key, text[one.clone()] == text[other]);
                prop_assert_eq!(key, pack_any(&text[..one.end], one.start, one.end), "the way it is loaded");
            }
        }
    }

    #[test]
    fn ids_have_one_key_by_their_number() {
        let most = (1 << ID_BITS) - 1;
        let ids = [0, most, 1, 0, most];
        let keys: Vec<_> = (1..=MAX_IDS).map(|count| of_ids(&ids, count)).collect();
        for (count, &key) in (1..).zip(&keys) {
            assert_eq!(keys.iter().filter(|&&other| other == key).count(), 1);
            let mut others = [7; MAX_IDS];
            others[..count].copy_from_slice(&ids[..count]);
            assert_eq!(
                of_ids(&others, count),
                key,
                "what stands behind them does not matter"
            );
            others[count - 1] ^= 1;
            assert_ne!(of_ids(&others, count), key);
        }
        assert_eq!(of_ids(&ids, MAX_IDS + 1), NONE);
        assert!(keys.iter().all(|&key| key != 0 && key != NONE));
    }

    #[test]
    fn kinds_never_meet() {
        let text = [0xff; MAX_LONG + 1];
        for length in 0..=MAX_LONG {
            let kind = pack_any(&text, 0, length) >> LAST;
            assert_eq!(kind, length.min(16) as u128);
            assert_eq!(is_long(pack_any(&text, 0, length)), length > MAX_PIECE);
            assert_eq!(of_word(pack_any(&text, 0, length)) >> LAST, kind | 0x40);
        }
        assert_eq!(pack_any(&text, 0, MAX_LONG + 1), NONE);
        assert_eq!(of_word(NONE), NONE);
        assert_ne!(pack_any(&text, 0, 16), pack_any(&text, 0, 17));
    }
}
