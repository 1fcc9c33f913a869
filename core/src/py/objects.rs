//! Lists, strings and numbers for Python.
//!
//! PyO3's own ways to make them panic where there is no memory, as that of bytes does ([`super::bytes`]): they are for what
//! there are few of.

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyList, PyString};

/// Makes a list of what an iterator gives.
///
/// # Errors
/// Those of the items; there is no memory for the list.
pub fn list_of<'py, T>(
    py: Python<'py>,
    items: impl ExactSizeIterator<Item = PyResult<Bound<'py, T>>>,
) -> PyResult<Bound<'py, PyList>> {
    let length = ffi::Py_ssize_t::try_from(items.len())?;
    // SAFETY: it gives a new reference, or null with an exception set.
    let list = unsafe {
        Bound::from_owned_ptr_or_err(py, ffi::PyList_New(length))?.cast_into_unchecked::<PyList>()
    };
    let mut places = 0..length;
    for (place, item) in places.by_ref().zip(items) {
        // SAFETY: the list is new and has this place, which the call gives the reference to; where it fails, it has
        // given that up.
        if unsafe { ffi::PyList_SetItem(list.as_ptr(), place, item?.into_ptr()) } != 0 {
            return Err(PyErr::fetch(py));
        }
    }
    // A place without an item must never be seen.
    assert!(places.is_empty(), "an iterator gives as many as it says");
    Ok(list)
}

/// Copies a text.
///
/// # Errors
/// There is no memory for it.
pub fn str_of<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyString>> {
    let size = ffi::Py_ssize_t::try_from(text.len())?;
    // SAFETY: so many bytes lie there; it gives a new reference to a str, or null with an exception set.
    unsafe {
        let made = ffi::PyUnicode_FromStringAndSize(text.as_ptr().cast(), size);
        Ok(Bound::from_owned_ptr_or_err(py, made)?.cast_into_unchecked())
    }
}

/// Makes a number.
///
/// # Errors
/// There is no memory for it.
pub fn int_of(py: Python<'_>, number: u64) -> PyResult<Bound<'_, PyInt>> {
    // SAFETY: it gives a new reference to an int, or null with an exception set.
    unsafe {
        let made = ffi::PyLong_FromUnsignedLongLong(number);
        Ok(Bound::from_owned_ptr_or_err(py, made)?.cast_into_unchecked())
    }
}
