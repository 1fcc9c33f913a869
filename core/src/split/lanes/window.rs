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
        let ascii = level.ascii(bytes);
        let mut window = Self {
            letter: ascii.kinds.letter,
            upper: ascii.kinds.upper,
            lower: ascii.kinds.lower,
            number: ascii.kinds.number,
            space: ascii.kinds.space,
            symbol: 0,
            newline: ascii.newline,
            blank: ascii.blank,
            apostrophe: ascii.apostrophe,
            slash: ascii.slash,
            inner: 0,
            beyond: 0,
            step: 63,
        };
        if ascii.high != 0 {
            window.add_long(level, stretch, bytes, ascii.high);
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
        let leads = level.leads(bytes);
        // Whether the byte that is one, two, three behind continues a character.
        let behind = |place: usize| u64::from(stretch[place] & 0xC0 == 0x80);
        let one = leads.continuing >> 1 | behind(64) << 63;
        let two = one >> 1 | behind(65) << 63;
        let three = two >> 1 | behind(66) << 63;

        let all_three = leads.three & one & two;
        let hexagram = leads.hexagram >> 1 | u64::from(stretch[64] == 0xB7) << 63;
        let caseless = all_three & (leads.caseless | leads.nearly_caseless & !hexagram);
        let mut long = Long {
            two: leads.two & one,
            three: all_three & !caseless,
            four: leads.four & one & two & three,
        };
        let kinds = level.long(stretch, bytes, &mut long);
        long.three |= caseless;

        let begins = long.two | long.three | long.four;
        let third = (long.three | long.four) << 2;
        let inner = begins << 1 | third | long.four << 3;
        // A byte that is no part of a character is a letter without case, too.
        let caseless = caseless | caseless << 1 | caseless << 2 | high & !begins & !inner;
        // The sum runs from each first byte through the bytes inside of its character.
        let whole = |first: u64| first | inner & !(inner.wrapping_add(first << 1 & inner));
        self.letter |= whole(kinds.letter) | caseless;
        self.upper |= whole(kinds.upper) | caseless;
        self.lower |= whole(kinds.lower) | caseless;
        self.number |= whole(kinds.number);
        self.space |= whole(kinds.space);
        self.inner = inner;
        // The last character that begins here is there to be looked ahead at.
        self.step = 63 - (!inner).leading_zeros() as usize;
    }

    /// Tells whether this is 64 bytes of ASCII, as most windows of most texts are.
    #[inline(always)]
    pub fn is_plain(&self) -> bool {
        self.inner == 0 && self.beyond == 0 && self.step == 63
    }

    /// Gives the same window if it [is plain](Self::is_plain), in a form that the compiler sees it by: the
    /// algebra becomes half as long.
    #[inline(always)]
    pub fn plain(&self) -> Self {
        Self {
            inner: 0,
            beyond: 0,
            step: 63,
            ..*self
        }
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
