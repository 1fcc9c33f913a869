//! Training of unigram models.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::arrays::U32Array;
use super::counts::Counts;
use super::to_python;
use crate::error::{Error, Result};
use crate::trainers::unigram::{self, Options, Textbook, Training};
use crate::trainers::valid_piece::Rules;

/// What training a unigram model gave.
#[pyclass(frozen, module = "bpe_cli._core")]
pub struct UnigramTraining(Training);

/// A step's name, and the tokens that it left with their scores.
type RecordedRound<'py> = (&'static str, Vec<(Bound<'py, PyBytes>, f64)>);

#[pymethods]
impl UnigramTraining {
    fn tokens<'py>(&self, py: Python<'py>) -> (Bound<'py, PyBytes>, U32Array) {
        let mut end = 0;
        let ends: Vec<u32> = self
            .0
            .tokens
            .iter()
            .map(|token| {
                end += token.len() as u32;
                end
            })
            .collect();
        (PyBytes::new(py, &self.0.tokens.concat()), ends.into())
    }

    #[getter]
    fn scores(&self) -> Vec<f64> {
        self.0.scores.clone()
    }

    #[getter]
    fn characters(&self) -> usize {
        self.0.characters
    }

    #[getter]
    fn seeds(&self) -> usize {
        self.0.seeds
    }

    #[getter]
    fn short(&self) -> Option<&'static str> {
        self.0.short.map(unigram::Step::name)
    }

    fn rounds<'py>(&self, py: Python<'py>) -> Vec<RecordedRound<'py>> {
        let tokens = |round: &unigram::Round| {
            let tokens = round.tokens.iter();
            tokens
                .map(|(token, score)| (PyBytes::new(py, token), *score))
                .collect()
        };
        let rounds = self.0.rounds.iter();
        rounds
            .map(|round| (round.step.name(), tokens(round)))
            .collect()
    }
}

/// Learns a unigram model from counts.
#[pyfunction]
#[pyo3(signature = (
    counts, *, rule, vocab_size, reserved, character_coverage, required_chars, seed_size,
    shrinking_factor, sub_iterations, max_piece_length, split_by_whitespace,
    split_by_unicode_script, split_by_number, split_digits, treat_whitespace_as_suffix,
    allow_whitespace_only_pieces, threads, progress, record=false,
))]
#[expect(
    clippy::too_many_arguments,
    clippy::fn_params_excessive_bools,
    reason = "a bulk call names all it takes"
)]
pub fn train_unigram(
    py: Python<'_>,
    counts: &Counts,
    rule: &str,
    vocab_size: usize,
    reserved: usize,
    character_coverage: f64,
    required_chars: String,
    seed_size: usize,
    shrinking_factor: f64,
    sub_iterations: usize,
    max_piece_length: usize,
    split_by_whitespace: bool,
    split_by_unicode_script: bool,
    split_by_number: bool,
    split_digits: bool,
    treat_whitespace_as_suffix: bool,
    allow_whitespace_only_pieces: bool,
    threads: usize,
    progress: Option<Py<PyAny>>,
    record: bool,
) -> PyResult<UnigramTraining> {
    let single_precision = match rule {
        "em" | "textbook" => false,
        "em-single" => true,
        other => {
            return Err(PyValueError::new_err(format!(
                "there is no rule {other:?} for training a unigram model"
            )));
        }
    };
    let options = Options {
        vocab_size,
        reserved,
        character_coverage,
        required: required_chars,
        seed_size,
        shrinking_factor,
        sub_iterations,
        rules: Rules {
            max_length: max_piece_length,
            split_by_whitespace,
            split_by_unicode_script,
            split_by_number,
            split_digits,
            treat_whitespace_as_suffix,
            allow_whitespace_only_pieces,
        },
        single_precision,
        threads,
        record,
    };
    // What a callback or a signal handler raised, kept while the core unwinds.
    let mut raised = None;
    let result = py.detach(|| {
        let mut report = |done: usize, all: usize| -> Result<()> {
            let called = Python::attach(|py| {
                py.check_signals()?;
                let call = progress.as_ref();
                call.map_or(Ok(()), |call| call.call1(py, (done, all)).map(drop))
            });
            called.map_err(|error| {
                raised = Some(error);
                Error::Stopped
            })
        };
        // A copy, so that nobody waits for the counts while training goes on.
        let copy: Vec<(Vec<u8>, u64)> = counts
            .lock()
            .iter()
            .map(|(piece, count)| (piece.to_vec(), count))
            .collect();
        let pieces = copy.iter().map(|(piece, count)| (&piece[..], *count));
        if rule == "textbook" {
            let textbook = Textbook {
                vocab_size: vocab_size.saturating_sub(reserved),
                initial_size: seed_size,
                // The decimal number that was meant: 0.1 for 0.9.
                dropped: ((1.0 - shrinking_factor) * 1e9).round() / 1e9,
            };
            return unigram::train_textbook(pieces, textbook, &mut report);
        }
        unigram::train(pieces, &options, &mut report)
    });
    match raised {
        Some(error) => Err(error),
        None => result.map(UnigramTraining).map_err(to_python),
    }
}
