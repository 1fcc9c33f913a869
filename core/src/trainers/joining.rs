//! Learn dictionaries by joining neighbours in rounds: each round counts all pairs of neighbouring words
//! and joins those that are frequent enough, everywhere at once.
//!
//! Unlike byte-pair encoding, which merges one pair and counts anew, a round joins thousands. Words
//! begin as characters. A pair is known by its text alone: two ways to put a word together are one
//! count. The rule is that of a Chinese segmenter, whose recorded run the tests reproduce:
//!
//! * Lines are sorted and each different one counts once; punctuation breaks them.
//! * A pair is joined if its count is above a threshold: that of the word at a certain rank, where the
//!   rank goes by the number of lines, but at least a share of the lines.
//! * It is not joined if its first word occurs as a pair of this round more often than the pair, by
//!   more than a ratio: then the shorter word is the better one.
//! * From left to right; after a join the next word stays as it is in this round, too.
//!
//! Among equal counts, the word that comes first in the sorted lines stands first.
//!
//! Complexity: each round is linear in the text, plus sorting the words it found.
//! Invariant: the result depends on the set of lines alone, not on their order or on threads.

use std::cmp::Reverse;
use std::ops::Range;

use serde::Deserialize;

use crate::count::Counts;
use crate::error::{Result, ensure, invalid};
use crate::text::read_char;
use crate::threads;

/// Bytes of lines that a task has at least, unless they end.
const TASK_BYTES: usize = 1 << 18;
/// Stands between stretches of text that nothing joins.
const BREAK: u8 = b'\n';

/// What to learn.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// How many rounds.
    pub rounds: usize,
    /// Each round's rank, as a multiple of the number of lines divided by `lines_per_word`, which is
    /// rounded down first; rounds beyond the last factor have that one.
    pub factors: Vec<f64>,
    /// See `factors`.
    pub lines_per_word: f64,
    /// The threshold is at least the number of lines divided by this.
    pub lines_per_count: f64,
    /// How many times as often as the pair its first word may occur.
    pub ratio: f64,
    /// Most words of a dictionary.
    pub dictionary_size: usize,
    /// Characters that are never part of a word; a line end is always one.
    pub breaks: Vec<char>,
    /// Whether white space is left out, and what is left and right of it are neighbours; else it is a
    /// break.
    pub joins_over_space: bool,
}

/// A round's dictionary.
#[derive(Clone, Debug, PartialEq)]
pub struct Dictionary {
    /// Words with their counts, most frequent first.
    pub words: Vec<(Vec<u8>, u64)>,
    /// How many different pairs there were.
    pub pairs: usize,
    /// What a pair's count had to pass to be joined.
    pub threshold: f64,
    /// How many places were joined.
    pub joined: u64,
}

/// What was learnt.
#[derive(Clone, Debug, PartialEq)]
pub struct Learnt {
    /// How many different lines there are.
    pub lines: usize,
    /// All characters but left out white space, with their counts in the different lines: most frequent
    /// first, of equals the one of lower bytes.
    pub characters: Vec<(Vec<u8>, u64)>,
    /// One for each round; fewer than asked for if nothing was left to count.
    pub dictionaries: Vec<Dictionary>,
}

/// Lines in which words have been joined so far.
#[derive(Debug, Default)]
struct JoinedLines {
    /// The lines, with one `BREAK` between stretches.
    text: Vec<u8>,
    /// Where each word ends; a `BREAK` is a word.
    ends: Vec<u32>,
}

impl JoinedLines {
    /// Calls `each` with every two neighbours that could be joined.
    fn pairs(&self, mut each: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let mut start = 0;
        for (place, &middle) in self.ends.iter().enumerate() {
            if let Some(end) = self.partner(start, place) {
                each(&self.text[start..end])?;
            }
            start = middle as usize;
        }
        Ok(())
    }

    /// Gives where the word ends that could be joined to the one at a place, which begins at `start`.
    #[inline]
    fn partner(&self, start: usize, place: usize) -> Option<usize> {
        let end = *self.ends.get(place + 1)? as usize;
        let middle = self.ends[place] as usize;
        (self.text[start] != BREAK && self.text[middle] != BREAK).then_some(end)
    }

    fn count(&self) -> Result<Counts> {
        let mut counts = Counts::new(usize::MAX);
        self.pairs(|pair| counts.add(pair, 1))?;
        Ok(counts)
    }

    /// Gives where words end once the pairs are joined that `joins` wants (first word, pair), and how
    /// many were.
    fn join(&self, joins: impl Fn(&[u8], &[u8]) -> bool) -> (Vec<u32>, u64) {
        let (mut ends, mut joined) = (Vec::with_capacity(self.ends.len()), 0);
        let (mut place, mut start) = (0, 0);
        while place < self.ends.len() {
            let middle = self.ends[place] as usize;
            let pair = self.partner(start, place);
            let pair = pair.filter(|&end| joins(&self.text[start..middle], &self.text[start..end]));
            if pair.is_some() {
                joined += 1;
                // The joined word, and the one that rests.
                ends.extend(self.ends[place + 1..].iter().take(2));
                place += 3;
            } else {
                ends.push(self.ends[place]);
                place += 1;
            }
            start = ends.last().map_or(0, |&end| end as usize);
        }
        (ends, joined)
    }

    fn push(&mut self, character: &[u8]) {
        self.text.extend_from_slice(character);
        self.ends.push(self.text.len() as u32);
    }

    fn end_stretch(&mut self) {
        if self.text.last().is_some_and(|&last| last != BREAK) {
            self.push(&[BREAK]);
        }
    }
}

/// The different lines, sorted, without the white space that is left out.
#[derive(Debug)]
pub struct Lines {
    text: Vec<u8>,
    ranges: Vec<Range<usize>>,
}

impl Lines {
    /// Takes texts of one line or several, of which equal ones count once.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) for a line of 2 GiB or more.
    pub fn new<'a>(texts: impl Iterator<Item = &'a [u8]>, options: &Options) -> Result<Self> {
        let (mut text, mut ranges) = (Vec::new(), Vec::new());
        for line in texts.flat_map(|text| text.split(|&byte| byte == BREAK)) {
            ensure!(line.len() < 1 << 31, "a line is longer than 2 GiB");
            let start = text.len();
            if options.joins_over_space {
                let mut at = 0;
                while at < line.len() {
                    let (character, length) = read_char(line, at);
                    if !character.is_some_and(char::is_whitespace) {
                        text.extend_from_slice(&line[at..at + length]);
                    }
                    at += length;
                }
            } else {
                text.extend_from_slice(line);
            }
            if text.len() > start {
                ranges.push(start..text.len());
            }
        }
        let line = |range: &Range<usize>| &text[range.clone()];
        ranges.sort_unstable_by(|a, b| line(a).cmp(line(b)));
        ranges.dedup_by(|a, b| line(a) == line(b));
        Ok(Self { text, ranges })
    }

    /// Learns dictionaries; `progress` is called after each round with how many there were.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) for options out of range; what `progress` says.
    pub fn learn(
        self,
        options: &Options,
        threads: usize,
        progress: &mut dyn FnMut(usize) -> Result<()>,
    ) -> Result<Learnt> {
        let Some(&last_factor) = options.factors.last() else {
            return Err(invalid!("there is no factor for a rank"));
        };
        let numbers = [options.lines_per_word, options.lines_per_count];
        let positive = numbers.into_iter().all(|number| number > 0.0);
        let factors = options.factors.iter();
        ensure!(
            positive && factors.chain([&options.ratio]).all(|&number| number >= 0.0),
            "factors and ratio must not be negative, numbers of lines must be above 0"
        );
        let lines = self.ranges.len();
        let baseline = (lines as f64 / options.lines_per_word).floor();
        let floor = lines as f64 / options.lines_per_count;
        let (mut parts, characters) = self.parts(options, threads)?;
        drop(self);
        let mut dictionaries = Vec::new();
        for round in 0..options.rounds {
            let counts = merged(each(&parts, threads, JoinedLines::count)?)?;
            if counts.unique() == 0 {
                break;
            }
            let mut order: Vec<usize> = (0..counts.unique()).collect();
            let count_at = |place: usize| counts.get(place).map_or(0, |(_, count)| count);
            order.sort_by_key(|&place| Reverse(count_at(place)));
            let factor = options.factors.get(round).unwrap_or(&last_factor);
            let rank = ((baseline * factor) as usize).clamp(1, order.len());
            let threshold = floor.max(count_at(order[rank - 1]) as f64);
            let joins = |first: &[u8], pair: &[u8]| {
                let count = counts.count_of(pair) as f64;
                count > threshold && counts.count_of(first) as f64 / count <= options.ratio
            };
            let joined = threads::map(parts.iter(), threads, |part| part.join(joins));
            let mut places = 0;
            for (part, (ends, joined)) in parts.iter_mut().zip(joined) {
                part.ends = ends;
                places += joined;
            }
            let kept = order.iter().take(options.dictionary_size);
            let words = kept.filter_map(|&place| counts.get(place));
            dictionaries.push(Dictionary {
                words: words.map(|(word, count)| (word.to_vec(), count)).collect(),
                pairs: counts.unique(),
                threshold,
                joined: places,
            });
            progress(round + 1)?;
        }
        Ok(Learnt {
            lines,
            characters,
            dictionaries,
        })
    }

    /// Cuts lines into characters, and gives all characters with their counts.
    #[expect(clippy::type_complexity, reason = "the two results, by shape")]
    fn parts(
        &self,
        options: &Options,
        threads: usize,
    ) -> Result<(Vec<JoinedLines>, Vec<(Vec<u8>, u64)>)> {
        let mut sorted = options.breaks.clone();
        sorted.sort_unstable();
        let breaks =
            |character: char| character.is_whitespace() || sorted.binary_search(&character).is_ok();
        let part = |ranges: &[Range<usize>]| {
            let (mut part, mut characters) = (JoinedLines::default(), Counts::new(usize::MAX));
            for range in ranges {
                let line = &self.text[range.clone()];
                let mut at = 0;
                while at < line.len() {
                    let (character, length) = read_char(line, at);
                    let bytes = &line[at..at + length];
                    characters.add(bytes, 1)?;
                    if character.is_some_and(breaks) {
                        part.end_stretch();
                    } else {
                        part.push(bytes);
                    }
                    at += length;
                }
                part.end_stretch();
            }
            Ok((part, characters))
        };
        let made = each(&self.tasks(), threads, |ranges| part(ranges))?;
        let (parts, counts): (Vec<_>, Vec<_>) = made.into_iter().unzip();
        let mut characters: Vec<(Vec<u8>, u64)> = merged(counts)?
            .iter()
            .map(|(character, count)| (character.to_vec(), count))
            .collect();
        characters.sort_unstable_by(|(a, m), (b, n)| n.cmp(m).then_with(|| a.cmp(b)));
        Ok((parts, characters))
    }

    /// Runs of lines for one thread each.
    fn tasks(&self) -> Vec<&[Range<usize>]> {
        let mut tasks = Vec::new();
        let (mut first, mut bytes) = (0, 0);
        for (place, range) in self.ranges.iter().enumerate() {
            bytes += range.len();
            if bytes >= TASK_BYTES || place + 1 == self.ranges.len() {
                tasks.push(&self.ranges[first..=place]);
                (first, bytes) = (place + 1, 0);
            }
        }
        tasks
    }
}

/// What `work` makes of each item, in their order.
fn each<T: Sync, R: Send>(
    items: &[T],
    threads: usize,
    work: impl Fn(&T) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    threads::map(items.iter(), threads, work)
        .into_iter()
        .collect()
}

/// Adds counts up, in their order.
fn merged(all: Vec<Counts>) -> Result<Counts> {
    let mut all = all.into_iter();
    let mut sum = all.next().unwrap_or_else(|| Counts::new(usize::MAX));
    all.try_for_each(|counts| sum.merge(&counts))?;
    Ok(sum)
}

#[cfg(test)]
mod tests;
