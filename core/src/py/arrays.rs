//! Buffers in and out.

use std::ffi::{CStr, c_int, c_void};
use std::ops::Deref;

use bytemuck::Zeroable;
use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::{PyBufferError, PyMemoryError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView};

use super::bytes::bytes_of;
use crate::memory::asking::{exact_room_for, zeroed};
use crate::memory::kept;

/// What a caller lent: its memory if nothing can ever write to it, else a copy made while the GIL was held.
///
/// That a buffer is read-only says only that it must not be written through that view: a `bytearray` behind
/// `memoryview.toreadonly()`, an array behind a view of NumPy's, or a mapped file can change while the core reads it
/// without the GIL. So only memory of immutable objects is borrowed.
pub enum BufferArg<T: Element> {
    /// Memory of an immutable object, which the export keeps alive.
    Held(PyBuffer<T>),
    /// Anything else; nothing lent, too: an empty array's memory need not even be aligned.
    Copied(Vec<T>),
}

impl<'py, T: Element + Zeroable> FromPyObject<'_, 'py> for BufferArg<T> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if object.len()? == 0 {
            return Ok(Self::Copied(Vec::new()));
        }
        let buffer = PyBuffer::extract(object)?;
        if buffer.dimensions() != 1 || !buffer.is_c_contiguous() {
            return Err(PyValueError::new_err(
                "the buffer is not a contiguous array of one dimension",
            ));
        }
        if buffer.readonly() && is_immutable(&object)? {
            return Ok(Self::Held(buffer));
        }
        let mut copy = zeroed(buffer.item_count())
            .ok_or_else(|| PyMemoryError::new_err("there is no memory for a copy of an array"))?;
        buffer.copy_to_slice(object.py(), &mut copy)?;
        Ok(Self::Copied(copy))
    }
}

/// Whether what an object exports is memory that nothing can write to: that of `bytes` and of the arrays here,
/// themselves or behind a `memoryview`, whose `obj` is what really exports. No subclass: it may export what it likes.
fn is_immutable(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let exporter = match object.is_exact_instance_of::<PyMemoryView>() {
        true => &object.getattr("obj")?,
        false => object,
    };
    Ok(exporter.is_exact_instance_of::<PyBytes>()
        || exporter.is_exact_instance_of::<U8Array>()
        || exporter.is_exact_instance_of::<U32Array>()
        || exporter.is_exact_instance_of::<U64Array>())
}

impl<T: Element> Deref for BufferArg<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        let buffer = match self {
            Self::Held(buffer) => buffer,
            Self::Copied(items) => return items,
        };
        let start = buffer.buf_ptr().cast::<T>();
        // SAFETY: The buffer is one-dimensional, contiguous, of T (`PyBuffer` checked format, size and
        // alignment) and `item_count` items long. Its exporter is immutable (`is_immutable`), so nothing
        // writes to it, and it is not freed while `buffer` holds the export, which outlives the slice.
        unsafe { std::slice::from_raw_parts(start, buffer.item_count()) }
    }
}

/// Tokens as Python gets them: all bytes, and where each token ends.
pub fn joined<'py>(
    py: Python<'py>,
    tokens: &[Vec<u8>],
) -> PyResult<(Bound<'py, PyBytes>, U32Array)> {
    let ends = tokens.iter().scan(0, |end, token| {
        *end += token.len() as u32;
        Some(*end)
    });
    let ends: Vec<u32> = ends.collect();
    Ok((bytes_of(py, &tokens.concat())?, ends.into()))
}

/// Copies numbers, or gives the error that there is no memory for them.
pub fn numbers_of<T: Copy>(numbers: &[T]) -> PyResult<Vec<T>> {
    column(numbers, |number| *number)
}

/// A number of each item, or the error that there is no memory for them.
pub fn column<T, N>(items: &[T], number: impl Fn(&T) -> N) -> PyResult<Vec<N>> {
    let mut numbers = Vec::new();
    if !exact_room_for(&mut numbers, items.len()) {
        return Err(PyMemoryError::new_err("there is no memory for an array"));
    }
    numbers.extend(items.iter().map(number));
    Ok(numbers)
}

/// Bytes that are read-only.
#[pyclass(frozen, module = "bpe_cli._core")]
pub struct U8Array(Vec<u8>);

#[pymethods]
impl U8Array {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let items: *const [u8] = &raw const slf.get().0[..];
        // SAFETY: Python owns the view; the frozen object, which the view will hold, owns the items.
        unsafe { lend(slf.into_any(), items, c"B", view, flags) }
    }

    unsafe fn __releasebuffer__(&self, view: *mut ffi::Py_buffer) {
        // SAFETY: Python releases a view that `__getbuffer__` filled, once.
        unsafe { take_back(view) }
    }
}

impl From<Vec<u8>> for U8Array {
    fn from(items: Vec<u8>) -> Self {
        Self(items)
    }
}

/// A read-only array of u32.
#[pyclass(frozen, module = "bpe_cli._core")]
pub struct U32Array(Vec<u32>);

#[pymethods]
impl U32Array {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let items: *const [u32] = &raw const slf.get().0[..];
        // SAFETY: Python owns the view; the frozen object, which the view will hold, owns the items.
        unsafe { lend(slf.into_any(), items, c"I", view, flags) }
    }

    unsafe fn __releasebuffer__(&self, view: *mut ffi::Py_buffer) {
        // SAFETY: Python releases a view that `__getbuffer__` filled, once.
        unsafe { take_back(view) }
    }
}

impl Drop for U32Array {
    /// Keeps the memory of a long one for the ids of the next text.
    fn drop(&mut self) {
        kept::give(std::mem::take(&mut self.0));
    }
}

impl From<Vec<u32>> for U32Array {
    fn from(items: Vec<u32>) -> Self {
        Self(items)
    }
}

/// A read-only array of u64.
#[pyclass(frozen, module = "bpe_cli._core")]
pub struct U64Array(Vec<u64>);

#[pymethods]
impl U64Array {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let items: *const [u64] = &raw const slf.get().0[..];
        // SAFETY: Python owns the view; the frozen object, which the view will hold, owns the items.
        unsafe { lend(slf.into_any(), items, c"Q", view, flags) }
    }

    unsafe fn __releasebuffer__(&self, view: *mut ffi::Py_buffer) {
        // SAFETY: Python releases a view that `__getbuffer__` filled, once.
        unsafe { take_back(view) }
    }
}

impl From<Vec<u64>> for U64Array {
    fn from(items: Vec<u64>) -> Self {
        Self(items)
    }
}

/// Fills a view of an object's items.
///
/// # Safety
/// `view` is null or Python's to fill; `items` stay where they are as long as `owner` lives.
unsafe fn lend<T>(
    owner: Bound<'_, PyAny>,
    items: *const [T],
    format: &'static CStr,
    view: *mut ffi::Py_buffer,
    flags: c_int,
) -> PyResult<()> {
    if view.is_null() {
        return Err(PyBufferError::new_err("there is no view to fill"));
    }
    // SAFETY: `view` is not null and ours to fill; an error must leave no owner in it.
    unsafe { (*view).obj = std::ptr::null_mut() };
    let asked = |flag| flags & flag == flag;
    if asked(ffi::PyBUF_WRITABLE) {
        return Err(PyBufferError::new_err("the array is read-only"));
    }
    let item_size = size_of::<T>() as isize;
    // One shape and one stride, boxed; `take_back` gets them from `internal`.
    let layout = Box::into_raw(Box::new([items.len() as isize, item_size])).cast::<isize>();
    let format = if asked(ffi::PyBUF_FORMAT) {
        format.as_ptr().cast_mut()
    } else {
        std::ptr::null_mut()
    };
    // SAFETY: `view` is not null and ours to fill. `obj` takes over the reference to the owner, so
    // the items live until the view is released; so do the layout and the static format.
    unsafe {
        (*view).obj = owner.into_ptr();
        (*view).buf = items.cast::<c_void>().cast_mut();
        (*view).len = items.len() as isize * item_size;
        (*view).itemsize = item_size;
        (*view).readonly = 1;
        (*view).ndim = 1;
        (*view).format = format;
        (*view).shape = layout;
        (*view).strides = layout.add(1);
        (*view).suboffsets = std::ptr::null_mut();
        (*view).internal = layout.cast::<c_void>();
    }
    Ok(())
}

/// Frees what [`lend`] allocated.
///
/// # Safety
/// `lend` filled the view, and this is called once for it.
unsafe fn take_back(view: *mut ffi::Py_buffer) {
    // SAFETY: `internal` is the box that `lend` made for this view.
    unsafe { drop(Box::from_raw((*view).internal.cast::<[isize; 2]>())) }
}
