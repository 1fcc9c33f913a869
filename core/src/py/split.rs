//! Splitters, special tokens and the tables of normalizers.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::arrays::{BufferArg, U64Array};
use super::bytes::bytes_of;
use super::stages::Stages;
use crate::error::Error;
use crate::special::Segment;
use crate::special::codebook;
use crate::{normalize, special, split};

/// A compiled pre-tokenizer.
#[pyclass(frozen, module = "bpe_cli._core")]
pub struct Splitter(pub(super) split::Scanner);

#[pymethods]
impl Splitter {
    #[new]
    fn new(spec: &str) -> PyResult<Self> {
        Ok(Self(split::Scanner::from_json(spec)?))
    }

    fn split(&self, py: Python<'_>, data: BufferArg<u8>) -> U64Array {
        py.detach(|| self.0.split(&data)).into()
    }

    fn safe_cut(&self, py: Python<'_>, data: BufferArg<u8>) -> usize {
        py.detach(|| self.0.safe_cut(&data))
    }

    #[getter]
    fn knows_cuts(&self) -> bool {
        self.0.knows_cuts()
    }
}

/// Words of a fixed width between two tags.
#[pyclass(frozen, module = "bpe_cli._core")]
pub struct Codebook(Arc<codebook::Codebook>);

#[pymethods]
impl Codebook {
    #[new]
    fn new(
        opening: (Vec<u8>, u32),
        closing: (Vec<u8>, u32),
        unknown_id: u32,
        width: usize,
        fill: u8,
        words: Vec<(Vec<u8>, u32)>,
    ) -> PyResult<Self> {
        let tag = |(content, id)| codebook::Tag { content, id };
        let (opening, closing) = (tag(opening), tag(closing));
        let book = codebook::Codebook::new(opening, closing, unknown_id, width, fill, words)?;
        Ok(Self(Arc::new(book)))
    }
}

/// Finds special and added tokens in text: leftmost, and among those the longest.
#[pyclass(frozen, module = "bpe_cli._core")]
pub struct SpecialMatcher(pub(super) special::SpecialMatcher);

#[pymethods]
impl SpecialMatcher {
    #[new]
    #[pyo3(signature = (contents, ids, flags=None, stages=None, codebook=None))]
    fn new(
        contents: Vec<Vec<u8>>,
        ids: Vec<u32>,
        flags: Option<BufferArg<u8>>,
        stages: Option<&Stages>,
        codebook: Option<&Codebook>,
    ) -> PyResult<Self> {
        let flags = flags.as_deref().unwrap_or_default();
        let stages = stages.map(|stages| Arc::clone(&stages.0));
        let matcher = special::SpecialMatcher::new(contents, ids, flags, stages)?;
        Ok(Self(match codebook {
            None => matcher,
            Some(codebook) => matcher.with_codebook(Arc::clone(&codebook.0)),
        }))
    }

    fn find(&self, py: Python<'_>, data: BufferArg<u8>) -> PyResult<Option<(usize, usize, u32)>> {
        let mut first = None;
        let found = py.detach(|| {
            self.0.tokens(&data, |segment| {
                first = special_of(segment);
                // Nothing failed: there is no need to look any further.
                first.map_or(Ok(()), |_| Err(Error::Stopped))
            })
        });
        match found {
            Ok(()) | Err(Error::Stopped) => Ok(first),
            Err(error) => Err(error.into()),
        }
    }

    fn find_all(&self, py: Python<'_>, data: BufferArg<u8>) -> PyResult<Vec<(usize, usize, u32)>> {
        let mut all = Vec::new();
        py.detach(|| {
            self.0.segments(&data, |segment| {
                all.extend(special_of(segment));
                Ok(())
            })
        })?;
        Ok(all)
    }

    fn stretches(&self, py: Python<'_>, data: BufferArg<u8>) -> PyResult<(usize, usize)> {
        let (mut longest, mut last) = (0, 0);
        py.detach(|| {
            self.0.segments(&data, |segment| {
                match segment {
                    Segment::Text { start, end } => longest = longest.max(end - start),
                    Segment::Special { end, .. } => last = end,
                }
                Ok(())
            })
        })?;
        Ok((longest, last))
    }

    #[getter]
    fn looks_in_normalized(&self) -> bool {
        self.0.looks_in_normalized()
    }

    fn moves_cut(&self, data: BufferArg<u8>, cut: usize) -> PyResult<Option<usize>> {
        if cut > data.len() {
            let sentence = format!("the cut {cut} lies behind the text's end {}", data.len());
            return Err(PyValueError::new_err(sentence));
        }
        Ok(self.0.moves_cut(&data, cut))
    }
}

fn special_of(segment: Segment) -> Option<(usize, usize, u32)> {
    match segment {
        Segment::Special { id, start, end } => Some((start, end, id)),
        Segment::Text { .. } => None,
    }
}

/// Builds the table of a named normalization.
#[pyfunction]
pub fn charsmap<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyBytes>> {
    let table = py.detach(|| normalize::charsmap(name))?;
    bytes_of(py, &table)
}
