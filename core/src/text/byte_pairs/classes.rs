//! Which of 64 places may hold a pair, by eight classes of bytes.
//!
//! Each first byte is in one class, or in none if no pair begins with it, and each second byte in the classes whose bytes stand
//! before it in some pair. So no place with a pair is missed, and if there are no more than eight kinds of first bytes, all
//! others are found to have none.

use super::Rows;

/// So many places are looked at together.
pub const PLACES: usize = 64;

/// How many classes there are.
pub(super) const MOST: usize = 8;

/// The classes of a set of pairs, a bit for each.
#[derive(Clone, Debug)]
pub(super) struct Classes {
    first: [u8; 256],
    second: [u8; 256],
    machine: Machine,
}

#[derive(Clone, Copy, Debug)]
enum Machine {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx512(avx512::Level),
}

impl Machine {
    /// What this machine has.
    fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        if let Some(level) = avx512::Level::detect() {
            return Self::Avx512(level);
        }
        Self::Portable
    }
}

impl Classes {
    pub fn of(rows: &Rows) -> Self {
        let kinds = kinds_of(rows);
        let class = |row: &[u64; 4]| -> usize {
            match kinds.len() {
                ..=MOST => kinds.binary_search(row).unwrap_or_default(),
                _ => sketch(row),
            }
        };
        let (mut first, mut second) = ([0; 256], [0; 256]);
        for (row, first) in rows.iter().zip(&mut first) {
            if *row == [0; 4] {
                continue;
            }
            *first = 1 << class(row);
            for (byte, second) in second.iter_mut().enumerate() {
                if row[byte / 64] >> (byte % 64) & 1 != 0 {
                    *second |= *first;
                }
            }
        }
        let machine = Machine::best();
        Self {
            first,
            second,
            machine,
        }
    }

    /// At which places a byte and the one behind it may be a pair.
    #[inline]
    pub fn likely(&self, stretch: &[u8; PLACES + 1]) -> u64 {
        match self.machine {
            Machine::Portable => self.likely_anywhere(stretch),
            #[cfg(target_arch = "x86_64")]
            Machine::Avx512(level) => level.likely(&self.first, &self.second, stretch),
        }
    }

    /// The same on any machine.
    #[inline]
    pub(super) fn likely_anywhere(&self, stretch: &[u8; PLACES + 1]) -> u64 {
        let mut bits = 0;
        for (place, two) in stretch.windows(2).enumerate() {
            let both = self.first[usize::from(two[0])] & self.second[usize::from(two[1])];
            bits |= u64::from(both != 0) << place;
        }
        bits
    }
}

/// What may stand behind first bytes, each once, but for nothing.
pub(super) fn kinds_of(rows: &Rows) -> Vec<[u64; 4]> {
    let mut kinds: Vec<_> = rows.iter().copied().filter(|row| *row != [0; 4]).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

/// One of eight classes for what may stand behind a byte: whether a space is among it, a letter of ASCII, and what is no ASCII.
fn sketch(row: &[u64; 4]) -> usize {
    const LETTERS: u64 = 0x07FF_FFFE_07FF_FFFE;
    let space = row[0] >> b' ' & 1 != 0;
    let letter = row[1] & LETTERS != 0;
    let high = row[2] | row[3] != 0;
    usize::from(space) | usize::from(letter) << 1 | usize::from(high) << 2
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::x86_64::*;

    use super::PLACES;

    /// The instructions that are needed; only a machine that has them makes a value.
    #[derive(Clone, Copy, Debug)]
    pub struct Level(());

    impl Level {
        pub fn detect() -> Option<Self> {
            (is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512vbmi"))
            .then_some(Self(()))
        }

        /// At which places a byte is of a class of the one behind it.
        #[inline]
        pub fn likely(
            self,
            first: &[u8; 256],
            second: &[u8; 256],
            stretch: &[u8; PLACES + 1],
        ) -> u64 {
            // SAFETY: `self` proves the features.
            unsafe { likely(first, second, stretch) }
        }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn likely(first: &[u8; 256], second: &[u8; 256], stretch: &[u8; PLACES + 1]) -> u64 {
        let here = look_up(first, load(&stretch[..PLACES]));
        let behind = look_up(second, load(&stretch[1..]));
        _mm512_test_epi8_mask(here, behind)
    }

    /// What a table has for each of 64 bytes.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn look_up(table: &[u8; 256], bytes: __m512i) -> __m512i {
        let low = _mm512_permutex2var_epi8(load(&table[..64]), bytes, load(&table[64..128]));
        let high = _mm512_permutex2var_epi8(load(&table[128..192]), bytes, load(&table[192..]));
        _mm512_mask_blend_epi8(_mm512_movepi8_mask(bytes), low, high)
    }

    #[target_feature(enable = "avx512f")]
    fn load(bytes: &[u8]) -> __m512i {
        let bytes: &[u8; 64] = bytes.try_into().expect("64 bytes");
        // SAFETY: 64 bytes are readable, and the load needs no alignment.
        unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
    }
}
