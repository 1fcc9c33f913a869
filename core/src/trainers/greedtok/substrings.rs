//! All substrings of words, each with a number, in an array of sorted suffixes: where they stand, and which of them begin
//! at a place.
//!
//! Suffixes are sorted as far as a token may reach. A substring belongs to the first suffix that begins with it: a suffix
//! owns its beginnings that are longer than what it has in common with the one before. Substrings are numbered by
//! suffix, and of one suffix by length: of equally long ones, the smaller bytes have the lower number.
//!
//! Complexity: n log n for n bytes of words; memory is 25 bytes for each byte, whatever the number of substrings.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::memory::asking::{exact_room_for, zeroed};
use crate::memory::reserve;
use crate::threads;

/// Shorter ones are no candidates.
pub const SHORTEST: usize = 2;

/// Bytes that are compared first.
const KEY: usize = 8;

/// Words and their substrings.
#[derive(Debug)]
pub struct Substrings {
    /// The words, one after the other.
    pub text: Vec<u8>,
    /// Where each word ends.
    ends: Vec<u32>,
    /// By place: where its word ends.
    stops: Vec<u32>,
    /// The most bytes of a substring.
    pub longest: usize,
    /// Where suffixes begin, the smallest first.
    places: Vec<u32>,
    /// By place: its number among the suffixes.
    ranks: Vec<u32>,
    suffixes: Vec<Suffix>,
    /// How many there are.
    pub count: usize,
}

/// What is known of a suffix besides where it begins.
#[derive(Clone, Copy, Debug)]
struct Suffix {
    /// Bytes in common with the one before.
    common: u32,
    /// The last one before that has fewer in common with the one before it.
    before: u32,
    /// The number of its first own substring.
    first: u32,
}

impl Suffix {
    /// The length of its first own substring.
    fn shortest(self) -> usize {
        SHORTEST.max(self.common as usize + 1)
    }
}

impl Substrings {
    /// Sorts the suffixes of words, given one after the other, with where each ends; at most 2^32 bytes.
    ///
    /// # Errors
    /// [`Error::Bound`] when there are 2^32 substrings or more, [`Error::Memory`] when there is no memory for them.
    pub fn new(text: Vec<u8>, ends: Vec<u32>, longest: usize, threads: usize) -> Result<Self> {
        let mut stops = Vec::with_capacity(text.len());
        for &end in &ends {
            stops.resize(end as usize, end);
        }
        let mut suffixes = Vec::new();
        let room = exact_room_for(&mut suffixes, text.len());
        let (Some(ranks), true) = (zeroed(text.len()), room) else {
            let bytes = text.len();
            return Err(Error::Memory(format!(
                "there is no memory for the substrings of {bytes} bytes"
            )));
        };
        reserve::check()?;
        let mut substrings = Self {
            stops,
            ranks,
            suffixes,
            text,
            ends,
            longest,
            places: Vec::new(),
            count: 0,
        };
        substrings.places = substrings.sorted(threads)?;
        let mut last: &[u8] = &[];
        for number in 0..substrings.places.len() {
            let at = substrings.places[number] as usize;
            substrings.ranks[at] = number as u32;
            let text = &substrings.text[at..at + substrings.reach(at)];
            let shared = text.iter().zip(last).take_while(|(a, b)| a == b).count() as u32;
            let mut before = number.saturating_sub(1) as u32;
            while before > 0 && substrings.suffixes[before as usize].common >= shared {
                before = substrings.suffixes[before as usize].before;
            }
            let suffix = Suffix {
                common: shared,
                before,
                first: u32::try_from(substrings.count).map_err(|_| too_many())?,
            };
            substrings.count += (text.len() + 1).saturating_sub(suffix.shortest());
            substrings.suffixes.push(suffix);
            last = text;
        }
        match u32::try_from(substrings.count) {
            Ok(_) => Ok(substrings),
            Err(_) => Err(too_many()),
        }
    }

    /// All places in the order of what begins there; those that begin with one byte are sorted by one thread.
    fn sorted(&self, threads: usize) -> Result<Vec<u32>> {
        let mut groups = vec![Vec::new(); 256];
        for (place, &byte) in (0..).zip(&self.text) {
            groups[usize::from(byte)].push(place);
        }
        reserve::check()?;
        let parts = threads::map(groups.into_iter(), threads, |places: Vec<u32>| {
            let text = |at: u32| &self.text[at as usize..at as usize + self.reach(at as usize)];
            let mut keyed: Vec<(u64, u32)> = places.iter().map(|&at| (key(text(at)), at)).collect();
            keyed.sort_unstable_by(|a, b| {
                let by_text = || text(a.1).cmp(text(b.1)).then(a.1.cmp(&b.1));
                a.0.cmp(&b.0).then_with(by_text)
            });
            keyed.into_iter().map(|(_, at)| at).collect::<Vec<u32>>()
        });
        reserve::check()?;
        Ok(parts.concat())
    }

    /// The number of the word that has a place.
    pub fn word_at(&self, place: u32) -> usize {
        self.ends.partition_point(|&end| end <= place)
    }

    /// Where a word is.
    pub fn word(&self, number: usize) -> Range<usize> {
        let start = match number {
            0 => 0,
            _ => self.ends[number - 1],
        };
        start as usize..self.ends[number] as usize
    }

    /// Bytes of the longest substring that begins at a place.
    pub fn reach(&self, place: usize) -> usize {
        self.longest.min(self.stops[place] as usize - place)
    }

    /// What begins at a place.
    pub fn at(&self, place: usize) -> Beginnings<'_> {
        Beginnings {
            suffixes: &self.suffixes,
            number: self.ranks[place],
        }
    }

    /// All substrings by number, with their lengths.
    pub fn lengths(&self) -> impl Iterator<Item = usize> {
        let suffixes = self.suffixes.iter().zip(&self.places);
        suffixes.flat_map(|(suffix, &at)| suffix.shortest()..=self.reach(at as usize))
    }

    /// Where a substring of a length stands, in any order.
    pub fn places(&self, number: u32, length: usize) -> &[u32] {
        let first = self.owner(number);
        let others = &self.suffixes[first + 1..];
        let shared = others
            .iter()
            .take_while(|suffix| suffix.common as usize >= length);
        &self.places[first..=first + shared.count()]
    }

    /// The suffix that owns a substring: of those with the same first number, the others have none of their own.
    fn owner(&self, number: u32) -> usize {
        self.suffixes
            .partition_point(|suffix| suffix.first <= number)
            - 1
    }
}

/// The substrings that begin at one place.
pub struct Beginnings<'a> {
    suffixes: &'a [Suffix],
    number: u32,
}

impl Beginnings<'_> {
    /// The number of the substring of a length; the longest is asked for first.
    #[inline]
    pub fn of_length(&mut self, length: usize) -> u32 {
        let mut suffix = self.suffixes[self.number as usize];
        while suffix.common as usize >= length {
            self.number = suffix.before;
            suffix = self.suffixes[self.number as usize];
        }
        suffix.first + (length - suffix.shortest()) as u32
    }
}

/// The first bytes as a number, filled up with zeros.
fn key(text: &[u8]) -> u64 {
    let mut bytes = [0; KEY];
    let length = text.len().min(KEY);
    bytes[..length].copy_from_slice(&text[..length]);
    u64::from_be_bytes(bytes)
}

fn too_many() -> Error {
    Error::Bound("the words have 4,294,967,296 substrings or more".to_owned())
}
