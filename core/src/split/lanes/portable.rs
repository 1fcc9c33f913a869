//! Looks at 64 bytes in plain Rust, for machines without the instructions of the other levels.

use super::super::bits::{LETTER, LOWER, NUMBER, SPACE, UPPER};
use super::super::class;
use super::level::{Kinds, Level, Long, Stretch, for_each_bit};

/// The level that every machine has.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Portable;

/// The lowest bit of every byte.
const ONES: u64 = u64::from_ne_bytes([1; 8]);

/// Moves a bit of each of 64 bytes into one word.
#[inline(always)]
fn gather(bytes: &[u8; 64], bit: u8) -> u64 {
    // The product has the lowest bits of all eight bytes in its highest byte, in order.
    const IN_ORDER: u64 = 0x0102_0408_1020_4080;
    let shift = bit.trailing_zeros();
    let (words, _) = bytes.as_chunks::<8>();
    words.iter().rev().fold(0, |gathered, &word| {
        let lowest = (u64::from_le_bytes(word) >> shift) & ONES;
        gathered << 8 | lowest.wrapping_mul(IN_ORDER) >> 56
    })
}

/// Finds the kinds in classes.
#[inline(always)]
fn kinds(classes: &[u8; 64]) -> Kinds {
    Kinds {
        letter: gather(classes, LETTER),
        upper: gather(classes, UPPER),
        lower: gather(classes, LOWER),
        number: gather(classes, NUMBER),
        space: gather(classes, SPACE),
    }
}

/// Gives the classes of the characters that begin at the bytes of `long`, each in the place of its first
/// byte; takes the ill-formed out of it.
#[inline(always)]
pub(super) fn long_classes(stretch: &Stretch, long: &mut Long) -> [u8; 64] {
    let mut classes = [0; 64];
    for_each_bit(long.two, |at| {
        classes[at] = class::of_two([stretch[at], stretch[at + 1]]);
    });
    let mut ill_formed = 0;
    for_each_bit(long.three, |at| {
        let class = class::of_three([stretch[at], stretch[at + 1], stretch[at + 2]]);
        classes[at] = class;
        ill_formed |= u64::from(class == 0) << at;
    });
    long.three &= !ill_formed;
    for_each_bit(long.four, |at| {
        let class = class::of_four([stretch[at], stretch[at + 1], stretch[at + 2], stretch[at + 3]]);
        classes[at] = class;
        ill_formed |= u64::from(class == 0) << at;
    });
    long.four &= !ill_formed;
    classes
}

impl Level for Portable {
    type Bytes = [u8; 64];

    #[inline(always)]
    fn load(self, stretch: &Stretch) -> [u8; 64] {
        *stretch.first_chunk().expect("a stretch has more")
    }

    #[inline(always)]
    fn between(self, bytes: [u8; 64], first: u8, last: u8) -> u64 {
        gather(
            &bytes.map(|byte| u8::from(byte.wrapping_sub(first) <= last - first)),
            1,
        )
    }

    #[inline(always)]
    fn ascii(self, bytes: [u8; 64]) -> Kinds {
        kinds(&bytes.map(class::of_byte))
    }

    #[inline(always)]
    fn long(self, stretch: &Stretch, _: [u8; 64], long: &mut Long) -> Kinds {
        kinds(&long_classes(stretch, long))
    }

    #[inline(always)]
    fn put(self, bits: u64, base: usize, room: &mut [usize]) {
        put(bits, base, room);
    }
}

/// Writes the places of bits four at a time, because loops of a varying number of rounds are
/// mispredicted once each.
#[inline(always)]
pub(super) fn put(mut bits: u64, base: usize, room: &mut [usize]) {
    for four in room.as_chunks_mut::<4>().0 {
        if bits == 0 {
            return;
        }
        for place in four {
            // Without bits left this is 64: written, and not counted.
            *place = base + bits.trailing_zeros() as usize;
            bits &= bits.wrapping_sub(1);
        }
    }
}
