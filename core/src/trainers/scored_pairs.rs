//! Learns merges of characters as SentencePiece does: only stretches that may be tokens are merged.
//!
//! Kudo and Richardson 2018 (arXiv:1808.06226). Of the most frequent pairs (`aaa` has `aa` twice) the
//! one with the shortest text is taken, and of those the first in the order of bytes. A text that was merged once is never merged from
//! other parts: it would be the same token. SentencePiece looks only at a part of the pairs, which it
//! chooses anew every hundred merges; this looks at all, which is what that approximates.
//!
//! The pieces lie in the cells of `bpe`. Which pairs there are is not: those that may be no token are not
//! looked after, and the others are counted when they come up.
//!
//! Invariant: the count of a pair in the heap is at or above its true count, for the places of a pair are
//! all found when the younger of its tokens is made, and only get fewer.
//! Complexity: each merge costs the places of its pair and of the pairs beside it that come to be the
//! best.

use std::cmp::Reverse;

use foldhash::fast::RandomState;
use hashbrown::{HashMap, HashSet};
use serde::Deserialize;

use super::bpe::cells::{Cells, SEPARATOR};
use super::bpe::pairs::pack;
use super::heap::{Heap, Order};
use super::valid_piece::{Class, Rules, class_of};
use super::word_cuts::WordCuts;
use crate::error::Result;

/// What and how much to learn.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// The characters that pieces are made of; any other divides them.
    pub alphabet: Vec<char>,
    /// Stop after so many merges.
    pub merges: usize,
    /// Stop when the best pair is rarer (at least 1).
    pub min_frequency: u64,
    /// Which stretches of text may become tokens.
    pub rules: Rules,
}

/// What was learnt.
#[derive(Debug, Default)]
pub struct Training {
    /// The texts of the tokens that merges made, in order.
    pub tokens: Vec<String>,
    /// How often its pair occurred.
    pub counts: Vec<u64>,
    /// Whether no pair was left that occurs often enough.
    pub exhausted: bool,
}

#[derive(Debug)]
struct Token {
    text: String,
    classes: Vec<Class>,
}

#[derive(Debug)]
struct Pair {
    left: u32,
    right: u32,
    /// The cells where its left token begins, ascending; some may be gone.
    places: Vec<u32>,
    /// Whether a token beside it was merged since it was counted.
    stale: bool,
}

/// A pair that may be the next to be merged.
#[derive(Debug, PartialEq, Eq)]
struct Candidate {
    count: u64,
    length: u32,
    pair: u32,
}

/// The pairs of neighbours that may be a token.
#[derive(Debug, Default)]
struct Pairs {
    all: Vec<Pair>,
    /// [`pack`] -> its place in `all`; None for a pair that may be no token.
    numbers: HashMap<u64, Option<u32>, RandomState>,
}

impl Pairs {
    /// Notes that two tokens stand side by side at a place; gives the pair's number if it is a new one.
    fn find(
        &mut self,
        [left, right]: [u32; 2],
        place: u32,
        tokens: &[Token],
        rules: &Rules,
    ) -> Option<u32> {
        let next = self.all.len() as u32;
        let number = *self.numbers.entry(pack(left, right)).or_insert_with(|| {
            let [l, r] = [left, right].map(|id| &tokens[id as usize].classes);
            let short = l.len() + r.len() <= rules.max_length;
            (short && rules.allow(&[&l[..], r].concat())).then_some(next)
        });
        let number = number?;
        if number == next {
            self.all.push(Pair {
                left,
                right,
                places: Vec::new(),
                stale: false,
            });
        }
        self.all[number as usize].places.push(place);
        (number == next).then_some(number)
    }

    /// Notes that a token beside a pair was merged.
    fn mark_stale(&mut self, left: u32, right: u32) {
        if let Some(&Some(number)) = self.numbers.get(&pack(left, right)) {
            self.all[number as usize].stale = true;
        }
    }
}

/// Learns from pieces; see the module.
#[derive(Debug)]
pub struct Trainer {
    rules: Rules,
    wanted: usize,
    min_frequency: u64,
    cells: Cells,
    tokens: Vec<Token>,
    pairs: Pairs,
    /// Texts that were merged.
    made: HashSet<Box<str>, RandomState>,
}

impl Trainer {
    /// Lays pieces out.
    ///
    /// # Errors
    /// [`Error::Invalid`] when there are 2^32 characters or more.
    ///
    /// [`Error::Invalid`]: crate::Error::Invalid
    pub fn new<'a>(
        pieces: impl Iterator<Item = (&'a [u8], u64)>,
        options: &Options,
    ) -> Result<Self> {
        let mut tokens = Vec::new();
        let mut ids: HashMap<char, u32, RandomState> = HashMap::default();
        for &character in &options.alphabet {
            ids.entry(character).or_insert_with(|| {
                tokens.push(Token {
                    text: character.to_string(),
                    classes: vec![class_of(character)],
                });
                tokens.len() as u32 - 1
            });
        }
        // No pair that is ever merged lies across a cut.
        let cuts = WordCuts::new(options.alphabet.iter().copied(), options.rules, usize::MAX);
        let mut cells = Cells::new();
        for (word, weight) in cuts.words(pieces)?.iter() {
            let known = word.utf8_chunks().flat_map(|chunk| chunk.valid().chars());
            let known = known.filter_map(|character| ids.get(&character));
            cells.push(weight, |cells| cells.extend(known))?;
        }
        let mut pairs = Pairs::default();
        cells.for_each_pair(|left, right, _, place| {
            pairs.find([left, right], place, &tokens, &options.rules);
        });
        Ok(Self {
            rules: options.rules,
            wanted: options.merges,
            min_frequency: options.min_frequency.max(1),
            cells,
            tokens,
            pairs,
            made: HashSet::default(),
        })
    }

    /// Learns. `progress` is called now and then with the number of merges so far.
    ///
    /// # Errors
    /// What `progress` gives.
    pub fn run(mut self, progress: &mut dyn FnMut(usize) -> Result<()>) -> Result<Training> {
        let mut training = Training::default();
        let fresh = (0..self.pairs.all.len() as u32).filter_map(|number| self.candidate(number));
        let fresh = fresh.collect();
        let mut heap = Heap::from_items(fresh, &self);
        while training.tokens.len() < self.wanted {
            if training.tokens.len().is_multiple_of(64) {
                progress(training.tokens.len())?;
            }
            let Some(best) = heap.pop(&mut self) else {
                training.exhausted = true;
                break;
            };
            let text = self.texts(&best).concat();
            if !self.made.insert(text.as_str().into()) {
                continue; // the same text was merged from other parts
            }
            training.tokens.push(text);
            training.counts.push(best.count);
            for number in self.merge(best.pair) {
                if let Some(candidate) = self.candidate(number) {
                    heap.push(candidate, &self);
                }
            }
        }
        Ok(training)
    }

    /// A pair with its present count, if that is high enough.
    fn candidate(&mut self, number: u32) -> Option<Candidate> {
        let count = self.recount(number);
        let pair = &self.pairs.all[number as usize];
        let length = |id: u32| self.tokens[id as usize].classes.len() as u32;
        (count >= self.min_frequency).then(|| Candidate {
            count,
            length: length(pair.left) + length(pair.right),
            pair: number,
        })
    }

    /// The texts of both tokens of a pair.
    fn texts(&self, candidate: &Candidate) -> [&str; 2] {
        let pair = &self.pairs.all[candidate.pair as usize];
        [pair.left, pair.right].map(|id| &self.tokens[id as usize].text[..])
    }

    /// Counts a pair anew, and forgets its places that are gone.
    fn recount(&mut self, number: u32) -> u64 {
        let pair = &mut self.pairs.all[number as usize];
        if std::mem::take(&mut pair.stale) {
            self.cells
                .keep_standing(pair.left, pair.right, &mut pair.places);
        }
        self.cells.sum_at(&pair.places)
    }

    /// Merges a pair wherever it stands; gives the pairs that come of it.
    fn merge(&mut self, number: u32) -> Vec<u32> {
        let Self {
            cells,
            tokens,
            pairs,
            ..
        } = self;
        let &mut Pair {
            left,
            right,
            ref mut places,
            ..
        } = &mut pairs.all[number as usize];
        let places = std::mem::take(places);
        let product = tokens.len() as u32;
        let [l, r] = [left, right].map(|id| &tokens[id as usize]);
        tokens.push(Token {
            text: [&l.text[..], &r.text].concat(),
            classes: [&l.classes[..], &r.classes].concat(),
        });
        let mut merged = Vec::with_capacity(places.len());
        cells.merge_all([left, right, product], &places, |around, place, _| {
            merged.push(place);
            pairs.mark_stale(around.before, left);
            pairs.mark_stale(right, around.after);
        });
        // Only now, when all products stand beside each other that will.
        let mut fresh = Vec::new();
        for place in merged {
            let around = cells.around(place);
            if around.before != SEPARATOR {
                let pair = [around.before, product];
                fresh.extend(pairs.find(pair, around.before_at, tokens, &self.rules));
            }
            // Beside another product, the pair was found there.
            if around.after != SEPARATOR && around.after != product {
                let pair = [product, around.after];
                fresh.extend(pairs.find(pair, place, tokens, &self.rules));
            }
        }
        for &pair in &fresh {
            pairs.all[pair as usize].places.sort_unstable();
        }
        fresh
    }
}

impl Order<Candidate> for Trainer {
    fn is_before(&self, a: &Candidate, b: &Candidate) -> bool {
        let key = |c: &Candidate| (Reverse(c.count), c.length);
        let text = |c: &Candidate| self.texts(c).into_iter().flat_map(str::bytes);
        let order = key(a).cmp(&key(b)).then_with(|| text(a).cmp(text(b)));
        order.then(a.pair.cmp(&b.pair)).is_lt()
    }

    fn update(&mut self, known: &Candidate) -> Option<Candidate> {
        self.candidate(known.pair)
    }
}

#[cfg(test)]
mod tests;
