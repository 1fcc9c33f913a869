//! From a character to the symbols with which merging may begin, in place of its bytes.
//!
//! A character of Chinese is three bytes, and merging them is the same work each time it occurs. The
//! table has the result, where it does not depend on what stands around the character:
//!
//! Merge the bytes of a character alone. As long as there is a next merge, of number n, the symbols at
//! its edges could be taken by neighbours only by a merge of a number up to n. Where the vocabulary has
//! no such merge with a neighbour that ends (or begins) with a byte of some class, and the neighbouring
//! byte is of that class, the character's own merges all come first: so it may begin as what they leave.
//! What begins early is not merged on early if whatever takes a symbol that the character's merges made
//! has a higher number than all of these: then what comes before the last of them in the text's own order comes
//! before what takes the symbol, too. In a monotone model (a merge's number is above those of the merges that make its
//! parts; equal numbers are allowed) it is so for all characters; where it is not, a character begins as its bytes.

use std::borrow::Cow;

use crate::tables::{MAX_TOKENS, NONE, PairTable, TokenTable};

/// Symbols of the characters of two and three bytes, by code point; one u64 an entry:
/// two symbols of 21 bits (the second is [`SINGLE`] if there is one), and which neighbours forbid it.
/// Zero says that a character begins as its bytes.
#[derive(Clone, Debug, Default)]
pub struct CharacterTable<'a> {
    slots: Cow<'a, [u64]>,
}

/// What a character begins as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// Its first symbol.
    pub first: u32,
    /// Its second symbol, which does not merge with the first.
    pub second: Option<u32>,
    /// Its length in bytes.
    pub length: usize,
}

const BITS: u32 = 21;
const MASK: u64 = MAX_TOKENS as u64 - 1;
const SINGLE: u64 = MASK;
/// Above the symbols: a bit for each class of the byte before, then for each of the byte after.
const BEFORE: u32 = 2 * BITS;
const AFTER: u32 = BEFORE + CLASSES_BEFORE as u32;
const CLASSES_BEFORE: usize = 3;
const CLASSES_AFTER: usize = 19;

/// The class of the byte before a character: spaces, continuation bytes, others. Many vocabularies
/// have a space with the first byte of a character as a token.
const fn class_before(byte: u8) -> usize {
    match byte {
        b' ' => 0,
        0x80..=0xBF => 1,
        _ => 2,
    }
}

/// The class of the byte after a character: mostly one for each first byte of three.
const fn class_after(byte: u8) -> usize {
    match byte {
        0x00..=0x7F => 0,
        0xC0..=0xDF => 1,
        0xE0..=0xEF => 2 + (byte - 0xE0) as usize,
        _ => 18,
    }
}

/// The bit of each byte's class: before a character, and after it.
const FORBIDDEN: [[u64; 256]; 2] = {
    let mut bits = [[0; 256]; 2];
    let mut byte = 0;
    while byte < 256 {
        bits[0][byte] = 1 << (BEFORE as usize + class_before(byte as u8));
        bits[1][byte] = 1 << (AFTER as usize + class_after(byte as u8));
        byte += 1;
    }
    bits
};

impl<'a> CharacterTable<'a> {
    /// Trusts an array that [`CharacterTable::slots`] gave.
    #[must_use]
    pub const fn from_static(slots: &'a [u64]) -> Self {
        Self {
            slots: Cow::Borrowed(slots),
        }
    }

    /// The array itself, for a build script to write down.
    #[must_use]
    pub fn slots(&self) -> &[u64] {
        &self.slots
    }

    /// What the character at an offset begins as; None if as its bytes.
    #[inline]
    #[must_use]
    pub fn start(&self, text: &[u8], at: usize) -> Option<Start> {
        let (code, length) = read_code(&text[at..])?;
        let entry = *self.slots.get(code)?;
        let mut forbidden = 0;
        if at > 0 {
            forbidden |= FORBIDDEN[0][text[at - 1] as usize];
        }
        if let Some(&next) = text.get(at + length) {
            forbidden |= FORBIDDEN[1][next as usize];
        }
        if entry == 0 || entry & forbidden != 0 {
            return None;
        }
        let second = entry >> BITS & MASK;
        Some(Start {
            first: (entry & MASK) as u32,
            second: (second != SINGLE).then_some(second as u32),
            length,
        })
    }

    /// Builds the table of a model from what merges with the edges of characters, the table of
    /// its merges, the symbol that each number makes and those of the single bytes.
    #[must_use]
    pub fn build(
        edges: Edges,
        pairs: &PairTable<'_>,
        product: impl Fn(u32) -> u32,
        byte_ids: &[u32; 256],
    ) -> CharacterTable<'static> {
        let builder = Builder {
            edges,
            pairs,
            product,
        };
        let mut slots = vec![0; 1 << 16];
        let id = |byte: usize| byte_ids[byte];
        for first in 0xC2..=0xEF {
            for second in 0x80..=0xBF {
                if id(first) == NONE || id(second) == NONE {
                    continue;
                }
                let number = pairs.get(id(first), id(second));
                if first < 0xE0 {
                    let code = (first & 0x1F) << 6 | (second & 0x3F);
                    slots[code] = builder.entry([id(first), id(second), NONE], [number, NONE]);
                    continue;
                }
                for third in (0x80..=0xBF).filter(|&third| id(third) != NONE) {
                    let code = (first & 0xF) << 12 | (second & 0x3F) << 6 | (third & 0x3F);
                    let numbers = [number, pairs.get(id(second), id(third))];
                    // Codes below have two bytes; so few bytes more are overlong.
                    if code >= 0x800 && numbers != [NONE; 2] {
                        slots[code] = builder.entry([id(first), id(second), id(third)], numbers);
                    }
                }
            }
        }
        CharacterTable {
            slots: Cow::Owned(slots),
        }
    }
}

/// Reads two or three bytes that are laid out as a character: its code and its length.
#[inline]
fn read_code(bytes: &[u8]) -> Option<(usize, usize)> {
    let low = |byte: u8| (byte & 0xC0 == 0x80).then_some((byte & 0x3F) as usize);
    match *bytes {
        [first @ 0xE0..=0xEF, second, third, ..] => {
            let code = ((first & 0xF) as usize) << 12 | low(second)? << 6 | low(third)?;
            (code >= 0x800).then_some((code, 3))
        }
        [first @ 0xC2..=0xDF, second, ..] => {
            Some((((first & 0x1F) as usize) << 6 | low(second)?, 2))
        }
        _ => None,
    }
}

/// The lowest number with which a symbol that is part of a character merges with a neighbour, by the
/// class of the neighbour's nearest byte.
#[derive(Clone, Debug)]
pub struct Edges {
    /// Symbol -> its place below, or [`NONE`].
    places: Vec<u32>,
    before: Vec<[u32; CLASSES_BEFORE]>,
    after: Vec<[u32; CLASSES_AFTER]>,
    /// The lowest number with which any symbol merges with any neighbour.
    taken: Vec<u32>,
}

impl Edges {
    /// Reads the numbers out of all merges (left, right, number).
    #[must_use]
    pub fn new(tokens: &TokenTable<'_>, entries: impl Iterator<Item = (u32, u32, u32)>) -> Self {
        let mut places = vec![NONE; tokens.len()];
        let mut count = 0;
        for (id, bytes) in tokens.iter() {
            if bytes.len() <= 2 && bytes[0] >= 0x80 {
                places[id as usize] = count;
                count += 1;
            }
        }
        let mut before = vec![[NONE; CLASSES_BEFORE]; count as usize];
        let mut after = vec![[NONE; CLASSES_AFTER]; count as usize];
        let mut taken = vec![NONE; tokens.len()];
        for (left, right, number) in entries {
            for part in [left, right] {
                let lowest = &mut taken[part as usize];
                *lowest = number.min(*lowest);
            }
            if let Some(lowest) = before.get_mut(places[right as usize] as usize)
                && let Some(&byte) = tokens.get(left).last()
            {
                let lowest = &mut lowest[class_before(byte)];
                *lowest = number.min(*lowest);
            }
            if let Some(lowest) = after.get_mut(places[left as usize] as usize)
                && let Some(&byte) = tokens.get(right).first()
            {
                let lowest = &mut lowest[class_after(byte)];
                *lowest = number.min(*lowest);
            }
        }
        Self {
            places,
            before,
            after,
            taken,
        }
    }

    /// Whether all merges that take a symbol come after one.
    fn taken_after(&self, symbol: u32, number: u32) -> bool {
        self.taken[symbol as usize] > number
    }

    /// The classes of neighbours that could take one of the outer symbols by a number up to `limit`.
    fn forbidden(&self, first: u32, last: u32, limit: u32) -> u64 {
        let set = |lowest: Option<&[u32]>| {
            let bits = lowest.into_iter().flatten().enumerate();
            bits.fold(0, |set, (class, &number)| {
                set | u64::from(number <= limit) << class
            })
        };
        let place = |symbol: u32| self.places[symbol as usize] as usize;
        set(self.before.get(place(first)).map(|row| &row[..])) << BEFORE
            | set(self.after.get(place(last)).map(|row| &row[..])) << AFTER
    }
}

struct Builder<'a, P> {
    edges: Edges,
    pairs: &'a PairTable<'a>,
    product: P,
}

impl<P: Fn(u32) -> u32> Builder<'_, P> {
    /// Merges two symbols (the third is [`NONE`]) or three, given the numbers of the first merges, and
    /// packs what they become; 0 if they stay as they are.
    fn entry(&self, symbols: [u32; 3], numbers: [u32; 2]) -> u64 {
        let [first, second, third] = symbols;
        let number = numbers[0].min(numbers[1]);
        if number == NONE {
            return 0;
        }
        let last = if third == NONE { second } else { third };
        let mut forbidden = self.edges.forbidden(first, last, number);
        let made = (self.product)(number);
        // The leftmost of equals.
        let (first, second) = if numbers[0] == number {
            (made, third)
        } else {
            (first, made)
        };
        let next = match second {
            NONE => NONE,
            second => self.pairs.get(first, second),
        };
        if next == NONE {
            let second = (second != NONE).then_some(second);
            return match self.edges.taken_after(made, number) {
                true => pack(first, second, forbidden),
                false => 0,
            };
        }
        forbidden |= self.edges.forbidden(first, second, next);
        let made = (self.product)(next);
        match self.edges.taken_after(made, number.max(next)) {
            true => pack(made, None, forbidden),
            false => 0,
        }
    }
}

fn pack(first: u32, second: Option<u32>, forbidden: u64) -> u64 {
    let second = match second {
        Some(id) if u64::from(id) == SINGLE => return 0,
        Some(id) => u64::from(id),
        None => SINGLE,
    };
    forbidden | second << BITS | u64::from(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::PieceTable;

    /// A table over tokens by rank, given as every way to put one together from two others.
    fn table(tokens: &[&[u8]]) -> CharacterTable<'static> {
        let tokens = TokenTable::of(tokens).unwrap();
        let pieces = PieceTable::build(&tokens).unwrap();
        let id = |bytes: &[u8]| pieces.get(bytes, &tokens);
        let mut entries = Vec::new();
        for (product, bytes) in tokens.iter() {
            for middle in 1..bytes.len() {
                if let (Some(left), Some(right)) = (id(&bytes[..middle]), id(&bytes[middle..])) {
                    entries.push((left, right, product));
                }
            }
        }
        let pairs = PairTable::build(entries.iter().copied()).unwrap();
        let bytes = std::array::from_fn(|byte| id(&[byte as u8]).unwrap_or(NONE));
        let edges = Edges::new(&tokens, entries.into_iter());
        CharacterTable::build(edges, &pairs, |number| number, &bytes)
    }

    fn start(first: u32, second: Option<u32>, length: usize) -> Option<Start> {
        Some(Start {
            first,
            second,
            length,
        })
    }

    #[test]
    fn a_character_is_one_symbol_or_two() {
        let two = [&b"\xE4"[..], b"\xB8", b"\xAD", b"\xE4\xB8"];
        assert_eq!(table(&two).start(b"\xE4\xB8\xAD", 0), start(3, Some(2), 3));
        let one = [&b"\xE4"[..], b"\xB8", b"\xAD", b"\xE4\xB8", b"\xE4\xB8\xAD"];
        assert_eq!(table(&one).start(b"\xE4\xB8\xAD", 0), start(4, None, 3));
        assert_eq!(table(&one).start(b"\xE4\xB8", 0), None, "cut off");
        assert_eq!(
            table(&one[..3]).start(b"\xE4\xB8\xAD", 0),
            None,
            "no merges"
        );
        let short = [&b"\xC3"[..], b"\xA9", b"\xC3\xA9"];
        assert_eq!(table(&short).start("é".as_bytes(), 0), start(2, None, 2));
    }

    #[test]
    fn a_neighbour_that_may_come_first_forbids_it() {
        // A space takes the first byte (rank 3) before the last two are merged (rank 4).
        let tokens = [&b"\xE4"[..], b"\xB8", b"\xAD", b" \xE4", b"\xB8\xAD", b" "];
        let table = table(&tokens);
        assert_eq!(table.start(b"\xE4\xB8\xAD", 0), start(0, Some(4), 3));
        assert_eq!(table.start(b"\n\xE4\xB8\xAD", 1), start(0, Some(4), 3));
        assert_eq!(table.start(b" \xE4\xB8\xAD", 1), None);
    }

    #[test]
    fn a_character_that_is_taken_before_it_is_made_begins_as_its_bytes() {
        // "éa" has a lower rank than "é": "éa" must not be made before other merges that come before "é".
        let tokens = [&b"\xC3"[..], b"\xA9", b"a", b"\xC3\xA9a", b"\xC3\xA9"];
        assert_eq!(table(&tokens).start("é".as_bytes(), 0), None);
        let later = [&b"\xC3"[..], b"\xA9", b"a", b"\xC3\xA9", b"\xC3\xA9a"];
        assert_eq!(table(&later).start("é".as_bytes(), 0), start(3, None, 2));
    }

    #[test]
    fn overlong_forms_are_no_characters() {
        let tokens = [&b"\xE0"[..], b"\x83", b"\xA9", b"\xC3", b"\xC3\xA9"];
        let table = table(&tokens);
        assert_eq!(table.start(b"\xC3\xA9", 0), start(4, None, 2));
        assert_eq!(table.start(b"\xE0\x83\xA9", 0), None);
    }
}
