//! The substrings that training begins with: those that occur twice or more and are followed by
//! different things, the inner nodes of the words' suffix tree.
//!
//! Suffixes are sorted as far as a token may reach, three characters at a time: an array of suffixes
//! that is sorted no deeper than needed. Among substrings of equal score the order is that in which the
//! tree is left: what goes on with a substring stands before it.
//!
//! Complexity: n log n for text of n characters and tokens of bounded length; memory 8 bytes a character
//! and 16 for each of the characters that follow the most frequent one.

use super::scored_pieces::ScoredPieces;
use super::words::{MANY, Words, first_byte};
use super::{Options, Precision};
use crate::error::{Result, ensure};
use crate::memory::reserve;
use crate::text::{characters, read_char};
use crate::threads;
use crate::trainers::valid_piece::{Class, LEFT_OUT, class_of};

/// The code of a word's end, and of a character that is left out; others begin at 2.
const END: u32 = 0;
const GAP: u32 = 1;
const FIRST: u32 = 2;
/// Three codes fit into a key.
const CODE_BITS: u32 = 21;
const CODES: usize = 3;

/// A substring: what it scores, where it stands, and how many characters it has.
#[derive(Clone, Copy)]
struct Seed {
    score: u64,
    at: u32,
    length: u32,
}

/// The words as numbers, one after the other, each with an end.
struct Suffixes<'a> {
    words: &'a Words,
    options: &'a Options,
    /// Characters in ascending order: the one with code `c` is at `c - FIRST`.
    alphabet: Vec<(char, u64)>,
    classes: Vec<Class>,
    codes: Vec<u32>,
    /// Where each word begins.
    starts: Vec<u32>,
}

/// Gives the characters and the best substrings with their first scores.
///
/// # Errors
/// When there is too much text.
pub fn find<T: Precision>(words: &Words, options: &Options) -> Result<ScoredPieces<T>> {
    let suffixes = Suffixes::new(words, options)?;
    reserve::check()?;
    let seeds = suffixes.seeds()?;
    reserve::check()?;
    let mut all: Vec<(Vec<u8>, T)> = Vec::new();
    let mut counted = suffixes.alphabet.clone();
    counted.retain(|&(_, count)| count > 0);
    counted.sort_unstable_by_key(|&(character, count)| (std::cmp::Reverse(count), character));
    for (character, count) in counted {
        all.push((character.to_string().into_bytes(), T::round(count as f64)));
    }
    for seed in seeds {
        let text = suffixes.text(seed);
        all.push((text.into_bytes(), T::round(seed.score as f64)));
    }
    reserve::check()?;
    let sum = all
        .iter()
        .fold(T::default(), |sum, (_, score)| sum.plus(*score));
    let log_sum = T::round(sum.wide().ln());
    for (_, score) in &mut all {
        *score = T::round(score.wide().ln() - log_sum.wide());
    }
    if !T::EXACT {
        all.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    }
    Ok(ScoredPieces::new(
        all.iter().map(|(piece, score)| (&piece[..], *score)),
    ))
}

impl<'a> Suffixes<'a> {
    fn new(words: &'a Words, options: &'a Options) -> Result<Self> {
        let mut alphabet: Vec<(char, u64)> =
            words.characters.iter().map(|&(c, _)| (c, 0)).collect();
        alphabet.sort_unstable();
        let mut codes = Vec::with_capacity(words.total_bytes() + words.len());
        let mut starts = Vec::with_capacity(words.len());
        for number in 0..words.len() {
            let (word, count) = words.get(number);
            starts.push(codes.len() as u32);
            for (at, _) in characters(word) {
                let place = read_char(word, at)
                    .0
                    .and_then(|c| alphabet.binary_search_by_key(&c, |entry| entry.0).ok());
                codes.push(match place {
                    Some(place) => {
                        alphabet[place].1 += count;
                        place as u32 + FIRST
                    }
                    None => GAP,
                });
            }
            codes.push(END);
        }
        ensure!(
            codes.len() <= u32::MAX as usize,
            "there is too much text to train on at once: 4 thousand million characters"
        );
        let classes = alphabet.iter().map(|&(c, _)| class_of(c)).collect();
        Ok(Self {
            words,
            options,
            alphabet,
            classes,
            codes,
            starts,
        })
    }

    /// The text of a substring.
    fn text(&self, seed: Seed) -> String {
        let codes = &self.codes[seed.at as usize..][..seed.length as usize];
        codes
            .iter()
            .map(|&code| self.alphabet[(code - FIRST) as usize].0)
            .collect()
    }

    /// The number of the word that a place lies in.
    fn word_at(&self, at: u32) -> usize {
        self.starts.partition_point(|&start| start <= at) - 1
    }

    /// The best substrings of two characters and more, best first.
    fn seeds(&self) -> Result<Vec<Seed>> {
        let codes = self.alphabet.len() + FIRST as usize;
        // Places by the character there: where those of each begin.
        let mut begins = vec![0usize; codes + 1];
        for &code in &self.codes {
            begins[code as usize + 1] += 1;
        }
        for code in 0..codes {
            begins[code + 1] += begins[code];
        }
        let mut places = vec![0u32; self.codes.len()];
        let mut next = begins.clone();
        for (at, &code) in self.codes.iter().enumerate() {
            places[next[code as usize]] = at as u32;
            next[code as usize] += 1;
        }
        drop(next);
        // The largest first, so that no thread has much to do when the others have nothing left.
        let mut order: Vec<usize> = (FIRST as usize..codes).collect();
        order.sort_by_key(|&code| std::cmp::Reverse(begins[code + 1] - begins[code]));
        let mut parts = threads::map(order.iter(), self.options.threads, |&code| {
            let mut walk = Walk {
                suffixes: self,
                found: Vec::new(),
                classes: vec![self.classes[code - FIRST as usize]],
            };
            let group = &places[begins[code]..begins[code + 1]];
            let mut items: Vec<(u64, u32)> = group.iter().map(|&at| (0, at)).collect();
            walk.visit(&mut items, 1);
            (code, walk.found)
        });
        reserve::check()?;
        parts.sort_unstable_by_key(|&(code, _)| code);
        let mut seeds = Vec::with_capacity(parts.iter().map(|(_, found)| found.len()).sum());
        for (_, found) in parts {
            seeds.extend(found);
        }
        reserve::check()?;
        // Equals stay in their order.
        seeds.sort_by_key(|seed| std::cmp::Reverse(seed.score));
        seeds.truncate(self.options.seed_size);
        Ok(seeds)
    }

    /// What tells the character with a code from others that may follow a substring.
    fn way(&self, code: u32) -> u32 {
        let character = match code {
            GAP => LEFT_OUT,
            code => self.alphabet[(code - FIRST) as usize].0,
        };
        match self.options.single_precision {
            true => u32::from(first_byte(character)),
            false => code,
        }
    }

    /// The next three codes after a place, no further than an end or a gap.
    fn key(&self, at: u32, depth: usize) -> u64 {
        let mut key = 0;
        let mut open = true;
        for offset in 0..CODES {
            let place = at as usize + depth + offset;
            let code = if open { self.codes[place] } else { 0 };
            open &= code >= FIRST;
            key = key << CODE_BITS | u64::from(code);
        }
        key
    }
}

/// What follows a substring: whether it is not always the same.
#[derive(Default)]
struct Ways {
    first: Option<u32>,
    many: bool,
}

impl Ways {
    fn add(&mut self, way: u32) {
        self.many |= way == MANY || self.first.is_some_and(|first| first != way);
        self.first = Some(way);
    }
}

/// A walk through the suffixes that begin with one character.
struct Walk<'a> {
    suffixes: &'a Suffixes<'a>,
    found: Vec<Seed>,
    /// Of the characters that all suffixes at hand share.
    classes: Vec<Class>,
}

impl Walk<'_> {
    /// Goes through suffixes that share their first `depth` characters; gives how often those occur.
    fn visit(&mut self, items: &mut [(u64, u32)], depth: usize) -> u64 {
        let suffixes = self.suffixes;
        match *items {
            // A required character that does not occur.
            [] => return 0,
            [(_, at)] => return self.visit_single(at, depth),
            _ => {}
        }
        let level = (depth - 1) % CODES;
        if level == 0 {
            for (key, at) in &mut *items {
                *key = suffixes.key(*at, depth);
            }
            items.sort_unstable();
        }
        let shift = CODE_BITS as usize * (CODES - 1 - level);
        let code_of = |key: u64| (key >> shift) as u32 & ((1 << CODE_BITS) - 1);
        let at = items[0].1;
        let mut weight = 0;
        let mut ways = Ways::default();
        let mut start = 0;
        while start < items.len() {
            let code = code_of(items[start].0);
            let length = items[start..].partition_point(|&(key, _)| code_of(key) == code);
            let group = &mut items[start..start + length];
            start += length;
            if code != END {
                ways.add(suffixes.way(code));
            }
            if code >= FIRST && depth < suffixes.options.rules.max_length {
                self.classes.push(suffixes.classes[(code - FIRST) as usize]);
                weight += self.visit(group, depth + 1);
                self.classes.pop();
                continue;
            }
            for &(_, at) in &*group {
                let word = suffixes.word_at(at);
                weight += suffixes.words.get(word).1;
                if code == END {
                    ways.add(suffixes.words.next(word));
                }
            }
        }
        if ways.many {
            self.offer(at, depth, weight);
        }
        weight
    }

    /// Goes on with a suffix that no other shares: only up to its word's end it may occur often.
    fn visit_single(&mut self, at: u32, depth: usize) -> u64 {
        let suffixes = self.suffixes;
        let word = suffixes.word_at(at);
        let weight = suffixes.words.get(word).1;
        if suffixes.words.next(word) == MANY {
            let codes = &suffixes.codes[at as usize + depth..];
            let most = suffixes.options.rules.max_length - depth;
            let rest = codes.iter().take(most + 1).position(|&code| code == END);
            if let Some(rest) = rest
                && codes[..rest].iter().all(|&code| code >= FIRST)
            {
                let classes = codes[..rest]
                    .iter()
                    .map(|&code| suffixes.classes[(code - FIRST) as usize]);
                self.classes.extend(classes);
                self.offer(at, depth + rest, weight);
                self.classes.truncate(depth);
            }
        }
        weight
    }

    /// Takes the substring at hand if it may be a token.
    fn offer(&mut self, at: u32, length: usize, weight: u64) {
        if length >= 2 && weight >= 2 && self.suffixes.options.rules.allow(&self.classes) {
            self.found.push(Seed {
                score: weight.saturating_mul(length as u64),
                at,
                length: length as u32,
            });
        }
    }
}
