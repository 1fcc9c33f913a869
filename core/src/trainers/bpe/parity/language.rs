//! A language: its pieces, all pairs in them, and which of these it would merge.

use super::Pieces;
use crate::error::Result;
use crate::trainers::bpe::Tie;
use crate::trainers::bpe::alphabet::Alphabet;
use crate::trainers::bpe::cells::Cells;
use crate::trainers::bpe::layout::in_order;
use crate::trainers::bpe::pairs::Pairs;
use crate::trainers::bpe::replay::Replay;
use crate::trainers::bpe::segmentation::Sides;
use crate::trainers::bpe::tokens::Tokens;
use crate::trainers::heap::{Heap, Order};

/// A language.
pub(super) struct Language {
    /// What it learns from.
    pub text: Text,
    /// Its development set.
    development: Option<Text>,
    /// The pairs that it may choose.
    heap: Heap<Candidate>,
}

impl Language {
    /// Takes what it learns from, and its development set.
    pub fn new(text: Text, development: Option<Text>, tokens: &Tokens, minimum: u64) -> Self {
        let order = ByCount {
            pairs: &text.pairs,
            tokens,
            minimum,
        };
        let all = 0..text.pairs.all.len() as u32;
        let frequent = all.filter_map(|pair| order.candidate(pair)).collect();
        let heap = Heap::from_items(frequent, &order);
        Self {
            text,
            development,
            heap,
        }
    }

    /// The text by which it is compared with others.
    pub fn judged(&self) -> &Text {
        self.development.as_ref().unwrap_or(&self.text)
    }

    /// Takes the pair that it would merge; None if none is frequent enough.
    pub fn best(&mut self, tokens: &Tokens, minimum: u64) -> Option<[u32; 2]> {
        let pairs = &self.text.pairs;
        let best = self.heap.pop(&mut ByCount {
            pairs,
            tokens,
            minimum,
        })?;
        let pair = &pairs.all[best.pair as usize];
        Some([pair.left, pair.right])
    }

    /// Merges a pair, whoever chose it.
    pub fn merge(&mut self, merge: [u32; 3], tokens: &Tokens, sides: &mut Sides, minimum: u64) {
        let grown = self.text.merge(merge, tokens, sides);
        let order = ByCount {
            pairs: &self.text.pairs,
            tokens,
            minimum,
        };
        for candidate in grown.into_iter().filter_map(|pair| order.candidate(pair)) {
            self.heap.push(candidate, &order);
        }
        if let Some(development) = &mut self.development {
            development.merge(merge, tokens, sides);
        }
    }
}

/// A text as it is segmented now.
pub(super) struct Text {
    cells: Cells,
    pairs: Pairs,
    /// How many symbols it has.
    pub symbols: u64,
    /// How many tokens it has now.
    pub length: u64,
}

impl Text {
    /// Lays out pieces and applies merges to them.
    ///
    /// # Errors
    /// A corpus beyond 2^32 symbols.
    pub fn new(
        pieces: Pieces<'_>,
        replay: &Replay<'_>,
        alphabet: &mut Alphabet,
        tokens: &Tokens,
        threads: usize,
    ) -> Result<Self> {
        let pieces = in_order(pieces.into_iter(), Tie::LargestVisible);
        let mut cells = Cells::new();
        let (mut symbols, mut length) = (0, 0);
        replay.lay_out(&pieces, alphabet, threads, |merged, count| {
            let lengths = merged
                .iter()
                .map(|&id| u64::from(tokens.lengths[id as usize]));
            symbols += lengths.sum::<u64>() * count;
            length += merged.len() as u64 * count;
            cells.push(count, |cells| cells.extend_from_slice(merged))
        })?;
        let mut pairs = Pairs::new(1);
        let mut last = u32::MAX;
        cells.for_each_pair(|left, right, count, place| {
            pairs.count(left, right, count, place, &mut last, tokens);
        });
        Ok(Self {
            cells,
            pairs,
            symbols,
            length,
        })
    }

    /// How often a pair stands in it.
    pub fn count(&self, left: u32, right: u32) -> u64 {
        let number = self.pairs.find(left, right);
        number.map_or(0, |number| self.pairs.all[number as usize].count)
    }

    /// Merges a pair; gives the pairs whose count grew.
    pub fn merge(&mut self, merge: [u32; 3], tokens: &Tokens, sides: &mut Sides) -> Vec<u32> {
        let merged = sides.merge(merge, &mut self.cells, &mut self.pairs, tokens);
        self.length -= merged.times;
        merged.grown
    }
}

/// A pair as a heap knows it: `count` may be out of date, but is never too low.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Candidate {
    count: u64,
    pair: u32,
}

/// The most frequent pair is first, of several the one with the largest visible text.
struct ByCount<'a> {
    pairs: &'a Pairs,
    tokens: &'a Tokens,
    minimum: u64,
}

impl ByCount<'_> {
    /// A pair with its present count, if it is frequent enough.
    fn candidate(&self, pair: u32) -> Option<Candidate> {
        let count = self.pairs.all[pair as usize].count;
        (count >= self.minimum).then_some(Candidate { count, pair })
    }
}

impl Order<Candidate> for ByCount<'_> {
    fn is_before(&self, a: &Candidate, b: &Candidate) -> bool {
        let ids = |candidate: &Candidate| {
            let pair = &self.pairs.all[candidate.pair as usize];
            [pair.left, pair.right]
        };
        let texts = || self.tokens.compare_visible(ids(a), ids(b));
        a.count.cmp(&b.count).then_with(texts).is_gt()
    }

    fn update(&mut self, known: &Candidate) -> Option<Candidate> {
        self.candidate(known.pair)
    }
}
