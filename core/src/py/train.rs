//! Training.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::arrays::{Lent, U32Array, U64Array};
use super::counts::Counts;
use super::to_python;
use crate::error::{Error, Result};
use crate::trainers::bpe::{Decoration, Options, Tie, Trainer, Training, Vetoes};

/// What training gave.
#[pyclass(frozen, module = "bpe_cli._core")]
pub struct BpeTraining(pub(super) Training);

#[pymethods]
impl BpeTraining {
    #[getter]
    fn merges(&self) -> U32Array {
        self.0.merges.as_flattened().to_vec().into()
    }

    #[getter]
    fn counts(&self) -> U64Array {
        self.0.counts.clone().into()
    }

    fn tokens<'py>(&self, py: Python<'py>) -> (Bound<'py, PyBytes>, U32Array) {
        let mut end = 0;
        let ends: Vec<u32> = self
            .0
            .tokens
            .iter()
            .map(|token| {
                end += token.len() as u32;
                end
            })
            .collect();
        (PyBytes::new(py, &self.0.tokens.concat()), ends.into())
    }

    #[getter]
    fn exhausted(&self) -> bool {
        self.0.exhausted
    }
}

/// Learns merges from counts.
#[pyfunction]
#[pyo3(signature = (
    counts, *, initial, symbols, vocab_size, min_frequency, max_token_length, tie, by_character, progress,
    max_merges=None, continuing_subword_prefix="", end_of_word_suffix="", separate_suffix=false,
    boundary_mark=Vec::new(), character_boundaries=false, max_digits=None, reserved=Vec::new(),
))]
#[expect(clippy::too_many_arguments, reason = "a bulk call names all it takes")]
pub fn train_bpe(
    py: Python<'_>,
    counts: &Counts,
    initial: Vec<Vec<u8>>,
    symbols: Vec<u32>,
    vocab_size: usize,
    min_frequency: u64,
    max_token_length: Option<u32>,
    tie: &str,
    by_character: bool,
    progress: Option<Py<PyAny>>,
    max_merges: Option<usize>,
    continuing_subword_prefix: &str,
    end_of_word_suffix: &str,
    separate_suffix: bool,
    boundary_mark: Vec<u8>,
    character_boundaries: bool,
    max_digits: Option<u32>,
    reserved: Vec<Vec<u8>>,
) -> PyResult<BpeTraining> {
    let tie = tie_of(tie)?;
    let options = Options {
        initial,
        symbols,
        vocab_size,
        max_merges,
        min_frequency,
        tie,
        by_character,
        decoration: Decoration {
            prefix: continuing_subword_prefix.as_bytes().to_vec(),
            suffix: end_of_word_suffix.as_bytes().to_vec(),
            separate_suffix,
        },
        boundary_mark,
        vetoes: Vetoes {
            max_token_length,
            character_boundaries,
            max_digits,
            reserved: reserved.into_iter().collect(),
        },
    };
    run(py, vocab_size, progress, || {
        // The counts are free again before anybody is called who might ask them something.
        Trainer::new(counts.lock().iter(), &options)
    })
}

/// Learns further merges from pieces that are segmented already.
#[pyfunction]
#[pyo3(signature = (
    ids, ends, counts, *, initial, vocab_size, min_frequency, tie, progress, continuing_subword_prefix="",
))]
#[expect(clippy::too_many_arguments, reason = "a bulk call names all it takes")]
pub fn resume_bpe(
    py: Python<'_>,
    ids: Lent<u32>,
    ends: Lent<u64>,
    counts: Lent<u64>,
    initial: Vec<Vec<u8>>,
    vocab_size: usize,
    min_frequency: u64,
    tie: &str,
    progress: Option<Py<PyAny>>,
    continuing_subword_prefix: &str,
) -> PyResult<BpeTraining> {
    let options = Options {
        initial,
        vocab_size,
        min_frequency,
        tie: tie_of(tie)?,
        decoration: Decoration {
            prefix: continuing_subword_prefix.as_bytes().to_vec(),
            ..Decoration::default()
        },
        ..Options::default()
    };
    let (ids, ends, counts) = (ids.items(py)?, ends.items(py)?, counts.items(py)?);
    if ends.len() != counts.len() {
        return Err(PyValueError::new_err("there is not one count per piece"));
    }
    let ascending = ends.is_sorted() && ends.last().copied().unwrap_or(0) == ids.len() as u64;
    if !ascending {
        return Err(PyValueError::new_err(
            "the ends of pieces do not ascend to the number of ids",
        ));
    }
    let starts = std::iter::once(0).chain(ends.iter().copied());
    let pieces = starts.zip(ends.iter()).zip(counts.iter());
    run(py, vocab_size, progress, || {
        let pieces =
            pieces.map(|((start, &end), &count)| (&ids[start as usize..end as usize], count));
        Trainer::resume(pieces, &options)
    })
}

fn tie_of(name: &str) -> PyResult<Tie> {
    match name {
        "lowest-ids" => Ok(Tie::LowestIds),
        "first-seen" => Ok(Tie::FirstSeen),
        "largest-text" => Ok(Tie::LargestText),
        other => Err(PyValueError::new_err(format!(
            "there is no rule {other:?} for ties"
        ))),
    }
}

/// Trains without the GIL, calling `progress` now and then.
fn run(
    py: Python<'_>,
    vocab_size: usize,
    progress: Option<Py<PyAny>>,
    lay_out: impl FnOnce() -> Result<Trainer> + Send,
) -> PyResult<BpeTraining> {
    // What a callback or a signal handler raised, kept while the core unwinds.
    let mut raised = None;
    let result = py.detach(|| {
        lay_out()?.run(&mut |tokens| {
            let called = Python::attach(|py| {
                py.check_signals()?;
                let call = progress.as_ref();
                call.map_or(Ok(()), |call| {
                    call.call1(py, (tokens, vocab_size)).map(drop)
                })
            });
            called.map_err(|error| {
                raised = Some(error);
                Error::Stopped
            })
        })
    });
    match raised {
        Some(error) => Err(error),
        None => result.map(BpeTraining).map_err(to_python),
    }
}
