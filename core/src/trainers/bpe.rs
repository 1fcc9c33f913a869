//! Learns byte-pair merges: repeat "merge the most frequent pair" until the vocabulary is full.
//!
//! Sennrich, Haddow and Birch 2016 (arXiv:1508.07909), over the symbols of the pieces. Instead of
//! counting anew for each merge, the counts of the pairs around each merged place are corrected.
//!
//! All pieces lie one after the other in `cells`, a symbol each, with a separator between them. A
//! token that covers several cells has its id in its first and its last one, so both neighbours of a
//! token are found from its length alone. A pair's `places` are the cells where its left token
//! began when it was found; a place that has been merged away is recognised by its content: tokens
//! only grow, so an id can't come back to a cell that it left.
//!
//! Complexity: each merge costs its places; all merges together at most (cells x longest token).

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use super::alphabet::Alphabet;
use super::heap::Heap;
use crate::error::{Error, Result};

/// Between pieces.
const SEPARATOR: u32 = u32::MAX;
/// Inside a token, neither its first nor its last cell.
const INTERIOR: u32 = u32::MAX - 1;

/// Which of the most frequent pairs is merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tie {
    /// The one with the lowest (left id, right id): Hugging Face, rustbpe.
    LowestIds,
    /// The one that stands first in the corpus as it is segmented now: minbpe.
    FirstSeen,
    /// The one with the largest (left text, right text), as bytes: subword-nmt.
    LargestText,
}

/// What and how much to learn.
#[derive(Clone, Debug)]
pub struct Options {
    /// Tokens that exist before the first merge, by id; empty: a text that no merge makes.
    pub initial: Vec<Vec<u8>>,
    /// Which of them are symbols; text outside this alphabet is left out.
    pub symbols: Vec<u32>,
    /// Stop when there are so many tokens.
    pub vocab_size: usize,
    /// Stop when the most frequent pair is rarer.
    pub min_frequency: u64,
    /// Longest product, in symbols.
    pub max_token_length: Option<u32>,
    /// How ties are decided.
    pub tie: Tie,
    /// Whether symbols are UTF-8 characters instead of bytes.
    pub by_character: bool,
}

/// What was learnt.
#[derive(Debug, Default)]
pub struct Training {
    /// (left, right, product) in order.
    pub merges: Vec<[u32; 3]>,
    /// How often each merge's pair occurred.
    pub counts: Vec<u64>,
    /// All tokens by id.
    pub tokens: Vec<Vec<u8>>,
    /// Whether no pair was left that is frequent enough.
    pub exhausted: bool,
}

/// A pair of neighbouring tokens.
#[derive(Debug)]
struct Pair {
    left: u32,
    right: u32,
    count: u64,
    /// Where the left one began when the pair was found, ascending.
    places: Vec<u32>,
    /// Places before this one in the list are known to be gone (for [`Tie::FirstSeen`]).
    gone: usize,
    /// Whether it stands in `grown`.
    listed: bool,
}

/// A pair as the heap knows it: `count` and `first` may be out of date, never too low.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    count: u64,
    /// The first place, for [`Tie::FirstSeen`].
    first: u32,
    pair: u32,
}

/// Learns merges: [`Trainer::new`] lays the pieces out, [`Trainer::run`] merges them.
pub struct Trainer {
    tie: Tie,
    vocab_size: usize,
    minimum: u64,
    max_length: u64,
    cells: Vec<u32>,
    /// The piece that each cell belongs to.
    piece_of: Vec<u32>,
    counts: Vec<u64>,
    tokens: Vec<Vec<u8>>,
    ids: HashMap<Vec<u8>, u32, RandomState>,
    /// Length of each token in cells; 0: it is in no cell.
    lengths: Vec<u32>,
    pairs: Vec<Pair>,
    places_of_pairs: HashMap<(u32, u32), u32, RandomState>,
    /// Pairs whose count grew in the last merge.
    grown: Vec<u32>,
}

impl Trainer {
    /// Lays out (piece, count) and finds the pairs.
    ///
    /// # Errors
    /// Settings that contradict themselves, or a corpus beyond 2^32 cells.
    pub fn new<'a>(
        pieces: impl Iterator<Item = (&'a [u8], u64)>,
        options: &Options,
    ) -> Result<Self> {
        let mut trainer = Self {
            tie: options.tie,
            vocab_size: options.vocab_size,
            minimum: options.min_frequency.max(1),
            max_length: options.max_token_length.map_or(u64::MAX, u64::from),
            cells: vec![SEPARATOR],
            piece_of: vec![0],
            counts: Vec::new(),
            tokens: options.initial.clone(),
            ids: HashMap::default(),
            lengths: vec![0; options.initial.len()],
            pairs: Vec::new(),
            places_of_pairs: HashMap::default(),
            grown: Vec::new(),
        };
        for (id, token) in options
            .initial
            .iter()
            .enumerate()
            .filter(|(_, token)| !token.is_empty())
        {
            if trainer.ids.insert(token.clone(), id as u32).is_some() {
                return Err(Error::Invalid(format!(
                    "the initial token {id} stands there twice"
                )));
            }
        }
        let alphabet = Alphabet::new(options)?;
        for &symbol in &options.symbols {
            trainer.lengths[symbol as usize] = 1;
        }
        for (piece, count) in pieces {
            alphabet.symbols_of(piece, |symbol| trainer.cells.push(symbol));
            if trainer.cells.len() >= INTERIOR as usize {
                return Err(Error::Invalid(
                    "the different pieces have more than 4 billion symbols".to_owned(),
                ));
            }
            trainer
                .piece_of
                .resize(trainer.cells.len() + 1, trainer.counts.len() as u32);
            trainer.cells.push(SEPARATOR);
            trainer.counts.push(count);
        }
        trainer.find_pairs();
        Ok(trainer)
    }

    /// Merges until the vocabulary is full; `progress` is called now and then with its size.
    ///
    /// # Errors
    /// What `progress` gives, or more than 2^32 tokens.
    pub fn run(mut self, progress: &mut dyn FnMut(usize) -> Result<()>) -> Result<Training> {
        progress(self.tokens.len())?;
        let mut heap = self.candidates();
        let mut training = Training::default();
        while self.tokens.len() < self.vocab_size {
            let Some(best) = self
                .best(&mut heap)
                .filter(|best| best.count >= self.minimum)
            else {
                training.exhausted = true;
                break;
            };
            let Pair { left, right, .. } = self.pairs[best.pair as usize];
            let product = self.product(left, right)?;
            self.merge(best.pair, product);
            for pair in self.take_grown() {
                let candidate = self.candidate(pair);
                heap.push(candidate, |a, b| self.before(a, b));
            }
            training.merges.push([left, right, product]);
            training.counts.push(best.count);
            if training.merges.len().is_multiple_of(256) {
                progress(self.tokens.len())?;
            }
        }
        progress(self.tokens.len())?;
        training.tokens = self.tokens;
        Ok(training)
    }

    fn find_pairs(&mut self) {
        for at in 1..self.cells.len().saturating_sub(1) {
            let (left, right) = (self.cells[at], self.cells[at + 1]);
            if left != SEPARATOR && right != SEPARATOR && self.max_length >= 2 {
                self.add(left, right, at as u32);
            }
        }
        self.take_grown();
    }

    /// Takes the pairs whose count grew, each once.
    fn take_grown(&mut self) -> Vec<u32> {
        for &number in &self.grown {
            self.pairs[number as usize].listed = false;
        }
        std::mem::take(&mut self.grown)
    }

    /// Counts a new occurrence of a pair, unless its product would be too long.
    fn add(&mut self, left: u32, right: u32, place: u32) {
        let length =
            u64::from(self.lengths[left as usize]) + u64::from(self.lengths[right as usize]);
        if length > self.max_length {
            return;
        }
        let next = self.pairs.len() as u32;
        let number = *self.places_of_pairs.entry((left, right)).or_insert(next);
        if number == next {
            self.pairs.push(Pair {
                left,
                right,
                count: 0,
                places: Vec::new(),
                gone: 0,
                listed: false,
            });
        }
        let pair = &mut self.pairs[number as usize];
        pair.count += self.counts[self.piece_of[place as usize] as usize];
        pair.places.push(place);
        if !pair.listed {
            pair.listed = true;
            self.grown.push(number);
        }
    }

    /// Takes back an occurrence of a pair.
    fn remove(&mut self, left: u32, right: u32, count: u64) {
        if let Some(&number) = self.places_of_pairs.get(&(left, right)) {
            self.pairs[number as usize].count -= count;
        }
    }

    /// The id of the token that two become: a new one, unless there is one with this text.
    fn product(&mut self, left: u32, right: u32) -> Result<u32> {
        let text = [
            &self.tokens[left as usize][..],
            &self.tokens[right as usize],
        ]
        .concat();
        let length = self.lengths[left as usize] + self.lengths[right as usize];
        let next = self.tokens.len() as u32;
        if next >= INTERIOR {
            return Err(Error::Invalid(
                "there are more than 4 billion tokens".to_owned(),
            ));
        }
        let id = *self.ids.entry(text.clone()).or_insert(next);
        if id == next {
            self.tokens.push(text);
            self.lengths.push(length);
        } else {
            self.lengths[id as usize] = length; // a special token's text, made by merges after all
        }
        Ok(id)
    }

    /// Whether the pair still stands at a place.
    fn stands(&self, pair: &Pair, place: u32) -> bool {
        let after = place as usize + self.lengths[pair.left as usize] as usize;
        self.cells[place as usize] == pair.left && self.cells[after] == pair.right
    }

    /// Merges a pair everywhere, from left to right.
    fn merge(&mut self, number: u32, product: u32) {
        // Its count stays for now: merging "aaa" takes back an occurrence of the pair itself.
        let emptied = Pair {
            places: Vec::new(),
            gone: 0,
            ..self.pairs[number as usize]
        };
        let mut pair = std::mem::replace(&mut self.pairs[number as usize], emptied);
        if !pair.places.is_sorted() {
            // Only a token that could be made in two ways has its places found in two passes.
            pair.places.sort_unstable();
        }
        let left_length = self.lengths[pair.left as usize] as usize;
        let right_length = self.lengths[pair.right as usize] as usize;
        for &place in &pair.places {
            if !self.stands(&pair, place) {
                continue;
            }
            let begin = place as usize;
            let middle = begin + left_length;
            let end = middle + right_length;
            let count = self.counts[self.piece_of[begin] as usize];
            let (before, after) = (self.cells[begin - 1], self.cells[end]);
            if before != SEPARATOR {
                self.remove(before, pair.left, count);
            }
            if after != SEPARATOR {
                self.remove(pair.right, after, count);
            }
            self.cells[middle - 1] = INTERIOR;
            self.cells[middle] = INTERIOR;
            self.cells[begin] = product;
            self.cells[end - 1] = product;
            if before != SEPARATOR {
                let length = self.lengths[before as usize] as usize;
                self.add(before, product, (begin - length) as u32);
            }
            if after != SEPARATOR {
                self.add(product, after, place);
            }
        }
        self.pairs[number as usize].count = 0;
    }

    fn candidates(&mut self) -> Heap<Candidate> {
        let all = (0..self.pairs.len() as u32)
            .map(|pair| self.candidate(pair))
            .collect();
        Heap::from_items(all, |a, b| self.before(a, b))
    }

    /// A pair with its present count and first place.
    fn candidate(&mut self, number: u32) -> Candidate {
        let first = if self.tie == Tie::FirstSeen {
            self.first_place(number)
        } else {
            0
        };
        Candidate {
            count: self.pairs[number as usize].count,
            first,
            pair: number,
        }
    }

    fn first_place(&mut self, number: u32) -> u32 {
        let pair = &self.pairs[number as usize];
        let mut gone = pair.gone;
        while pair
            .places
            .get(gone)
            .is_some_and(|&place| !self.stands(pair, place))
        {
            gone += 1;
        }
        let first = pair.places.get(gone).copied().unwrap_or(u32::MAX);
        self.pairs[number as usize].gone = gone;
        first
    }

    /// Takes the best pair from the heap, bringing up to date what it meets on the way. Counts only
    /// sink and first places only move back after a pair was pushed, so none is overlooked.
    fn best(&mut self, heap: &mut Heap<Candidate>) -> Option<Candidate> {
        loop {
            let known = heap.pop(|a, b| self.before(a, b))?;
            let now = self.candidate(known.pair);
            if now.count == known.count && now.first == known.first {
                return Some(now);
            }
            if now.count > 0 {
                heap.push(now, |a, b| self.before(a, b));
            }
        }
    }

    fn before(&self, a: &Candidate, b: &Candidate) -> bool {
        if a.count != b.count {
            return a.count > b.count;
        }
        if self.tie == Tie::FirstSeen && a.first != b.first {
            return a.first < b.first;
        }
        let (a, b) = (&self.pairs[a.pair as usize], &self.pairs[b.pair as usize]);
        if self.tie == Tie::LargestText {
            let text = |id: u32| &self.tokens[id as usize][..];
            return (text(a.left), text(a.right)) > (text(b.left), text(b.right));
        }
        (a.left, a.right) < (b.left, b.right)
    }
}

#[cfg(test)]
#[path = "bpe_tests.rs"]
mod tests;
