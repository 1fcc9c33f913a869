//! Measuring: tallies, round trips, units and what is drawn from them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::arguments::{BlockArg, SpecialsArg, TablesArg, TokensArg, special_table, token_table};
use super::arrays::{BufferArg, U32Array, U64Array};
use super::bytes::bytes_of;
use super::decoder::Decoder;
use super::encoder::{Encoder, Way};
use super::split::SpecialMatcher;
use super::working::working;
use crate::encode::Span;
use crate::error::invalid;
use crate::measure::{self, Joined, Kind};
use crate::memory::reserve;

/// What a tokenizer makes of one input, counted while it encodes.
#[pyclass(frozen, module = "bpe_cli._core")]
pub struct Tally(Mutex<measure::Tally>);

impl Tally {
    /// Locks; to be called without the GIL, which whoever holds the lock may need.
    fn lock(&self) -> MutexGuard<'_, measure::Tally> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn of(py: Python<'_>, tables: Arc<measure::Tables>) -> PyResult<Self> {
        let tally = working(py, || {
            reserve::check().map(|()| measure::Tally::new(tables))
        })?;
        Ok(Self(Mutex::new(tally)))
    }

    fn ask<R: Send>(&self, py: Python<'_>, what: impl FnOnce(&measure::Tally) -> R + Send) -> R {
        working(py, || what(&self.lock()))
    }
}

#[pymethods]
impl Tally {
    #[new]
    fn new(
        py: Python<'_>,
        tokens: TokensArg,
        special: SpecialsArg,
        unknown_ids: BufferArg<u32>,
        byte_ids: BufferArg<u32>,
    ) -> PyResult<Self> {
        let (special_ids, special_blob, special_ends) = special;
        let names = token_table(&(special_blob, special_ends))?;
        if special_ids.len() != names.len() {
            return Err(PyValueError::new_err("not every special token has an id"));
        }
        let tables = working(py, || {
            reserve::check()?;
            let special = special_ids.iter().enumerate();
            let special = special.map(|(place, &id)| (id, names.get(place as u32).to_vec()));
            measure::Tables::new(token_table(&tokens)?, special, &unknown_ids, &byte_ids)
        })?;
        Self::of(py, Arc::new(tables))
    }

    fn fresh(&self, py: Python<'_>) -> PyResult<Self> {
        Self::of(py, self.ask(py, |tally| Arc::clone(tally.tables())))
    }

    #[pyo3(signature = (block, ids, id_ends, spans=None, *, prefix_space=false))]
    fn add(
        &self,
        py: Python<'_>,
        block: BlockArg,
        ids: BufferArg<u32>,
        id_ends: BufferArg<u64>,
        spans: Option<(BufferArg<u64>, BufferArg<u64>)>,
        prefix_space: bool,
    ) -> PyResult<()> {
        let span = |(&id, (&start, &end)): (&u32, (&u64, &u64))| Span { id, start, end };
        let spans: Option<Vec<Span>> = match &spans {
            None => None,
            Some((starts, ends)) if starts.len() == ids.len() && ends.len() == ids.len() => {
                let places = starts.iter().zip(&**ends);
                Some(ids.iter().zip(places).map(span).collect())
            }
            Some(_) => return Err(PyValueError::new_err("not every id has a span")),
        };
        Ok(working(py, || {
            let tokens = match &spans {
                Some(spans) => measure::Tokens::Spans(spans),
                None => measure::Tokens::Plain(&ids, prefix_space),
            };
            self.lock().add(block.get(), tokens, &id_ends)
        })?)
    }

    fn encode(
        &self,
        py: Python<'_>,
        encoder: &Encoder,
        block: BlockArg,
        matcher: Option<&SpecialMatcher>,
        threads: usize,
    ) -> PyResult<Option<(U32Array, U64Array)>> {
        let matcher = matcher.map(|matcher| &matcher.0);
        let encoded = working(py, || {
            let (block, tally) = (block.get(), &mut self.lock());
            match &encoder.way {
                Way::Plain(plain) => plain.tally(block, matcher, threads, tally),
                Way::Staged(staged) => staged.tally(block, matcher, threads, tally),
                Way::ByText(_) => Err(invalid!("which bytes a token stands for, all stages say")),
            }
        })?;
        Ok(encoded.map(|encoded| (encoded.ids.into(), encoded.ends.into())))
    }

    fn merge(&self, py: Python<'_>, other: &Self) -> PyResult<()> {
        if std::ptr::eq(self, other) {
            return Err(PyValueError::new_err("a tally cannot be added to itself"));
        }
        working(py, || {
            // Never two locks at once: what is added is copied first.
            let mut copy = measure::Tally::new(Arc::clone(other.lock().tables()));
            copy.merge(&other.lock());
            self.lock().merge(&copy);
        });
        Ok(())
    }

    fn dump<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        bytes_of(py, &self.ask(py, measure::Tally::dump))
    }

    fn load(&self, py: Python<'_>, data: BufferArg<u8>) -> PyResult<Self> {
        let tables = self.ask(py, |tally| Arc::clone(tally.tables()));
        let loaded = working(py, || measure::Tally::load(tables, &data))?;
        Ok(Self(Mutex::new(loaded)))
    }

    fn take_ended(&self, py: Python<'_>) -> U64Array {
        py.detach(|| self.lock().take_ended()).into()
    }

    fn single_tokens(&self, py: Python<'_>, ids: BufferArg<u32>, id_ends: BufferArg<u64>) -> usize {
        self.ask(py, |tally| {
            let mut start = 0;
            let single = id_ends.iter().filter(|&&end| {
                let alone = end == start + 1;
                let id = ids.get(start as usize).copied();
                start = end;
                alone && id.is_some_and(|id| tally.tables().kind(id) != Kind::Unknown)
            });
            single.count()
        })
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

/// Gives the documents that an encoder's tokens, joined, do not give back.
#[pyfunction]
pub fn joined_failures(
    py: Python<'_>,
    encoder: &Encoder,
    block: BlockArg,
    ids: BufferArg<u32>,
    id_ends: BufferArg<u64>,
    special: SpecialsArg,
    threads: usize,
) -> PyResult<U64Array> {
    let failures = working(py, || {
        let reader = Joined {
            tokens: encoder.tokens(),
            special: special_table(&special),
        };
        measure::failures(&reader, (&ids, &id_ends), &block.documents(), threads)
    })?;
    Ok(failures.into())
}

/// Gives the documents that a chain of decoders does not give back.
#[pyfunction]
pub fn chain_failures(
    py: Python<'_>,
    decoder: &Decoder,
    block: BlockArg,
    ids: BufferArg<u32>,
    id_ends: BufferArg<u64>,
    tables: TablesArg,
    threads: usize,
) -> PyResult<U64Array> {
    let chain = decoder.chain(&tables);
    let failures = working(py, || {
        measure::failures(&chain, (&ids, &id_ends), &block.documents(), threads)
    })?;
    Ok(failures.into())
}

/// Counts of tokens by document, or by batches of documents when there are many.
#[pyclass(module = "bpe_cli._core")]
pub struct Units(measure::Units);

#[pymethods]
impl Units {
    #[new]
    fn new(most: usize) -> Self {
        Self(measure::Units::new(most))
    }

    fn extend(&mut self, counts: BufferArg<u64>) {
        counts.iter().for_each(|&count| self.0.push(count));
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
    first: BufferArg<u64>,
    second: BufferArg<u64>,
    resamples: usize,
    seed: u64,
    threads: usize,
) -> PyResult<Option<(f64, f64)>> {
    Ok(working(py, || {
        measure::bootstrap_interval(&first, &second, resamples, seed, threads)
    })?)
}

/// Gives the probability of a difference by chance.
#[pyfunction]
pub fn sign_flip(
    py: Python<'_>,
    first: BufferArg<u64>,
    second: BufferArg<u64>,
    resamples: usize,
    seed: u64,
    threads: usize,
) -> PyResult<f64> {
    Ok(working(py, || {
        measure::sign_flip(&first, &second, resamples, seed, threads)
    })?)
}
