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
use crate::trainers::{frequent, letters, ngrams};

/// How often each piece occurs: exact, u64, in order of first occurrence.
#[pyclass(frozen, module = "bpe_cli._core")]
pub struct Counts(Mutex<count::Counts>);

impl Counts {
    /// Locks; to be called without the GIL, which whoever holds the lock may need.
    pub(super) fn lock(&self) -> MutexGuard<'_, count::Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Copies all pieces, to be used where nobody should wait for the lock; without the GIL, too.
    pub(super) fn copy(&self) -> Vec<(Vec<u8>, u64)> {
        let counts = self.lock();
        let pieces = counts.iter();
        pieces
            .map(|(piece, count)| (piece.to_vec(), count))
            .collect()
    }
}

impl From<count::Counts> for Counts {
    fn from(counts: count::Counts) -> Self {
        Self(Mutex::new(counts))
    }
}

/// Pieces as Python gets them, with their counts.
pub type Counted<'py> = Vec<(Bound<'py, PyBytes>, u64)>;

/// Gives pieces with their counts to Python.
pub fn counted<'py>(py: Python<'py>, pieces: &[(Vec<u8>, u64)]) -> Counted<'py> {
    let pieces = pieces.iter();
    pieces
        .map(|(piece, count)| (PyBytes::new(py, piece), *count))
        .collect()
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

    fn items<'py>(&self, py: Python<'py>, start: usize, limit: usize) -> Counted<'py> {
        let items: Vec<(Vec<u8>, u64)> = py.detach(|| {
            let counts = self.lock();
            let places = start..start.saturating_add(limit).min(counts.unique());
            places
                .filter_map(|place| counts.get(place))
                .map(|(piece, count)| (piece.to_vec(), count))
                .collect()
        });
        counted(py, &items)
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

/// Gives each character of the pieces with its count, and whether a piece begins with it and whether one
/// has it behind its beginning.
#[pyfunction]
pub fn character_counts(py: Python<'_>, counts: &Counts) -> Vec<(char, u64, bool, bool)> {
    let found = py.detach(|| letters::of(counts.lock().iter())).into_iter();
    found
        .map(|(character, letter)| (character, letter.count, letter.begins, letter.stands_inside))
        .collect()
}

/// Gives the most frequent pieces.
#[pyfunction]
#[pyo3(signature = (counts, min_frequency, limit))]
pub fn most_frequent<'py>(
    py: Python<'py>,
    counts: &Counts,
    min_frequency: u64,
    limit: Option<usize>,
) -> Counted<'py> {
    let found: Vec<(Vec<u8>, u64)> = py.detach(|| {
        let counts = counts.lock();
        let found = frequent::most(counts.iter(), min_frequency, limit.unwrap_or(usize::MAX));
        let found = found.into_iter();
        found
            .map(|(piece, count)| (piece.to_vec(), count))
            .collect()
    });
    counted(py, &found)
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

/// Counts the n-grams of pieces.
#[pyfunction]
pub fn count_ngrams(
    py: Python<'_>,
    counts: &Counts,
    n: usize,
    max_bytes: usize,
) -> PyResult<Counts> {
    let ngrams = py.detach(|| ngrams::count(counts.lock().iter(), n, max_bytes))?;
    Ok(ngrams.into())
}
