//! Learns merges of characters as SentencePiece does: only stretches that may be tokens are merged.
//!
//! Kudo and Richardson 2018 (arXiv:1808.06226). Of the most frequent pairs (`aaa` has `aa` twice) the
//! one with the shortest text is taken, and of those the first in the order of bytes. A text that was merged once is never merged from
//! other parts: it would be the same token. SentencePiece looks only at a part of the pairs, which it
//! chooses anew every hundred merges; this looks at all, which is what that approximates.
//!
//! The layout is that of `bpe`: pieces lie in `cells`, and a token has its id in its first and last cell.
//!
//! Invariant: the count of a pair in the heap is at or above its true count, for the places of a pair are
//! all found when the younger of its tokens is made, and only get fewer.
//! Complexity: each merge costs the places of its pair and of the pairs beside it that come to be the
//! best.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use foldhash::fast::RandomState;
use hashbrown::{HashMap, HashSet};
use serde::Deserialize;

use super::joints::{Joints, Tally};
use super::valid_piece::{Class, Rules, class_of};
use crate::error::{Error, Result};

/// Between pieces, and in the place of characters that are left out.
const SEPARATOR: u32 = u32::MAX;
/// Inside a token, neither its first nor its last cell.
const INTERIOR: u32 = u32::MAX - 1;

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
    text: Box<str>,
    pair: u32,
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.count
            .cmp(&other.count)
            .then_with(|| Reverse(self.length).cmp(&Reverse(other.length)))
            .then_with(|| other.text.as_bytes().cmp(self.text.as_bytes()))
            .then_with(|| other.pair.cmp(&self.pair))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Learns from pieces; see the module.
#[derive(Debug)]
pub struct Trainer {
    rules: Rules,
    wanted: usize,
    min_frequency: u64,
    cells: Vec<u32>,
    /// The number of the word that each cell is part of.
    words: Vec<u32>,
    /// How often each word occurs.
    weights: Vec<u64>,
    tokens: Vec<Token>,
    pairs: Vec<Pair>,
    /// (left, right) -> its place in `pairs`; None for a pair that may be no token.
    numbers: HashMap<(u32, u32), Option<u32>, RandomState>,
    heap: BinaryHeap<Candidate>,
    /// Texts that were merged.
    made: HashSet<Box<str>, RandomState>,
}

impl Trainer {
    /// Lays pieces out.
    ///
    /// # Errors
    /// [`Error::Invalid`] when there are 2^32 characters or more.
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
        let mut trainer = Self {
            rules: options.rules,
            wanted: options.merges,
            min_frequency: options.min_frequency.max(1),
            cells: vec![SEPARATOR],
            words: vec![0],
            weights: Vec::new(),
            tokens,
            pairs: Vec::new(),
            numbers: HashMap::default(),
            heap: BinaryHeap::new(),
            made: HashSet::default(),
        };
        // No pair that is ever merged lies across a joint.
        let joints = Joints::new(options.alphabet.iter().copied(), options.rules, usize::MAX);
        let mut tally = Tally::default();
        for (piece, weight) in pieces {
            let mut at = 0;
            while let Some(range) = joints.next(piece, at) {
                at = range.end;
                tally.add(&piece[range], weight);
            }
        }
        for (number, (word, weight)) in tally.words.into_iter().enumerate() {
            trainer.weights.push(weight);
            let known = word.utf8_chunks().flat_map(|chunk| chunk.valid().chars());
            trainer
                .cells
                .extend(known.filter_map(|character| ids.get(&character)));
            trainer.cells.push(SEPARATOR);
            trainer.words.resize(trainer.cells.len(), number as u32);
            if trainer.cells.len() >= INTERIOR as usize {
                return Err(Error::Invalid(
                    "there are 2^32 characters in different pieces or more".to_owned(),
                ));
            }
        }
        let mut fresh = Vec::new();
        for at in 1..trainer.cells.len() {
            trainer.find(at as u32 - 1, at as u32, &mut fresh);
        }
        trainer.offer(&fresh);
        Ok(trainer)
    }

    /// Learns. `progress` is called now and then with the number of merges so far.
    ///
    /// # Errors
    /// What `progress` gives.
    pub fn run(mut self, progress: &mut dyn FnMut(usize) -> Result<()>) -> Result<Training> {
        let mut training = Training::default();
        while training.tokens.len() < self.wanted {
            if training.tokens.len().is_multiple_of(64) {
                progress(training.tokens.len())?;
            }
            let Some(best) = self.heap.pop() else {
                training.exhausted = true;
                break;
            };
            let count = self.recount(best.pair);
            if count < best.count {
                if count >= self.min_frequency {
                    self.heap.push(Candidate { count, ..best });
                }
                continue;
            }
            if !self.made.insert(best.text.clone()) {
                continue; // the same text was merged from other parts
            }
            training.tokens.push(best.text.into());
            training.counts.push(count);
            self.merge(best.pair);
        }
        Ok(training)
    }

    /// How many cells the token in a cell has; the cell is its first or last one.
    fn length(&self, id: u32) -> u32 {
        self.tokens[id as usize].classes.len() as u32
    }

    /// Notes that the token that ends in a cell stands beside the one that begins in the next.
    fn find(&mut self, left_end: u32, right_start: u32, fresh: &mut Vec<u32>) {
        let (left, right) = (
            self.cells[left_end as usize],
            self.cells[right_start as usize],
        );
        if left == SEPARATOR || right == SEPARATOR {
            return;
        }
        let place = left_end + 1 - self.length(left);
        let number = match self.numbers.get(&(left, right)) {
            Some(&number) => number,
            None => {
                let [l, r] = [left, right].map(|id| &self.tokens[id as usize].classes);
                let number = (l.len() + r.len() <= self.rules.max_length
                    && self.rules.allow(&[&l[..], r].concat()))
                .then(|| {
                    self.pairs.push(Pair {
                        left,
                        right,
                        places: Vec::new(),
                        stale: true,
                    });
                    fresh.push(self.pairs.len() as u32 - 1);
                    self.pairs.len() as u32 - 1
                });
                self.numbers.insert((left, right), number);
                number
            }
        };
        if let Some(number) = number {
            self.pairs[number as usize].places.push(place);
        }
    }

    /// Counts new pairs and puts them into the heap.
    fn offer(&mut self, fresh: &[u32]) {
        for &number in fresh {
            let count = self.recount(number);
            if count < self.min_frequency {
                continue;
            }
            let pair = &self.pairs[number as usize];
            let [left, right] = [pair.left, pair.right].map(|id| &self.tokens[id as usize]);
            self.heap.push(Candidate {
                count,
                length: (left.classes.len() + right.classes.len()) as u32,
                text: [&left.text[..], &right.text].concat().into(),
                pair: number,
            });
        }
    }

    /// Counts a pair anew, and forgets its places that are gone.
    fn recount(&mut self, number: u32) -> u64 {
        let pair = &mut self.pairs[number as usize];
        let (left, right) = (pair.left, pair.right);
        let mut places = std::mem::take(&mut pair.places);
        if pair.stale {
            pair.stale = false;
            places.retain(|&place| self.stands(place, left, right));
        }
        let count = places.iter().map(|&place| self.weight(place)).sum();
        self.pairs[number as usize].places = places;
        count
    }

    /// Whether the two tokens stand side by side at a place.
    fn stands(&self, place: u32, left: u32, right: u32) -> bool {
        let length = self.length(left);
        let at = |cell: u32| self.cells[cell as usize];
        at(place) == left
            && at(place + length - 1) == left
            && at(place + length) == right
            && self.begins(place, left)
            && self.begins(place + length, right)
    }

    /// Whether a token begins in a cell that has its id: of a token of two cells and more, the last
    /// cell has it too.
    fn begins(&self, cell: u32, id: u32) -> bool {
        let length = self.length(id);
        if length == 1 {
            return true;
        }
        let last = cell + length - 1;
        (last as usize) < self.cells.len()
            && self.cells[last as usize] == id
            && (length == 2 || self.cells[cell as usize + 1] == INTERIOR)
    }

    fn weight(&self, place: u32) -> u64 {
        self.weights[self.words[place as usize] as usize]
    }

    /// Merges a pair wherever it stands, and finds the pairs that come of it.
    fn merge(&mut self, number: u32) {
        let Pair {
            left,
            right,
            ref mut places,
            ..
        } = self.pairs[number as usize];
        let places = std::mem::take(places);
        let product = self.tokens.len() as u32;
        let [l, r] = [left, right].map(|id| &self.tokens[id as usize]);
        let token = Token {
            text: [&l.text[..], &r.text].concat(),
            classes: [&l.classes[..], &r.classes].concat(),
        };
        let (left_length, right_length) = (l.classes.len() as u32, r.classes.len() as u32);
        self.tokens.push(token);
        let whole = left_length + right_length;
        let mut merged = Vec::with_capacity(places.len());
        for place in places {
            if !self.stands(place, left, right) {
                continue; // it overlaps the place before
            }
            merged.push(place);
            let before = self.cells[place as usize - 1];
            let after = self.cells[(place + whole) as usize];
            for neighbours in [(before, left), (right, after)] {
                if let Some(&Some(other)) = self.numbers.get(&neighbours)
                    && other != number
                {
                    self.pairs[other as usize].stale = true;
                }
            }
            for cell in place + 1..place + whole - 1 {
                self.cells[cell as usize] = INTERIOR;
            }
            self.cells[place as usize] = product;
            self.cells[(place + whole - 1) as usize] = product;
        }
        let mut fresh = Vec::new();
        for place in merged {
            self.find(place - 1, place, &mut fresh);
            let end = place + whole - 1;
            // Beside another product, the pair was found there.
            if self.cells[end as usize + 1] != product {
                self.find(end, end + 1, &mut fresh);
            }
        }
        for &pair in &fresh {
            self.pairs[pair as usize].places.sort_unstable();
        }
        self.offer(&fresh);
    }
}

#[cfg(test)]
mod tests;
