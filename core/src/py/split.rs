//! Splitters and special tokens.

use std::sync::Arc;

use pyo3::prelude::*;

use super::arrays::{Lent, U64Array};
use super::stages::Stages;
use super::to_python;
use crate::documents::Segment;
use crate::error::Error;
use crate::special::codebook;
use crate::{special, split};

/// A compiled pre-tokenizer.
#[pyclass(frozen, module = "bpe_cli._core")]
pub struct Splitter(pub(super) split::Scanner);

#[pymethods]
impl Splitter {
    #[new]
    fn new(spec: &str) -> PyResult<Self> {
        split::Scanner::from_json(spec).map(Self).map_err(to_python)
    }

    fn split(&self, py: Python<'_>, data: Lent<u8>) -> PyResult<U64Array> {
        let text = data.items(py)?;
        Ok(py.detach(|| self.0.split(&text)).into())
    }

    fn safe_cut(&self, py: Python<'_>, data: Lent<u8>) -> PyResult<usize> {
        let text = data.items(py)?;
        Ok(py.detach(|| self.0.safe_cut(&text)))
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
        codebook::Codebook::new(tag(opening), tag(closing), unknown_id, width, fill, words)
            .map(|book| Self(Arc::new(book)))
            .map_err(to_python)
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
        py: Python<'_>,
        contents: Vec<Vec<u8>>,
        ids: Vec<u32>,
        flags: Option<Lent<u8>>,
        stages: Option<&Stages>,
        codebook: Option<&Codebook>,
    ) -> PyResult<Self> {
        let flags = flags.as_ref().map(|flags| flags.items(py)).transpose()?;
        let flags = flags.unwrap_or_default();
        let stages = stages.map(|stages| Arc::clone(&stages.0));
        let matcher = special::SpecialMatcher::new(contents, ids, &flags, stages);
        let with_words = |matcher: special::SpecialMatcher| match codebook {
            None => matcher,
            Some(codebook) => matcher.with_codebook(Arc::clone(&codebook.0)),
        };
        matcher.map(with_words).map(Self).map_err(to_python)
    }

    fn find(&self, py: Python<'_>, data: Lent<u8>) -> PyResult<Option<(usize, usize, u32)>> {
        let text = data.items(py)?;
        let mut first = None;
        let found = py.detach(|| {
            self.0.tokens(&text, |segment| {
                first = special_of(segment);
                // Nothing failed: there is no need to look any further.
                first.map_or(Ok(()), |_| Err(Error::Stopped))
            })
        });
        match found {
            Ok(()) | Err(Error::Stopped) => Ok(first),
            Err(error) => Err(to_python(error)),
        }
    }

    fn find_all(&self, py: Python<'_>, data: Lent<u8>) -> PyResult<Vec<(usize, usize, u32)>> {
        let text = data.items(py)?;
        let mut all = Vec::new();
        py.detach(|| {
            self.0.segments(&text, |segment| {
                all.extend(special_of(segment));
                Ok(())
            })
        })
        .map_err(to_python)?;
        Ok(all)
    }

    #[getter]
    fn looks_in_normalized(&self) -> bool {
        self.0.looks_in_normalized()
    }

    fn moves_cut(&self, py: Python<'_>, data: Lent<u8>, cut: usize) -> PyResult<Option<usize>> {
        let text = data.items(py)?;
        if cut > text.len() {
            let sentence = format!("the cut {cut} lies behind the text's end {}", text.len());
            return Err(to_python(Error::Invalid(sentence)));
        }
        Ok(self.0.moves_cut(&text, cut))
    }
}

fn special_of(segment: Segment) -> Option<(usize, usize, u32)> {
    match segment {
        Segment::Special { id, start, end } => Some((start, end, id)),
        Segment::Text { .. } => None,
    }
}
