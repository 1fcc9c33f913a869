//! Round trips: documents that do not come back.

use pyo3::prelude::*;

use super::arrays::{Lent, LentDocuments, LentSpecials, U64Array};
use super::decoder::Decoder;
use super::encoder::Encoder;
use super::to_python;
use crate::decode::{Reading, Strings};
use crate::measure::{self, Chain, Joined};

/// Gives the documents that an encoder's tokens, joined, do not give back.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "a bulk call names all it takes")]
pub fn joined_failures(
    py: Python<'_>,
    encoder: &Encoder,
    data: Lent<u8>,
    ends: Lent<u64>,
    ids: Lent<u32>,
    id_ends: Lent<u64>,
    special_ids: Lent<u32>,
    special_blob: Lent<u8>,
    special_ends: Lent<u32>,
    threads: usize,
) -> PyResult<U64Array> {
    let documents = LentDocuments::new(py, &data, &ends, false)?;
    let (ids, id_ends) = (ids.items(py)?, id_ends.items(py)?);
    let special = LentSpecials::new(py, &special_ids, &special_blob, &special_ends)?;
    py.detach(|| {
        let reader = Joined {
            tokens: encoder.tokens(),
            special: special.get(),
        };
        measure::failures(&reader, (&ids, &id_ends), &documents.get(), threads)
    })
    .map(Into::into)
    .map_err(to_python)
}

/// Gives the documents that a chain of decoders does not give back.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "a bulk call names all it takes")]
#[pyo3(signature = (decoder, data, ends, ids, id_ends, blob, token_ends, special_ids, special_blob, special_ends, skip_special, threads))]
pub fn chain_failures(
    py: Python<'_>,
    decoder: &Decoder,
    data: Lent<u8>,
    ends: Lent<u64>,
    ids: Lent<u32>,
    id_ends: Lent<u64>,
    blob: Lent<u8>,
    token_ends: Lent<u32>,
    special_ids: Lent<u32>,
    special_blob: Lent<u8>,
    special_ends: Lent<u32>,
    skip_special: Option<Lent<u8>>,
    threads: usize,
) -> PyResult<U64Array> {
    let documents = LentDocuments::new(py, &data, &ends, false)?;
    let (ids, id_ends) = (ids.items(py)?, id_ends.items(py)?);
    let (blob, token_ends) = (blob.items(py)?, token_ends.items(py)?);
    let special = LentSpecials::new(py, &special_ids, &special_blob, &special_ends)?;
    let reading = skip_special
        .as_ref()
        .map(|read| read.items(py))
        .transpose()?;
    let reading = reading.unwrap_or_default();
    py.detach(|| {
        let reader = Chain {
            decoder: &decoder.0,
            tokens: Strings {
                blob: &blob,
                ends: &token_ends,
            },
            special: special.get(),
            reading: Reading(&reading),
        };
        measure::failures(&reader, (&ids, &id_ends), &documents.get(), threads)
    })
    .map(Into::into)
    .map_err(to_python)
}
