//! Trains a unigram model (Kudo 2018, arXiv:1804.10959): from all frequent substrings, by expectation
//! maximisation and pruning, down to the vocabulary.
//!
//! One algorithm in two precisions. In f64 it works in fixed shards on any number of threads and gives
//! the same model for all of them. In f32 it adds and rounds in the order of SentencePiece with one
//! thread, and gives its models.

mod em;
mod exact;
mod finish;
mod lattices;
mod prune;
mod rounds;
mod scored_pieces;
mod seeds;
mod single;
#[cfg(test)]
mod tests;
mod textbook;
mod words;

pub use rounds::{Round, Step};
pub use textbook::{Textbook, train as train_textbook};

use serde::Deserialize;

use self::lattices::{Home, Lattices, Packing};
use self::rounds::Rounds;
use self::scored_pieces::ScoredPieces;
use self::words::Words;
use super::valid_piece::Rules;
use crate::error::{Result, ensure};
use crate::memory::reserve;
use crate::models::unigram::real::Real;
use crate::tables::MAX_TOKENS;

/// What to train.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// Tokens to end with, the reserved ones counted.
    pub vocab_size: usize,
    /// How many of them are given out already.
    pub reserved: usize,
    /// The share of the text's characters that have tokens; the rarest are left out.
    pub character_coverage: f64,
    /// Characters that have tokens however rare they are.
    pub required: String,
    /// How many substrings to begin with at most.
    pub seed_size: usize,
    /// What share of the tokens a round of pruning keeps.
    pub shrinking_factor: f64,
    /// Steps of expectation maximisation before each pruning.
    pub sub_iterations: usize,
    /// Which substrings may be tokens.
    pub rules: Rules,
    /// Add in f32, in the order of SentencePiece; pieces are then whole sentences.
    pub single_precision: bool,
    /// How many threads to use.
    pub threads: usize,
    /// Whether to keep the tokens after each step.
    #[serde(default)]
    pub record: bool,
}

/// What training gave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Training {
    /// Tokens, best first.
    pub tokens: Vec<Vec<u8>>,
    /// Their scores: natural logarithms of probabilities.
    pub scores: Vec<f64>,
    /// How many of them are single characters that must be there.
    pub characters: usize,
    /// With how many substrings it began.
    pub seeds: usize,
    /// The step that left fewer tokens than asked for, if one did.
    pub short: Option<Step>,
    /// The tokens after each step, if they were to be kept.
    pub rounds: Vec<Round>,
}

/// Trains on pieces with their counts; `progress` is called with (rounds done, rounds in all).
///
/// # Errors
/// [`Error::Invalid`](crate::Error::Invalid) when the options contradict the text or each other; what `progress` gives.
pub fn train<'a>(
    pieces: impl Iterator<Item = (&'a [u8], u64)> + Clone,
    options: &Options,
    progress: &mut dyn FnMut(usize, usize) -> Result<()>,
) -> Result<Training> {
    check(options)?;
    let words = Words::new(pieces, options)?;
    reserve::check()?;
    ensure!(
        !words.characters.is_empty(),
        "there is nothing to train on: the text has no characters"
    );
    let needed = words.characters.len() + options.reserved;
    ensure!(
        needed <= options.vocab_size,
        "a vocabulary of {} is smaller than its {} characters and {} reserved tokens",
        options.vocab_size,
        words.characters.len(),
        options.reserved
    );
    match options.single_precision {
        true => run::<f32>(&words, options, progress),
        false => run::<f64>(&words, options, progress),
    }
}

fn check(options: &Options) -> Result<()> {
    let Options {
        shrinking_factor,
        character_coverage,
        sub_iterations,
        vocab_size,
        rules,
        ..
    } = options;
    ensure!(
        *shrinking_factor > 0.0 && *shrinking_factor < 1.0,
        "the shrinking factor {shrinking_factor} does not lie between 0 and 1"
    );
    ensure!(
        *character_coverage > 0.0 && *character_coverage <= 1.0,
        "the character coverage {character_coverage} does not lie between 0 and 1"
    );
    ensure!(
        (1..=512).contains(&rules.max_length),
        "a token of at most {} characters is not between 1 and 512",
        rules.max_length
    );
    ensure!(
        *sub_iterations > 0,
        "expectation maximisation needs 1 step or more"
    );
    ensure!(
        *vocab_size <= MAX_TOKENS,
        "a vocabulary of {vocab_size} is larger than the {MAX_TOKENS} that fit"
    );
    Ok(())
}

/// Training in one precision.
fn run<T: Precision>(
    words: &Words,
    options: &Options,
    progress: &mut dyn FnMut(usize, usize) -> Result<()>,
) -> Result<Training> {
    let mut pieces: ScoredPieces<T> = seeds::find(words, options)?;
    let mut lattices = Lattices::new(words, &pieces, options.threads)?;
    let seeds = pieces.len();
    let mut watch = Rounds::new(words, options.vocab_size - options.reserved, options.record);
    watch.see(Step::Seeds, &pieces);
    let desired = (options.vocab_size as f64 * 1.1) as usize;
    let rounds = rounds(seeds, desired, options.shrinking_factor);
    for round in 0.. {
        for _ in 0..options.sub_iterations {
            progress(round.min(rounds), rounds + 1)?;
            let expected = T::expect(&pieces, &lattices, options.threads);
            pieces = em::maximise(&pieces, &mut lattices, &expected, options.threads)?;
            watch.see(Step::Expectation, &pieces);
        }
        if pieces.len() <= desired {
            break;
        }
        progress(round.min(rounds), rounds + 1)?;
        let kept = ((options.shrinking_factor * pieces.len() as f64) as usize).max(desired);
        pieces = prune::prune(&pieces, &mut lattices, kept, options.threads)?;
        watch.see(Step::Pruning, &pieces);
        // The original stops here, with the scores from before the pruning; they are made anew else.
        if T::EXACT && pieces.len() <= desired {
            break;
        }
    }
    progress(rounds + 1, rounds + 1)?;
    let mut training = finish::finish(&pieces, words, options.vocab_size - options.reserved);
    training.seeds = seeds;
    training.short = watch.short;
    training.rounds = watch.all;
    Ok(training)
}

/// How many rounds of pruning it takes at most.
fn rounds(seeds: usize, desired: usize, factor: f64) -> usize {
    let mut rounds = 0;
    let mut size = seeds;
    while size > desired {
        size = ((size as f64 * factor) as usize).max(desired);
        rounds += 1;
    }
    rounds
}

/// Adds numbers to sums.
fn add_to(sums: &mut [f64], numbers: Vec<f64>) {
    for (sum, number) in sums.iter_mut().zip(numbers) {
        *sum += number;
    }
}

/// A precision, and what is done differently in it.
trait Precision: Real {
    /// Whether sums have to be rounded in the order of the one who does it in this precision.
    const EXACT: bool;
    /// What [`alternative`](Self::alternative) works with.
    type Search: Default;

    /// How often each token is expected to occur.
    fn expect(pieces: &ScoredPieces<Self>, lattices: &Lattices, threads: usize) -> Vec<Self>;

    /// How often each token occurs in the best segmentations.
    fn frequencies(pieces: &ScoredPieces<Self>, lattices: &Lattices, threads: usize) -> Vec<Self>;

    /// How a token is segmented, if it is not its own best segmentation, or without it; into what is
    /// put into `others`.
    ///
    /// # Errors
    /// When the search takes too much memory.
    fn alternative(
        pieces: &ScoredPieces<Self>,
        packing: Packing,
        home: Home<'_>,
        search: &mut Self::Search,
        others: &mut Vec<usize>,
    ) -> Result<prune::Alternative>;
}

impl Precision for f32 {
    const EXACT: bool = true;
    type Search = single::TwoBest;

    fn expect(pieces: &ScoredPieces<Self>, lattices: &Lattices, threads: usize) -> Vec<Self> {
        single::expect(pieces, lattices, threads)
    }

    fn frequencies(pieces: &ScoredPieces<Self>, lattices: &Lattices, threads: usize) -> Vec<Self> {
        single::frequencies(pieces, lattices, threads)
    }

    fn alternative(
        pieces: &ScoredPieces<Self>,
        packing: Packing,
        home: Home<'_>,
        search: &mut Self::Search,
        others: &mut Vec<usize>,
    ) -> Result<prune::Alternative> {
        search.alternative(pieces, packing, home, others)
    }
}

impl Precision for f64 {
    const EXACT: bool = false;
    type Search = prune::Viterbi;

    fn expect(pieces: &ScoredPieces<Self>, lattices: &Lattices, threads: usize) -> Vec<Self> {
        em::expect(pieces, lattices, threads)
    }

    fn frequencies(pieces: &ScoredPieces<Self>, lattices: &Lattices, threads: usize) -> Vec<Self> {
        prune::frequencies(pieces, lattices, threads)
    }

    fn alternative(
        pieces: &ScoredPieces<Self>,
        packing: Packing,
        home: Home<'_>,
        viterbi: &mut Self::Search,
        others: &mut Vec<usize>,
    ) -> Result<prune::Alternative> {
        Ok(prune::alternative(pieces, packing, home, viterbi, others))
    }
}
