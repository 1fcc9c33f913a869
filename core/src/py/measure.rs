//! Tallies.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::arrays::{Lent, LentDocuments, U32Array, U64Array, token_table};
use super::encoder::{Encoder, either};
use super::split::SpecialMatcher;
use super::to_python;
use crate::encode::Span;
use crate::measure::{self, Kind};

/// What a tokenizer makes of one input, counted while it encodes.
#[pyclass(frozen, module = "bpe_cli._core")]
pub struct Tally(Mutex<measure::Tally>);

impl Tally {
    /// Locks; to be called without the GIL, which whoever holds the lock may need.
    fn lock(&self) -> MutexGuard<'_, measure::Tally> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ask<R: Send>(&self, py: Python<'_>, what: impl FnOnce(&measure::Tally) -> R + Send) -> R {
        py.detach(|| what(&self.lock()))
    }
}

#[pymethods]
impl Tally {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "a bulk call names all it takes")]
    fn new(
        py: Python<'_>,
        blob: Lent<u8>,
        ends: Lent<u32>,
        special_ids: Lent<u32>,
        special_blob: Lent<u8>,
        special_ends: Lent<u32>,
        unknown_ids: Lent<u32>,
        byte_ids: Lent<u32>,
    ) -> PyResult<Self> {
        let tokens = token_table(py, &blob, &ends)?;
        let names = token_table(py, &special_blob, &special_ends)?;
        let special_ids = special_ids.items(py)?;
        if special_ids.len() != names.len() {
            return Err(PyValueError::new_err("not every special token has an id"));
        }
        let special = special_ids.iter().enumerate();
        let special = special.map(|(place, &id)| (id, names.get(place as u32).to_vec()));
        let (unknown, bytes) = (unknown_ids.items(py)?, byte_ids.items(py)?);
        let tables = measure::Tables::new(tokens, special, &unknown, &bytes).map_err(to_python)?;
        Ok(Self(Mutex::new(measure::Tally::new(Arc::new(tables)))))
    }

    fn fresh(&self, py: Python<'_>) -> Self {
        let tables = self.ask(py, |tally| Arc::clone(tally.tables()));
        Self(Mutex::new(measure::Tally::new(tables)))
    }

    #[pyo3(signature = (data, ends, ids, id_ends, starts=None, stops=None, *, prefix_space=false, continued=false, unfinished=false))]
    #[expect(clippy::too_many_arguments, reason = "a bulk call names all it takes")]
    fn add(
        &self,
        py: Python<'_>,
        data: Lent<u8>,
        ends: Lent<u64>,
        ids: Lent<u32>,
        id_ends: Lent<u64>,
        starts: Option<Lent<u64>>,
        stops: Option<Lent<u64>>,
        prefix_space: bool,
        continued: bool,
        unfinished: bool,
    ) -> PyResult<()> {
        let documents = LentDocuments::new(py, &data, &ends, continued)?;
        let (ids, id_ends) = (ids.items(py)?, id_ends.items(py)?);
        let spans: Option<Vec<Span>> = match (&starts, &stops) {
            (None, None) => None,
            (Some(starts), Some(stops)) => {
                let (starts, stops) = (starts.items(py)?, stops.items(py)?);
                if starts.len() != ids.len() || stops.len() != ids.len() {
                    return Err(PyValueError::new_err("not every id has a span"));
                }
                let places = starts.iter().zip(&*stops);
                let spans = ids.iter().zip(places);
                Some(
                    spans
                        .map(|(&id, (&start, &end))| Span { id, start, end })
                        .collect(),
                )
            }
            _ => return Err(PyValueError::new_err("spans have both ends or none")),
        };
        py.detach(|| {
            let tokens = match &spans {
                Some(spans) => measure::Tokens::Spans(spans),
                None => measure::Tokens::Plain(&ids, prefix_space),
            };
            let block = block(&documents, unfinished);
            self.lock().add(block, tokens, &id_ends)
        })
        .map_err(to_python)
    }

    #[pyo3(signature = (encoder, data, ends, matcher, threads, *, continued=false, unfinished=false))]
    #[expect(clippy::too_many_arguments, reason = "a bulk call names all it takes")]
    fn encode(
        &self,
        py: Python<'_>,
        encoder: &Encoder,
        data: Lent<u8>,
        ends: Lent<u64>,
        matcher: Option<&SpecialMatcher>,
        threads: usize,
        continued: bool,
        unfinished: bool,
    ) -> PyResult<Option<(U32Array, U64Array)>> {
        let documents = LentDocuments::new(py, &data, &ends, continued)?;
        let matcher = matcher.map(|matcher| &matcher.0);
        let encoded = py
            .detach(|| {
                let block = block(&documents, unfinished);
                either!(encoder, way => way.tally(block, matcher, threads, &mut self.lock()))
            })
            .map_err(to_python)?;
        Ok(encoded.map(|encoded| (encoded.ids.into(), encoded.ends.into())))
    }

    fn merge(&self, py: Python<'_>, other: &Self) -> PyResult<()> {
        if std::ptr::eq(self, other) {
            return Err(PyValueError::new_err("a tally cannot be added to itself"));
        }
        py.detach(|| {
            // Never two locks at once: what is added is copied first.
            let mut copy = measure::Tally::new(Arc::clone(other.lock().tables()));
            copy.merge(&other.lock());
            self.lock().merge(&copy);
        });
        Ok(())
    }

    fn take_ended(&self, py: Python<'_>) -> U64Array {
        py.detach(|| self.lock().take_ended()).into()
    }

    fn single_tokens(&self, py: Python<'_>, ids: Lent<u32>, id_ends: Lent<u64>) -> PyResult<usize> {
        let (ids, id_ends) = (ids.items(py)?, id_ends.items(py)?);
        Ok(self.ask(py, |tally| {
            let mut start = 0;
            let single = id_ends.iter().filter(|&&end| {
                let alone = end == start + 1;
                let id = ids.get(start as usize).copied();
                start = end;
                alone && id.is_some_and(|id| tally.tables().kind(id) != Kind::Unknown)
            });
            single.count()
        }))
    }

    #[getter]
    fn counts(&self, py: Python<'_>) -> U64Array {
        self.ask(py, |tally| tally.frequencies().counts().to_vec())
            .into()
    }

    #[getter]
    fn tokens(&self, py: Python<'_>) -> u64 {
        self.ask(py, |tally| tally.frequencies().total())
    }

    #[getter]
    fn vocab_size(&self, py: Python<'_>) -> usize {
        self.ask(py, |tally| tally.tables().vocab_size())
    }

    #[getter]
    fn used_ids(&self, py: Python<'_>) -> usize {
        self.ask(py, |tally| tally.frequencies().used())
    }

    #[getter]
    fn unknown_tokens(&self, py: Python<'_>) -> u64 {
        self.ask(py, |tally| tally.tokens_of(Kind::Unknown))
    }

    #[getter]
    fn byte_tokens(&self, py: Python<'_>) -> u64 {
        self.ask(py, |tally| tally.tokens_of(Kind::Byte))
    }

    #[getter]
    fn words(&self, py: Python<'_>) -> u64 {
        self.ask(py, |tally| tally.sums().words)
    }

    #[getter]
    fn split_words(&self, py: Python<'_>) -> u64 {
        self.ask(py, |tally| tally.sums().split_words)
    }

    #[getter]
    fn unknown_bytes(&self, py: Python<'_>) -> u64 {
        self.ask(py, |tally| tally.sums().unknown_bytes)
    }

    #[getter]
    fn checked_documents(&self, py: Python<'_>) -> u64 {
        self.ask(py, |tally| tally.sums().checked)
    }

    #[getter]
    fn failed_documents(&self, py: Python<'_>) -> u64 {
        self.ask(py, |tally| tally.sums().failed)
    }

    #[getter]
    fn mean_bytes_per_token(&self, py: Python<'_>) -> Option<f64> {
        let sums = self.ask(py, |tally| *tally.sums());
        (sums.with_tokens > 0).then(|| sums.sum_of_ratios / sums.with_tokens as f64)
    }

    #[getter]
    fn shannon_entropy(&self, py: Python<'_>) -> Option<f64> {
        self.ask(py, |tally| tally.frequencies().shannon_entropy())
    }

    #[getter]
    fn renyi_entropy(&self, py: Python<'_>) -> Option<f64> {
        self.ask(py, |tally| tally.frequencies().renyi_entropy())
    }

    #[getter]
    fn coverage_rank(&self, py: Python<'_>) -> Option<usize> {
        self.ask(py, |tally| tally.frequencies().coverage_rank())
    }
}

fn block<'a>(documents: &'a LentDocuments<'_>, unfinished: bool) -> measure::Block<'a> {
    measure::Block {
        documents: documents.get(),
        unfinished,
    }
}
