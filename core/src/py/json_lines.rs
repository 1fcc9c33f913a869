//! Texts of lines of JSON.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use super::arrays::{BufferArg, U8Array, U64Array};
use crate::text::json_lines;

/// Reads a field of each line of JSON, and holds the documents until they are taken.
#[pyclass(module = "bpe_cli._core")]
pub struct JsonTexts(json_lines::JsonTexts);

#[pymethods]
impl JsonTexts {
    #[new]
    fn new(field: PyBackedBytes) -> Self {
        Self(json_lines::JsonTexts::new(&field))
    }

    fn __len__(&self) -> usize {
        self.0.size()
    }

    fn read(
        &mut self,
        py: Python<'_>,
        data: BufferArg<u8>,
        start: usize,
        end: usize,
    ) -> PyResult<(usize, usize)> {
        let lines = data
            .get(start..end)
            .ok_or_else(|| PyValueError::new_err("the lines lie outside of the data"))?;
        let stop = py.detach(|| self.0.read(lines));
        Ok((start + stop.place, stop.lines))
    }

    fn add(&mut self, text: BufferArg<u8>) {
        self.0.add(&text);
    }

    fn take(&mut self, offset: u64) -> (U8Array, U64Array) {
        let (texts, ends) = self.0.take(offset);
        (texts.into(), ends.into())
    }
}
