//! Looks at 64 bytes in plain Rust, for machines without the instructions of the other levels.

use super::super::bits::{LETTER, LOWER, NUMBER, SPACE, UPPER};
use super::super::class;
use super::level::{Kinds, Level, Long, Stretch, for_each_bit};

/// The level that every machine has.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Portable;

/// For every class, its bits apart: the bit of number n as the lowest bit of byte n.
const APART: [u64; 256] = {
    let mut apart = [0; 256];
    let mut class = 0;
    while class < 256 {
        let mut bit = 0;
        while bit < 8 {
            apart[class] |= (class as u64 >> bit & 1) << (8 * bit);
            bit += 1;
        }
        class += 1;
    }
    apart
};

/// For every byte, the bits of its class apart.
static BYTES_APART: [u64; 256] = {
    let mut apart = [0; 256];
    let mut byte = 0;
    while byte < 0x80 {
        apart[byte] = APART[class::ASCII[byte] as usize];
        byte += 1;
    }
    apart
};

/// For every class, its bits apart.
static CLASSES_APART: [u64; 256] = APART;

/// Finds the kinds of 64 bytes by a table of what each means.
#[inline(always)]
fn kinds(bytes: &[u8; 64], apart: &[u64; 256]) -> Kinds {
    // Eight bytes at a time make a byte of each kind.
    let mut rows = [[0; 8]; 8];
    for (row, eight) in rows.iter_mut().zip(bytes.as_chunks::<8>().0) {
        let mut sum = 0;
        for (place, &byte) in eight.iter().enumerate() {
            sum |= apart[usize::from(byte)] << place;
        }
        *row = sum.to_le_bytes();
    }
    let column = |bit: u8| {
        let bit = bit.trailing_zeros() as usize;
        u64::from_le_bytes(std::array::from_fn(|row| rows[row][bit]))
    };
    Kinds {
        letter: column(LETTER),
        upper: column(UPPER),
        lower: column(LOWER),
        number: column(NUMBER),
        space: column(SPACE),
    }
}

/// The lowest bit of every byte.
const ONES: u64 = u64::from_ne_bytes([1; 8]);
/// The highest bit of every byte.
const HIGHS: u64 = ONES << 7;

/// Moves the highest bit of each of 64 bytes into one word.
#[inline(always)]
fn gather(words: &[u64; 8]) -> u64 {
    // The product has the bits of all eight bytes in its highest byte, in order.
    const IN_ORDER: u64 = 0x0002_0408_1020_4081;
    words.iter().rev().fold(0, |gathered, &word| {
        gathered << 8 | (word & HIGHS).wrapping_mul(IN_ORDER) >> 56
    })
}

/// Sets the highest bit of the bytes that are `bound` or more, which is not 0.
#[inline(always)]
fn at_least(word: u64, bound: u8) -> u64 {
    // Seven bits a byte, so that the sum carries into the highest bit and no further.
    let carried = (word & !HIGHS) + ONES * u64::from(0x80 - (bound & 0x7F));
    if bound < 0x80 {
        carried | word
    } else {
        carried & word
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
    type Bytes = [u64; 8];

    #[inline(always)]
    fn load(self, stretch: &Stretch) -> [u64; 8] {
        let (words, _) = stretch.as_chunks();
        std::array::from_fn(|i| u64::from_le_bytes(words[i]))
    }

    #[inline(always)]
    fn between(self, words: [u64; 8], first: u8, last: u8) -> u64 {
        gather(&words.map(|word| match last.checked_add(1) {
            Some(past) => at_least(word, first) & !at_least(word, past),
            None => at_least(word, first),
        }))
    }

    #[inline(always)]
    fn ascii(self, words: [u64; 8]) -> Kinds {
        let mut bytes = [0; 64];
        for (eight, word) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(words) {
            *eight = word.to_le_bytes();
        }
        kinds(&bytes, &BYTES_APART)
    }

    #[inline(always)]
    fn long(self, stretch: &Stretch, _: [u64; 8], long: &mut Long) -> Kinds {
        kinds(&long_classes(stretch, long), &CLASSES_APART)
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
