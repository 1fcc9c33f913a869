//! Training byte-pair encoding that takes tokens back.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::arguments::Options;
use super::arrays::{U32Array, U64Array, joined};
use super::counts::Counts;
use super::progress;
use crate::trainers::picky;

/// Merges that were learnt, with tokens that were taken back.
#[pyclass(frozen, module = "bpe_cli._core")]
pub struct PickyTraining(picky::Training);

#[pymethods]
impl PickyTraining {
    #[getter]
    fn events(&self) -> U32Array {
        self.0.events.as_flattened().to_vec().into()
    }

    fn tokens<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyBytes>, U32Array)> {
        joined(py, &self.0.tokens)
    }

    #[getter]
    fn present(&self) -> usize {
        self.0.present
    }

    #[getter]
    fn uses(&self) -> U64Array {
        self.0.uses.clone().into()
    }

    #[getter]
    fn exhausted(&self) -> bool {
        self.0.exhausted
    }
}

/// Learns merges from counts of words, and takes tokens back that are hardly used.
#[pyfunction]
#[pyo3(signature = (counts, options, progress=None))]
pub fn train_picky(
    py: Python<'_>,
    counts: &Counts,
    options: Options<picky::Options>,
    progress: Option<Py<PyAny>>,
) -> PyResult<PickyTraining> {
    let options = options.0;
    progress::run(py, progress.as_ref(), |report| {
        let trainer = picky::Trainer::new(counts.lock().iter(), &options)?;
        trainer.run(&mut |tokens| report(tokens, options.vocab_size))
    })
    .map(PickyTraining)
}
