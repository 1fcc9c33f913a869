//! Training of dictionaries and of n-grams.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::counts::Counts;
use super::to_python;
use crate::error::Error;
use crate::trainers::joining::{Learnt, Lines, Options};
use crate::trainers::ngrams;

type Words<'py> = Vec<(Bound<'py, PyBytes>, u64)>;

/// What training gave.
#[pyclass(frozen, module = "bpe_cli._core")]
pub struct MaxMatchTraining(Learnt);

#[pymethods]
impl MaxMatchTraining {
    #[getter]
    fn lines(&self) -> usize {
        self.0.lines
    }

    #[getter]
    fn rounds(&self) -> Vec<(usize, f64, u64)> {
        let dictionaries = self.0.dictionaries.iter();
        dictionaries
            .map(|dictionary| (dictionary.pairs, dictionary.threshold, dictionary.joined))
            .collect()
    }

    fn characters<'py>(&self, py: Python<'py>) -> Words<'py> {
        words(py, &self.0.characters)
    }

    fn dictionaries<'py>(&self, py: Python<'py>) -> Vec<Words<'py>> {
        let dictionaries = self.0.dictionaries.iter();
        dictionaries
            .map(|dictionary| words(py, &dictionary.words))
            .collect()
    }
}

fn words<'py>(py: Python<'py>, words: &[(Vec<u8>, u64)]) -> Words<'py> {
    let words = words.iter();
    words
        .map(|(word, count)| (PyBytes::new(py, word), *count))
        .collect()
}

/// Learns dictionaries from lines.
#[pyfunction]
#[pyo3(signature = (counts, *, rounds, factors, lines_per_word, lines_per_count, ratio, dictionary_size, breaks, white_space, threads, progress))]
#[expect(clippy::too_many_arguments, reason = "a bulk call names all it takes")]
pub fn train_max_match(
    py: Python<'_>,
    counts: &Counts,
    rounds: usize,
    factors: Vec<f64>,
    lines_per_word: f64,
    lines_per_count: f64,
    ratio: f64,
    dictionary_size: usize,
    breaks: &str,
    white_space: &str,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<MaxMatchTraining> {
    let joins_over_space = match white_space {
        "removed" => true,
        "break" => false,
        other => {
            return Err(PyValueError::new_err(format!(
                "there is no way {other:?} to treat white space"
            )));
        }
    };
    let options = Options {
        rounds,
        factors,
        lines_per_word,
        lines_per_count,
        ratio,
        dictionary_size,
        breaks: breaks.chars().collect(),
        joins_over_space,
    };
    // What a callback or a signal handler raised, kept while the core unwinds.
    let mut raised = None;
    let result = py.detach(|| {
        // The counts are free again before anybody is called who might ask them something.
        let lines = Lines::new(counts.lock().iter().map(|(line, _)| line), &options)?;
        lines.learn(&options, threads, &mut |round| {
            let called = Python::attach(|py| {
                py.check_signals()?;
                let call = progress.as_ref();
                call.map_or(Ok(()), |call| call.call1(py, (round, rounds)).map(drop))
            });
            called.map_err(|error| {
                raised = Some(error);
                Error::Stopped
            })
        })
    });
    match raised {
        Some(error) => Err(error),
        None => result.map(MaxMatchTraining).map_err(to_python),
    }
}

/// Counts the n-grams of pieces.
#[pyfunction]
pub fn count_ngrams(
    py: Python<'_>,
    counts: &Counts,
    n: usize,
    max_bytes: usize,
) -> PyResult<Counts> {
    py.detach(|| ngrams::count(counts.lock().iter(), n, max_bytes))
        .map(Counts::from)
        .map_err(to_python)
}
