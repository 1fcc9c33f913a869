//! From ids to text.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::arrays::{Lent, LentSpecials};
use super::numbers::bytes_of_length;
use super::to_python;
use crate::decode::{self, Reading, SpecialTable, Strings};
use crate::tables::TokenTable;

/// Gives the bytes of ids, one token after the other.
pub fn decode_bytes<'py>(
    py: Python<'py>,
    ids: &[u32],
    tokens: &TokenTable<'_>,
    special: SpecialTable<'_>,
) -> PyResult<Bound<'py, PyBytes>> {
    let length = py
        .detach(|| decode::decoded_len(ids, tokens, special))
        .map_err(to_python)?;
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
        decode::Decoder::from_json(spec)
            .map(Self)
            .map_err(to_python)
    }

    #[pyo3(signature = (ids, blob, ends, special_ids, special_blob, special_ends, skip_special=None))]
    #[expect(clippy::too_many_arguments, reason = "a bulk call names all it takes")]
    fn decode<'py>(
        &self,
        py: Python<'py>,
        ids: Lent<u32>,
        blob: Lent<u8>,
        ends: Lent<u32>,
        special_ids: Lent<u32>,
        special_blob: Lent<u8>,
        special_ends: Lent<u32>,
        skip_special: Option<Lent<u8>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (ids, blob, ends) = (ids.items(py)?, blob.items(py)?, ends.items(py)?);
        let special = LentSpecials::new(py, &special_ids, &special_blob, &special_ends)?;
        let reading = skip_special
            .as_ref()
            .map(|read| read.items(py))
            .transpose()?;
        let reading = reading.unwrap_or_default();
        let bytes = py
            .detach(|| {
                let tokens = Strings {
                    blob: &blob,
                    ends: &ends,
                };
                decode::decode_chain(&self.0, &ids, tokens, special.get(), Reading(&reading))
            })
            .map_err(to_python)?;
        Ok(PyBytes::new(py, &bytes))
    }
}
