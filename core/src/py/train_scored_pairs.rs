//! Training of merges by SentencePiece's rules.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::arrays::U64Array;
use super::counts::Counts;
use super::to_python;
use crate::error::Error;
use crate::trainers::scored_pairs::{Options, Trainer};
use crate::trainers::valid_piece::Rules;
use crate::trainers::{frequent, letters};

/// Gives each character of the pieces with its count, the most frequent first, equals by code point, and
/// whether a piece begins with it and whether one has it behind its beginning. A byte that is no part of
/// UTF-8 is left out.
#[pyfunction]
pub fn character_counts(py: Python<'_>, counts: &Counts) -> Vec<(char, u64, bool, bool)> {
    let found = py.detach(|| letters::of(counts.lock().iter())).into_iter();
    found
        .map(|(character, letter)| (character, letter.count, letter.begins, letter.stands_inside))
        .collect()
}

/// Gives the most frequent pieces, of equals that of lower bytes first.
#[pyfunction]
#[pyo3(signature = (counts, min_frequency, limit))]
pub fn most_frequent<'py>(
    py: Python<'py>,
    counts: &Counts,
    min_frequency: u64,
    limit: Option<usize>,
) -> Vec<(Bound<'py, PyBytes>, u64)> {
    let found: Vec<(Vec<u8>, u64)> = py.detach(|| {
        let counts = counts.lock();
        let found = frequent::most(counts.iter(), min_frequency, limit.unwrap_or(usize::MAX));
        found
            .into_iter()
            .map(|(piece, count)| (piece.to_vec(), count))
            .collect()
    });
    let found = found.into_iter();
    found
        .map(|(piece, count)| (PyBytes::new(py, &piece), count))
        .collect()
}

/// Gives the most frequent words that are spelt with these characters alone.
#[pyfunction]
pub fn most_frequent_words(
    py: Python<'_>,
    counts: &Counts,
    characters: &str,
    limit: usize,
) -> Vec<(String, u64)> {
    py.detach(|| {
        let counts = counts.lock();
        let found = frequent::spelt_with(counts.iter(), characters, limit).into_iter();
        found
            .map(|(word, count)| (word.into_owned(), count))
            .collect()
    })
}

/// Learns merges of characters by SentencePiece's rules.
#[pyfunction]
#[pyo3(signature = (counts, *, alphabet, merges, min_frequency, max_piece_length, split_by_whitespace,
    split_by_unicode_script, split_by_number, split_digits, treat_whitespace_as_suffix,
    allow_whitespace_only_pieces, progress=None))]
#[expect(clippy::too_many_arguments, reason = "a bulk call names all it takes")]
#[expect(
    clippy::fn_params_excessive_bools,
    reason = "each is an option by its name"
)]
pub fn train_scored_pairs(
    py: Python<'_>,
    counts: &Counts,
    alphabet: Vec<char>,
    merges: usize,
    min_frequency: u64,
    max_piece_length: usize,
    split_by_whitespace: bool,
    split_by_unicode_script: bool,
    split_by_number: bool,
    split_digits: bool,
    treat_whitespace_as_suffix: bool,
    allow_whitespace_only_pieces: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Vec<String>, U64Array, bool)> {
    let options = Options {
        alphabet,
        merges,
        min_frequency,
        rules: Rules {
            max_length: max_piece_length,
            split_by_whitespace,
            split_by_unicode_script,
            split_by_number,
            split_digits,
            treat_whitespace_as_suffix,
            allow_whitespace_only_pieces,
        },
    };
    // What a callback or a signal handler raised, kept while the core unwinds.
    let mut raised = None;
    let result = py.detach(|| {
        let trainer = Trainer::new(counts.lock().iter(), &options)?;
        trainer.run(&mut |done| {
            let called = Python::attach(|py| {
                py.check_signals()?;
                progress
                    .as_ref()
                    .map_or(Ok(()), |call| call.call1(py, (done, merges)).map(drop))
            });
            called.map_err(|error| {
                raised = Some(error);
                Error::Stopped
            })
        })
    });
    match raised {
        Some(error) => Err(error),
        None => result
            .map(|training| (training.tokens, training.counts.into(), training.exhausted))
            .map_err(to_python),
    }
}
