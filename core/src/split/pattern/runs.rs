//! Patterns that repeat the characters of one set, such as `\p{N}{1,3}` and then `[一-龥]+`, one after the other.
//!
//! They cut where a character is in other sets than the one before it, and where a group is as long as it may be. So all
//! of them together read a text once, and need no automaton.

use std::array::from_fn;

use super::alphabet::Alphabet;
use super::parse;
use super::tree::{Kind, Repeat, Set, Tree, set_of};
use crate::error::Result;

/// So many patterns are read together: a bit each of a key.
const MOST: usize = 4;

/// The bit of a key that says that a run with such a character may be cut further.
const WILD: u8 = 1 << 7;

/// An expression that matches one to `most` characters of a set, as many as there are.
#[derive(Clone, Debug)]
struct Run {
    set: Set,
    most: Option<u32>,
}

/// Patterns of one set each.
#[derive(Debug)]
pub(in super::super) struct Runs {
    runs: Vec<Run>,
    alphabet: Alphabet,
    /// By the number of a character: which sets it is in, its *key*, and whether it is wild.
    keys: [u8; 256],
    /// The same by an ASCII character.
    ascii: [u8; 128],
    /// The sets whose groups have a limit.
    limited: u8,
    /// By a key: the bytes that no ASCII character with this key has, if they are few ranges.
    others: [Option<Others>; 1 << MOST],
}

/// So many ranges of bytes are looked for at a time.
const RANGES: usize = 3;
/// In so many bytes.
const MANY: usize = 32;

/// Ranges of bytes: where each begins, and how far it reaches. Those that are left over are the same as the first one.
#[derive(Clone, Copy, Debug)]
struct Others([(u8, u8); RANGES]);

impl Others {
    /// All bytes but those of ASCII characters with a key; None if they are many ranges.
    fn of(ascii: &[u8; 128], key: u8) -> Option<Self> {
        let is_other = |byte: u8| {
            let other = ascii.get(usize::from(byte));
            other.is_none_or(|other| (other ^ key) & !WILD != 0)
        };
        let mut ranges: Vec<(u8, u8)> = Vec::new();
        for byte in (0..=u8::MAX).filter(|&byte| is_other(byte)) {
            match ranges.last_mut() {
                Some((begin, reach))
                    if u16::from(byte) == u16::from(*begin) + u16::from(*reach) + 1 =>
                {
                    *reach += 1
                }
                _ => ranges.push((byte, 0)),
            }
        }
        let first = *ranges.first()?;
        (ranges.len() <= RANGES)
            .then(|| Self(from_fn(|at| ranges.get(at).copied().unwrap_or(first))))
    }

    /// Whether there is one among some bytes.
    #[inline]
    fn are_among(self, bytes: &[u8; MANY]) -> bool {
        // One range after the other: so each is looked for in many bytes at once.
        let has = |(begin, reach): (u8, u8)| {
            let is_in = |byte: &u8| u8::from(byte.wrapping_sub(begin) <= reach);
            bytes.iter().map(is_in).fold(0, |all, one| all | one)
        };
        let found = self.0.into_iter().map(has).fold(0, |all, one| all | one);
        found != 0
    }
}

/// Where a text is cut by runs.
#[derive(Clone, Copy, Debug, Default)]
pub(in super::super) struct Groups {
    /// How many characters the groups have so far that the place is in, a group of each pattern.
    counts: [u32; MOST],
    /// Which of the first 64 runs that were found last are cut no further.
    whole: u64,
}

impl Groups {
    /// Whether one of the first 64 runs that were found last is cut no further.
    #[inline]
    pub fn is_whole(&self, number: usize) -> bool {
        self.whole >> number & 1 != 0
    }
}

impl Run {
    /// Reads an expression; None if it is no run.
    fn of(pattern: &str) -> Result<Option<Self>> {
        let (body, most) = match parse::parse(pattern)?.tree {
            Tree::Repeat(repeat) => match *repeat {
                Repeat {
                    body,
                    least: 1,
                    most,
                    kind: Kind::Greedy | Kind::Possessive,
                } => (body, most),
                _ => return Ok(None),
            },
            body => (body, Some(1)),
        };
        Ok(match body {
            Tree::One(set) => Some(Self { set, most }),
            _ => None,
        })
    }
}

impl Runs {
    /// Takes the patterns from the first on that are runs, and gives how many these are; None if there are none. `tame`
    /// gives the most of a set's characters of which all texts are cut no further by what comes behind `count` patterns.
    ///
    /// # Errors
    /// When one of them cannot be read.
    pub fn of<'p>(
        patterns: impl Iterator<Item = &'p str>,
        tame: impl Fn(usize, &Set) -> Option<Set>,
    ) -> Result<Option<(Self, usize)>> {
        let mut runs = Vec::new();
        for pattern in patterns.take(MOST) {
            match Run::of(pattern)? {
                Some(run) => runs.push(run),
                None => break,
            }
        }
        let count = runs.len();
        let mut sets: Vec<Set> = runs.iter().map(|run| run.set.clone()).collect();
        let mut all_tame = set_of([]);
        for key in 1..1_usize << count {
            let mut characters = set_of([('\0', char::MAX)]);
            for (level, set) in sets.iter().enumerate() {
                match key >> level & 1 {
                    1 => characters.intersect(set),
                    _ => characters.difference(set),
                }
            }
            if let Some(tame) = tame(count, &characters) {
                all_tame.union(&tame);
            }
        }
        sets.push(all_tame);
        let Ok((alphabet, holds)) = Alphabet::new(&sets) else {
            return Ok(None);
        };
        let (mut keys, mut limited) = ([0; 256], 0);
        for (level, (holds, run)) in holds.iter().zip(&runs).enumerate() {
            for (key, &holds) in keys.iter_mut().zip(holds) {
                *key |= u8::from(holds) << level;
            }
            limited |= u8::from(run.most.is_some()) << level;
        }
        for (key, &is_tame) in keys.iter_mut().zip(&holds[count]) {
            *key |= if is_tame { 0 } else { WILD };
        }
        let ascii = from_fn(|byte| keys[usize::from(alphabet.of_byte(byte as u8))]);
        let runs = Self {
            others: from_fn(|key| Others::of(&ascii, key as u8)),
            ascii,
            runs,
            alphabet,
            keys,
            limited,
        };
        Ok((count > 0).then_some((runs, count)))
    }

    /// Writes the ends of the next runs from `at` on, where one begins, and gives their number.
    pub fn fill(&self, text: &[u8], at: usize, room: &mut [usize], groups: &mut Groups) -> usize {
        if at == 0 {
            groups.counts = [1; MOST];
        }
        groups.whole = 0;
        let mut place = at;
        for (found, end) in room.iter_mut().enumerate() {
            if place == text.len() {
                return found;
            }
            let is_whole;
            (place, is_whole) = self.end_of_run(text, place, &mut groups.counts);
            groups.whole |= u64::from(is_whole).checked_shl(found as u32).unwrap_or(0);
            *end = place;
        }
        room.len()
    }

    /// Finds the end of the run that begins at a place, and whether it is cut no further: it has one character, or none that
    /// is wild. Its first character is counted in the groups, and then the first one behind it is.
    fn end_of_run(&self, text: &[u8], at: usize, counts: &mut [u32; MOST]) -> (usize, bool) {
        let (first, length) = self.key(text, at);
        let key = first & !WILD;
        let (mut place, mut wild) = (at + length, first);
        loop {
            if key & self.limited == 0 {
                let passed;
                (place, passed) = self.pass(text, place, key, wild);
                wild |= passed;
            }
            let ends = place == text.len() || {
                let (next, length) = self.key(text, place);
                let cuts = self.cuts(key, next, counts);
                if !cuts {
                    wild |= next;
                    place += length;
                }
                cuts
            };
            if ends {
                return (place, wild & WILD == 0 || place == at + length);
            }
        }
    }

    /// Passes over the characters that have a key, and tells whether one was wild, of these or of those before.
    #[inline]
    fn pass(&self, text: &[u8], mut at: usize, key: u8, mut wild: u8) -> (usize, u8) {
        // What is set but for the wild bit differs.
        let other = |&byte: &u8| match self.ascii.get(usize::from(byte)) {
            Some(other) => other ^ key,
            None => !WILD,
        };
        while at < text.len() {
            if text[at].is_ascii() {
                if wild & WILD != 0
                    && let Some(others) = self.others[usize::from(key)]
                {
                    while let Some(many) = text[at..].first_chunk()
                        && !others.are_among(many)
                    {
                        at += MANY;
                    }
                }
                while let Some(eight) = text[at..].first_chunk::<8>() {
                    let others = eight.iter().fold(0, |all, byte| all | other(byte));
                    if others & !WILD != 0 {
                        break;
                    }
                    wild |= others;
                    at += 8;
                }
                while let Some(byte) = text.get(at)
                    && other(byte) & !WILD == 0
                {
                    wild |= other(byte);
                    at += 1;
                }
                if text.get(at).is_none_or(u8::is_ascii) {
                    break;
                }
            }
            match self.key(text, at) {
                (next, length) if (next ^ key) & !WILD == 0 => {
                    wild |= next;
                    at += length;
                }
                _ => break,
            }
        }
        (at, wild)
    }

    /// Counts a character, and tells whether a run ends before it. Where one pattern cuts, the groups of those behind it
    /// begin anew.
    fn cuts(&self, key: u8, next: u8, counts: &mut [u32; MOST]) -> bool {
        let mut cuts = false;
        for (level, (run, count)) in self.runs.iter().zip(counts).enumerate() {
            let differs = (key ^ next) >> level & 1 != 0;
            let is_full = next >> level & 1 != 0 && run.most == Some(*count);
            cuts |= differs || is_full;
            *count = if cuts { 1 } else { count.saturating_add(1) };
        }
        cuts
    }

    /// Which sets the character at a place is in, with the wild bit, and its length.
    #[inline(always)]
    fn key(&self, text: &[u8], at: usize) -> (u8, usize) {
        let (number, length) = self.alphabet.read(text, at);
        (self.keys[usize::from(number)], length)
    }
}
