//! Trains MinGram (Land 2026, arXiv:2606.27019): tokens with which text takes as few of them as possible.
//!
//! Byte-pair encoding makes more tokens than are wanted. Each piece is then segmented into the fewest of them, in the
//! likeliest way of several, and it is counted how often each is used: hard expectation maximisation. Tokens that are
//! never used go at once, and after some rounds those that are used least. A few more rounds settle the scores.
//!
//! A token's score is delta * ln(p) - 1, with p its share of all uses: the sum of scores is highest where tokens are
//! fewest, and among those where they are likeliest. Scores are whole numbers, in units of [`UNIT`]: then sums are
//! exact in f64 for up to 9,007 tokens, and segmentations that are equally good are so in every order of adding.
//!
//! The search is that of [`Unigram`], over visible characters, one for each byte. It is what encodes with the result:
//! of equals the one wins whose last token begins first. Nothing is counted that encoding would not find.
//!
//! Complexity: that of byte-pair encoding, and a pass over the different pieces for each round.

use std::cmp::Reverse;

use serde::Deserialize;

use super::bpe;
use crate::error::{Result, ensure};
use crate::models::model::{Model, Tables};
use crate::models::scratch::Scratch;
use crate::models::unigram::{Settings, Unigram};
use crate::tables::TokenTable;
use crate::text::visible;
use crate::threads;

/// How much a token counts.
const UNIT: f64 = 1e12;
/// What stands for -ln(p) of a byte that is never used.
const NEVER: f64 = 100.0;
/// Pieces that are counted before the next report.
const AT_ONCE: usize = 1 << 20;
/// Pieces that a thread takes at a time.
const SHARE: usize = 1 << 12;

const SETTINGS: Settings = Settings {
    unk_id: None,
    byte_fallback: false,
    fuse_unk: true,
    single_precision: false,
    fixed_point: false,
};

/// What to train.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// The byte-pair encoding that makes the tokens to begin with. Its initial tokens are single bytes, and stay.
    pub seed: bpe::Options,
    /// Tokens to end with at most, the initial ones counted.
    pub vocab_size: usize,
    /// How often uses are counted before tokens are pruned, and again after that.
    pub rounds: usize,
    /// What -ln(p) counts, in tokens: 0 to 1.
    pub delta: f64,
    /// How many threads to use.
    pub threads: usize,
}

/// What training gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Training {
    /// Tokens, spelt in visible characters: the initial ones, then the others, the most used first.
    pub tokens: Vec<Vec<u8>>,
    /// Their scores.
    pub scores: Vec<f64>,
    /// How often each is used.
    pub uses: Vec<u64>,
    /// With how many tokens it began.
    pub seeds: usize,
    /// Whether byte-pair encoding found no more pairs.
    pub exhausted: bool,
}

/// Trains on pieces with their counts; `progress` is called with (tokens, all tokens to begin with).
///
/// The result does not depend on the threads, nor on the order of the pieces.
///
/// # Errors
/// [`Error::Invalid`](crate::Error::Invalid) when options contradict the text or each other;
/// [`Error::MissingByte`](crate::Error::MissingByte) when a piece has a byte that no initial token is; what `progress`
/// gives.
pub fn train<'a>(
    pieces: impl Iterator<Item = (&'a [u8], u64)>,
    options: &Options,
    progress: &mut dyn FnMut(usize, usize) -> Result<()>,
) -> Result<Training> {
    let pieces: Vec<_> = pieces.filter(|(piece, _)| !piece.is_empty()).collect();
    check(&pieces, options)?;
    let wanted = options.seed.vocab_size;
    let trainer = bpe::Trainer::new(pieces.iter().copied(), &options.seed)?;
    let seed = trainer.run(&mut |tokens| progress(tokens, wanted))?;
    let seeds = seed.tokens.len();
    let mut vocabulary = Vocabulary::new(&pieces, &seed, options);
    let mut report = || progress(seeds, wanted);
    for _ in 0..options.rounds {
        vocabulary.count(&pieces, options, &mut report)?;
    }
    if vocabulary.tokens.len() > options.vocab_size {
        vocabulary.prune(options.vocab_size);
        for _ in 0..options.rounds {
            vocabulary.count(&pieces, options, &mut report)?;
        }
    }
    progress(wanted, wanted)?;
    let order = vocabulary.by_use();
    vocabulary.select(&order);
    Ok(Training {
        tokens: vocabulary.tokens,
        scores: vocabulary.scores,
        uses: vocabulary.uses,
        seeds,
        exhausted: seed.exhausted,
    })
}

fn check(pieces: &[(&[u8], u64)], options: &Options) -> Result<()> {
    let Options {
        seed,
        vocab_size,
        rounds,
        delta,
        ..
    } = options;
    ensure!(
        seed.initial.iter().all(|token| token.len() == 1),
        "an initial token is not a single byte"
    );
    ensure!(
        seed.initial.len() <= *vocab_size && *vocab_size <= seed.vocab_size,
        "a vocabulary of {vocab_size} is not between its {} initial tokens and the {} to begin with",
        seed.initial.len(),
        seed.vocab_size
    );
    ensure!(*rounds > 0, "uses are counted in 1 round or more");
    ensure!(
        (0.0..=1.0).contains(delta),
        "the weight {delta} of probabilities does not lie between 0 and 1"
    );
    let symbols = pieces
        .iter()
        .map(|&(piece, count)| piece.len() as u128 * u128::from(count));
    ensure!(
        symbols.sum::<u128>() <= u128::from(u64::MAX),
        "the corpus has more than 2^64 bytes"
    );
    Ok(())
}

/// The tokens that are left: the initial ones, then the others as they were learnt.
struct Vocabulary {
    /// Spelt in visible characters.
    tokens: Vec<Vec<u8>>,
    uses: Vec<u64>,
    scores: Vec<f64>,
    /// How many are initial ones.
    bytes: usize,
}

impl Vocabulary {
    /// Takes the tokens of byte-pair encoding, with how often each stands in the pieces at its end; at least 1.
    fn new(pieces: &[(&[u8], u64)], seed: &bpe::Training, options: &Options) -> Self {
        let mut counts = [0_u64; 256];
        for &(piece, count) in pieces {
            for &byte in piece {
                counts[usize::from(byte)] += count;
            }
        }
        let initial = options.seed.initial.iter();
        let mut uses: Vec<u64> = initial.map(|token| counts[usize::from(token[0])]).collect();
        let bytes = uses.len();
        uses.resize(seed.tokens.len(), 0);
        for (merge, &merged) in seed.merges.iter().zip(&seed.merged) {
            let [left, right, product] = merge.map(|id| id as usize);
            uses[left] -= merged;
            uses[right] -= merged;
            uses[product] += merged;
        }
        for uses in &mut uses {
            *uses = (*uses).max(1);
        }
        let spelt = |token: &Vec<u8>| {
            let mut text = Vec::new();
            visible::encode(token, &mut text);
            text
        };
        Self {
            tokens: seed.tokens.iter().map(spelt).collect(),
            scores: scores(&uses, options.delta),
            uses,
            bytes,
        }
    }

    /// Segments all pieces, counts how often each token is used, forgets those that never are, and scores the others.
    fn count(
        &mut self,
        pieces: &[(&[u8], u64)],
        options: &Options,
        report: &mut dyn FnMut() -> Result<()>,
    ) -> Result<()> {
        let model = self.model()?;
        let size = self.tokens.len();
        let mut uses = vec![0; size];
        for some in pieces.chunks(AT_ONCE) {
            report()?;
            let (_, parts) = threads::map_with(
                some.chunks(SHARE),
                options.threads,
                |_| Counter::new(size),
                |counter: &mut Counter, share| counter.count(&model, share),
                |counter| counter.uses,
            )?;
            for part in parts {
                uses.iter_mut().zip(part).for_each(|(sum, own)| *sum += own);
            }
        }
        self.uses = uses;
        let stays = |&at: &usize| at < self.bytes || self.uses[at] > 0;
        let kept: Vec<usize> = (0..size).filter(stays).collect();
        self.select(&kept);
        self.scores = scores(&self.uses, options.delta);
        Ok(())
    }

    /// The model that segments with these tokens.
    fn model(&self) -> Result<Unigram> {
        let tables = Tables {
            tokens: TokenTable::of(&self.tokens)?,
            scores: self.scores.clone(),
            ..Tables::default()
        };
        Unigram::new(SETTINGS, tables)
    }

    /// Forgets the tokens that are used least; of equals those that were learnt last. Scores stay as they are.
    fn prune(&mut self, size: usize) {
        let mut kept = self.by_use();
        kept.truncate(size);
        kept.sort_unstable();
        self.select(&kept);
    }

    /// The places of the initial tokens, and then of the others, the most used first; of equals the one learnt first.
    fn by_use(&self) -> Vec<usize> {
        let mut places: Vec<usize> = (0..self.tokens.len()).collect();
        places[self.bytes..].sort_by_key(|&at| Reverse(self.uses[at]));
        places
    }

    /// Keeps the tokens at these places, in this order.
    fn select(&mut self, places: &[usize]) {
        let tokens = places
            .iter()
            .map(|&at| std::mem::take(&mut self.tokens[at]));
        self.tokens = tokens.collect();
        self.uses = places.iter().map(|&at| self.uses[at]).collect();
        self.scores = places.iter().map(|&at| self.scores[at]).collect();
    }
}

/// The scores of tokens by how often they are used.
fn scores(uses: &[u64], delta: f64) -> Vec<f64> {
    let total = uses.iter().sum::<u64>() as f64;
    let score = |&uses: &u64| {
        let surprise = match uses {
            0 => NEVER,
            uses => -(uses as f64 / total).ln(),
        };
        -(UNIT + (UNIT * delta * surprise + 0.5).floor())
    };
    uses.iter().map(score).collect()
}

/// Counts the tokens that pieces become.
struct Counter {
    uses: Vec<u64>,
    scratch: Scratch,
    text: Vec<u8>,
    ids: Vec<u32>,
}

impl Counter {
    fn new(size: usize) -> Self {
        Self {
            uses: vec![0; size],
            scratch: Scratch::default(),
            text: Vec::new(),
            ids: Vec::new(),
        }
    }

    fn count(&mut self, model: &Unigram, pieces: &[(&[u8], u64)]) -> Result<()> {
        for &(piece, count) in pieces {
            self.text.clear();
            self.ids.clear();
            visible::encode(piece, &mut self.text);
            model.encode_ids(&self.text, &mut self.scratch, &mut self.ids)?;
            for &id in &self.ids {
                self.uses[id as usize] += count;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
