//! Counts of pieces.

use std::cmp::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::arrays::{Lent, LentDocuments, U64Array};
use super::split::{SpecialMatcher, Splitter};
use super::stages::Stages;
use super::to_python;
use crate::count;

/// How often each piece occurs: exact, u64, in order of first occurrence.
#[pyclass(frozen, module = "bpe_cli._core")]
pub struct Counts(Mutex<count::Counts>);

impl Counts {
    /// Locks; to be called without the GIL, which whoever holds the lock may need.
    pub(super) fn lock(&self) -> MutexGuard<'_, count::Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl From<count::Counts> for Counts {
    fn from(counts: count::Counts) -> Self {
        Self(Mutex::new(counts))
    }
}

#[pymethods]
impl Counts {
    #[new]
    fn new(max_bytes: usize) -> Self {
        Self(Mutex::new(count::Counts::new(max_bytes)))
    }

    #[pyo3(signature = (splitter, matcher, prefix_space, data, ends, threads, continued=false))]
    #[expect(clippy::too_many_arguments, reason = "a bulk call names all it takes")]
    fn add_block(
        &self,
        py: Python<'_>,
        splitter: &Splitter,
        matcher: Option<&SpecialMatcher>,
        prefix_space: bool,
        data: Lent<u8>,
        ends: Lent<u64>,
        threads: usize,
        continued: bool,
    ) -> PyResult<()> {
        let documents = LentDocuments::new(py, &data, &ends, continued)?;
        let matcher = matcher.map(|matcher| &matcher.0);
        py.detach(|| {
            self.lock().add_block(
                &splitter.0,
                matcher,
                prefix_space,
                &documents.get(),
                threads,
            )
        })
        .map_err(to_python)
    }

    #[pyo3(signature = (stages, matcher, data, ends, threads, continued=false))]
    #[expect(clippy::too_many_arguments, reason = "a bulk call names all it takes")]
    fn add_staged(
        &self,
        py: Python<'_>,
        stages: &Stages,
        matcher: Option<&SpecialMatcher>,
        data: Lent<u8>,
        ends: Lent<u64>,
        threads: usize,
        continued: bool,
    ) -> PyResult<()> {
        let documents = LentDocuments::new(py, &data, &ends, continued)?;
        let matcher = matcher.map(|matcher| &matcher.0);
        py.detach(|| {
            self.lock()
                .add_staged(&stages.0, matcher, &documents.get(), threads)
        })
        .map_err(to_python)
    }

    #[pyo3(signature = (data, ends, counts))]
    fn add_pieces(
        &self,
        py: Python<'_>,
        data: Lent<u8>,
        ends: Lent<u64>,
        counts: Option<Lent<u64>>,
    ) -> PyResult<()> {
        let (text, ends) = (data.items(py)?, ends.items(py)?);
        let counts = counts.as_ref().map(|counts| counts.items(py)).transpose()?;
        py.detach(|| self.lock().add_pieces(&text, &ends, counts.as_deref()))
            .map_err(to_python)
    }

    fn merge(&self, py: Python<'_>, other: &Self) -> PyResult<()> {
        py.detach(|| {
            // Whoever needs two locks takes them in the same order: by address.
            match std::ptr::from_ref(self).cmp(&std::ptr::from_ref(other)) {
                Ordering::Less => {
                    let mut own = self.lock();
                    own.merge(&other.lock())
                }
                Ordering::Greater => {
                    let theirs = other.lock();
                    self.lock().merge(&theirs)
                }
                Ordering::Equal => {
                    let mut own = self.lock();
                    let copy = count::Counts::load(&own.dump(), usize::MAX)?;
                    own.merge(&copy)
                }
            }
        })
        .map_err(to_python)
    }

    fn dump<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes = py.detach(|| self.lock().dump());
        PyBytes::new(py, &bytes)
    }

    #[staticmethod]
    fn load(py: Python<'_>, data: Lent<u8>, max_bytes: usize) -> PyResult<Self> {
        let bytes = data.items(py)?;
        let counts = py
            .detach(|| count::Counts::load(&bytes, max_bytes))
            .map_err(to_python)?;
        Ok(Self(Mutex::new(counts)))
    }

    fn items<'py>(
        &self,
        py: Python<'py>,
        start: usize,
        limit: usize,
    ) -> Vec<(Bound<'py, PyBytes>, u64)> {
        let items: Vec<(Vec<u8>, u64)> = py.detach(|| {
            let counts = self.lock();
            let places = start..start.saturating_add(limit).min(counts.unique());
            places
                .filter_map(|place| counts.get(place))
                .map(|(piece, count)| (piece.to_vec(), count))
                .collect()
        });
        items
            .into_iter()
            .map(|(piece, count)| (PyBytes::new(py, &piece), count))
            .collect()
    }

    #[pyo3(signature = (prefix=None))]
    fn pieces<'py>(
        &self,
        py: Python<'py>,
        prefix: Option<Lent<u8>>,
    ) -> PyResult<(Bound<'py, PyBytes>, U64Array)> {
        let prefix = prefix.as_ref().map(|prefix| prefix.items(py)).transpose()?;
        let prefix = prefix.unwrap_or_default();
        let (bytes, ends) = py.detach(|| self.lock().pieces(&prefix));
        Ok((PyBytes::new(py, &bytes), ends.into()))
    }

    #[getter]
    fn unique(&self, py: Python<'_>) -> usize {
        py.detach(|| self.lock().unique())
    }

    #[getter]
    fn total(&self, py: Python<'_>) -> u64 {
        py.detach(|| self.lock().total())
    }

    #[getter]
    fn total_bytes(&self, py: Python<'_>) -> u64 {
        py.detach(|| self.lock().total_bytes())
    }
}
