//! Looks at 64 bytes in plain Rust, for machines without the instructions of the other levels.

use super::super::bits::{LETTER, LOWER, NEWLINE, NUMBER, SPACE, UPPER};
use super::super::class;
use super::level::{Ascii, Kinds, Leads, Level, Long, Stretch, for_each_bit};

/// The level that every machine has.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Portable;

/// Eight kinds of eight bytes: a byte for each kind, in it a bit for each of the bytes.
pub(super) type Row = u64;

/// Gives the row of one character, the first of eight bytes, which is of the kinds that are true.
const fn row(kinds: [bool; 8]) -> Row {
    let mut row = 0;
    let mut kind = 0;
    while kind < 8 {
        row |= (kinds[kind] as u64) << (8 * kind);
        kind += 1;
    }
    row
}

/// The rows of bytes: upper, lower, number, space, newline, blank, apostrophe, slash.
pub(super) static BYTES: [Row; 256] = {
    let mut rows = [0; 256];
    let mut byte = 0;
    while byte < 0x80 {
        let class = class::ASCII[byte];
        rows[byte] = row([
            class & UPPER != 0,
            class & LOWER != 0,
            class & NUMBER != 0,
            class & SPACE != 0,
            class & NEWLINE != 0,
            byte == b' ' as usize,
            byte == b'\'' as usize,
            byte == b'/' as usize,
        ]);
        byte += 1;
    }
    rows
};

/// The rows of bytes that are no ASCII: the fields of [`Leads`], in order.
pub(super) static LEADS: [Row; 256] = {
    let mut rows = [0; 256];
    let mut byte = 0x80;
    while byte < 256 {
        rows[byte] = row([
            byte <= 0xBF,
            0xC2 <= byte && byte <= 0xDF,
            0xE0 <= byte && byte <= 0xEF,
            0xF0 <= byte && byte <= 0xF4,
            0xE5 <= byte && byte <= 0xE9 || byte == 0xEB || byte == 0xEC,
            byte == 0xE4,
            byte == 0xB7,
            false,
        ]);
        byte += 1;
    }
    rows
};

/// The rows of classes: upper, lower, number, space, letter.
static CLASSES: [Row; 256] = {
    let mut rows = [0; 256];
    let mut class = 0;
    while class < 256 {
        rows[class] = row([
            class as u8 & UPPER != 0,
            class as u8 & LOWER != 0,
            class as u8 & NUMBER != 0,
            class as u8 & SPACE != 0,
            class as u8 & LETTER != 0,
            false,
            false,
            false,
        ]);
        class += 1;
    }
    rows
};

/// Gives the words of the eight kinds of 64 bytes: the eight rows of eight bytes, columns for rows.
#[inline(always)]
fn columns(mut rows: [Row; 8]) -> [u64; 8] {
    // Blocks of four bytes change places, then of two, then bytes.
    for (distance, mask) in [
        (4, 0x0000_0000_FFFF_FFFF),
        (2, 0x0000_FFFF_0000_FFFF),
        (1, 0x00FF_00FF_00FF_00FF),
    ] {
        for first in (0..8).filter(|first| first & distance == 0) {
            let (a, b) = (rows[first], rows[first + distance]);
            let bits = 8 * distance;
            let moved = (a >> bits ^ b) & mask;
            rows[first] = a ^ moved << bits;
            rows[first + distance] = b ^ moved;
        }
    }
    rows
}

/// Looks up the rows of 64 bytes, and turns them into words of their kinds.
#[inline(always)]
fn look_up(words: [u64; 8], table: &[Row; 256]) -> [u64; 8] {
    columns(words.map(|word| {
        let bytes = word.to_le_bytes().into_iter().enumerate();
        bytes.fold(0, |row, (place, byte)| {
            row | table[usize::from(byte)] << place
        })
    }))
}

/// The highest bit of every byte.
const HIGHS: u64 = u64::from_ne_bytes([0x80; 8]);

/// Moves the highest bit of each of 64 bytes into one word.
#[inline(always)]
fn gather(words: [u64; 8]) -> u64 {
    // The product has the bits of all eight bytes in its highest byte, in order.
    const IN_ORDER: u64 = 0x0002_0408_1020_4081;
    words.iter().rev().fold(0, |gathered, &word| {
        gathered << 8 | (word & HIGHS).wrapping_mul(IN_ORDER) >> 56
    })
}

impl Level for Portable {
    type Bytes = [u64; 8];

    #[inline(always)]
    fn load(self, stretch: &Stretch) -> [u64; 8] {
        let (words, _) = stretch.as_chunks();
        std::array::from_fn(|i| u64::from_le_bytes(words[i]))
    }

    #[inline(always)]
    fn ascii(self, words: [u64; 8]) -> Ascii {
        let is_ascii = words.iter().fold(0, |all, word| all | word) & HIGHS == 0;
        let high = if is_ascii { 0 } else { gather(words) };
        Ascii::new(look_up(words, &BYTES), high)
    }

    #[inline(always)]
    fn leads(self, words: [u64; 8]) -> Leads {
        Leads::new(look_up(words, &LEADS))
    }

    #[inline(always)]
    fn long(self, stretch: &Stretch, _: [u64; 8], long: &mut Long) -> Kinds {
        if long.two | long.three | long.four == 0 {
            return Kinds::default();
        }
        let mut rows = [0; 8];
        for_each_long(stretch, long, |place, class| {
            rows[place / 8] |= CLASSES[usize::from(class)] << (place % 8);
        });
        let [upper, lower, number, space, letter, ..] = columns(rows);
        Kinds {
            letter,
            upper,
            lower,
            number,
            space,
        }
    }

    #[inline(always)]
    fn put(self, bits: u64, base: usize, room: &mut [usize]) {
        put(bits, base, room);
    }
}

/// Calls `f` with the place and the class of the characters that begin at the bytes of `long`, in any
/// order; takes the ill-formed out of it, whose class is 0.
#[inline(always)]
pub(super) fn for_each_long(stretch: &Stretch, long: &mut Long, mut f: impl FnMut(usize, u8)) {
    let at = |place: usize| stretch[place];
    for_each_bit(long.two, |i| f(i, class::of_two([at(i), at(i + 1)])));
    let mut ill_formed = 0;
    for_each_bit(long.three, |i| {
        let class = class::of_three([at(i), at(i + 1), at(i + 2)]);
        f(i, class);
        ill_formed |= u64::from(class == 0) << i;
    });
    for_each_bit(long.four, |i| {
        let class = class::of_four([at(i), at(i + 1), at(i + 2), at(i + 3)]);
        f(i, class);
        ill_formed |= u64::from(class == 0) << i;
    });
    long.three &= !ill_formed;
    long.four &= !ill_formed;
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
