//! The characters that an expression tells apart, as numbers: one for all that are in the same of its sets.

use std::collections::HashMap;

use super::tree::Set;
use crate::error::{Result, ensure};
use crate::text::{STRAY, continues, read_char};

/// How many numbers there may be at most; they and the marks for a text's edges fit into a byte.
const MOST: usize = 250;

const BLOCK: usize = 64;

/// Behind it, no code point is white space.
const LAST_BLANK: u32 = 0x3000;

/// The numbers of all characters.
#[derive(Debug)]
pub(super) struct Alphabet {
    /// By the first byte: the number of an ASCII character, and for the others that of a stray byte.
    by_byte: [u8; 256],
    /// By a code point without its last six bits: the place of its block.
    places: Box<[u16]>,
    /// By these six bits: the numbers.
    blocks: Vec<[u8; BLOCK]>,
}

impl Alphabet {
    /// Numbers the characters, and tells for each set which numbers are in it.
    ///
    /// # Errors
    /// When the sets tell too many characters apart.
    pub fn new(sets: &[Set]) -> Result<(Self, Vec<Vec<bool>>)> {
        // From one of these to the next, all characters are in the same sets.
        let mut begins: Vec<u32> = vec![0];
        for range in sets.iter().flat_map(Set::ranges) {
            begins.extend([u32::from(range.start()), u32::from(range.end()) + 1]);
        }
        begins.sort_unstable();
        begins.dedup();
        let words = sets.len().div_ceil(64);
        let mut inside = vec![0_u64; begins.len() * words];
        for (number, set) in sets.iter().enumerate() {
            for range in set.ranges() {
                let (first, last) = (u32::from(range.start()), u32::from(range.end()));
                let from = begins.partition_point(|&begin| begin < first);
                for (at, _) in
                    (from..).zip(begins[from..].iter().take_while(|&&begin| begin <= last))
                {
                    inside[at * words + number / 64] |= 1 << (number % 64);
                }
            }
        }
        let mut numbers = HashMap::new();
        let mut of_interval = Vec::with_capacity(begins.len());
        for at in 0..begins.len() {
            let next = numbers.len();
            let number = *numbers
                .entry(&inside[at * words..][..words])
                .or_insert(next);
            ensure!(
                number < MOST,
                "an expression tells too many characters apart"
            );
            of_interval.push(number as u8);
        }
        let mut holds = vec![vec![false; numbers.len()]; sets.len()];
        for (signature, &number) in &numbers {
            for (set, row) in holds.iter_mut().enumerate() {
                row[number] = signature[set / 64] >> (set % 64) & 1 == 1;
            }
        }
        Ok((Self::lay_out(&begins, &of_interval), holds))
    }

    fn lay_out(begins: &[u32], of_interval: &[u8]) -> Self {
        let count = (u32::from(char::MAX) as usize + 1) / BLOCK;
        let (mut blocks, mut places) = (Vec::new(), Vec::with_capacity(count));
        let mut known = HashMap::new();
        let mut interval = 0;
        for place in 0..count {
            let first = (place * BLOCK) as u32;
            let mut block = [0; BLOCK];
            for (code_point, number) in (first..).zip(&mut block) {
                while begins
                    .get(interval + 1)
                    .is_some_and(|&begin| begin <= code_point)
                {
                    interval += 1;
                }
                *number = of_interval[interval];
            }
            places.push(*known.entry(block).or_insert_with(|| {
                blocks.push(block);
                (blocks.len() - 1) as u16
            }));
        }
        let mut alphabet = Self {
            by_byte: [0; 256],
            places: places.into(),
            blocks,
        };
        for byte in 0..=u8::MAX {
            let code_point = match byte.is_ascii() {
                true => u32::from(byte),
                false => STRAY + u32::from(byte),
            };
            alphabet.by_byte[usize::from(byte)] = alphabet.of(code_point);
        }
        alphabet
    }

    /// The number of a character.
    #[inline(always)]
    pub fn of(&self, code_point: u32) -> u8 {
        let place = self.places[code_point as usize / BLOCK];
        self.blocks[usize::from(place)][code_point as usize % BLOCK]
    }

    /// Which numbers any character has but white space, or a byte that is part of no character.
    pub fn visible(&self) -> [bool; 256] {
        let mut visible = [false; 256];
        let mut seen = vec![false; self.blocks.len()];
        for (first, &place) in (0..).step_by(BLOCK).zip(&*self.places) {
            let is_blank = |code_point| char::from_u32(code_point).is_some_and(char::is_whitespace);
            let has_blanks = first <= LAST_BLANK && (first..first + BLOCK as u32).any(is_blank);
            let seen = &mut seen[usize::from(place)];
            if *seen && !has_blanks {
                continue;
            }
            *seen |= !has_blanks;
            for (code_point, &number) in (first..).zip(&self.blocks[usize::from(place)]) {
                visible[usize::from(number)] |= !is_blank(code_point);
            }
        }
        visible
    }

    /// The number of the character at an offset, and how many bytes it has.
    #[inline(always)]
    pub fn read(&self, text: &[u8], at: usize) -> (u8, usize) {
        match text[at..] {
            [byte @ ..0x80, ..] => (self.by_byte[usize::from(byte)], 1),
            // The most common shape of the others: the last six bits are those of a place in a block.
            [first @ 0xE1..=0xEC, second, third, ..] if continues(second) && continues(third) => {
                let place = usize::from(first & 0xF) << 6 | usize::from(second & 0x3F);
                let block = usize::from(self.places[place]);
                (self.blocks[block][usize::from(third & 0x3F)], 3)
            }
            _ => self.read_long(text, at),
        }
    }

    /// The number of the character that ends at a place; None if it depends on what precedes the text.
    pub fn read_before(&self, text: &[u8], end: usize) -> Option<u8> {
        let nearest = end.saturating_sub(4);
        let stray = || self.by_byte[usize::from(text[end - 1])];
        match (nearest..end).rev().find(|&at| !continues(text[at])) {
            Some(begin) => match self.read(&text[..end], begin) {
                (number, length) if begin + length == end => Some(number),
                _ => Some(stray()),
            },
            None if end >= 4 => Some(stray()),
            None => None,
        }
    }

    /// The number of a byte that is no part of UTF-8, or of an ASCII character.
    pub fn of_byte(&self, byte: u8) -> u8 {
        self.by_byte[usize::from(byte)]
    }

    #[inline]
    fn read_long(&self, text: &[u8], at: usize) -> (u8, usize) {
        match read_char(text, at) {
            (Some(character), length) => (self.of(u32::from(character)), length),
            (None, length) => (self.by_byte[usize::from(text[at])], length),
        }
    }
}
