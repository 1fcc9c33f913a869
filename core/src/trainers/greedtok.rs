//! Trains GreedTok (Lim, Choo and Lauw 2025, arXiv:2501.06246): the tokens that cover most of the words, chosen one after
//! the other, without merges.
//!
//! Placing a token in a word makes one piece of all that lies in it: what it saves is how many pieces were there, less
//! one. It may be placed where its ends do not lie inside another. Every substring of a word is a candidate; the one that
//! saves most, at all its places that do not overlap, is placed in all words. Of several that save as much the shortest
//! is taken, and of these the smallest.
//!
//! All that is kept of what lies where is which places are *closed*: inside a token. None is ever opened again, and the
//! pieces of a stretch whose ends are open are its open places. What a candidate saves at one place never grows. But
//! where its places overlap, closing the first one may let a better one count: then it is put into the queue anew. For
//! all others, what the queue has is too much at most.
//!
//! Complexity: a token costs, at each of its places, the substrings around it that end or begin where a place is open: of
//! a word of n bytes at most n²/2. A candidate that overlaps itself costs its words once more. Memory: 25 bytes for each
//! candidate and 46 for each byte of the different words while they are sorted, 26 after that.

mod substrings;

use std::ops::Range;

use serde::Deserialize;

use super::heap::{Heap, Order};
use super::json;
use crate::error::{Error, Result, ensure};
use substrings::{SHORTEST, Substrings};

/// What to train.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// How many tokens to choose at most.
    pub tokens: usize,
    /// The most bytes of a token.
    pub max_token_length: usize,
    /// Words that are rarer are left out.
    pub min_word_count: u64,
    /// What is not chosen.
    #[serde(deserialize_with = "json::all_bytes")]
    pub reserved: Vec<Vec<u8>>,
    /// Bytes of memory that may be used.
    pub max_memory: u64,
    /// How many threads to use.
    pub threads: usize,
}

/// What training gave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Training {
    /// Tokens in the order chosen.
    pub tokens: Vec<Vec<u8>>,
    /// How many pieces fewer the words had by each.
    pub scores: Vec<u64>,
    /// How many candidates there were.
    pub candidates: usize,
}

/// Bytes of memory for each candidate, and for each byte of the words.
const FOR_CANDIDATE: u64 = 25;
const FOR_BYTE: u64 = 46;
/// Places before the next report, while candidates are counted.
const AT_ONCE: usize = 1 << 16;

/// Trains on words with their counts; `progress` is called with (tokens, tokens wanted). Ends early when no token saves
/// anything.
///
/// The result depends neither on the threads nor on the order of the words.
///
/// # Errors
/// [`Error::Bound`] when the candidates take more memory than they may; [`Error::Invalid`] when the corpus is too large;
/// what `progress` gives.
pub fn train<'a>(
    words: impl Iterator<Item = (&'a [u8], u64)>,
    options: &Options,
    progress: &mut dyn FnMut(usize, usize) -> Result<()>,
) -> Result<Training> {
    let mut report = |done| progress(done, options.tokens);
    report(0)?;
    let (words, counts) = read(words, options)?;
    report(0)?;
    let mut training = Training {
        candidates: words.count,
        ..Training::default()
    };
    let mut cover = Cover::new(words, counts, &mut report)?;
    while training.tokens.len() < options.tokens {
        report(training.tokens.len())?;
        let Some(best) = cover.queue.pop(&mut cover.scores) else {
            break;
        };
        let mut places = cover
            .words
            .places(best.number, best.length as usize)
            .to_vec();
        let at = places[0] as usize;
        let token = &cover.words.text[at..at + best.length as usize];
        if options.reserved.iter().any(|text| text == token) {
            continue;
        }
        training.tokens.push(token.to_vec());
        training.scores.push(best.score);
        places.sort_unstable();
        cover.place(&places, best.length as usize);
    }
    report(options.tokens)?;
    Ok(training)
}

/// Takes the words that have a candidate, and their counts; sorts their substrings.
fn read<'a>(
    words: impl Iterator<Item = (&'a [u8], u64)>,
    options: &Options,
) -> Result<(Substrings, Vec<u64>)> {
    let (mut text, mut ends, mut counts) = (Vec::new(), Vec::new(), Vec::new());
    let mut total = 0_u128;
    for (word, count) in words {
        if count >= options.min_word_count && word.len() >= SHORTEST {
            total += word.len() as u128 * u128::from(count);
            text.extend_from_slice(word);
            ensure!(
                u32::try_from(text.len()).is_ok(),
                "the different words have more than 2^32 bytes"
            );
            ends.push(text.len() as u32);
            counts.push(count);
        }
    }
    ensure!(
        total <= u128::from(u64::MAX),
        "the corpus has more than 2^64 bytes"
    );
    let for_text = FOR_BYTE * text.len() as u64;
    check_memory(for_text, options)?;
    let words = Substrings::new(text, ends, options.max_token_length, options.threads)?;
    check_memory(for_text + FOR_CANDIDATE * words.count as u64, options)?;
    Ok((words, counts))
}

fn check_memory(needed: u64, options: &Options) -> Result<()> {
    if needed > options.max_memory {
        return Err(Error::Bound(format!(
            "the candidates take {needed} bytes of memory or more, and {} are allowed",
            options.max_memory
        )));
    }
    Ok(())
}

/// A candidate as it stands in the queue.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Candidate {
    score: u64,
    length: u32,
    number: u32,
}

/// What candidates save, by number.
struct Scores(Vec<u64>);

impl Order<Candidate> for Scores {
    fn is_before(&self, item: &Candidate, other: &Candidate) -> bool {
        let key = |candidate: &Candidate| (candidate.length, candidate.number);
        item.score > other.score || (item.score == other.score && key(item) < key(other))
    }

    fn update(&mut self, item: &Candidate) -> Option<Candidate> {
        let score = self.0[item.number as usize];
        (score > 0).then_some(Candidate { score, ..*item })
    }
}

/// Whether two places of a candidate in some word overlap.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Overlap {
    Never,
    Somewhere,
    /// It does, and it is noted that it has to be counted anew.
    Noted,
}

/// A candidate at a place, and what it saves: there, or in the whole word.
#[derive(Clone, Copy, Debug)]
struct Spot {
    number: u32,
    place: usize,
    length: usize,
    saved: u64,
}

/// The words, and what covers them.
struct Cover {
    words: Substrings,
    counts: Vec<u64>,
    /// By place in the words, and one for their end: whether it lies inside a token.
    closed: Vec<bool>,
    scores: Scores,
    /// By candidate.
    overlaps: Vec<Overlap>,
    queue: Heap<Candidate>,
}

impl Cover {
    /// Counts what each candidate saves where nothing is placed.
    fn new(
        words: Substrings,
        counts: Vec<u64>,
        report: &mut dyn FnMut(usize) -> Result<()>,
    ) -> Result<Self> {
        let mut scores = vec![0; words.count];
        report(0)?;
        let mut overlaps = vec![Overlap::Never; words.count];
        let mut ends = vec![0_u32; words.count];
        report(0)?;
        for (number, count) in counts.iter().enumerate() {
            for start in words.word(number) {
                if start % AT_ONCE == 0 {
                    report(0)?;
                }
                let mut beginnings = words.at(start);
                for length in (SHORTEST..=words.reach(start)).rev() {
                    let candidate = beginnings.of_length(length) as usize;
                    if ends[candidate] as usize > start {
                        overlaps[candidate] = Overlap::Somewhere;
                    } else {
                        scores[candidate] += count * (length as u64 - 1);
                        ends[candidate] = (start + length) as u32;
                    }
                }
            }
        }
        drop(ends);
        report(0)?;
        let scores = Scores(scores);
        let candidate = |(number, length): (usize, usize)| Candidate {
            score: scores.0[number],
            length: length as u32,
            number: number as u32,
        };
        let mut candidates = Vec::with_capacity(words.count);
        candidates.extend(words.lengths().enumerate().map(candidate));
        Ok(Self {
            closed: vec![false; words.text.len() + 1],
            queue: Heap::from_items(candidates, &scores),
            words,
            counts,
            scores,
            overlaps,
        })
    }

    /// Places a token of a length at those of some places, ascending, where it cuts nothing.
    fn place(&mut self, places: &[u32], length: usize) {
        let mut rest = places;
        while let Some(&first) = rest.first() {
            let number = self.words.word_at(first);
            let word = self.words.word(number);
            let (mine, others) =
                rest.split_at(rest.partition_point(|&place| (place as usize) < word.end));
            rest = others;
            let mut free = 0;
            let fitting = mine.iter().map(|&place| place as usize).filter(|&place| {
                let fits = place >= free && !self.closed[place] && !self.closed[place + length];
                free = if fits { place + length } else { free };
                fits
            });
            let fitting: Vec<usize> = fitting.collect();
            if !fitting.is_empty() {
                self.place_in(number, &word, &fitting, length);
            }
        }
    }

    /// Places a token in one word, and counts anew what may save less by it.
    fn place_in(&mut self, number: usize, word: &Range<usize>, places: &[usize], length: usize) {
        let Self {
            words,
            counts,
            closed,
            scores,
            overlaps,
            queue,
        } = self;
        let count = counts[number];
        let mut anew: Vec<Spot> = Vec::new();
        around(words, closed, word, places, length, |spot| {
            let overlap = &mut overlaps[spot.number as usize];
            match overlap {
                Overlap::Never => scores.0[spot.number as usize] -= count * spot.saved,
                Overlap::Somewhere => {
                    *overlap = Overlap::Noted;
                    anew.push(spot);
                }
                Overlap::Noted => {}
            }
        });
        for spot in &mut anew {
            spot.saved = saved_in(words, closed, word, *spot);
        }
        for &place in places {
            closed[place + 1..place + length].fill(true);
        }
        around(words, closed, word, places, length, |spot| {
            if overlaps[spot.number as usize] == Overlap::Never {
                scores.0[spot.number as usize] += count * spot.saved;
            }
        });
        for spot in anew {
            overlaps[spot.number as usize] = Overlap::Somewhere;
            let saved = saved_in(words, closed, word, spot);
            let score = &mut scores.0[spot.number as usize];
            *score = *score - count * spot.saved + count * saved;
            if saved > spot.saved {
                let grown = Candidate {
                    score: *score,
                    length: spot.length as u32,
                    number: spot.number,
                };
                queue.push(grown, scores);
            }
        }
    }
}

/// Calls `found` for each candidate with open ends that has a byte in common with a token at one of these places.
fn around(
    words: &Substrings,
    closed: &[bool],
    word: &Range<usize>,
    places: &[usize],
    length: usize,
    mut found: impl FnMut(Spot),
) {
    let mut next = word.start;
    for &place in places {
        let from = (place + 1).saturating_sub(words.longest);
        for start in from.max(next)..place + length {
            if closed[start] {
                continue;
            }
            let reach = words.reach(start);
            let open = closed[start..start + reach]
                .iter()
                .filter(|&&closed| !closed);
            let mut pieces = open.count() as u64;
            let mut beginnings = words.at(start);
            let shortest = SHORTEST.max((place + 1).saturating_sub(start));
            for length in (shortest..=reach).rev() {
                let end = start + length;
                if !closed[end] {
                    found(Spot {
                        number: beginnings.of_length(length),
                        place: start,
                        length,
                        saved: pieces - 1,
                    });
                }
                pieces -= u64::from(!closed[end - 1]);
            }
        }
        next = place + length;
    }
}

/// What a candidate saves in a word, at all its places that do not overlap.
fn saved_in(words: &Substrings, closed: &[bool], word: &Range<usize>, spot: Spot) -> u64 {
    let text = &words.text[spot.place..spot.place + spot.length];
    let (mut saved, mut free) = (0, word.start);
    for start in word.start..=word.end - spot.length {
        let end = start + spot.length;
        if start >= free && !closed[start] && !closed[end] && words.text[start..end] == *text {
            let open = closed[start..end].iter().filter(|&&closed| !closed);
            saved += open.count() as u64 - 1;
            free = end;
        }
    }
    saved
}

#[cfg(test)]
mod tests;
