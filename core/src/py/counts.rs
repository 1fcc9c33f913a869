//! Counts of pieces.

use std::cmp::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::arguments::BlockArg;
use super::arrays::{BufferArg, U64Array};
use super::split::{SpecialMatcher, Splitter};
use super::stages::Stages;
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
        owned(self.lock().iter())
    }
}

impl From<count::Counts> for Counts {
    fn from(counts: count::Counts) -> Self {
        Self(Mutex::new(counts))
    }
}

fn owned<'a>(pieces: impl Iterator<Item = (&'a [u8], u64)>) -> Vec<(Vec<u8>, u64)> {
    pieces
        .map(|(piece, count)| (piece.to_vec(), count))
        .collect()
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

    fn add_block(
        &self,
        py: Python<'_>,
        block: BlockArg,
        splitter: &Splitter,
        prefix_space: bool,
        matcher: Option<&SpecialMatcher>,
        threads: usize,
    ) -> PyResult<()> {
        let matcher = matcher.map(|matcher| &matcher.0);
        Ok(py.detach(|| {
            self.lock().add_block(
                &splitter.0,
                matcher,
                prefix_space,
                &block.documents(),
                threads,
            )
        })?)
    }

    fn add_staged(
        &self,
        py: Python<'_>,
        block: BlockArg,
        stages: &Stages,
        matcher: Option<&SpecialMatcher>,
        threads: usize,
    ) -> PyResult<()> {
        let matcher = matcher.map(|matcher| &matcher.0);
        Ok(py.detach(|| {
            self.lock()
                .add_staged(&stages.0, matcher, &block.documents(), threads)
        })?)
    }

    #[pyo3(signature = (data, ends, counts=None))]
    fn add_pieces(
        &self,
        py: Python<'_>,
        data: BufferArg<u8>,
        ends: BufferArg<u64>,
        counts: Option<BufferArg<u64>>,
    ) -> PyResult<()> {
        Ok(py.detach(|| self.lock().add_pieces(&data, &ends, counts.as_deref()))?)
    }

    fn merge(&self, py: Python<'_>, other: &Self) -> PyResult<()> {
        Ok(py.detach(|| {
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
        })?)
    }

    fn dump<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes = py.detach(|| self.lock().dump());
        PyBytes::new(py, &bytes)
    }

    #[staticmethod]
    fn load(py: Python<'_>, data: BufferArg<u8>, max_bytes: usize) -> PyResult<Self> {
        Ok(py.detach(|| count::Counts::load(&data, max_bytes))?.into())
    }

    fn items<'py>(&self, py: Python<'py>, start: usize, limit: usize) -> Counted<'py> {
        let items = py.detach(|| {
            let counts = self.lock();
            let places = start..start.saturating_add(limit).min(counts.unique());
            owned(places.filter_map(|place| counts.get(place)))
        });
        counted(py, &items)
    }

    #[pyo3(signature = (prefix=None))]
    fn pieces<'py>(
        &self,
        py: Python<'py>,
        prefix: Option<BufferArg<u8>>,
    ) -> (Bound<'py, PyBytes>, U64Array) {
        let prefix = prefix.as_deref().unwrap_or_default();
        let (bytes, ends) = py.detach(|| self.lock().pieces(prefix));
        (PyBytes::new(py, &bytes), ends.into())
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
    let limit = limit.unwrap_or(usize::MAX);
    let found = py.detach(|| {
        let counts = counts.lock();
        owned(frequent::most(counts.iter(), min_frequency, limit).into_iter())
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
