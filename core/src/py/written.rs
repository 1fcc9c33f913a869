//! Tokens and merges as documents have them.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use super::arrays::{BufferArg, U32Array, numbers_of};
use super::bytes::bytes_of;
use super::objects::list_of;
use crate::memory::asking::need_room;
use crate::text::json::is_plain;
use crate::written::{Counted, Tables, Written};

/// Whether a document is JSON that all readers read alike.
#[pyfunction]
pub fn is_plain_json(document: BufferArg<u8>) -> bool {
    is_plain(&document)
}

/// Goes past counted texts that begin at a place; gives how many are whole, and the place behind them.
#[pyfunction]
pub fn pass_counted(
    data: BufferArg<u8>,
    place: usize,
    count: usize,
    big_endian: bool,
) -> (usize, usize) {
    let behind = data.get(place..).unwrap_or_default();
    let (passed, length) = Counted::new(behind, big_endian).pass(count);
    (passed, place + length)
}

/// Gives counted texts.
#[pyfunction]
pub fn counted_texts<'py>(
    py: Python<'py>,
    data: BufferArg<u8>,
    big_endian: bool,
) -> PyResult<Bound<'py, PyList>> {
    let mut texts = Vec::new();
    for text in Counted::new(&data, big_endian) {
        need_room(&mut texts, 1, "texts")?;
        texts.push(text);
    }
    list_of(py, texts.iter().map(|text| bytes_of(py, text)))
}

/// Tokens with their ids, and merges of two of them.
#[pyclass(frozen, module = "bpe_cli._core")]
pub struct WrittenMerges(Written);

#[pymethods]
impl WrittenMerges {
    #[staticmethod]
    fn cut<'py>(
        py: Python<'py>,
        document: BufferArg<u8>,
        outer: &str,
        tokens: &str,
        merges: &str,
    ) -> PyResult<Option<(Self, Bound<'py, PyBytes>)>> {
        let names = [outer, tokens, merges].map(str::as_bytes);
        let found = py.detach(|| Written::cut(&document, names[0], names[1], names[2]));
        found
            .map(|(written, rest)| Ok((Self(written), bytes_of(py, &rest)?)))
            .transpose()
    }

    #[staticmethod]
    fn listed(
        py: Python<'_>,
        tokens: BufferArg<u8>,
        merges: BufferArg<u8>,
        big_endian: bool,
        absent: Vec<u32>,
    ) -> Option<Self> {
        let counted = [&tokens, &merges].map(|texts| Counted::new(texts, big_endian));
        let listed = py.detach(|| Written::listed(counted[0], counted[1], &absent));
        listed.map(Self)
    }

    fn among<'py>(
        &self,
        py: Python<'py>,
        texts: Vec<String>,
        ids: Vec<u64>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let found = PyDict::new(py);
        for text in &texts {
            if let Some(id) = self.0.id_of(text.as_bytes()) {
                found.set_item(text, id)?;
            }
        }
        for id in ids.into_iter().filter_map(|id| u32::try_from(id).ok()) {
            if let Some(text) = self.0.text_of(id) {
                found.set_item(text, id)?;
            }
        }
        Ok(found)
    }

    fn tables(
        &self,
        py: Python<'_>,
        prefix: &str,
        left_out: Vec<u32>,
        visible: bool,
    ) -> Option<WrittenTables> {
        py.detach(|| self.0.tables(prefix.as_bytes(), &left_out, visible))
            .map(WrittenTables)
    }
}

/// Tables made of what was written.
#[pyclass(frozen, module = "bpe_cli._core")]
pub struct WrittenTables(pub(super) Tables);

#[pymethods]
impl WrittenTables {
    fn tokens<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyBytes>, U32Array)> {
        Ok((
            bytes_of(py, &self.0.blob)?,
            numbers_of(&self.0.ends)?.into(),
        ))
    }

    fn merges(&self) -> U32Array {
        self.0.triples.as_flattened().to_vec().into()
    }
}
