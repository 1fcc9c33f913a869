//! Rank tables that are laid into this module, and merges made of ranks.

use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::arguments::token_table;
use super::arrays::{BufferArg, U32Array, numbers_of};
use super::bytes::bytes_of;
use super::working::working;
use crate::embedded;
use crate::error::Result;
use crate::tables::{self, PieceTable};

/// Gives blob and ends of a rank table that is laid into this module.
#[pyfunction]
pub fn embedded_tokens<'py>(
    py: Python<'py>,
    sha256: &str,
) -> PyResult<(Bound<'py, PyBytes>, U32Array)> {
    let table = embedded::find(sha256).ok_or_else(|| PyKeyError::new_err(sha256.to_owned()))?;
    let tokens = table.tokens();
    Ok((
        bytes_of(py, tokens.blob())?,
        numbers_of(tokens.ends())?.into(),
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
    blob: BufferArg<u8>,
    ends: BufferArg<u32>,
) -> PyResult<(U32Array, U32Array)> {
    let tokens = token_table(&(blob, ends))?;
    let recovered = working(py, || {
        let pieces = PieceTable::build(&tokens)?;
        Result::Ok(tables::recover_merges(&tokens, &pieces))
    })?;
    let triples: Vec<u32> = recovered
        .merges
        .iter()
        .flat_map(|m| [m.left, m.right, m.product])
        .collect();
    Ok((triples.into(), recovered.unreachable.into()))
}
