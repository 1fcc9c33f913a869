//! Training of word pieces.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::arrays::U32Array;
use super::counts::Counts;
use super::to_python;
use super::train::BpeTraining;
use crate::error::{Error, Result};
use crate::trainers::likelihood::{self, Tie, Trainer};
use crate::trainers::top_down;

/// Learns merges from counts by the score of pairs.
#[pyfunction]
#[pyo3(signature = (counts, *, initial, symbols, continuing_subword_prefix, vocab_size, min_frequency, tie, progress))]
#[expect(clippy::too_many_arguments, reason = "a bulk call names all it takes")]
pub fn train_by_likelihood(
    py: Python<'_>,
    counts: &Counts,
    initial: Vec<Vec<u8>>,
    symbols: Vec<u32>,
    continuing_subword_prefix: String,
    vocab_size: usize,
    min_frequency: u64,
    tie: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<BpeTraining> {
    let tie = match tie {
        "first-seen" => Tie::FirstSeen,
        "most-frequent" => Tie::MostFrequent,
        other => {
            return Err(PyValueError::new_err(format!(
                "there is no rule {other:?} for ties"
            )));
        }
    };
    let options = likelihood::Options {
        initial,
        symbols,
        continuing_subword_prefix: continuing_subword_prefix.into_bytes(),
        vocab_size,
        min_frequency,
        tie,
    };
    let training = work(py, progress, Some(vocab_size), |progress| {
        // The counts are free again before anybody is called who might ask them something.
        let trainer = Trainer::new(counts.lock().iter(), &options)?;
        trainer.run(progress)
    })?;
    Ok(BpeTraining(training))
}

/// Learns a vocabulary from counts by a threshold.
#[pyfunction]
#[pyo3(signature = (counts, *, reserved, continuing_subword_prefix, vocab_size, min_frequency, max_frequency, iterations, max_word_length, max_alphabet, max_words, progress))]
#[expect(clippy::too_many_arguments, reason = "a bulk call names all it takes")]
pub fn train_top_down<'py>(
    py: Python<'py>,
    counts: &Counts,
    reserved: Vec<Vec<u8>>,
    continuing_subword_prefix: String,
    vocab_size: usize,
    min_frequency: u64,
    max_frequency: u64,
    iterations: usize,
    max_word_length: usize,
    max_alphabet: usize,
    max_words: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Bound<'py, PyBytes>, U32Array, u64)> {
    let options = top_down::Options {
        reserved,
        continuing_subword_prefix,
        vocab_size,
        min_frequency,
        max_frequency,
        iterations,
        max_word_length,
        max_alphabet,
        max_words,
    };
    let vocabulary = work(py, progress, None, |progress| {
        let words: Vec<(Vec<u8>, u64)> = counts
            .lock()
            .iter()
            .map(|(word, count)| (word.to_vec(), count))
            .collect();
        let words = words.iter().map(|(word, count)| (&word[..], *count));
        top_down::learn(words, &options, progress)
    })?;
    let mut end = 0;
    let ends: Vec<u32> = vocabulary
        .tokens
        .iter()
        .map(|token| {
            end += token.len() as u32;
            end
        })
        .collect();
    let blob = PyBytes::new(py, &vocabulary.tokens.concat());
    Ok((blob, ends.into(), vocabulary.threshold))
}

/// Works without the GIL; takes it for each report of progress, where signals are checked too.
///
/// `total` is what there is to do; if nobody knows, the report is (done, done).
fn work<T: Send>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    total: Option<usize>,
    job: impl FnOnce(&mut dyn FnMut(usize) -> Result<()>) -> Result<T> + Send,
) -> PyResult<T> {
    // What a callback or a signal handler raised, kept while the core unwinds.
    let mut raised = None;
    let result = py.detach(|| {
        job(&mut |done| {
            let called = Python::attach(|py| {
                py.check_signals()?;
                let call = progress.as_ref();
                call.map_or(Ok(()), |call| {
                    call.call1(py, (done, total.unwrap_or(done))).map(drop)
                })
            });
            called.map_err(|error| {
                raised = Some(error);
                Error::Stopped
            })
        })
    });
    match raised {
        Some(error) => Err(error),
        None => result.map_err(to_python),
    }
}
