//! Learns byte-pair merges, and takes a token back once it hardly occurs but as a part of a longer one.
//!
//! Chizhov et al. 2024, PickyBPE (arXiv:2409.04599). After the merge of (a, b), the share of a's occurrences that went
//! into it is compared with a threshold; above it, a is *taken back*: where it still stands, the tokens that it consists
//! of stand again. Then the same for b. What is learnt is a list of events, as a pair may be merged, split and merged again.
//!
//! Pieces and pairs are those of `bpe`, with all pairs kept: a split makes rare pairs frequent. Each token also knows where
//! it was made, so that a split costs its places and no look at the rest. Cells are never compacted: a token has as many as
//! it has characters, and so its parts fit in.
//!
//! It ends: a merge makes tokens that are longer than all that it, and its splits, take away. So the numbers of tokens by
//! length, those of the longest first, only grow in the order of dictionaries. How soon it ends, that does not say: so a
//! pair is merged at most [`MOST_MERGES`] times.
//!
//! Complexity: an event costs its places; all together (cells x longest token), and again for each time that the tokens of
//! a place are taken back.
//!
//! [`scaffold`] is another rule for which tokens go, and when.

mod candidates;
mod scaffold;

use std::collections::HashSet;

use foldhash::fast::RandomState;
use hashbrown::HashMap;
use serde::Deserialize;

use super::bpe::cells::SEPARATOR;
use super::bpe::layout::in_order;
use super::bpe::segmentation::Segmentation;
use super::bpe::tokens::Tokens;
use super::bpe::{Tie, Vetoes};
use super::heap::Heap;
use super::json;
use crate::error::{Result, ensure, invalid};
use crate::memory::reserve;
use crate::text;
use candidates::{ByCount, Candidate};
use scaffold::Scaffolds;

/// In place of both parts of a pair: the token is taken back.
pub const SPLIT: u32 = u32::MAX;

/// How often a pair is merged at most; texts have come to single digits.
pub const MOST_MERGES: u32 = 64;

/// What and how much to learn.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// Tokens that exist before the first merge, by id; empty: a text that no merge makes.
    #[serde(deserialize_with = "json::all_bytes")]
    pub initial: Vec<Vec<u8>>,
    /// Which of them are symbols: characters. Any other character divides its word.
    pub symbols: Vec<u32>,
    /// Stop when there are so many tokens, without those that were taken back.
    pub vocab_size: usize,
    /// Pairs that are rarer are not merged.
    pub min_frequency: u64,
    /// Which tokens are taken back.
    pub rule: Rule,
    /// Texts that no product has.
    #[serde(deserialize_with = "json::all_bytes")]
    pub reserved: HashSet<Vec<u8>>,
}

/// Which tokens are taken back, and when.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// PickyBPE: at once, if a merge took a larger share of it than this.
    Share(f64),
    /// Scaffold-BPE: in the end, if it stands more rarely than what would have been merged next.
    Scaffold,
}

/// What was learnt.
#[derive(Debug, Default)]
pub struct Training {
    /// In order: (left, right, product) of a merge, or (token, [`SPLIT`], [`SPLIT`]) of one that is taken back.
    pub events: Vec<[u32; 3]>,
    /// All tokens by id: the initial ones, the products that stayed, and those that were taken back.
    pub tokens: Vec<Vec<u8>>,
    /// How many of them stayed.
    pub present: usize,
    /// How often each of those stands in the corpus in the end.
    pub uses: Vec<u64>,
    /// Whether no pair was left that is frequent enough.
    pub exhausted: bool,
}

/// What is known of a token, besides its text.
#[derive(Clone, Debug)]
struct Learnt {
    /// How often it stands in the corpus.
    uses: u64,
    /// The first pair that made it; None for initial tokens.
    parents: Option<[u32; 2]>,
    /// Whether it has not been taken back.
    is_present: bool,
    /// Where it was made, in any order; it may stand there no more. Empty for symbols.
    places: Vec<u32>,
}

impl Learnt {
    fn new(parents: Option<[u32; 2]>) -> Self {
        Self {
            uses: 0,
            parents,
            is_present: parents.is_none(),
            places: Vec::new(),
        }
    }
}

/// Learns events: [`Trainer::new`] lays the words out, [`Trainer::run`] merges and splits.
pub struct Trainer {
    vocab_size: usize,
    minimum: u64,
    rule: Rule,
    corpus: Segmentation,
    learnt: Vec<Learnt>,
    /// How many tokens are present.
    size: usize,
    heap: Heap<Candidate>,
    /// How often each pair was merged, by its number.
    merged: HashMap<u32, u32, RandomState>,
    most_merges: u32,
    scaffolds: Scaffolds,
    events: Vec<[u32; 3]>,
}

impl Trainer {
    /// Lays (word, count) out and finds the pairs.
    ///
    /// # Errors
    /// Settings that contradict themselves, or a corpus beyond 2^32 symbols or 2^64 of their occurrences.
    pub fn new<'a>(
        words: impl Iterator<Item = (&'a [u8], u64)>,
        options: &Options,
    ) -> Result<Self> {
        if let Rule::Share(threshold) = options.rule {
            let is_share = threshold.is_finite() && threshold > 0.0;
            ensure!(is_share, "the threshold is not a number above 0");
        }
        let vetoes = Vetoes {
            reserved: options.reserved.clone(),
            ..Vetoes::default()
        };
        let mut tokens = Tokens::new(&options.initial, &[], &vetoes)?;
        tokens.lengths.fill(1);
        let mut symbols = HashMap::<&[u8], u32, RandomState>::default();
        for &id in &options.symbols {
            match options.initial.get(id as usize) {
                Some(token) if !token.is_empty() => symbols.insert(token, id),
                _ => return Err(invalid!("the initial token {id} is no symbol")),
            };
        }
        let mut corpus = Segmentation::new(tokens, 1);
        let mut learnt = vec![Learnt::new(None); options.initial.len()];
        let mut occurrences = 0_u64;
        for (word, count) in in_order(words, Tie::LowestIds) {
            let mut length = 0;
            corpus.cells.push(count, |cells| {
                for (_, character) in text::characters(word) {
                    let symbol = symbols.get(character).copied();
                    cells.push(symbol.unwrap_or(SEPARATOR));
                    if let Some(symbol) = symbol {
                        let uses = &mut learnt[symbol as usize].uses;
                        *uses = uses.saturating_add(count);
                    }
                    length += 1;
                }
            })?;
            occurrences = count
                .checked_mul(length)
                .and_then(|number| number.checked_add(occurrences))
                .ok_or_else(|| invalid!("the corpus has more than 2^64 symbols"))?;
        }
        corpus.find_pairs();
        let minimum = options.min_frequency.max(1);
        let order = ByCount {
            pairs: &corpus.pairs,
            minimum,
        };
        let all = 0..corpus.pairs.all.len() as u32;
        let heap = Heap::from_items(
            all.filter_map(|pair| order.candidate(pair)).collect(),
            &order,
        );
        Ok(Self {
            vocab_size: options.vocab_size,
            minimum,
            rule: options.rule,
            size: learnt.len(),
            corpus,
            learnt,
            heap,
            merged: HashMap::default(),
            most_merges: MOST_MERGES,
            scaffolds: Scaffolds::default(),
            events: Vec::new(),
        })
    }

    /// Merges and splits until the vocabulary is full; `progress` is called now and then with its size.
    ///
    /// # Errors
    /// What `progress` gives, or more than 2^31 tokens.
    pub fn run(mut self, progress: &mut dyn FnMut(usize) -> Result<()>) -> Result<Training> {
        progress(self.size)?;
        let mut steps = 0_u64;
        let mut exhausted = false;
        while self.size < self.vocab_size && !exhausted {
            reserve::check()?;
            exhausted = !match self.rule {
                Rule::Share(threshold) => self.merge_and_split(threshold)?,
                Rule::Scaffold => self.build()?,
            };
            steps += 1;
            if steps.is_multiple_of(256) {
                progress(self.size)?;
            }
        }
        self.demolish();
        progress(self.size)?;
        Ok(Training {
            exhausted,
            ..self.renumbered()
        })
    }

    /// Merges the next pair, and takes its parts back if it was most of them; false if there is none.
    fn merge_and_split(&mut self, threshold: f64) -> Result<bool> {
        let Some([left, right]) = self.best() else {
            return Ok(false);
        };
        let times = self.merge(left, right)?;
        if left == right {
            self.judge(left, 2 * times, times, threshold);
        } else {
            self.judge(left, times, times, threshold);
            self.judge(right, times, times, threshold);
        }
        Ok(true)
    }

    /// Takes the pair that is merged next.
    fn best(&mut self) -> Option<[u32; 2]> {
        let best = self.first()?;
        *self.merged.entry(best.pair).or_insert(0) += 1;
        let pair = &self.corpus.pairs.all[best.pair as usize];
        Some([pair.left, pair.right])
    }

    /// Takes the first pair out of the heap: the most frequent one, of several that of the lowest ids. A pair that was
    /// merged too often is passed over.
    fn first(&mut self) -> Option<Candidate> {
        let pairs = &self.corpus.pairs;
        let minimum = self.minimum;
        loop {
            let first = self.heap.pop(&mut ByCount { pairs, minimum })?;
            let times = self.merged.get(&first.pair).copied();
            if times.unwrap_or(0) < self.most_merges {
                return Some(first);
            }
        }
    }

    /// Adds the pairs that may be merged, too.
    fn push(&mut self, grown: Vec<u32>) {
        let order = ByCount {
            pairs: &self.corpus.pairs,
            minimum: self.minimum,
        };
        for candidate in grown.into_iter().filter_map(|pair| order.candidate(pair)) {
            self.heap.push(candidate, &order);
        }
    }

    /// Merges a pair everywhere; gives how often it stood there.
    fn merge(&mut self, left: u32, right: u32) -> Result<u64> {
        let (product, _) = self.corpus.tokens.product(left, right)?;
        let mut merged = self.corpus.merge([left, right, product]);
        if product as usize == self.learnt.len() {
            self.learnt.push(Learnt::new(Some([left, right])));
        }
        let made = &mut self.learnt[product as usize];
        self.size += usize::from(!std::mem::replace(&mut made.is_present, true));
        made.uses += merged.times;
        let cells = &self.corpus.cells;
        merged.places.retain(|&place| cells.holds(product, place));
        made.places.append(&mut merged.places);
        self.events.push([left, right, product]);
        self.push(merged.grown);
        Ok(merged.times)
    }

    /// Counts that a merge took away uses of a token, and takes it back if they were most of them.
    fn judge(&mut self, token: u32, taken: u64, merged: u64, threshold: f64) {
        let own = &mut self.learnt[token as usize];
        own.uses -= taken;
        let share = merged as f64 / (own.uses + merged) as f64;
        if own.parents.is_none() || share <= threshold {
            return;
        }
        own.is_present = false;
        let uses = std::mem::take(&mut own.uses);
        let mut places = std::mem::take(&mut own.places);
        places.sort(); // stable: it is quick with runs that are in order
        self.size -= 1;
        self.events.push([token, SPLIT, SPLIT]);
        let parts = self.parts(token);
        let split = self.corpus.split(token, &parts, &places);
        let mut offset = 0;
        for &part in &parts {
            let own = &mut self.learnt[part as usize];
            own.uses += uses;
            if own.parents.is_some() {
                own.places
                    .extend(split.places.iter().map(|place| place + offset));
            }
            offset += self.corpus.tokens.lengths[part as usize];
        }
        self.push(split.grown);
    }

    /// The present tokens that an absent one consists of, by the pairs that first made it and its parts.
    fn parts(&self, token: u32) -> Vec<u32> {
        let mut parts = Vec::new();
        let mut waiting = vec![token];
        while let Some(part) = waiting.pop() {
            let own = &self.learnt[part as usize];
            match own.parents {
                Some([left, right]) if !own.is_present => waiting.extend([right, left]),
                _ => parts.push(part),
            }
        }
        parts
    }

    /// What was learnt, with the ids of tokens that were taken back behind all others.
    fn renumbered(self) -> Training {
        let Self {
            corpus,
            learnt,
            mut events,
            ..
        } = self;
        let mut order: Vec<u32> = (0..learnt.len() as u32).collect();
        order.sort_by_key(|&id| !learnt[id as usize].is_present);
        let mut ids = vec![0; learnt.len()];
        for (id, &old) in order.iter().enumerate() {
            ids[old as usize] = id as u32;
        }
        for id in events
            .as_flattened_mut()
            .iter_mut()
            .filter(|id| **id != SPLIT)
        {
            *id = ids[*id as usize];
        }
        let mut texts = corpus.tokens.texts;
        let kept = order.iter().map(|&old| &learnt[old as usize]);
        let present = kept.take_while(|token| token.is_present);
        let uses: Vec<u64> = present.map(|token| token.uses).collect();
        Training {
            events,
            tokens: order
                .iter()
                .map(|&old| std::mem::take(&mut texts[old as usize]))
                .collect(),
            present: uses.len(),
            uses,
            exhausted: false,
        }
    }
}

#[cfg(test)]
mod tests;
