//! From ids to text.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::arguments::{TablesArg, special_table};
use super::arrays::BufferArg;
use super::numbers::bytes_of_length;
use crate::decode::{self, Reading, SpecialTable, Strings};
use crate::tables::TokenTable;

/// Gives the bytes of ids, one token after the other.
pub fn decode_bytes<'py>(
    py: Python<'py>,
    ids: &[u32],
    tokens: &TokenTable<'_>,
    special: SpecialTable<'_>,
) -> PyResult<Bound<'py, PyBytes>> {
    let length = py.detach(|| decode::decoded_len(ids, tokens, special))?;
    bytes_of_length(py, length, |out| {
        decode::decode_into(ids, tokens, special, out)
    })
}

/// A compiled chain of decoders: immutable, shared by threads.
#[pyclass(frozen, module = "bpe_cli._core")]
pub struct Decoder(pub(super) decode::Decoder);

#[pymethods]
impl Decoder {
    #[new]
    fn new(spec: &str) -> PyResult<Self> {
        Ok(Self(decode::Decoder::from_json(spec)?))
    }

    fn decode<'py>(
        &self,
        py: Python<'py>,
        ids: BufferArg<u32>,
        tables: TablesArg,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let ((blob, ends), special, skip_special) = &tables;
        let reading = Reading(skip_special.as_deref().unwrap_or_default());
        let tokens = Strings { blob, ends };
        let special = special_table(special);
        let bytes = py.detach(|| decode::decode_chain(&self.0, &ids, tokens, special, reading))?;
        Ok(PyBytes::new(py, &bytes))
    }
}
