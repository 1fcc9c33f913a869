//! A token with its place in a short piece, in 29 bits: what a [`PieceCache`] has room for.
//!
//! [`PieceCache`]: crate::memory::piece_cache::PieceCache

use crate::memory::key::MAX_PIECE;
use crate::models::model::Found;
use crate::tables::MAX_TOKENS;

const ID_BITS: u32 = 21;
const PLACE_BITS: u32 = 4;
const _: () = assert!(MAX_TOKENS <= 1 << ID_BITS && MAX_PIECE < 1 << PLACE_BITS);

/// Packs a token of a piece that is short enough to be remembered.
#[inline]
pub(super) fn pack(found: Found) -> u32 {
    found.id | found.start << ID_BITS | found.end << (ID_BITS + PLACE_BITS)
}

/// Unpacks it.
#[inline]
pub(super) fn unpack(packed: u32) -> Found {
    Found {
        id: packed & ((1 << ID_BITS) - 1),
        start: packed >> ID_BITS & ((1 << PLACE_BITS) - 1),
        end: packed >> (ID_BITS + PLACE_BITS) & ((1 << PLACE_BITS) - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comes_out_as_it_went_in() {
        let id = MAX_TOKENS as u32 - 1;
        for (id, start, end) in [(0, 0, 0), (id, 15, 15), (id, 0, 15), (5, 3, 4)] {
            let found = Found { id, start, end };
            assert_eq!(unpack(pack(found)), found);
            assert!(pack(found) < 1 << 29);
        }
    }
}
