//! Looks at 64 bytes with AVX2, which nearly every x86 machine since 2013 has.

use std::arch::x86_64::*;

use super::super::bits::{LETTER, LOWER, NUMBER, SPACE, UPPER};
use super::level::{Ascii, Kinds, Leads, Level, Long, Stretch};
use super::portable::{for_each_long, put};

/// The level of AVX2; only a machine that has it makes a value.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Avx2(());

/// 64 bytes in two halves.
type Halves = [__m256i; 2];

impl Avx2 {
    /// Gives the level if the machine has it.
    #[inline]
    pub fn detect() -> Option<Self> {
        (is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt"))
        .then_some(Self(()))
    }

    #[inline(always)]
    fn load_bytes(self, bytes: &[u8; 64]) -> Halves {
        let (low, high) = bytes.split_at(32);
        // SAFETY: both halves have 32 bytes; `self` proves the features, the loads need no alignment.
        unsafe {
            [
                _mm256_loadu_si256(low.as_ptr().cast()),
                _mm256_loadu_si256(high.as_ptr().cast()),
            ]
        }
    }

    /// Moves the highest bit of each byte into one word.
    #[inline(always)]
    fn gather(self, [low, high]: Halves) -> u64 {
        // SAFETY: `self` proves the features.
        unsafe {
            let low = _mm256_movemask_epi8(low) as u32;
            let high = _mm256_movemask_epi8(high) as u32;
            u64::from(high) << 32 | u64::from(low)
        }
    }

    /// Finds the bytes of one half from `first` to `last`.
    #[inline(always)]
    fn half_between(self, half: __m256i, first: u8, last: u8) -> __m256i {
        // SAFETY: `self` proves the features.
        unsafe {
            if first == last {
                return _mm256_cmpeq_epi8(half, _mm256_set1_epi8(first as i8));
            }
            let above = _mm256_sub_epi8(half, _mm256_set1_epi8(first as i8));
            let bound = _mm256_set1_epi8((last - first) as i8);
            _mm256_cmpeq_epi8(_mm256_min_epu8(above, bound), above)
        }
    }

    /// Finds the bytes from `first` to `last`.
    #[inline(always)]
    fn between(self, bytes: Halves, first: u8, last: u8) -> u64 {
        let [low, high] = bytes;
        self.gather([
            self.half_between(low, first, last),
            self.half_between(high, first, last),
        ])
    }

    /// Finds the bytes that have the bit.
    #[inline(always)]
    fn having<const SHIFT: i32>(self, [low, high]: Halves) -> u64 {
        // Bits of the byte below come in lower than the highest.
        // SAFETY: `self` proves the features.
        let shifted = unsafe {
            [
                _mm256_slli_epi16::<SHIFT>(low),
                _mm256_slli_epi16::<SHIFT>(high),
            ]
        };
        self.gather(shifted)
    }
}

impl Level for Avx2 {
    type Bytes = Halves;

    #[inline(always)]
    fn load(self, stretch: &Stretch) -> Halves {
        self.load_bytes(stretch.first_chunk().expect("a stretch has more"))
    }

    #[inline(always)]
    fn ascii(self, bytes: Halves) -> Ascii {
        let upper = self.between(bytes, b'A', b'Z');
        let lower = self.between(bytes, b'a', b'z');
        let blank = self.between(bytes, b' ', b' ');
        Ascii {
            kinds: Kinds {
                letter: upper | lower,
                upper,
                lower,
                number: self.between(bytes, b'0', b'9'),
                space: blank | self.between(bytes, b'\t', b'\r'),
            },
            newline: self.between(bytes, b'\n', b'\n') | self.between(bytes, b'\r', b'\r'),
            blank,
            apostrophe: self.between(bytes, b'\'', b'\''),
            slash: self.between(bytes, b'/', b'/'),
            high: self.gather(bytes),
        }
    }

    #[inline(always)]
    fn leads(self, bytes: Halves) -> Leads {
        Leads {
            continuing: self.between(bytes, 0x80, 0xBF),
            two: self.between(bytes, 0xC2, 0xDF),
            three: self.between(bytes, 0xE0, 0xEF),
            four: self.between(bytes, 0xF0, 0xF4),
            caseless: self.between(bytes, 0xE5, 0xE9) | self.between(bytes, 0xEB, 0xEC),
            nearly_caseless: self.between(bytes, 0xE4, 0xE4),
            hexagram: self.between(bytes, 0xB7, 0xB7),
        }
    }

    #[inline(always)]
    fn long(self, stretch: &Stretch, _: Halves, long: &mut Long) -> Kinds {
        if long.two | long.three | long.four == 0 {
            return Kinds::default();
        }
        let mut classes = [0; 64];
        for_each_long(stretch, long, |place, class| classes[place] = class);
        let classes = self.load_bytes(&classes);
        Kinds {
            letter: self.having::<{ shift(LETTER) }>(classes),
            upper: self.having::<{ shift(UPPER) }>(classes),
            lower: self.having::<{ shift(LOWER) }>(classes),
            number: self.having::<{ shift(NUMBER) }>(classes),
            space: self.having::<{ shift(SPACE) }>(classes),
        }
    }

    #[inline(always)]
    fn put(self, bits: u64, base: usize, room: &mut [usize]) {
        put(bits, base, room);
    }
}

/// How far a class's bit is from the highest of its byte.
const fn shift(bit: u8) -> i32 {
    bit.leading_zeros() as i32
}
