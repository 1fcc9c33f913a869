//! Learns superwords: merges inside words first, then merges that may cross the spaces between them.
//!
//! Liu et al. 2025, SuperBPE (arXiv:2503.13423). The text is cut twice, into words and into runs of words, and both
//! are counted: nothing else is kept of it. The second stage takes over the merges of the first in their order
//! ([`Replay`]), without those that its runs have no place for, and goes on from there.

use serde::Deserialize;

use super::alphabet::Alphabet;
use super::cells::SEPARATOR;
use super::layout::in_order;
use super::replay::Replay;
use super::segmentation::Segmentation;
use super::{Options, Trainer, Training, Vetoes};
use crate::error::Result;
use crate::trainers::json;

/// What and how much to learn in two stages.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuperwordOptions {
    /// What the first stage learns; its number of merges is where the second one begins, and that is found
    /// ([`balance`](super::balance::balance)) if there is none.
    pub words: Options,
    /// What no product of the second stage may be.
    pub runs: Vetoes,
    /// What stands before the pieces of the first stage.
    #[serde(deserialize_with = "json::bytes")]
    pub word_mark: Vec<u8>,
    /// What stands before the pieces of the second stage.
    #[serde(deserialize_with = "json::bytes")]
    pub run_mark: Vec<u8>,
}

/// The pieces of the stage whose mark stands before them, without it.
pub fn marked<'a>(
    pieces: impl Iterator<Item = (&'a [u8], u64)>,
    mark: &[u8],
) -> impl Iterator<Item = (&'a [u8], u64)> {
    pieces.filter_map(move |(piece, count)| Some((piece.strip_prefix(mark)?, count)))
}

/// The second stage.
pub struct Superwords {
    trainer: Trainer,
    /// What it has of the first one.
    taken_over: Training,
}

impl Superwords {
    /// Lays out runs as the merges of the first stage leave them.
    ///
    /// # Errors
    /// As [`Trainer::new`].
    pub fn new<'a>(
        runs: impl Iterator<Item = (&'a [u8], u64)>,
        first: &Training,
        options: &SuperwordOptions,
        threads: usize,
    ) -> Result<Self> {
        let words = &options.words;
        let mut trainer = Trainer::without_pieces(&Options {
            vetoes: options.runs.clone(),
            max_merges: None,
            ..words.clone()
        })?;
        let mut alphabet = Alphabet::new(words, &trainer.corpus.tokens.ids)?;
        let replay = Replay::new(&first.merges, &first.tokens);
        let pieces = in_order(runs, words.tie);
        replay.lay_out(&pieces, &mut alphabet, threads, |run, count| {
            let cells = &mut trainer.corpus.cells;
            cells.push(count, |cells| cells.extend_from_slice(run))
        })?;
        trainer.take_symbols(alphabet, &words.symbols);
        let taken_over = trainer.adopt(first, &replay.met());
        Ok(Self {
            trainer,
            taken_over,
        })
    }

    /// How many merges it has of the first stage.
    pub fn taken_over(&self) -> usize {
        self.taken_over.merges.len()
    }

    /// Merges until the vocabulary is full; gives the merges of both stages.
    ///
    /// # Errors
    /// As [`Trainer::run`].
    pub fn run(self, progress: &mut dyn FnMut(usize) -> Result<()>) -> Result<Training> {
        let mut training = self.taken_over;
        let second = self.trainer.run(progress)?;
        training.merges.extend(second.merges);
        training.counts.extend(second.counts);
        training.merged.extend(second.merged);
        training.tokens = second.tokens;
        training.exhausted = second.exhausted;
        Ok(training)
    }
}

impl Trainer {
    /// Makes tokens of the products of merges that were met, and gives those; the cells have the ids that the products
    /// had before.
    fn adopt(&mut self, first: &Training, met: &[bool]) -> Training {
        let Segmentation { cells, tokens, .. } = &mut self.corpus;
        let initial = tokens.len();
        let mut numbers: Vec<u32> = (0..first.tokens.len() as u32).collect();
        numbers[initial..].fill(SEPARATOR);
        let mut training = Training::default();
        for (number, merge) in first
            .merges
            .iter()
            .enumerate()
            .filter(|&(number, _)| met[number])
        {
            let product = merge[2] as usize;
            if numbers[product] == SEPARATOR {
                numbers[product] = tokens.len() as u32;
                tokens.extend(vec![first.tokens[product].clone()]);
            }
            let [left, right, product] = merge.map(|id| numbers[id as usize]);
            tokens.make(left, right, product);
            training.merges.push([left, right, product]);
            training.counts.push(first.counts[number]);
            training.merged.push(first.merged[number]);
        }
        for cell in cells
            .symbols()
            .iter_mut()
            .filter(|cell| **cell != SEPARATOR)
        {
            *cell = numbers[*cell as usize];
        }
        training
    }
}
