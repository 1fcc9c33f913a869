//! The textbook's trainer: probabilities are shares of substring counts, and each round drops the tenth
//! of the tokens without which the best segmentations of the corpus cost least.
//!
//! After the unigram section of Hugging Face's course, which many tutorials repeat. The cost of a word
//! begins at 1; sums are added in the corpus's order, for ties are decided by the last digits.

use std::collections::HashMap;

use serde::Deserialize;

use super::Training;
use crate::error::{Result, ensure};
use crate::text::characters;

/// More substrings than this are not counted: a word has the square of its length.
const MAX_SUBSTRINGS: usize = 1 << 24;

/// Nor substrings that have more characters together: of a word, a sixth of the cube of its length.
const MAX_CHARACTERS: usize = 1 << 30;

/// Substrings that are counted from one report to the next.
const OFTEN: usize = 1 << 16;

/// What to train.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Textbook {
    /// Stop at so many tokens.
    pub vocab_size: usize,
    /// How many characters and substrings to begin with.
    pub initial_size: usize,
    /// The share of the tokens that a round drops.
    pub dropped: f64,
}

/// The corpus: words with counts and where their characters begin.
struct Word<'a> {
    text: &'a [u8],
    /// Offsets of the characters, and the length.
    places: Vec<usize>,
    count: u64,
}

/// Tokens in order, with their counts.
type Tokens<'a> = Vec<(&'a [u8], u64)>;

/// A vocabulary.
#[derive(Default)]
struct Model<'a> {
    tokens: Tokens<'a>,
    costs: HashMap<&'a [u8], f64>,
}

/// Trains on words in order of their first occurrence.
///
/// # Errors
/// [`Error::Invalid`](crate::Error::Invalid) when the vocabulary is smaller than the characters or there is no text; what
/// `progress` gives, which is called with (tokens, tokens wanted).
pub fn train<'a>(
    words: impl Iterator<Item = (&'a [u8], u64)>,
    options: Textbook,
    progress: &mut dyn FnMut(usize, usize) -> Result<()>,
) -> Result<Training> {
    ensure!(
        options.dropped > 0.0 && options.dropped < 1.0,
        "the share {} does not lie between 0 and 1",
        options.dropped
    );
    let words: Vec<Word<'_>> = words
        .map(|(text, count)| Word {
            text,
            places: characters(text)
                .map(|(at, _)| at)
                .chain([text.len()])
                .collect(),
            count,
        })
        .collect();
    let sum = |of_length: fn(usize) -> usize| {
        let numbers = words.iter().map(|word| of_length(word.places.len()));
        numbers.fold(0, usize::saturating_add)
    };
    ensure!(
        sum(|length| length.saturating_pow(2) / 2) <= MAX_SUBSTRINGS,
        "the textbook's rule is for small corpora, of up to {MAX_SUBSTRINGS} substrings"
    );
    ensure!(
        sum(|length| length.saturating_pow(3) / 6) <= MAX_CHARACTERS,
        "the textbook's rule is for words: a stretch of this text without spaces is too long"
    );
    let (tokens, alphabet) = initial(&words, options, progress)?;
    ensure!(!tokens.is_empty(), "there is nothing to train on");
    ensure!(
        alphabet <= options.vocab_size,
        "a vocabulary of {} is smaller than its {alphabet} characters",
        options.vocab_size
    );
    let seeds = tokens.len();
    let mut model = Model::new(tokens);
    while model.tokens.len() > options.vocab_size {
        progress(model.tokens.len(), options.vocab_size)?;
        let many = ((model.tokens.len() as f64 * options.dropped) as usize).max(1);
        let mut losses = model.losses(&words, progress, options.vocab_size)?;
        // Stable: of equals the first go first.
        losses.sort_by(|a, b| a.1.total_cmp(&b.1));
        losses.truncate(many);
        let dropped: std::collections::HashSet<usize> =
            losses.iter().map(|&(place, _)| place).collect();
        let mut place = 0;
        model.tokens.retain(|_| {
            place += 1;
            !dropped.contains(&(place - 1))
        });
        model = Model::new(model.tokens);
    }
    Ok(Training {
        tokens: model
            .tokens
            .iter()
            .map(|(token, _)| token.to_vec())
            .collect(),
        scores: model
            .tokens
            .iter()
            .map(|(token, _)| -model.costs[token])
            .collect(),
        characters: alphabet,
        seeds,
        ..Training::default()
    })
}

/// All characters in order of first occurrence, and then the most frequent substrings; and how many
/// characters there are.
fn initial<'a>(
    words: &[Word<'a>],
    options: Textbook,
    progress: &mut dyn FnMut(usize, usize) -> Result<()>,
) -> Result<(Tokens<'a>, usize)> {
    let (mut characters, mut substrings) = (Ordered::default(), Ordered::default());
    let mut counted = 0;
    for word in words {
        let count = word.places.len() - 1;
        for first in 0..count {
            counted += count - first;
            if counted >= OFTEN {
                let tokens = characters.items.len() + substrings.items.len();
                progress(tokens, options.vocab_size)?;
                counted = 0;
            }
            let begin = word.places[first];
            characters.add(&word.text[begin..word.places[first + 1]], word.count);
            for last in first + 2..=count {
                substrings.add(&word.text[begin..word.places[last]], word.count);
            }
        }
    }
    let alphabet = characters.items.len();
    let mut tokens = characters.items;
    substrings
        .items
        .sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    let room = options.initial_size.saturating_sub(alphabet);
    tokens.extend(substrings.items.into_iter().take(room));
    Ok((tokens, alphabet))
}

/// Counts in order of first occurrence.
#[derive(Default)]
struct Ordered<'a> {
    places: HashMap<&'a [u8], usize>,
    items: Tokens<'a>,
}

impl<'a> Ordered<'a> {
    fn add(&mut self, text: &'a [u8], count: u64) {
        let place = *self.places.entry(text).or_insert(self.items.len());
        if place == self.items.len() {
            self.items.push((text, 0));
        }
        self.items[place].1 += count;
    }
}

impl<'a> Model<'a> {
    fn new(tokens: Tokens<'a>) -> Self {
        let total: u64 = tokens.iter().map(|(_, count)| count).sum();
        let costs = tokens
            .iter()
            .map(|&(token, count)| (token, -(count as f64 / total as f64).ln()))
            .collect();
        Self { tokens, costs }
    }

    /// The cost of the best segmentation of a word without one token, and that segmentation's tokens,
    /// from the right.
    fn encode(
        &self,
        word: &Word<'a>,
        without: Option<&[u8]>,
        longest: usize,
    ) -> (f64, Vec<&'a [u8]>) {
        let count = word.places.len() - 1;
        let mut best: Vec<Option<(f64, usize)>> = vec![None; count + 1];
        best[0] = Some((1.0, 0));
        for first in 0..count {
            let Some((here, _)) = best[first] else {
                continue;
            };
            let ends = first + 1..=count.min(first + longest);
            for (known, &end) in best[ends.clone()].iter_mut().zip(&word.places[ends]) {
                let token = &word.text[word.places[first]..end];
                if without == Some(token) {
                    continue;
                }
                if let Some(cost) = self.costs.get(token) {
                    let cost = cost + here;
                    if known.is_none_or(|(known, _)| known > cost) {
                        *known = Some((cost, first));
                    }
                }
            }
        }
        let mut tokens = Vec::new();
        let mut at = count;
        while at > 0 {
            let first = best[at].map_or(at - 1, |(_, first)| first);
            tokens.push(&word.text[word.places[first]..word.places[at]]);
            at = first;
        }
        (best[count].map_or(0.0, |(cost, _)| cost), tokens)
    }

    /// By how much the corpus costs more without each token of several characters: (place, cost).
    fn losses(
        &self,
        words: &[Word<'a>],
        progress: &mut dyn FnMut(usize, usize) -> Result<()>,
        wanted: usize,
    ) -> Result<Vec<(usize, f64)>> {
        let lengths = self
            .tokens
            .iter()
            .map(|(token, _)| characters(token).count());
        let lengths: Vec<usize> = lengths.collect();
        let longest = lengths.iter().copied().max().unwrap_or(0);
        let mut costs = Vec::with_capacity(words.len());
        // Words whose best segmentation has a token; for others nothing changes without it.
        let mut users: HashMap<&[u8], Vec<usize>> = HashMap::new();
        for (number, word) in words.iter().enumerate() {
            let (cost, tokens) = self.encode(word, None, longest);
            costs.push(cost);
            for token in tokens {
                let list = users.entry(token).or_default();
                if list.last() != Some(&number) {
                    list.push(number);
                }
            }
        }
        let sum = |costs: &[f64]| {
            let terms = words.iter().zip(costs);
            terms.fold(0.0, |sum, (word, cost)| sum + word.count as f64 * cost)
        };
        let whole = sum(&costs);
        let mut losses = Vec::new();
        for (place, &(token, _)) in self.tokens.iter().enumerate() {
            if lengths[place] == 1 {
                continue;
            }
            let Some(changed) = users.get(token) else {
                losses.push((place, 0.0));
                continue;
            };
            if losses.len() % 64 == 0 {
                progress(self.tokens.len(), wanted)?;
            }
            let before: Vec<f64> = changed.iter().map(|&number| costs[number]).collect();
            for &number in changed {
                costs[number] = self.encode(&words[number], Some(token), longest).0;
            }
            losses.push((place, sum(&costs) - whole));
            for (&number, &cost) in changed.iter().zip(&before) {
                costs[number] = cost;
            }
        }
        Ok(losses)
    }
}
