//! Splitters and special tokens.

use pyo3::prelude::*;

use super::arrays::{Lent, U64Array};
use super::to_python;
use crate::error::Error;
use crate::{special, split};

/// A compiled pre-tokenizer.
#[pyclass(frozen, module = "bpe_cli._core")]
pub struct Splitter(pub(super) split::Scanner);

#[pymethods]
impl Splitter {
    #[new]
    fn new(spec: &str) -> PyResult<Self> {
        split::Scanner::from_json(spec)
            .map(Self)
            .map_err(|sentence| to_python(Error::Invalid(sentence)))
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

/// Finds special tokens in text: leftmost, and among those the longest.
#[pyclass(frozen, module = "bpe_cli._core")]
pub struct SpecialMatcher(pub(super) special::SpecialMatcher);

#[pymethods]
impl SpecialMatcher {
    #[new]
    fn new(contents: Vec<Vec<u8>>, ids: Vec<u32>) -> PyResult<Self> {
        special::SpecialMatcher::new(contents, ids)
            .map(Self)
            .map_err(to_python)
    }

    fn find(&self, py: Python<'_>, data: Lent<u8>) -> PyResult<Option<(usize, usize, u32)>> {
        let text = data.items(py)?;
        Ok(py.detach(|| self.0.find_at(&text, 0)))
    }

    fn reaches_cut(&self, py: Python<'_>, data: Lent<u8>, cut: usize) -> PyResult<bool> {
        let text = data.items(py)?;
        if cut > text.len() {
            let sentence = format!("the cut {cut} lies behind the text's end {}", text.len());
            return Err(to_python(Error::Invalid(sentence)));
        }
        Ok(self.0.reaches_cut(&text, cut))
    }
}
