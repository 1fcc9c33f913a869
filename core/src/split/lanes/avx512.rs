//! Looks at 64 bytes with AVX-512 and its look-ups of bytes (VBMI), as most x86 machines since 2019 and
//! Zen 4 have it.

use std::arch::x86_64::*;

use super::super::bits::{LETTER, LOWER, NEWLINE, NUMBER, SPACE, UPPER};
use super::super::class;
use super::level::{Ascii, Kinds, Leads, Level, Long, Stretch};

/// The level of AVX-512; only a machine that has it makes a value.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Avx512(());

impl Avx512 {
    /// Gives the level if the machine has it.
    #[inline]
    pub fn detect() -> Option<Self> {
        (is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512vbmi")
            && is_x86_feature_detected!("avx512vbmi2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt"))
        .then_some(Self(()))
    }

    /// Loads the 64 bytes that stand `from` behind the beginning.
    #[inline(always)]
    fn load_from(self, stretch: &Stretch, from: usize) -> __m512i {
        let bytes = &stretch[from..from + 64];
        // SAFETY: 64 bytes are readable, `self` proves the features, and the load needs no alignment.
        unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
    }

    #[inline(always)]
    fn kinds(self, classes: __m512i) -> Kinds {
        Kinds {
            letter: self.having(classes, LETTER),
            upper: self.having(classes, UPPER),
            lower: self.having(classes, LOWER),
            number: self.having(classes, NUMBER),
            space: self.having(classes, SPACE),
        }
    }

    #[inline(always)]
    fn having(self, classes: __m512i, bit: u8) -> u64 {
        // SAFETY: `self` proves the features.
        unsafe { _mm512_test_epi8_mask(classes, _mm512_set1_epi8(bit as i8)) }
    }

    #[inline(always)]
    fn equal(self, bytes: __m512i, byte: u8) -> u64 {
        // SAFETY: `self` proves the features.
        unsafe { _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(byte as i8)) }
    }

    /// Finds the bytes from `first` to `last`.
    #[inline(always)]
    fn between(self, bytes: __m512i, first: u8, last: u8) -> u64 {
        // SAFETY: `self` proves the features.
        unsafe {
            let above = _mm512_sub_epi8(bytes, _mm512_set1_epi8(first as i8));
            _mm512_cmple_epu8_mask(above, _mm512_set1_epi8((last - first) as i8))
        }
    }

    /// Looks up the lanes of `lanes`, by the low six bits of their `last` byte.
    #[inline(always)]
    fn look_up(self, classes: __m512i, lanes: u64, last: __m512i, block: &[u8; 64]) -> __m512i {
        // SAFETY: a block has 64 bytes; `self` proves the features, and the load needs no alignment.
        unsafe {
            let block = _mm512_loadu_si512(block.as_ptr().cast());
            _mm512_mask_permutexvar_epi8(classes, lanes, last, block)
        }
    }
}

impl Level for Avx512 {
    type Bytes = __m512i;

    #[inline(always)]
    fn load(self, stretch: &Stretch) -> __m512i {
        self.load_from(stretch, 0)
    }

    #[inline(always)]
    fn ascii(self, bytes: __m512i) -> Ascii {
        let (low, upper) = class::ASCII.split_at(64);
        // SAFETY: both halves of the table have 64 bytes; `self` proves the features.
        let (classes, high) = unsafe {
            let low = _mm512_loadu_si512(low.as_ptr().cast());
            let upper = _mm512_loadu_si512(upper.as_ptr().cast());
            let high = _mm512_movepi8_mask(bytes);
            let classes = _mm512_maskz_permutex2var_epi8(!high, low, bytes, upper);
            (classes, high)
        };
        Ascii {
            kinds: self.kinds(classes),
            newline: self.having(classes, NEWLINE),
            blank: self.equal(bytes, b' '),
            apostrophe: self.equal(bytes, b'\''),
            slash: self.equal(bytes, b'/'),
            high,
        }
    }

    #[inline(always)]
    fn leads(self, bytes: __m512i) -> Leads {
        Leads {
            continuing: self.between(bytes, 0x80, 0xBF),
            two: self.between(bytes, 0xC2, 0xDF),
            three: self.between(bytes, 0xE0, 0xEF),
            four: self.between(bytes, 0xF0, 0xF4),
            caseless: self.between(bytes, 0xE5, 0xE9) | self.between(bytes, 0xEB, 0xEC),
            nearly_caseless: self.equal(bytes, 0xE4),
            hexagram: self.equal(bytes, 0xB7),
        }
    }

    /// Characters that begin alike share one look-up: all of one script in a few rounds.
    #[inline(always)]
    fn long(self, stretch: &Stretch, bytes: __m512i, long: &mut Long) -> Kinds {
        let second = self.load_from(stretch, 1);
        // SAFETY: `self` proves the features.
        let mut classes = unsafe { _mm512_setzero_si512() };

        let mut left = long.two;
        while left != 0 {
            let at = left.trailing_zeros() as usize;
            let alike = left & self.equal(bytes, stretch[at]);
            classes = self.look_up(classes, alike, second, class::block_of_two(stretch[at]));
            left &= !alike;
        }
        if long.three != 0 {
            let third = self.load_from(stretch, 2);
            let mut left = long.three;
            while left != 0 {
                let at = left.trailing_zeros() as usize;
                let (a, b) = (stretch[at], stretch[at + 1]);
                let alike = left & self.equal(bytes, a) & self.equal(second, b);
                match class::block_of_three(a, b) {
                    Some(block) => classes = self.look_up(classes, alike, third, block),
                    None => long.three &= !alike,
                }
                left &= !alike;
            }
        }
        if long.four != 0 {
            let third = self.load_from(stretch, 2);
            let fourth = self.load_from(stretch, 3);
            let mut left = long.four;
            while left != 0 {
                let at = left.trailing_zeros() as usize;
                let (a, b, c) = (stretch[at], stretch[at + 1], stretch[at + 2]);
                let alike =
                    left & self.equal(bytes, a) & self.equal(second, b) & self.equal(third, c);
                match class::block_of_four(a, b, c) {
                    Some(block) => classes = self.look_up(classes, alike, fourth, block),
                    None => long.four &= !alike,
                }
                left &= !alike;
            }
        }
        self.kinds(classes)
    }

    #[inline(always)]
    fn put(self, bits: u64, base: usize, room: &mut [usize]) {
        let mut left = bits.count_ones() as usize;
        // SAFETY: `self` proves the features; a chunk has room for the eight places that are stored.
        unsafe {
            let every_place = _mm512_loadu_si512(PLACES.as_ptr().cast());
            let mut places = _mm512_maskz_compress_epi8(bits, every_place);
            let base = _mm512_set1_epi64(base as i64);
            for eight in room.as_chunks_mut::<8>().0 {
                let offsets = _mm512_cvtepu8_epi64(_mm512_castsi512_si128(places));
                _mm512_storeu_si512(eight.as_mut_ptr().cast(), _mm512_add_epi64(base, offsets));
                if left <= 8 {
                    return;
                }
                left -= 8;
                places = _mm512_alignr_epi64::<1>(places, places);
            }
        }
    }
}

/// Eight places fill a vector: what `put` stores.
const _: () = assert!(size_of::<[usize; 8]>() == size_of::<__m512i>());

/// The number of every byte.
static PLACES: [u8; 64] = {
    let mut places = [0; 64];
    let mut place = 0;
    while place < 64 {
        places[place] = place as u8;
        place += 1;
    }
    places
};
