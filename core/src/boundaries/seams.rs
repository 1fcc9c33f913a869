//! Where a model's pieces can be cut without changing any token.
//!
//! What is claimed: if a [`Border`] or [`Joints`] allow a cut between x and y, then f(x + y) = f(x) + f(y) for
//! all x and y that have there what is asked for, f being what the model makes of a piece.

use std::ops::Range;

use super::LOOK;
use crate::error::Result;
use crate::text::{begin_of_last, characters, read_char};

/// The character that stands for a blank.
pub(crate) const MARK: &str = "\u{2581}";

/// How many code points a [`Joints`] tells apart: those that most text is made of.
const COMMON: usize = 1 << 16;
/// How many classes of pairs a [`Joints`] tells apart.
const PAIRS: u32 = 1 << 18;

/// Where pieces can be cut without changing any token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Border {
    /// Before a run of this character that follows another one.
    Before(char),
    /// After a run of this character that another one follows.
    After(char),
}

impl Border {
    /// Where texts can be cut before a model sees them: before (or after) every run of marks, provided that
    /// the mark is a token and that no token goes on across such a place.
    ///
    /// This changes no token. Whatever merging makes is a token, so nothing is made that has a mark after
    /// (before) another character: no merge crosses the place, those on its two sides do not touch each
    /// other's symbols, and which of them comes first is all the same. The best segmentation is that of the
    /// parts, for every segmentation has a boundary there, and scores add up (what rounding does to sums of
    /// nearly equal score depends on where they begin, so that models which round, in f32 or f64, don't say it). An
    /// unknown character that reaches across (when neighbours are fused) would have to hold the mark, and that is
    /// known.
    pub fn of<'a>(texts: impl Iterator<Item = &'a [u8]>) -> Option<Self> {
        let (mut known, mut inside, mut before) = (false, false, false);
        for text in texts {
            known |= text == MARK.as_bytes();
            let mut last = None;
            for (_, character) in characters(text) {
                let is_mark = character == MARK.as_bytes();
                inside |= is_mark && last == Some(false);
                before |= !is_mark && last == Some(true);
                last = Some(is_mark);
            }
        }
        match (known, inside, before) {
            (false, _, _) | (true, true, true) => None,
            (true, false, _) => Some(Self::Before('\u{2581}')),
            (true, true, false) => Some(Self::After('\u{2581}')),
        }
    }
}

/// Calls `each` for the parts of a piece between which no token goes on.
///
/// # Errors
/// The first error that the callback gives.
pub fn cut_at_borders(
    text: &[u8],
    range: Range<usize>,
    border: Option<Border>,
    mut each: impl FnMut(Range<usize>) -> Result<()>,
) -> Result<()> {
    let (mark, before) = match border {
        None => return each(range),
        Some(Border::Before(mark)) => (mark, true),
        Some(Border::After(mark)) => (mark, false),
    };
    let mut start = range.start;
    let mut at = range.start;
    let mut was_mark = before; // the first character begins no new part
    while at < range.end {
        let (character, length) = read_char(&text[..range.end], at);
        let is_mark = character == Some(mark);
        if (if before {
            is_mark && !was_mark
        } else {
            was_mark && !is_mark
        }) && at > start
        {
            each(start..at)?;
            start = at;
        }
        was_mark = is_mark;
        at += length;
    }
    if start < range.end {
        each(start..range.end)?;
    }
    Ok(())
}

/// Where no token goes on from one character to the next.
#[derive(Debug, Default)]
pub struct Seams {
    /// Where marks stand for blanks, see [`Border`].
    pub border: Option<Border>,
    /// Which neighbours a token may hold; None: not known.
    pub joints: Option<Joints>,
}

/// The characters, and the pairs of neighbours, of tokens that have several characters. It may hold too
/// many of both, never too few.
#[derive(Debug)]
pub struct Joints {
    characters: Box<[u64]>,
    pairs: Box<[u64]>,
    /// The characters that are tokens by themselves, if a text may only be cut beside one of those.
    single: Option<Box<[u64]>>,
}

impl Joints {
    /// Collects what those texts hold that have several characters.
    pub fn of<'a>(texts: impl Iterator<Item = &'a [u8]>) -> Self {
        let mut joints = Self {
            characters: vec![0; COMMON / 64].into(),
            pairs: vec![0; PAIRS as usize / 64].into(),
            single: None,
        };
        joints.add(texts);
        joints
    }

    /// Adds what more texts hold.
    pub fn add<'a>(&mut self, texts: impl Iterator<Item = &'a [u8]>) {
        for text in texts {
            let mut last = None;
            for (at, bytes) in characters(text) {
                if bytes.len() == text.len() {
                    break;
                }
                // A byte outside of UTF-8 may be a joint with everything.
                let (character, _) = read_char(text, at);
                if let Some(character) = character {
                    insert(&mut self.characters, u32::from(character));
                    if let Some(last) = last {
                        insert(&mut self.pairs, pair(last, character));
                    }
                }
                last = character;
            }
        }
    }

    /// Allows cuts only beside characters that are texts of their own, for others become one token with
    /// their neighbours.
    #[must_use]
    pub fn beside<'a>(mut self, texts: impl Iterator<Item = &'a [u8]>) -> Self {
        let mut single = vec![0; COMMON / 64];
        for text in texts {
            if let (Some(character), length) = read_char(text, 0)
                && length == text.len()
            {
                insert(&mut single, u32::from(character));
            }
        }
        self.single = Some(single.into());
        self
    }

    /// Whether a text can be cut on both sides of a character, whatever its neighbours are.
    #[must_use]
    pub fn stands_alone(&self, character: char) -> bool {
        !holds(&self.characters, u32::from(character), true) && self.is_single(character)
    }

    /// Whether a text can be cut between two characters.
    #[must_use]
    pub fn parts(&self, left: char, right: char) -> bool {
        !holds(&self.pairs, pair(left, right), true)
            && (self.is_single(left) || self.is_single(right))
    }

    /// The last place near a text's end, between two characters, where the text can be cut; 0 if there is none.
    ///
    /// `spelt` says what the model sees next to a place, of the bytes of the character before it and of the one behind it;
    /// None where that is not known, or depends on what stands around.
    pub fn last_cut(
        &self,
        text: &[u8],
        spelt: impl Fn(&[u8], &[u8]) -> Option<(char, char)>,
    ) -> usize {
        if text.is_empty() {
            return 0;
        }
        let mut end = text.len();
        let mut at = begin_of_last(text, end);
        while at > 0 && at > text.len().saturating_sub(LOOK) {
            let begin = begin_of_last(text, at);
            let place = spelt(&text[begin..at], &text[at..end]);
            if place.is_some_and(|(left, right)| self.parts(left, right)) {
                return at;
            }
            (at, end) = (begin, at);
        }
        0
    }

    fn is_single(&self, character: char) -> bool {
        let single = self.single.as_ref();
        single.is_none_or(|single| holds(single, u32::from(character), false))
    }
}

/// The class of a pair.
fn pair(left: char, right: char) -> u32 {
    let both = u64::from(u32::from(left)) << 32 | u64::from(u32::from(right));
    (both.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - PAIRS.trailing_zeros())) as u32
}

fn insert(bits: &mut [u64], number: u32) {
    if let Some(word) = bits.get_mut(number as usize / 64) {
        *word |= 1 << (number % 64);
    }
}

/// Whether a number is in a set; `beyond` is said of those that it has no place for.
fn holds(bits: &[u64], number: u32, beyond: bool) -> bool {
    let word = bits.get(number as usize / 64);
    word.map_or(beyond, |word| word >> (number % 64) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes<'a>(texts: &'a [&'a str]) -> impl Iterator<Item = &'a [u8]> {
        texts.iter().map(|text| text.as_bytes())
    }

    #[test]
    fn cuts_where_no_token_goes_on() {
        let of = |texts: &[&str]| Border::of(bytes(texts));
        assert_eq!(of(&["▁", "▁▁", "▁a", "ab"]), Some(Border::Before('▁')));
        assert_eq!(of(&["▁", "▁▁", "a▁", "ab"]), Some(Border::After('▁')));
        assert_eq!(of(&["▁", "▁a", "a▁"]), None);
        assert_eq!(of(&["▁", "a▁a"]), None);
        assert_eq!(
            of(&["▁a"]),
            None,
            "a mark that is unknown could be fused with its neighbour"
        );
        assert_eq!(of(&["▁"]), Some(Border::Before('▁')));
    }

    #[test]
    fn joints_are_what_texts_hold_that_have_several_characters() {
        let joints = Joints::of(bytes(&["a", "béd", "好"]));
        assert!(joints.stands_alone('a') && joints.stands_alone('好'));
        assert!(!joints.stands_alone('b') && !joints.stands_alone('d'));
        assert!(!joints.stands_alone('🙂'), "rare ones are not told apart");
        assert!(!joints.parts('b', 'é') && !joints.parts('é', 'd'));
        assert!(joints.parts('é', 'b') && joints.parts('b', 'd') && joints.parts('b', '🙂'));
    }

    #[test]
    fn a_cut_may_have_to_be_beside_a_known_character() {
        let joints = Joints::of(bytes(&["ab"])).beside(bytes(&["a", "c"]));
        assert!(joints.parts('c', 'x') && joints.parts('x', 'c') && !joints.parts('x', 'y'));
        assert!(joints.stands_alone('c') && !joints.stands_alone('x'));
    }

    fn parts(text: &str, border: Option<Border>) -> Vec<&str> {
        let mut found = Vec::new();
        cut_at_borders(text.as_bytes(), 0..text.len(), border, |range| {
            found.push(&text[range]);
            Ok(())
        })
        .unwrap();
        found
    }

    #[test]
    fn cuts_before_or_after_runs_of_marks() {
        let text = "▁▁a▁b▁▁c▁";
        assert_eq!(parts(text, None), [text]);
        assert_eq!(
            parts(text, Some(Border::Before('▁'))),
            ["▁▁a", "▁b", "▁▁c", "▁"]
        );
        assert_eq!(
            parts(text, Some(Border::After('▁'))),
            ["▁▁", "a▁", "b▁▁", "c▁"]
        );
        assert_eq!(parts("", Some(Border::Before('▁'))), [""; 0]);
    }

    #[test]
    fn the_last_cut_is_near_the_end_between_characters_that_no_token_joins() {
        let joints = Joints::of(bytes(&["ab", "é好", "x"]));
        let cut = |text: &str| {
            joints.last_cut(text.as_bytes(), |left, right| {
                read_char(left, 0).0.zip(read_char(right, 0).0)
            })
        };
        assert_eq!(cut("ba"), 1);
        assert_eq!(cut("xab"), 1);
        assert_eq!(cut("xé好"), 1);
        assert_eq!([cut("ab"), cut("a"), cut("")], [0, 0, 0]);
        assert_eq!(cut(&format!("x{}", "ab".repeat(3))), 5);
        let joined = Joints::of(bytes(&["aa"]));
        let far = format!("x{}", "a".repeat(LOOK));
        let always = |_: &[u8], _: &[u8]| Some(('a', 'a'));
        assert_eq!(joined.last_cut(far.as_bytes(), always), 0);
        assert_eq!(joined.last_cut(b"aaa", |_, _| None), 0);
    }
}
