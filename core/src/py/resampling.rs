//! Units and what is drawn from them.

use pyo3::prelude::*;

use super::arrays::{Lent, U64Array};
use super::to_python;
use crate::measure;

/// Counts of tokens by document, or by batches of documents when there are many.
#[pyclass(module = "bpe_cli._core")]
pub struct Units(measure::Units);

#[pymethods]
impl Units {
    #[new]
    fn new(most: usize) -> Self {
        Self(measure::Units::new(most))
    }

    fn extend(&mut self, py: Python<'_>, counts: Lent<u64>) -> PyResult<()> {
        let counts = counts.items(py)?;
        counts.iter().for_each(|&count| self.0.push(count));
        Ok(())
    }

    #[getter]
    fn counts(&self) -> U64Array {
        self.0.counts().to_vec().into()
    }

    #[getter]
    fn unit_documents(&self) -> u64 {
        self.0.unit_documents()
    }
}

/// Gives the 95% interval of a ratio of sums.
#[pyfunction]
pub fn bootstrap_interval(
    py: Python<'_>,
    first: Lent<u64>,
    second: Lent<u64>,
    resamples: usize,
    seed: u64,
    threads: usize,
) -> PyResult<Option<(f64, f64)>> {
    let (first, second) = (first.items(py)?, second.items(py)?);
    py.detach(|| measure::bootstrap_interval(&first, &second, resamples, seed, threads))
        .map_err(to_python)
}

/// Gives the probability of a difference by chance.
#[pyfunction]
pub fn sign_flip(
    py: Python<'_>,
    first: Lent<u64>,
    second: Lent<u64>,
    resamples: usize,
    seed: u64,
    threads: usize,
) -> PyResult<f64> {
    let (first, second) = (first.items(py)?, second.items(py)?);
    py.detach(|| measure::sign_flip(&first, &second, resamples, seed, threads))
        .map_err(to_python)
}
