//! Characters that stand side by side in a piece and yet by themselves: those of Chinese.
//!
//! A piece of Chinese is a clause, which hardly ever comes again, while its characters do. What merges make are tokens. So if
//! no token holds the last bytes of one character and the first ones of the next, side by side, nothing is ever merged across
//! the place between the two, and each side becomes what it becomes alone. Tokens that hold characters as a whole name
//! the pairs; a filter holds these. A token that begins or ends inside a character stands for all characters that it may
//! be a part of: each gets a mark, and two with the same mark on the sides where they meet count as joined.

use std::collections::BTreeSet;
use std::ops::Range;

use super::{Bpe, BpeScratch};
use crate::memory::slots::Value;
use crate::tables::PairFilter;
use crate::text::continues;

/// The bytes of each character here.
pub(crate) const BYTES: usize = 3;
/// Characters that are looked up together.
pub(crate) const MOST: usize = 64;

/// The characters that are looked up, by the upper bytes of their code points: the punctuation of Chinese, kana and
/// ideographs, and full-width forms.
const BLOCKS: [Range<usize>; 2] = [0x30..0xA0, 0xFF..0x100];
/// Characters with the same upper byte.
const BLOCK: usize = 0x100;

/// Bits of the filter for each pair.
const FILTER_BITS: usize = 16;
/// How many marks there are on each side.
const MARKS: u32 = 16;
/// The mark of a character that stands in a pair.
const PAIR: u32 = 1 << (MARKS - 1);

/// What characters become, and which of them never touch each other.
#[derive(Clone, Debug)]
pub(crate) struct Ideographs {
    /// By the upper byte of a code point, where its block begins; the first block is of all that is not looked up.
    blocks: [u16; 0x100],
    /// What each becomes alone; no ids for one that is not looked up. In the last id's place are its marks: the lower ones
    /// for what stands before it, the upper ones for what stands behind it.
    values: Vec<Value>,
    /// Pairs that stand in a token.
    joined: PairFilter<'static>,
}

/// What stands where tokens hold the end of one character and the beginning of the next, both perhaps in part.
type Edge<'a> = (&'a [u8], &'a [u8]);

impl Bpe {
    /// What Chinese characters become. Found out at the first call, which takes a few milliseconds.
    #[must_use]
    pub(crate) fn ideographs(&self) -> &Ideographs {
        self.ideographs
            .get_or_make(|| Box::new(Ideographs::of(self)))
    }

    /// Whether that is known already.
    #[must_use]
    pub(crate) fn knows_ideographs(&self) -> bool {
        self.ideographs.get().is_some()
    }
}

impl Ideographs {
    fn of(model: &Bpe) -> Self {
        let mut pairs = BTreeSet::new();
        let mut parts = BTreeSet::new();
        for (_, token) in model.tokens.iter() {
            for (before, behind) in edges(token) {
                match (code_point(before), code_point(behind)) {
                    (Some(left), Some(right)) => pairs.insert((left, right)),
                    _ => parts.insert((before, behind)),
                };
            }
        }
        let mut joined = PairFilter::with_room(pairs.len(), FILTER_BITS);
        let mut marks = vec![0_u32; 1 << 16];
        for (left, right) in pairs {
            joined.add(left as u32, right as u32);
            marks[left] |= PAIR << MARKS;
            marks[right] |= PAIR;
        }
        for (number, (before, behind)) in (0..PAIR.trailing_zeros()).cycle().zip(parts) {
            ending_with(before).for_each(|each| marks[each] |= 1 << number << MARKS);
            beginning_with(behind).for_each(|each| marks[each] |= 1 << number);
        }
        let mut blocks = [0; 0x100];
        let mut values = vec![Value::NONE; BLOCK];
        let mut scratch = BpeScratch::default();
        for upper in BLOCKS.into_iter().flatten() {
            blocks[upper] = (values.len() / BLOCK) as u16;
            let each = BLOCK * upper..BLOCK * (upper + 1);
            values.extend(each.map(|code_point| {
                let value = value_of(model, encode(code_point), &mut scratch);
                value.with_last(marks[code_point])
            }));
        }
        Self {
            blocks,
            values,
            joined,
        }
    }

    /// Whether a piece is likely to be made of such characters. Those that begin with kana are not: few kana stand by
    /// themselves.
    #[inline]
    #[must_use]
    pub fn may_be(text: &[u8], start: usize, end: usize) -> bool {
        let begins = match text.get(start) {
            Some(0xE4..=0xE9 | 0xEF) => true,
            Some(0xE3) => text.get(start + 1) == Some(&0x80),
            _ => false,
        };
        begins && (end - start).is_multiple_of(BYTES)
    }

    /// Looks up the characters of a text, at most [`MOST`], up to one that cannot be looked up.
    ///
    /// Returns how many these are, and as bits, the first character's the lowest, which may become one token with what the next
    /// one is made of.
    #[inline]
    pub fn look_up(&self, text: &[u8], found: &mut [Value; MOST]) -> (usize, u64) {
        let (mut known, mut joined) = (0, 0);
        let (mut before, mut marks_before) = (0, 0);
        let characters = text.as_chunks().0.iter().zip(found);
        for (&bytes, found) in characters {
            let code_point = decode(bytes);
            let block = usize::from(self.blocks[code_point as usize >> 8 & 0xFF]);
            let value = self.values[BLOCK * block + (code_point as usize & 0xFF)];
            if !is_character(bytes) || value.count() == Some(0) {
                break;
            }
            *found = value;
            let marks = value.last();
            let same = marks_before >> MARKS & marks;
            let is_joined = same != 0 && (same != PAIR || self.joined.may_have(before, code_point));
            // Of the first character's bit, which is nobody's, nothing is left.
            joined |= u64::from(is_joined) << known;
            known += 1;
            (before, marks_before) = (code_point, marks);
        }
        (known, joined >> 1)
    }
}

/// The code point of three bytes, if they are a character.
#[inline]
fn decode([first, second, third]: [u8; BYTES]) -> u32 {
    u32::from(first & 0xF) << 12 | u32::from(second & 0x3F) << 6 | u32::from(third & 0x3F)
}

/// Whether three bytes are a character, if its code point is looked up: overlong forms and surrogates are not.
#[inline]
fn is_character([first, second, third]: [u8; BYTES]) -> bool {
    first & 0xF0 == 0xE0 && continues(second) && continues(third)
}

/// The code point of a character as a whole.
fn code_point(bytes: &[u8]) -> Option<usize> {
    let bytes: [u8; BYTES] = bytes.try_into().ok()?;
    is_character(bytes).then(|| decode(bytes) as usize)
}

/// The bytes of a character.
fn encode(code_point: usize) -> [u8; BYTES] {
    [
        0xE0 | (code_point >> 12) as u8,
        0x80 | (code_point >> 6 & 0x3F) as u8,
        0x80 | (code_point & 0x3F) as u8,
    ]
}

/// What a character becomes, alone in a piece and among others; none if that is not the same, or an error.
fn value_of(model: &Bpe, character: [u8; BYTES], scratch: &mut BpeScratch) -> Value {
    let mut ids = Vec::new();
    let merged = model.merge_piece(&character, scratch, &mut ids);
    let pieces = model.pieces.as_ref().filter(|_| model.whole_pieces);
    let whole = pieces.and_then(|pieces| pieces.get(&character, &model.tokens));
    match merged {
        Ok(()) if whole.is_none_or(|id| ids == [id]) => {
            Value::of(&ids, None).unwrap_or(Value::NONE)
        }
        _ => Value::NONE,
    }
}

/// Where characters of three bytes meet in a token: up to three bytes before the place, and up to three behind it.
fn edges(token: &[u8]) -> impl Iterator<Item = Edge<'_>> {
    (1..token.len()).filter_map(|at| {
        let behind = &token[at..token.len().min(at + BYTES)];
        let before = &token[at.saturating_sub(BYTES)..at];
        let leads = behind[0] & 0xF0 == 0xE0 && behind[1..].iter().copied().all(continues);
        // The end of a character: what continues it, and before that its first byte, unless the token begins in its middle.
        let length = 1 + before
            .iter()
            .rev()
            .take_while(|&&byte| continues(byte))
            .count();
        let ends = match before.len().checked_sub(length) {
            Some(start) if length == BYTES && before[start] & 0xF0 == 0xE0 => {
                Some(&before[start..])
            }
            Some(_) => None,
            None => (before.len() == at && at < BYTES).then_some(before),
        };
        ends.filter(|_| leads).map(|before| (before, behind))
    })
}

/// The code points of all characters that end with some bytes.
fn ending_with(bytes: &[u8]) -> impl Iterator<Item = usize> {
    let low = bytes
        .iter()
        .fold(0, |low, &byte| low << 6 | usize::from(byte & 0x3F));
    // Of one as a whole the bits above are the first byte's.
    (low & 0xFFFF..1 << 16).step_by(1 << (6 * bytes.len()).min(16))
}

/// The code points of all characters that begin with some bytes.
fn beginning_with(bytes: &[u8]) -> Range<usize> {
    let missing = 6 * (BYTES - bytes.len());
    let high = bytes
        .iter()
        .fold(0, |high, &byte| high << 6 | usize::from(byte & 0x3F));
    let first = high & 0xFFFF >> missing;
    first << missing..(first + 1) << missing
}

#[cfg(test)]
mod tests;
