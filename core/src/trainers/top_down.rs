//! Learns word pieces from the top down: keeps what is frequent enough, the longest first, and counts
//! anew what is left of the words.
//!
//! The learner of TensorFlow Text. For a threshold it goes four times over the words: counts everything
//! that begins where a token of the last vocabulary begins (at first: anywhere), and from the longest
//! to the shortest keeps what occurs often enough and takes each count off that of all its beginnings.
//! A binary search finds the threshold that gives a vocabulary of about the size that is wanted.
//!
//! What is left of a count, when that of everything longer with the same beginning is taken off, is how
//! often a word *ends* there. So it is enough to count the ends of words: one for each place where a
//! token begins, instead of one for each of its beginnings. The textbook's form, which takes off, is the
//! oracle of the tests.
//!
//! Complexity: a probe costs four passes over the symbols of the different words.

use std::collections::HashSet;

use foldhash::fast::RandomState;
use hashbrown::HashMap;
use serde::Deserialize;

use super::json;
use super::letters;
use crate::error::{Result, ensure};
use crate::models::model::Model as _;
use crate::models::scratch::Scratch;
use crate::models::word_piece::WordPiece;
use crate::tables::TokenTable;
use crate::text;

/// What and how much to learn.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// Tokens that come first; words that are one are not learnt from.
    #[serde(deserialize_with = "json::all_bytes")]
    pub reserved: Vec<Vec<u8>>,
    /// Written before tokens inside a word.
    pub continuing_subword_prefix: String,
    /// Most tokens to end with; 5% fewer will do.
    pub vocab_size: usize,
    /// The lowest threshold that is tried, at least 1.
    pub min_frequency: u64,
    /// The highest threshold that is tried.
    pub max_frequency: u64,
    /// How often the words are counted for each threshold.
    pub iterations: usize,
    /// Longer words, in characters, are not learnt from.
    pub max_word_length: usize,
    /// How many characters, the most frequent ones, words to learn from are spelt with.
    pub max_alphabet: usize,
    /// From how many words, the most frequent ones, to learn.
    pub max_words: usize,
}

/// What was learnt.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Vocabulary {
    /// The reserved tokens, the characters, and the rest by falling count.
    pub tokens: Vec<Vec<u8>>,
    /// The threshold that gave it; 0 if there was nothing to learn from.
    pub threshold: u64,
}

/// Tokens as they are written, with prefix, and their counts.
type Kept = HashMap<Vec<u8>, u64, RandomState>;

/// Learns a vocabulary; `progress` is called with the number of thresholds tried.
///
/// # Errors
/// What `progress` gives, or when a threshold keeps more tokens than there are ids.
pub fn learn<'a>(
    words: impl Iterator<Item = (&'a [u8], u64)>,
    options: &Options,
    progress: &mut dyn FnMut(usize) -> Result<()>,
) -> Result<Vocabulary> {
    let words: Vec<(&[u8], u64)> = words.collect();
    let (Some(least), Some(most)) = (
        words.iter().map(|word| word.1).min(),
        words.iter().map(|word| word.1).max(),
    ) else {
        return Ok(Vocabulary {
            tokens: options.reserved.clone(),
            threshold: 0,
        });
    };
    let bytes = words
        .iter()
        .try_fold((0_u64, 0_u32), |(all, unique), (word, count)| {
            let all = count.checked_mul(word.len() as u64)?.checked_add(all)?;
            Some((all, unique.checked_add(u32::try_from(word.len()).ok()?)?))
        });
    ensure!(
        bytes.is_some(),
        "the corpus has more than 2^64 bytes, or its different words more than 2^32"
    );
    let learner = Learner::new(words, options);
    let mut lower = least.max(options.min_frequency).max(1);
    let mut upper = most.min(options.max_frequency);
    let mut probes = 0;
    loop {
        progress(probes)?;
        let threshold = lower.midpoint(upper).max(1);
        let tokens = learner.vocabulary(threshold)?;
        let (size, wanted) = (tokens.len(), options.vocab_size);
        let near = size <= wanted && (wanted - size) as u128 * 20 <= wanted as u128;
        if near || lower >= upper || threshold == 1 {
            return Ok(Vocabulary { tokens, threshold });
        }
        if size > wanted {
            lower = threshold + 1;
        } else {
            upper = threshold - 1;
        }
        probes += 1;
    }
}

/// The end of a word, from where a token begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct End<'a> {
    /// Whether it is written with a prefix.
    marked: bool,
    text: &'a [u8],
}

/// Words to learn from, and what of them no threshold changes.
struct Learner<'a> {
    options: &'a Options,
    words: Vec<(&'a [u8], u64)>,
    /// The characters that they are spelt with, in order.
    alphabet: Vec<&'a [u8]>,
    /// All different ends of words.
    ends: Vec<End<'a>>,
    /// The number of the end that begins at each byte of each word, one after the other.
    numbers: Vec<u32>,
    /// How often each end occurs, wherever it begins.
    counts: Vec<u64>,
}

impl<'a> Learner<'a> {
    fn new(mut words: Vec<(&'a [u8], u64)>, options: &'a Options) -> Self {
        let reserved: HashSet<&[u8]> = options.reserved.iter().map(|token| &token[..]).collect();
        words.retain(|(word, _)| {
            let length = text::characters(word)
                .take(options.max_word_length.saturating_add(1))
                .count();
            length <= options.max_word_length && !reserved.contains(word)
        });
        let letters = letters::of(words.iter().copied());
        let allowed = letters.into_iter().take(options.max_alphabet);
        let allowed: HashSet<char> = allowed.map(|(character, _)| character).collect();
        words.sort_by_key(|&(_, count)| std::cmp::Reverse(count)); // stable
        words.retain(|(word, _)| {
            str::from_utf8(word).is_ok_and(|word| word.chars().all(|c| allowed.contains(&c)))
        });
        words.truncate(options.max_words);
        let mut learner = Self {
            options,
            words: Vec::new(),
            alphabet: Vec::new(),
            ends: Vec::new(),
            numbers: Vec::new(),
            counts: Vec::new(),
        };
        learner.number_ends(&words);
        learner.words = words;
        learner
    }

    fn number_ends(&mut self, words: &[(&'a [u8], u64)]) {
        let mut known = HashMap::<End<'_>, u32, RandomState>::default();
        let mut characters = HashSet::new();
        for &(word, count) in words {
            let begin = self.numbers.len();
            self.numbers.resize(begin + word.len(), 0);
            for (start, character) in text::characters(word) {
                characters.insert(character);
                let end = End {
                    marked: start > 0 && !self.options.continuing_subword_prefix.is_empty(),
                    text: &word[start..],
                };
                let number = *known.entry(end).or_insert(self.ends.len() as u32);
                if number as usize == self.ends.len() {
                    self.ends.push(end);
                    self.counts.push(0);
                }
                self.numbers[begin + start] = number;
                self.counts[number as usize] += count;
            }
        }
        self.alphabet = characters.into_iter().collect();
        self.alphabet.sort_unstable();
    }

    fn with_prefix(&self, text: &[u8]) -> Vec<u8> {
        [self.options.continuing_subword_prefix.as_bytes(), text].concat()
    }

    /// The vocabulary that a threshold gives.
    fn vocabulary(&self, threshold: u64) -> Result<Vec<Vec<u8>>> {
        let mut kept = match self.options.iterations {
            0 => self.keep(&[], threshold),
            _ => self.keep(&self.counts, threshold),
        };
        for _ in 1..self.options.iterations {
            kept = self.keep(&self.count(&kept)?, threshold);
        }
        let mut by_count: Vec<(Vec<u8>, u64)> = kept.into_iter().collect();
        by_count.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let alphabet = self.alphabet.iter().map(|character| character.to_vec());
        let all = self.options.reserved.iter().cloned().chain(alphabet);
        let all = all.chain(by_count.into_iter().map(|(token, _)| token));
        let mut seen = HashSet::new();
        Ok(all.filter(|token| seen.insert(token.clone())).collect())
    }

    /// Keeps the ends that occur often enough, by their counts, and every character.
    fn keep(&self, counts: &[u64], threshold: u64) -> Kept {
        let mut kept = Kept::default();
        for (end, &count) in self.ends.iter().zip(counts) {
            if count < threshold {
                continue;
            }
            // A text that is written as another one with its prefix is longer, and the last one stays.
            if end.marked {
                kept.insert(self.with_prefix(end.text), count);
            } else {
                kept.entry(end.text.to_vec()).or_insert(count);
            }
        }
        for character in &self.alphabet {
            kept.entry(character.to_vec()).or_insert(1);
            kept.entry(self.with_prefix(character)).or_insert(1);
        }
        kept
    }

    /// Counts the ends that begin where the tokens do that each word is cut into.
    fn count(&self, kept: &Kept) -> Result<Vec<u64>> {
        let mut written: Vec<&[u8]> = kept.keys().map(|token| &token[..]).collect();
        written.sort_unstable();
        let prefix = &self.options.continuing_subword_prefix;
        let cutter = WordPiece::new(TokenTable::of(written)?, 0, prefix, usize::MAX)?;
        let mut found = Vec::new();
        let mut scratch = Scratch::default();
        let mut counts = vec![0; self.ends.len()];
        let mut begin = 0;
        for &(word, count) in &self.words {
            found.clear();
            cutter.encode_piece(word, &mut scratch, &mut found)?;
            for token in &found {
                let number = self.numbers[begin + token.start as usize];
                counts[number as usize] += count;
            }
            begin += word.len();
        }
        Ok(counts)
    }
}

#[cfg(test)]
mod tests;
