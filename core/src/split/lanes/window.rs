//! What stands in 64 bytes of a text, as a bit a byte.

use super::level::{Level, Long, Stretch};

/// The kinds of the characters in up to 64 bytes of a text; the first of them begins with the first.
///
/// A character's bits are set for all of its bytes, so that "the character before" is the byte before
/// for every character. Only the first `step` bytes are to be decided in this window. The character
/// behind them is known too, unless the text ends there; what is set for its bytes is true, and what
/// is not set for bytes behind it means nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// `\p{L}`.
    pub letter: u64,
    /// What may stand in the first half of a cased word.
    pub upper: u64,
    /// What may stand in the second half of a cased word.
    pub lower: u64,
    /// `\p{N}`.
    pub number: u64,
    /// `\s`.
    pub space: u64,
    /// `[^\s\p{L}\p{N}]`.
    pub symbol: u64,
    /// `[\r\n]`.
    pub newline: u64,
    /// The space of ASCII.
    pub blank: u64,
    pub apostrophe: u64,
    pub slash: u64,
    /// Bytes inside of characters: all but the first of each.
    pub inner: u64,
    /// Bytes behind the end of the text.
    pub beyond: u64,
    /// How many bytes are decided: whole characters, and at least one.
    pub step: usize,
}

impl Window {
    /// Looks at the text from `at` on, where a character begins.
    #[inline(always)]
    pub fn look<L: Level>(level: L, text: &[u8], at: usize) -> Self {
        let text = &text[at..];
        let mut padded;
        let stretch: &Stretch = match text.first_chunk() {
            Some(stretch) => stretch,
            None => {
                padded = [0; size_of::<Stretch>()];
                padded[..text.len()].copy_from_slice(text);
                &padded
            }
        };
        let bytes = level.load(stretch);
        let kinds = level.ascii(bytes);
        let mut window = Self {
            letter: kinds.letter,
            upper: kinds.upper,
            lower: kinds.lower,
            number: kinds.number,
            space: kinds.space,
            symbol: 0,
            newline: level.between(bytes, b'\n', b'\n') | level.between(bytes, b'\r', b'\r'),
            blank: level.between(bytes, b' ', b' '),
            apostrophe: level.between(bytes, b'\'', b'\''),
            slash: level.between(bytes, b'/', b'/'),
            inner: 0,
            beyond: 0,
            step: 63,
        };
        let high = level.between(bytes, 0x80, 0xFF);
        if high != 0 {
            window.add_long(level, stretch, bytes, high);
        }
        if text.len() < 64 {
            window.step = text.len();
            window.beyond = u64::MAX << text.len();
        }
        window.symbol = !(window.letter | window.number | window.space | window.beyond);
        window
    }

    /// Adds the characters that are not ASCII.
    #[inline(always)]
    fn add_long<L: Level>(&mut self, level: L, stretch: &Stretch, bytes: L::Bytes, high: u64) {
        // Whether the byte that is so far behind continues a character.
        let continuing = level.between(bytes, 0x80, 0xBF);
        let behind = |place: usize| u64::from(stretch[place] & 0xC0 == 0x80);
        let one = continuing >> 1 | behind(64) << 63;
        let two = one >> 1 | behind(65) << 63;
        let three = two >> 1 | behind(66) << 63;
        let mut long = Long {
            two: level.between(bytes, 0xC2, 0xDF) & one,
            three: level.between(bytes, 0xE0, 0xEF) & one & two,
            four: level.between(bytes, 0xF0, 0xF4) & one & two & three,
        };
        let kinds = level.long(stretch, bytes, &mut long);

        let begins = long.two | long.three | long.four;
        let third = (long.three | long.four) << 2;
        let inner = begins << 1 | third | long.four << 3;
        // A byte that is no part of a character is a letter without case.
        let stray = high & !begins & !inner;
        // The sum runs from each first byte through the bytes inside of its character.
        let whole = |first: u64| first | inner & !(inner.wrapping_add(first << 1 & inner));
        self.letter |= whole(kinds.letter) | stray;
        self.upper |= whole(kinds.upper) | stray;
        self.lower |= whole(kinds.lower) | stray;
        self.number |= whole(kinds.number);
        self.space |= whole(kinds.space);
        self.inner = inner;
        // The last character that begins here is there to be looked ahead at.
        self.step = 63 - (!inner).leading_zeros() as usize;
    }

    /// The bytes that are decided.
    #[inline(always)]
    pub fn decided(&self) -> u64 {
        !(u64::MAX << self.step)
    }

    /// Tells whether the last byte that is decided has a bit: what the next window's first byte follows.
    #[inline(always)]
    pub fn last(&self, bits: u64) -> u64 {
        bits >> (self.step - 1) & 1
    }

    /// Extends bits of first bytes to whole characters.
    #[inline(always)]
    pub fn whole(&self, first: u64) -> u64 {
        first | self.inner & !(self.inner.wrapping_add(first << 1 & self.inner))
    }
}
