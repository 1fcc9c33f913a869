//! Encoding and decoding.

use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::arrays::{Lent, LentDocuments, LentSpecials, U32Array, U64Array, token_table, triples};
use super::numbers::bytes_of_length;
use super::split::{SpecialMatcher, Splitter};
use super::to_python;
use crate::decode::{self, SpecialTable};
use crate::embedded;
use crate::encode::{Encoder, Plain};
use crate::error::Error;
use crate::models::bpe::Bpe;
use crate::tables::{PieceTable, TokenTable};

/// A compiled tokenizer: immutable, shared by threads.
#[pyclass(frozen, module = "bpe_cli._core")]
pub struct Engine(pub(super) Encoder<Plain>);

#[pymethods]
impl Engine {
    #[new]
    #[pyo3(signature = (splitter, *, prefix_space, blob, ends, merges, whole_pieces))]
    fn new(
        py: Python<'_>,
        splitter: &Splitter,
        prefix_space: bool,
        blob: Lent<u8>,
        ends: Lent<u32>,
        merges: Option<Lent<u32>>,
        whole_pieces: bool,
    ) -> PyResult<Self> {
        let tokens = token_table(py, &blob, &ends)?;
        let merges = merges.map(|merges| triples(py, &merges)).transpose()?;
        let model = py.detach(|| match &merges {
            None if !whole_pieces => Err(Error::Invalid(
                "ranks without whole pieces are no known model".into(),
            )),
            None => Bpe::from_ranks(tokens),
            Some(merges) => Bpe::from_merges(tokens, merges, whole_pieces),
        });
        let model = model.map_err(to_python)?;
        Ok(Self(Encoder::plain(
            splitter.0.clone(),
            model,
            prefix_space,
        )))
    }

    #[staticmethod]
    fn embedded(sha256: &str, splitter: &Splitter, prefix_space: bool) -> PyResult<Self> {
        let table = embedded::find(sha256).ok_or_else(|| PyKeyError::new_err(sha256.to_owned()))?;
        Ok(Self(Encoder::plain(
            splitter.0.clone(),
            table.model(),
            prefix_space,
        )))
    }

    #[pyo3(signature = (data, ends, matcher, threads, continued=false))]
    fn encode(
        &self,
        py: Python<'_>,
        data: Lent<u8>,
        ends: Lent<u64>,
        matcher: Option<&SpecialMatcher>,
        threads: usize,
        continued: bool,
    ) -> PyResult<(U32Array, U64Array)> {
        let documents = LentDocuments::new(py, &data, &ends, continued)?;
        let matcher = matcher.map(|matcher| &matcher.0);
        let encoded = py
            .detach(|| self.0.encode(&documents.get(), matcher, threads))
            .map_err(to_python)?;
        Ok((encoded.ids.into(), encoded.ends.into()))
    }

    fn encode_pieces(&self, py: Python<'_>, data: Lent<u8>, ends: Lent<u64>) -> PyResult<U32Array> {
        let (text, ends) = (data.items(py)?, ends.items(py)?);
        py.detach(|| self.0.encode_pieces(&text, &ends))
            .map(Into::into)
            .map_err(to_python)
    }

    #[pyo3(signature = (data, ends, matcher, threads, continued=false))]
    fn count(
        &self,
        py: Python<'_>,
        data: Lent<u8>,
        ends: Lent<u64>,
        matcher: Option<&SpecialMatcher>,
        threads: usize,
        continued: bool,
    ) -> PyResult<U64Array> {
        let documents = LentDocuments::new(py, &data, &ends, continued)?;
        let matcher = matcher.map(|matcher| &matcher.0);
        py.detach(|| self.0.count(&documents.get(), matcher, threads))
            .map(Into::into)
            .map_err(to_python)
    }

    fn decode<'py>(
        &self,
        py: Python<'py>,
        ids: Lent<u32>,
        special_ids: Lent<u32>,
        special_blob: Lent<u8>,
        special_ends: Lent<u32>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let ids = ids.items(py)?;
        let special = LentSpecials::new(py, &special_ids, &special_blob, &special_ends)?;
        let tokens = self.0.model().tokens();
        decode_bytes(py, &ids, tokens, special.get())
    }
}

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

/// Gives blob and ends of a rank table that is laid into this module.
#[pyfunction]
pub fn embedded_tokens<'py>(
    py: Python<'py>,
    sha256: &str,
) -> PyResult<(Bound<'py, PyBytes>, U32Array)> {
    let table = embedded::find(sha256).ok_or_else(|| PyKeyError::new_err(sha256.to_owned()))?;
    let tokens = table.tokens();
    Ok((
        PyBytes::new(py, tokens.blob()),
        tokens.ends().to_vec().into(),
    ))
}

/// Gives those of some ids that tokens of such a table have.
#[pyfunction]
pub fn embedded_among(sha256: &str, token_ids: Vec<u32>) -> PyResult<Vec<u32>> {
    let table = embedded::find(sha256).ok_or_else(|| PyKeyError::new_err(sha256.to_owned()))?;
    let tokens = table.tokens();
    Ok(token_ids
        .into_iter()
        .filter(|&id| !tokens.get(id).is_empty())
        .collect())
}

/// Gives the sha256 of each rank table that is laid into this module.
#[pyfunction]
pub fn embedded_tables() -> Vec<&'static str> {
    embedded::tables().collect()
}

/// Turns ranks into merges.
#[pyfunction]
pub fn recover_merges(
    py: Python<'_>,
    blob: Lent<u8>,
    ends: Lent<u32>,
) -> PyResult<(U32Array, U32Array)> {
    let tokens = token_table(py, &blob, &ends)?;
    let recovered = py.detach(|| {
        let pieces = PieceTable::build(&tokens)?;
        Ok(crate::tables::recover_merges(&tokens, &pieces))
    });
    let recovered = recovered.map_err(to_python)?;
    let triples: Vec<u32> = recovered
        .merges
        .iter()
        .flat_map(|m| [m.left, m.right, m.product])
        .collect();
    Ok((triples.into(), recovered.unreachable.into()))
}
