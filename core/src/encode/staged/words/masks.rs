//! The classes of 64 bytes at a time, as bits of numbers.

use super::plan::{ALONE, BLANK, CLOSES, LETTER, OPENS, SETTLED};

/// How many bytes are classified together.
pub const BLOCK: usize = 64;

/// Which bytes of a block are what, the first one in the lowest bit.
#[derive(Clone, Copy, Default)]
pub struct Masks {
    /// A run of these may begin a word.
    pub blank: u64,
    /// These are words by themselves.
    pub alone: u64,
    /// What follows these changes nothing in them.
    pub settled: u64,
    /// Letters of ASCII.
    pub letters: u64,
    /// A word ends before these behind a letter.
    pub closes: u64,
    /// A word ends behind these before a letter.
    pub opens: u64,
}

impl Masks {
    /// Classifies the first bytes of a text. Bits beyond its end mean nothing.
    #[inline]
    pub fn of(text: &[u8], classes: &[u8; 256]) -> Self {
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
