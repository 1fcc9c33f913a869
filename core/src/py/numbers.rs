//! Numbers as bytes, lines as documents.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use super::arguments::BlockArg;
use super::arrays::{BufferArg, U32Array, U64Array};
use super::bytes::{bytes_of, bytes_of_length};
use crate::documents::usable::usable;
use crate::error::Result;
use crate::numbers::{self, Open, RowStyle};
use crate::text::lines;

/// Packs ids for a binary file.
#[pyfunction]
#[pyo3(signature = (ids, ends, eot, narrow, base=0))]
pub fn pack_numbers<'py>(
    py: Python<'py>,
    ids: BufferArg<u32>,
    ends: BufferArg<u64>,
    eot: Option<u32>,
    narrow: bool,
    base: u64,
) -> PyResult<Bound<'py, PyBytes>> {
    let eots = if eot.is_some() { ends.len() } else { 0 };
    let length = (ids.len() + eots) * if narrow { 2 } else { 4 };
    bytes_of_length(py, length, |out| {
        numbers::pack(&ids, &ends, base, eot, narrow, out)
    })
}

/// Reads numbers of two bytes.
#[pyfunction]
pub fn widen_numbers(py: Python<'_>, data: BufferArg<u8>) -> PyResult<U32Array> {
    Ok(py.detach(|| numbers::widen(&data)).into())
}

/// Writes rows of numbers in decimal.
#[pyfunction]
#[pyo3(signature = (ids, ends, style, *, continued=false, begun=false, unfinished=false))]
pub fn write_rows<'py>(
    py: Python<'py>,
    ids: BufferArg<u32>,
    ends: BufferArg<u64>,
    style: (PyBackedBytes, PyBackedBytes, PyBackedBytes),
    continued: bool,
    begun: bool,
    unfinished: bool,
) -> PyResult<(Bound<'py, PyBytes>, bool)> {
    let (before, between, after) = style;
    let [between] = between[..] else {
        return Err(PyValueError::new_err("one byte stands between two numbers"));
    };
    let style = RowStyle {
        before: &before,
        between,
        after: &after,
    };
    let open = Open {
        continued,
        begun,
        unfinished,
    };
    let (rows, begun) = py.detach(|| {
        let mut out = Vec::new();
        numbers::write_rows(&ids, &ends, style, open, &mut out).map(|begun| (out, begun))
    })?;
    Ok((bytes_of(py, &rows)?, begun))
}

/// Writes counts, a line each.
#[pyfunction]
pub fn write_counts<'py>(
    py: Python<'py>,
    counts: BufferArg<u64>,
    carried: u64,
    unfinished: bool,
) -> PyResult<(Bound<'py, PyBytes>, u64, u64)> {
    let mut lines = Vec::new();
    let (sum, open) =
        py.detach(|| numbers::write_counts(&counts, carried, unfinished, &mut lines))?;
    Ok((bytes_of(py, &lines)?, sum, open))
}

/// Takes the ends of lines out of a text.
#[pyfunction]
pub fn without_line_ends<'py>(
    py: Python<'py>,
    text: BufferArg<u8>,
    offset: u64,
) -> PyResult<(Bound<'py, PyBytes>, U64Array)> {
    let (lines, ends) = py.detach(|| lines::without_ends(&text, offset));
    Ok((bytes_of(py, &lines)?, ends.into()))
}

/// Finds where each line of documents ends.
#[pyfunction]
pub fn line_ends(py: Python<'_>, block: BlockArg) -> PyResult<U64Array> {
    let ends = py.detach(|| {
        let documents = block.documents();
        documents.check()?;
        Result::Ok(lines::with_ends(documents.text, documents.ends))
    })?;
    Ok(ends.into())
}

/// Copies the documents that are to be learnt from.
#[pyfunction]
pub fn usable_documents<'py>(
    py: Python<'py>,
    block: BlockArg,
    first: usize,
    end: usize,
    longest: usize,
    reserved: &[u8],
) -> PyResult<(Bound<'py, PyBytes>, U64Array)> {
    let (text, ends) = py.detach(|| {
        let documents = block.documents();
        documents.check()?;
        Result::Ok(usable(&documents, first..end, longest, reserved))
    })?;
    Ok((bytes_of(py, &text)?, ends.into()))
}
