//! Training of tokens that cover words.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::arguments::Options;
use super::arrays::{U32Array, U64Array, joined};
use super::counts::Counts;
use super::progress;
use crate::trainers::greedtok;

/// Tokens that cover words.
#[pyclass(frozen, module = "bpe_cli._core")]
pub struct GreedTokTraining(greedtok::Training);

#[pymethods]
impl GreedTokTraining {
    fn tokens<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyBytes>, U32Array)> {
        joined(py, &self.0.tokens)
    }

    #[getter]
    fn scores(&self) -> U64Array {
        self.0.scores.clone().into()
    }

    #[getter]
    fn candidates(&self) -> usize {
        self.0.candidates
    }
}

/// Chooses the tokens that cover most of the words.
#[pyfunction]
#[pyo3(signature = (counts, options, progress=None))]
pub fn train_greedtok(
    py: Python<'_>,
    counts: &Counts,
    options: Options<greedtok::Options>,
    progress: Option<Py<PyAny>>,
) -> PyResult<GreedTokTraining> {
    progress::run(py, progress.as_ref(), |report| {
        // A copy, so that nobody waits for the counts while training goes on.
        let words = counts.copy();
        let words = words.iter().map(|(word, count)| (&word[..], *count));
        greedtok::train(words, &options.0, report)
    })
    .map(GreedTokTraining)
}
