//! The words of a text, and which of them several tokens have a part of.
//!
//! A word is a stretch without white space (Unicode's White_Space), in every script. A byte that is no
//! part of UTF-8 is not white space.

use std::ops::Range;

use crate::text::read_char;

/// What is known of a stretch of words: sums of those that lie whole in it, and what stands at its ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stretch {
    /// Words that neither begin before the stretch nor may go on after it.
    pub words: u64,
    /// Those of them that several tokens have a part of.
    pub split: u64,
    /// How many tokens (2 stands for more) have a part of the word that the stretch begins in, if it
    /// goes on from a text whose last word may go on here.
    pub head: Option<u8>,
    /// The same of the word that reaches its end, if more may follow. None if the head is that word.
    pub tail: Option<u8>,
    /// Whether the stretch is one word, that of the head.
    pub whole: bool,
    /// Whether there is nothing in it at all.
    pub empty: bool,
}

/// A bit for each byte of a text.
#[derive(Debug, Default)]
struct Bits(Vec<u64>);

impl Bits {
    fn clear(&mut self, length: usize) {
        self.0.clear();
        self.0.resize(length.div_ceil(64), 0);
    }

    #[inline]
    fn get(&self, at: usize) -> bool {
        self.0[at / 64] >> (at % 64) & 1 == 1
    }

    #[inline]
    fn set(&mut self, at: usize) {
        self.0[at / 64] |= 1 << (at % 64);
    }

    #[inline]
    fn unset(&mut self, at: usize) {
        self.0[at / 64] &= !(1 << (at % 64));
    }

    /// The first place from `at` on, before `end`, whose bit is `bit`; else `end`.
    #[inline]
    fn next(&self, bit: bool, at: usize, end: usize) -> usize {
        if at >= end {
            return end;
        }
        let flip = if bit { 0 } else { u64::MAX };
        let mut place = at / 64;
        let mut bits = (self.0[place] ^ flip) & (u64::MAX << (at % 64));
        let last = (end - 1) / 64;
        while bits == 0 {
            if place == last {
                return end;
            }
            place += 1;
            bits = self.0[place] ^ flip;
        }
        end.min(place * 64 + bits.trailing_zeros() as usize)
    }

    fn count(&self) -> u64 {
        self.0.iter().map(|bits| u64::from(bits.count_ones())).sum()
    }
}

/// The words of one text. What a token touches is noted at the last byte of each word.
#[derive(Debug, Default)]
pub struct Words {
    length: usize,
    word: Bits,
    touched: Bits,
    again: Bits,
    /// Where tokens begin that follow one another without gaps.
    begins: Bits,
    /// A part of a word up to the word's end, the last one that was looked for: a word of many tokens is gone
    /// through once, not once for each of them.
    known: Range<usize>,
}

impl Words {
    /// Begins with a text.
    pub fn reset(&mut self, text: &[u8]) {
        self.length = text.len();
        self.known = 0..0;
        self.word.clear(text.len());
        self.touched.clear(text.len());
        self.again.clear(text.len());
        self.begins.clear(text.len());
        let mut waiting = None;
        for (place, bytes) in text.chunks(64).enumerate() {
            let (bits, special) = look_at(bytes);
            self.word.0[place] = bits;
            // A character may end in the next 64 bytes: it waits until their bits are there.
            if let Some(begin) = waiting.take() {
                self.leave_out_long_white_space(text, begin);
            }
            if special {
                waiting = Some(place * 64);
            }
        }
        if let Some(begin) = waiting {
            self.leave_out_long_white_space(text, begin);
        }
    }

    /// Takes white space outside ASCII out of the words, where it begins in the 64 bytes from `begin` on.
    fn leave_out_long_white_space(&mut self, text: &[u8], begin: usize) {
        for at in begin..text.len().min(begin + 64) {
            if begins_like_white_space(text[at])
                && let (Some(character), length) = read_char(text, at)
                && character.is_whitespace()
            {
                (at..at + length).for_each(|at| self.word.unset(at));
            }
        }
    }

    /// Notes that a token stands for a range of the text.
    #[inline]
    pub fn touch(&mut self, start: usize, end: usize) {
        let end = end.min(self.length);
        let mut at = self.word.next(true, start, end);
        while at < end {
            if !self.known.contains(&at) {
                self.known = at..self.word.next(false, at, self.length);
            }
            let after = self.known.end;
            if self.touched.get(after - 1) {
                self.again.set(after - 1);
            } else {
                self.touched.set(after - 1);
            }
            at = self.word.next(true, after, end);
        }
    }

    /// Notes that a token begins at an offset in the text. For texts of which all is in tokens: after the
    /// last one, `tile` says so. Much faster than `touch`.
    #[inline]
    pub fn begin(&mut self, at: usize) {
        if at < self.length {
            self.begins.set(at);
        }
    }

    /// Says that the tokens noted by `begin` are all, and that each goes as far as the next.
    pub fn tile(&mut self) {
        let mut before = 0; // the last byte before these 64, if it is of a word
        let mut reach = 0; // where the last word ends that is known to be split
        for place in 0..self.word.0.len() {
            let word = self.word.0[place];
            let inside = word & (word << 1 | before);
            before = word >> 63;
            let mut cuts = self.begins.0[place] & inside;
            while cuts != 0 {
                let at = place * 64 + cuts.trailing_zeros() as usize;
                cuts &= cuts - 1;
                if at >= reach {
                    reach = self.word.next(false, at, self.length);
                    self.again.set(reach - 1);
                }
            }
        }
        // Every word is in some token.
        for place in 0..self.word.0.len() {
            let after = self.word.0.get(place + 1).map_or(0, |word| word << 63);
            let word = self.word.0[place];
            self.touched.0[place] |= word & !(word >> 1 | after);
        }
    }

    /// Gives what was found. `continued`: the text goes on from what stands before it; `unfinished`:
    /// more of it follows.
    pub fn finish(&self, continued: bool, unfinished: bool) -> Stretch {
        if self.length == 0 {
            return Stretch {
                empty: true,
                ..Stretch::default()
            };
        }
        let mut before = 0;
        let mut words = 0;
        for &bits in &self.word.0 {
            words += u64::from((bits & !(bits << 1 | before)).count_ones());
            before = bits >> 63;
        }
        let mut found = Stretch {
            words,
            split: self.again.count(),
            ..Stretch::default()
        };
        if continued && self.word.get(0) {
            let end = self.word.next(false, 0, self.length);
            found.head = Some(self.take_out(end, &mut found));
            found.whole = end == self.length;
        }
        if unfinished && !found.whole && self.word.get(self.length - 1) {
            found.tail = Some(self.take_out(self.length, &mut found));
        }
        found
    }

    /// Takes the word that ends at `end` out of the sums; gives how many tokens have a part of it.
    fn take_out(&self, end: usize, found: &mut Stretch) -> u8 {
        found.words -= 1;
        let again = self.again.get(end - 1);
        found.split -= u64::from(again);
        u8::from(self.touched.get(end - 1)) + u8::from(again)
    }
}

/// Whether white space outside ASCII can begin with a byte.
#[inline]
fn begins_like_white_space(byte: u8) -> bool {
    matches!(byte, 0xC2 | 0xE1..=0xE3)
}

/// Looks at up to 64 bytes: a bit for each that is not white space of ASCII, and whether any white space
/// outside ASCII may begin in them. Written so that the compiler makes vector instructions of it.
#[inline]
fn look_at(bytes: &[u8]) -> (u64, bool) {
    let mut flags = [0u8; 64];
    let mut special = 0;
    for (flag, &byte) in flags.iter_mut().zip(bytes) {
        let white = (byte == b' ') | (byte.wrapping_sub(b'\t') < 5);
        *flag = u8::from(!white);
        special |= u8::from((byte == 0xC2) | (byte.wrapping_sub(0xE1) < 3));
    }
    let (eights, _) = flags.as_chunks::<8>();
    let bits = eights.iter().rev().fold(0, |bits, &eight| {
        // Each flag is the lowest bit of its byte; the product has them side by side at the top.
        let gathered = u64::from_le_bytes(eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        bits << 8 | gathered
    });
    (bits, special != 0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(text: &str, cuts: &[usize], continued: bool, unfinished: bool) -> Stretch {
        let mut words = Words::default();
        words.reset(text.as_bytes());
        for pair in cuts.windows(2) {
            words.touch(pair[0], pair[1]);
        }
        words.finish(continued, unfinished)
    }

    #[test]
    fn by_hand() {
        let all = found("a bcd\u{3000}ef ", &[0, 1, 4, 8, 10, 11], false, false);
        assert_eq!(
            (all.words, all.split),
            (3, 1),
            "bc|d is split, a and ef are not"
        );
        let open = found("ab c de", &[0, 1, 4, 7], true, true);
        assert_eq!((open.words, open.split), (1, 0));
        assert_eq!(
            (open.head, open.tail, open.whole),
            (Some(2), Some(1), false)
        );
        let one = found("abc", &[0, 1, 2, 3], true, true);
        assert_eq!((one.words, one.head, one.tail), (0, Some(2), None));
        assert!(one.whole);
        assert!(found("", &[], true, true).empty);
    }

    /// Were the end looked for from each token on, 4 MiB without white space would take 4 million walks
    /// of up to 64 thousand numbers each.
    #[test]
    fn a_long_word_of_many_tokens_is_walked_through_once() {
        let mut words = Words::default();
        words.reset(b"ab cd");
        words.touch(3, 5);
        let length = 1 << 22;
        let mut text = vec![b'A'; length];
        text[length - 2] = b' ';
        words.reset(&text);
        (0..length).for_each(|at| words.touch(at, at + 1));
        let all = words.finish(false, false);
        assert_eq!((all.words, all.split), (2, 1));
    }

    proptest! {
        #[test]
        fn is_what_splitting_at_white_space_gives(
            text in "[a\u{85}\u{a0}\u{1680}\u{2003}\u{3000} \n\u{e9}\u{3042}\u{200b}]{0,150}",
            spans in proptest::collection::vec((0usize..400, 0usize..80), 0..20),
        ) {
            let mut words = Words::default();
            words.reset(text.as_bytes());
            for &(start, length) in &spans {
                words.touch(start.min(text.len()), start.min(text.len()) + length);
            }
            let mut cuts: Vec<usize> = spans.iter().map(|span| span.0.min(text.len())).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            cuts.dedup();
            let (mut tiled, mut touched) = (Words::default(), Words::default());
            tiled.reset(text.as_bytes());
            touched.reset(text.as_bytes());
            for pair in cuts.windows(2) {
                tiled.begin(pair[0]);
                touched.touch(pair[0], pair[1]);
            }
            tiled.tile();
            for open in [(false, false), (true, false), (false, true), (true, true)] {
                prop_assert_eq!(tiled.finish(open.0, open.1), touched.finish(open.0, open.1));
            }
            let all = words.finish(false, false);
            let list: Vec<&str> = text.split_whitespace().collect();
            prop_assert_eq!(all.words, list.len() as u64);
            let split = list.iter().filter(|word| {
                let start = word.as_ptr() as usize - text.as_ptr() as usize;
                let end = start + word.len();
                let touching = |&&(from, length): &&(usize, usize)| {
                    let from = from.min(text.len());
                    from.max(start) < (from + length).min(end)
                };
                spans.iter().filter(touching).count() > 1
            });
            prop_assert_eq!(all.split, split.count() as u64);
        }
    }
}
