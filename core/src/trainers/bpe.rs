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
//! Symbols that are more than bytes can spell one text in several ways: with `##` before symbols that go
//! on, `##b` is a `b` inside a word, and also the beginning of a word that reads "##b". A text is one
//! token, so a token's length is then kept for each place in `spans`, and a last cell is marked as one:
//! it may have an id that once began there. So it is where training goes on from pieces that are
//! segmented already: each of their tokens is a cell.
//!
//! Complexity: each merge costs its places; all merges together at most (cells x longest token).

mod layout;
mod options;
mod veto;

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use super::alphabet::Ids;
use super::heap::Heap;
use crate::error::{Error, Result};
pub use options::{Decoration, Options, Tie, Training, Vetoes};

/// Between pieces.
const SEPARATOR: u32 = u32::MAX;
/// Inside a token, neither its first nor its last cell.
const INTERIOR: u32 = u32::MAX - 1;
/// In `spans`: this is the last of several cells.
const LAST: u32 = 1 << 31;
/// In `numbers`: a pair that is never merged.
const VETOED: u32 = u32::MAX;

/// A pair of neighbouring tokens.
#[derive(Debug)]
struct Pair {
    left: u32,
    right: u32,
    count: u64,
    /// Where the left one began when the pair was found; ascending while `sorted`.
    places: Vec<u32>,
    /// False if a token that can be made in two ways had its places found in two passes.
    sorted: bool,
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

/// Learns merges: [`Trainer::new`] or [`Trainer::resume`] lays the pieces out, [`Trainer::run`] merges them.
pub struct Trainer {
    tie: Tie,
    vocab_size: usize,
    max_merges: usize,
    minimum: u64,
    vetoes: Vetoes,
    prefix: Vec<u8>,
    cells: Vec<u32>,
    /// How many cells the token that begins or ends at each cell has; empty: a token's length tells.
    spans: Vec<u32>,
    /// The piece that each cell belongs to.
    piece_of: Vec<u32>,
    counts: Vec<u64>,
    tokens: Vec<Vec<u8>>,
    ids: Ids,
    /// Length of each token in symbols, as it was first made; 0: it has not been made.
    lengths: Vec<u32>,
    pairs: Vec<Pair>,
    /// Where each pair stands in `pairs`.
    numbers: HashMap<(u32, u32), u32, RandomState>,
    /// Pairs whose count grew in the last merge.
    grown: Vec<u32>,
}

impl Trainer {
    /// Merges until the vocabulary is full; `progress` is called now and then with its size.
    ///
    /// # Errors
    /// What `progress` gives, or more than 2^32 tokens.
    pub fn run(mut self, progress: &mut dyn FnMut(usize) -> Result<()>) -> Result<Training> {
        progress(self.tokens.len())?;
        let mut heap = self.candidates();
        let mut training = Training::default();
        while self.tokens.len() < self.vocab_size && training.merges.len() < self.max_merges {
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

    /// Takes the pairs whose count grew, each once.
    fn take_grown(&mut self) -> Vec<u32> {
        for &number in &self.grown {
            self.pairs[number as usize].listed = false;
        }
        std::mem::take(&mut self.grown)
    }

    /// Counts a new occurrence of a pair, unless it may not be merged.
    fn add(&mut self, left: u32, right: u32, place: u32) {
        let next = self.pairs.len() as u32;
        let mut number = *self.numbers.entry((left, right)).or_insert(next);
        if number == next {
            number = self.begin_pair(left, right);
        }
        if number == VETOED {
            return;
        }
        let pair = &mut self.pairs[number as usize];
        pair.count += self.counts[self.piece_of[place as usize] as usize];
        pair.sorted &= pair.places.last().is_none_or(|&last| last < place);
        pair.places.push(place);
        if !pair.listed {
            pair.listed = true;
            self.grown.push(number);
        }
    }

    /// Takes in a pair that was not met before; gives its number.
    fn begin_pair(&mut self, left: u32, right: u32) -> u32 {
        let length =
            u64::from(self.lengths[left as usize]) + u64::from(self.lengths[right as usize]);
        if !self.vetoes.allow_length(length)
            || (self.vetoes.read_text() && !self.vetoes.allow_text(&self.join(left, right)))
        {
            self.numbers.insert((left, right), VETOED);
            return VETOED;
        }
        self.pairs.push(Pair {
            left,
            right,
            count: 0,
            places: Vec::new(),
            sorted: true,
            gone: 0,
            listed: false,
        });
        self.pairs.len() as u32 - 1
    }

    /// Takes back an occurrence of a pair.
    fn remove(&mut self, left: u32, right: u32, count: u64) {
        if let Some(&number) = self.numbers.get(&(left, right))
            && number != VETOED
        {
            self.pairs[number as usize].count -= count;
        }
    }

    /// The text of a product.
    fn join(&self, left: u32, right: u32) -> Vec<u8> {
        let right = &self.tokens[right as usize][..];
        let right = right.strip_prefix(&self.prefix[..]).unwrap_or(right);
        [&self.tokens[left as usize][..], right].concat()
    }

    /// The id of the token that two become: a new one, unless there is one with this text.
    fn product(&mut self, left: u32, right: u32) -> Result<u32> {
        let text = self.join(left, right);
        let next = self.tokens.len() as u32;
        if next >= INTERIOR {
            return Err(Error::Invalid(
                "there are more than 4 billion tokens".to_owned(),
            ));
        }
        let id = *self.ids.entry(text.clone()).or_insert(next);
        if id == next {
            self.tokens.push(text);
            self.lengths.push(0);
        }
        if self.lengths[id as usize] == 0 {
            let length = self.lengths[left as usize] + self.lengths[right as usize];
            self.lengths[id as usize] = length;
        }
        Ok(id)
    }

    /// How many cells the token has that begins at a cell.
    fn length_from(&self, cell: usize) -> usize {
        let length = self.spans.get(cell);
        *length.unwrap_or_else(|| &self.lengths[self.cells[cell] as usize]) as usize
    }

    /// How many cells the token has that ends at a cell.
    fn length_to(&self, cell: usize) -> usize {
        let length = self.spans.get(cell);
        length.map_or_else(
            || self.lengths[self.cells[cell] as usize] as usize,
            |&span| (span & !LAST) as usize,
        )
    }

    /// Where the right token begins and ends, if the pair still stands at a place.
    fn extent(&self, left: u32, right: u32, place: u32) -> Option<(usize, usize)> {
        let begin = place as usize;
        if self.cells[begin] != left || self.spans.get(begin).is_some_and(|span| span & LAST != 0) {
            return None;
        }
        let middle = begin + self.length_from(begin);
        (self.cells[middle] == right).then(|| (middle, middle + self.length_from(middle)))
    }

    /// Merges a pair everywhere, from left to right.
    fn merge(&mut self, number: u32, product: u32) {
        self.sort_places(number);
        let pair = &mut self.pairs[number as usize];
        let (left, right) = (pair.left, pair.right);
        // Its count stays for now: merging "aaa" takes back an occurrence of the pair itself.
        let places = std::mem::take(&mut pair.places);
        pair.gone = 0;
        for &place in &places {
            let Some((middle, end)) = self.extent(left, right, place) else {
                continue;
            };
            let begin = place as usize;
            let count = self.counts[self.piece_of[begin] as usize];
            let (before, after) = (self.cells[begin - 1], self.cells[end]);
            if before != SEPARATOR {
                self.remove(before, left, count);
            }
            if after != SEPARATOR {
                self.remove(right, after, count);
            }
            self.cells[middle - 1] = INTERIOR;
            self.cells[middle] = INTERIOR;
            self.cells[begin] = product;
            self.cells[end - 1] = product;
            if !self.spans.is_empty() {
                self.spans[begin] = (end - begin) as u32;
                self.spans[end - 1] = (end - begin) as u32 | LAST;
            }
            if before != SEPARATOR {
                let length = self.length_to(begin - 1);
                self.add(before, product, (begin - length) as u32);
            }
            if after != SEPARATOR {
                self.add(product, after, place);
            }
        }
        self.pairs[number as usize].count = 0;
    }

    /// Brings a pair's places into order.
    fn sort_places(&mut self, number: u32) {
        let pair = &mut self.pairs[number as usize];
        if !pair.sorted {
            pair.places.sort(); // stable: it is quick with runs that are in order
            pair.sorted = true;
            pair.gone = 0;
        }
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
        self.sort_places(number);
        let pair = &self.pairs[number as usize];
        let (left, right, mut gone) = (pair.left, pair.right, pair.gone);
        while let Some(&place) = pair.places.get(gone)
            && self.extent(left, right, place).is_none()
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
