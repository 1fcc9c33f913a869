//! Looks at 64 bytes with NEON, which every ARM machine of 64 bits has.
//!
//! A look-up in a table gives eight kinds of each byte as the bits of one, as vectors of 16 bytes that hold every fourth
//! byte: then shifts that insert move a bit of each of 64 bytes into one word without a transposition.

use std::arch::aarch64::*;
use std::arch::is_aarch64_feature_detected;

use super::super::bits::{LETTER, LOWER, NUMBER, SPACE, UPPER};
use super::level::{Ascii, Kinds, Leads, Level, Long, Stretch};
use super::portable::{BYTES, LEADS, Row, for_each_long, put};

/// The level of NEON; only a machine that has it makes a value.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Neon(());

/// 64 bytes: every fourth from the first on, from the second on, and so on.
type Fourths = uint8x16x4_t;

/// The eight kinds of half of all bytes, a bit each.
static ASCII_KINDS: [u8; 128] = packed(&BYTES, 0);
static LEAD_KINDS: [u8; 128] = packed(&LEADS, 0x80);

/// Packs the rows of 128 bytes from `first` on: of each row the lowest bit of every byte.
const fn packed(rows: &[Row; 256], first: usize) -> [u8; 128] {
    let mut packed = [0; 128];
    let mut place = 0;
    while place < 128 {
        let mut kind = 0;
        while kind < 8 {
            packed[place] |= ((rows[first + place] >> (8 * kind) & 1) as u8) << kind;
            kind += 1;
        }
        place += 1;
    }
    packed
}

impl Neon {
    /// Gives the level if the machine has it, with the lowest byte of a word first.
    #[inline]
    pub fn detect() -> Option<Self> {
        (cfg!(target_endian = "little") && is_aarch64_feature_detected!("neon")).then_some(Self(()))
    }

    #[inline(always)]
    fn load_bytes(self, bytes: &[u8; 64]) -> Fourths {
        // SAFETY: 64 bytes are read, and there are as many; the load needs no alignment.
        unsafe { vld4q_u8(bytes.as_ptr()) }
    }

    /// Gives what the table has for each byte from `first` to `first + 127`, and 0 for all others.
    #[inline(always)]
    fn look_up(self, table: &[u8; 128], bytes: Fourths, first: u8) -> Fourths {
        let (low, high) = table.split_at(64);
        // SAFETY: both halves have 64 bytes; the loads need no alignment.
        unsafe {
            let (low, high) = (vld1q_u8_x4(low.as_ptr()), vld1q_u8_x4(high.as_ptr()));
            let of = |bytes: uint8x16_t| {
                // A look-up outside of a half gives 0 first, and then leaves what is there.
                let at = veorq_u8(bytes, vdupq_n_u8(first));
                let found = vqtbl4q_u8(low, at);
                vqtbx4q_u8(found, high, veorq_u8(at, vdupq_n_u8(64)))
            };
            uint8x16x4_t(of(bytes.0), of(bytes.1), of(bytes.2), of(bytes.3))
        }
    }

    /// Moves the bit of each byte into one word.
    #[inline(always)]
    fn gather<const BIT: u8>(self, bytes: Fourths) -> u64 {
        // SAFETY: there is no access to memory.
        unsafe {
            let place = vdupq_n_s8(BIT.leading_zeros() as i8);
            let highest = |bytes: uint8x16_t| vshlq_u8(bytes, place);
            let two = vsriq_n_u8::<1>(highest(bytes.1), highest(bytes.0));
            let other_two = vsriq_n_u8::<1>(highest(bytes.3), highest(bytes.2));
            let four = vsriq_n_u8::<2>(other_two, two);
            // The four highest bits are those of four bytes side by side: twice, so that a shift joins them to the next four.
            let twice = vreinterpretq_u16_u8(vsriq_n_u8::<4>(four, four));
            vget_lane_u64::<0>(vreinterpret_u64_u8(vshrn_n_u16::<4>(twice)))
        }
    }

    /// Moves the eight bits of each byte into a word each, the lowest first.
    #[inline(always)]
    fn columns(self, bytes: Fourths) -> [u64; 8] {
        [
            self.gather::<1>(bytes),
            self.gather::<2>(bytes),
            self.gather::<4>(bytes),
            self.gather::<8>(bytes),
            self.gather::<16>(bytes),
            self.gather::<32>(bytes),
            self.gather::<64>(bytes),
            self.gather::<128>(bytes),
        ]
    }
}

impl Level for Neon {
    type Bytes = Fourths;

    #[inline(always)]
    fn load(self, stretch: &Stretch) -> Fourths {
        self.load_bytes(stretch.first_chunk().expect("a stretch has more"))
    }

    #[inline(always)]
    fn ascii(self, bytes: Fourths) -> Ascii {
        let kinds = self.look_up(&ASCII_KINDS, bytes, 0);
        Ascii::new(self.columns(kinds), self.gather::<0x80>(bytes))
    }

    #[inline(always)]
    fn leads(self, bytes: Fourths) -> Leads {
        Leads::new(self.columns(self.look_up(&LEAD_KINDS, bytes, 0x80)))
    }

    #[inline(always)]
    fn long(self, stretch: &Stretch, _: Fourths, long: &mut Long) -> Kinds {
        if long.two | long.three | long.four == 0 {
            return Kinds::default();
        }
        let mut classes = [0; 64];
        for_each_long(stretch, long, |place, class| classes[place] = class);
        let classes = self.load_bytes(&classes);
        Kinds {
            letter: self.gather::<LETTER>(classes),
            upper: self.gather::<UPPER>(classes),
            lower: self.gather::<LOWER>(classes),
            number: self.gather::<NUMBER>(classes),
            space: self.gather::<SPACE>(classes),
        }
    }

    #[inline(always)]
    fn put(self, bits: u64, base: usize, room: &mut [usize]) {
        put(bits, base, room);
    }
}
