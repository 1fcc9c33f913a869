//! Tables for normalizers.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::to_python;
use crate::normalize;

#[pyfunction]
pub(super) fn charsmap<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyBytes>> {
    let table = py.detach(|| normalize::charsmap(name)).map_err(to_python)?;
    Ok(PyBytes::new(py, &table))
}
