//! Counts of pieces.
//!
//! Length: one class that Python sees, and the functions that read it.

use std::borrow::Cow;
use std::cell::RefCell;
use std::cmp::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::arguments::BlockArg;
use super::arrays::{BufferArg, U64Array};
use super::bytes::bytes_of;
use super::split::{SpecialMatcher, Splitter};
use super::stages::Stages;
use super::working::working;
use crate::count;
use crate::error::{Error, Result, invalid};
use crate::memory::reserve;
use crate::trainers::{frequent, letters, ngrams};

/// Counts in one of two forms.
pub(super) enum Held {
    /// To which pieces can be added.
    Table(count::Counts),
    /// Which are only read.
    Packed(count::Packed),
}

impl Held {
    /// (piece, count) in order of first occurrence.
    pub(super) fn iter(&self) -> Box<dyn Iterator<Item = (&[u8], u64)> + '_> {
        self.iter_from(0)
    }

    fn iter_from(&self, place: usize) -> Box<dyn Iterator<Item = (&[u8], u64)> + '_> {
        match self {
            Self::Table(counts) => Box::new((place..).map_while(|place| counts.get(place))),
            Self::Packed(counts) => Box::new(counts.iter_from(place)),
        }
    }

    fn table(&mut self) -> Result<&mut count::Counts> {
        match self {
            Self::Table(counts) => Ok(counts),
            Self::Packed(_) => Err(invalid!("counts that are packed take no more pieces")),
        }
    }

    fn add_all(&mut self, other: &Self) -> Result<()> {
        let own = self.table()?;
        match other {
            Self::Table(counts) => own.merge(counts),
            Self::Packed(_) => other
                .iter()
                .try_for_each(|(piece, count)| own.add(piece, count)),
        }
    }

    fn dump(&self) -> Cow<'_, [u8]> {
        match self {
            Self::Table(counts) => counts.dump().into(),
            Self::Packed(counts) => counts.bytes().into(),
        }
    }

    /// How many different pieces, how many pieces, and how many bytes they have.
    fn totals(&self) -> (usize, u64, u64) {
        match self {
            Self::Table(counts) => (counts.unique(), counts.total(), counts.total_bytes()),
            Self::Packed(counts) => (counts.unique(), counts.total(), counts.total_bytes()),
        }
    }
}

/// How often each piece occurs: exact, u64, in order of first occurrence.
#[pyclass(frozen, module = "bpe_cli._core")]
pub struct Counts(Mutex<Held>);

impl Counts {
    /// Locks; to be called without the GIL, which whoever holds the lock may need.
    pub(super) fn lock(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Copies all pieces, to be used where nobody should wait for the lock; without the GIL, too.
    pub(super) fn copy(&self) -> Vec<(Vec<u8>, u64)> {
        owned(self.lock().iter())
    }
}

impl From<count::Counts> for Counts {
    fn from(counts: count::Counts) -> Self {
        Self(Mutex::new(Held::Table(counts)))
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
        count::Counts::new(max_bytes).into()
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
        Ok(working(py, || {
            self.lock().table()?.add_block(
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
        Ok(working(py, || {
            self.lock()
                .table()?
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
        Ok(working(py, || {
            let mut held = self.lock();
            held.table()?.add_pieces(&data, &ends, counts.as_deref())
        })?)
    }

    fn merge(&self, py: Python<'_>, other: &Self) -> PyResult<()> {
        Ok(working(py, || {
            // Whoever needs two locks takes them in the same order: by address.
            match std::ptr::from_ref(self).cmp(&std::ptr::from_ref(other)) {
                Ordering::Less => {
                    let mut own = self.lock();
                    own.add_all(&other.lock())
                }
                Ordering::Greater => {
                    let theirs = other.lock();
                    self.lock().add_all(&theirs)
                }
                Ordering::Equal => {
                    let mut own = self.lock();
                    let copy = count::Counts::load(&own.dump(), usize::MAX)?;
                    own.add_all(&Held::Table(copy))
                }
            }
        })?)
    }

    fn add_marked(&self, py: Python<'_>, other: &Self, mark: BufferArg<u8>) -> PyResult<()> {
        Ok(working(py, || {
            // A copy: whoever holds one lock does not wait for another.
            let theirs = other.copy();
            let mut held = self.lock();
            let own = held.table()?;
            let mut marked = mark.to_vec();
            for (piece, count) in theirs {
                marked.truncate(mark.len());
                marked.extend_from_slice(&piece);
                own.add(&marked, count)?;
            }
            Ok::<_, Error>(())
        })?)
    }

    fn dump<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = working(py, || self.lock().dump().into_owned());
        bytes_of(py, &bytes)
    }

    #[staticmethod]
    fn load(py: Python<'_>, data: BufferArg<u8>, max_bytes: usize) -> PyResult<Self> {
        Ok(working(py, || count::Counts::load(&data, max_bytes))?.into())
    }

    fn items<'py>(&self, py: Python<'py>, start: usize, limit: usize) -> Counted<'py> {
        let items = py.detach(|| owned(self.lock().iter_from(start).take(limit)));
        counted(py, &items)
    }

    #[pyo3(signature = (prefix=None))]
    fn pieces<'py>(
        &self,
        py: Python<'py>,
        prefix: Option<BufferArg<u8>>,
    ) -> PyResult<(Bound<'py, PyBytes>, U64Array)> {
        let prefix = prefix.as_deref().unwrap_or_default();
        let (bytes, ends) = py.detach(|| joined(self.lock().iter(), prefix));
        Ok((bytes_of(py, &bytes)?, ends.into()))
    }

    #[getter]
    fn memory(&self, py: Python<'_>) -> usize {
        py.detach(|| match &*self.lock() {
            Held::Table(counts) => counts.bytes(),
            Held::Packed(counts) => counts.bytes().len(),
        })
    }

    fn spill(&self, py: Python<'_>, first: u64, write: Py<PyAny>) -> PyResult<()> {
        calling(py, |call| {
            let mut held = self.lock();
            held.table()?.spill(first, &mut |partition, records| {
                call(&|py| write.call1(py, (partition, bytes_of(py, records)?))).map(drop)
            })
        })
    }

    #[staticmethod]
    fn packed(py: Python<'_>, data: BufferArg<u8>) -> PyResult<Self> {
        let packed = working(py, || count::Packed::new(data.to_vec()))?;
        Ok(Self(Mutex::new(Held::Packed(packed))))
    }

    #[getter]
    fn unique(&self, py: Python<'_>) -> usize {
        py.detach(|| self.lock().totals().0)
    }

    #[getter]
    fn total(&self, py: Python<'_>) -> u64 {
        py.detach(|| self.lock().totals().1)
    }

    #[getter]
    fn total_bytes(&self, py: Python<'_>) -> u64 {
        py.detach(|| self.lock().totals().2)
    }
}

/// Calls Python from work that goes on without the GIL; what it raises ends the work.
fn calling<T: Send>(
    py: Python<'_>,
    job: impl FnOnce(&mut Call<'_>) -> Result<T> + Send,
) -> PyResult<T> {
    let mut raised = None;
    let result = working(py, || {
        job(&mut |called| {
            reserve::check()?;
            let given = Python::attach(|py| {
                py.check_signals()?;
                called(py)
            });
            given.map_err(|error| {
                raised = Some(error);
                Error::Stopped
            })
        })
    });
    match raised {
        Some(error) => Err(error),
        None => result.map_err(PyErr::from),
    }
}

/// Takes the GIL, checks signals, and calls.
type Call<'a> = dyn FnMut(&dyn Fn(Python<'_>) -> PyResult<Py<PyAny>>) -> Result<Py<PyAny>> + 'a;

/// The records of one partition of spilled counts, added up.
#[pyclass(frozen, module = "bpe_cli._core")]
pub struct NumberedCounts(Mutex<count::Numbered>);

#[pymethods]
impl NumberedCounts {
    #[new]
    fn new(max_bytes: usize) -> Self {
        Self(Mutex::new(count::Numbered::new(max_bytes)))
    }

    fn add(&self, py: Python<'_>, records: BufferArg<u8>) -> PyResult<()> {
        Ok(working(py, || {
            let mut own = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            own.add(&records)
        })?)
    }

    fn write(&self, py: Python<'_>, write: Py<PyAny>) -> PyResult<()> {
        calling(py, |call| {
            let own = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            own.write(&mut |records| {
                call(&|py| write.call1(py, (bytes_of(py, records)?,))).map(drop)
            })
        })
    }
}

/// Puts the partitions of spilled counts together.
#[pyfunction]
pub fn merge_numbered(
    py: Python<'_>,
    partitions: usize,
    read: Py<PyAny>,
    write: Py<PyAny>,
) -> PyResult<(u64, u64)> {
    let merged = calling(py, |call| {
        let call = RefCell::new(call);
        let more = |partition: usize| -> Result<Option<Vec<u8>>> {
            let given = (call.borrow_mut())(&|py| read.call1(py, (partition,)))?;
            Python::attach(|py| given.extract(py))
                .map_err(|_| invalid!("records of spilled counts are bytes"))
        };
        let put = |bytes: &[u8]| {
            (call.borrow_mut())(&|py| write.call1(py, (bytes_of(py, bytes)?,))).map(drop)
        };
        count::merge(partitions, &mut { more }, &mut { put })
    })?;
    Ok((merged.unique, merged.total))
}

/// All pieces, one after the other, each with a prefix; and where each ends.
fn joined<'a>(pieces: impl Iterator<Item = (&'a [u8], u64)>, prefix: &[u8]) -> (Vec<u8>, Vec<u64>) {
    let mut bytes = Vec::new();
    let ends = pieces.map(|(piece, _)| {
        bytes.extend_from_slice(prefix);
        bytes.extend_from_slice(piece);
        bytes.len() as u64
    });
    let ends = ends.collect();
    (bytes, ends)
}

/// Gives each character of the pieces with its count, and whether a piece begins with it and whether one
/// has it behind its beginning.
#[pyfunction]
pub fn character_counts(py: Python<'_>, counts: &Counts) -> Vec<(char, u64, bool, bool)> {
    let found = working(py, || letters::of(counts.lock().iter())).into_iter();
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
    let found = working(py, || {
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
    working(py, || {
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
    let ngrams = working(py, || ngrams::count(counts.lock().iter(), n, max_bytes))?;
    Ok(ngrams.into())
}
