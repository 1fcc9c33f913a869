//! The classes of 64 bytes at a time, as bits of numbers, and where words begin by them.

use crate::boundaries::pairs::{PLACES, Places};

use super::plan::{ALONE, BLANK, CLOSES, LETTER, OPENS, SETTLED};

/// How many bytes are classified together.
pub const BLOCK: usize = 64;
const _: () = assert!(BLOCK == PLACES);

/// What the block before tells of where words begin in the next one.
#[derive(Default)]
pub struct Before {
    masks: Masks,
    ends: u64,
}

impl Before {
    /// Where words begin in the next block, the first byte's bit the lowest, by the classes of bytes.
    #[inline]
    pub fn begins(&mut self, rest: &[u8], classes: &[u8; 256]) -> u64 {
        let masks = Masks::of(rest, classes);
        let before = std::mem::replace(&mut self.masks, masks);
        let behind = |kind: fn(&Masks) -> u64| kind(&masks) << 1 | kind(&before) >> 63;
        // Of the last byte of a block it is not known, and then no word ends there.
        let before_steady = (masks.settled | masks.blank) >> 1;
        behind(|masks| masks.alone)
            | (masks.blank | masks.alone) & behind(|masks| masks.settled)
            | masks.closes & behind(|masks| masks.letters) & before_steady
            | masks.letters & behind(|masks| masks.opens) & before_steady
    }

    /// The same by the pairs of bytes between which a text can be cut.
    #[inline]
    pub fn begins_by_places(&mut self, places: &Places, text: &[u8], at: usize) -> u64 {
        let ends = places.ends(text, at);
        ends << 1 | std::mem::replace(&mut self.ends, ends) >> 63
    }
}

/// Which bytes of a block are what, the first one in the lowest bit.
#[derive(Clone, Copy, Default)]
struct Masks {
    /// A run of these may begin a word.
    blank: u64,
    /// These are words by themselves.
    alone: u64,
    /// What follows these changes nothing in them.
    settled: u64,
    /// Letters of ASCII.
    letters: u64,
    /// A word ends before these behind a letter.
    closes: u64,
    /// A word ends behind these before a letter.
    opens: u64,
}

impl Masks {
    /// Classifies the first bytes of a text. Bits beyond its end mean nothing.
    #[inline]
    fn of(text: &[u8], classes: &[u8; 256]) -> Self {
        match text.first_chunk() {
            Some(block) => Self::of_block(block, classes),
            None => {
                let mut block = [0; BLOCK];
                block[..text.len()].copy_from_slice(text);
                Self::of_block(&block, classes)
            }
        }
    }

    #[inline]
    fn of_block(block: &[u8; BLOCK], classes: &[u8; 256]) -> Self {
        let own = block.map(|byte| classes[usize::from(byte)]);
        let (eights, _) = own.as_chunks();
        let has = |kind: u8| {
            let bits = eights.iter().enumerate().map(|(number, eight)| {
                let of_kind = u64::from_le_bytes(*eight) >> kind.trailing_zeros();
                // The lowest bits of the eight bytes meet in the highest byte of this product.
                let together =
                    (of_kind & 0x0101_0101_0101_0101).wrapping_mul(0x0102_0408_1020_4080);
                together >> 56 << (8 * number)
            });
            bits.fold(0, |mask, bits| mask | bits)
        };
        Self {
            blank: has(BLANK),
            alone: has(ALONE),
            settled: has(SETTLED),
            letters: has(LETTER),
            closes: has(CLOSES),
            opens: has(OPENS),
        }
    }
}
