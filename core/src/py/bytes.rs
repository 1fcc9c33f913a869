//! Bytes for Python.
//!
//! `PyBytes::new` panics where there is no memory for them, and a traceback is printed before anybody can catch that: it is
//! for small things.

use std::mem::MaybeUninit;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::Result;
use crate::memory::room::{self, Room};

/// Makes a bytes object of a length that is known before, without the GIL and without a copy; `fill` fills
/// all of it.
pub fn bytes_of_length<'py>(
    py: Python<'py>,
    length: usize,
    fill: impl FnOnce(Room<'_>) -> Result<Room<'_>> + Send,
) -> PyResult<Bound<'py, PyBytes>> {
    made(py, length, |room| py.detach(|| fill(room)))
}

/// Copies bytes.
///
/// # Errors
/// There is no memory for them.
pub fn bytes_of<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    made(py, bytes.len(), |mut room| {
        let _ = room.append(bytes); // whether all was filled is checked
        Ok(room)
    })
}

fn made<'py>(
    py: Python<'py>,
    length: usize,
    fill: impl FnOnce(Room<'_>) -> Result<Room<'_>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let size = ffi::Py_ssize_t::try_from(length)?;
    // SAFETY: A null pointer asks for a new object of `size` bytes that nobody has written yet, and gives
    // a new reference or null with an exception set.
    let object = unsafe {
        let object = ffi::PyBytes_FromStringAndSize(std::ptr::null(), size);
        Bound::from_owned_ptr_or_err(py, object)?.cast_into_unchecked::<PyBytes>()
    };
    // SAFETY: `length` bytes lie there, and while nobody else has the object nobody else reads or
    // writes them. It is not given away before all are written, which `check_filled` sees to.
    let memory = unsafe {
        let start = ffi::PyBytes_AsString(object.as_ptr()).cast::<MaybeUninit<u8>>();
        std::slice::from_raw_parts_mut(start, length)
    };
    let start = memory.as_ptr().cast::<u8>();
    room::check_filled(fill(Room::new(memory))?.filled(), start, length)?;
    Ok(object)
}
