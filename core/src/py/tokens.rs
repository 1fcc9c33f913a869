//! Tokens in a text as Python's objects: a class of slots, filled without a call into Python for each.

use std::ffi::c_void;
use std::mem::transmute;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyList, PyTuple, PyType};

use super::arrays::BufferArg;
use super::ids::Ids;
use super::objects::int_of;
use crate::text::characters::Characters;

/// Where tokens lie: of each its id, its first byte, the one after its last, and whether it is special.
pub type PlacedArg<'py> = (
    BufferArg<u32>,
    BufferArg<u64>,
    BufferArg<u64>,
    Bound<'py, PyBytes>,
);

/// The class of tokens, and the bytes of those met before, by their ids; others are asked for.
pub type KindArg<'py> = (Bound<'py, PyType>, Bound<'py, PyDict>, Bound<'py, PyAny>);

/// Makes the tokens of a text, in which bytes that are no UTF-8 have become something that is.
pub fn tokens_of<'py>(
    py: Python<'py>,
    numbers: &Ids,
    (ids, starts, ends, special): &PlacedArg<'py>,
    (kind, contents, content_of): &KindArg<'py>,
    text: &[u8],
) -> PyResult<Bound<'py, PyList>> {
    let special = special.as_bytes();
    if [starts.len(), ends.len(), special.len()] != [ids.len(); 3] {
        return Err(PyValueError::new_err("the columns are not of one length"));
    }
    let maker = Maker::new(kind)?;
    let mut characters = Characters::new(text);
    // Most tokens begin where the one before them ends, and one number says both.
    let mut last = Vec::new();
    let mut number = move |value: u64| {
        let known = last.iter().find(|(known, _)| *known == value);
        if let Some((_, number)) = known {
            return PyResult::Ok(Bound::clone(number));
        }
        let number = int_of(py, value)?;
        last.truncate(RECENT - 1);
        last.insert(0, (value, number.clone()));
        Ok(number)
    };
    let found = PyList::empty(py);
    for (((&id, &start), &end), &special) in ids.iter().zip(&**starts).zip(&**ends).zip(special) {
        let token_id = numbers.number(py, id)?;
        let content = match contents.get_item(&token_id)? {
            Some(content) => content,
            None => {
                let content = content_of.call1((&token_id,))?;
                contents.set_item(&token_id, &content)?;
                content
            }
        };
        let (char_start, char_end) = characters.span(start, end);
        found.append(maker.make([
            token_id.into_any(),
            content,
            number(start)?.into_any(),
            number(end)?.into_any(),
            PyBool::new(py, special != 0).to_owned().into_any(),
            number(char_start)?.into_any(),
            number(char_end)?.into_any(),
        ])?)?;
    }
    Ok(found)
}

/// How many numbers are remembered: those of one token.
const RECENT: usize = 4;

/// The slots of a token, in order.
const SLOTS: [&str; 7] = [
    "token_id",
    "content",
    "start",
    "end",
    "special",
    "char_start",
    "char_end",
];

/// Makes instances of a class with [`SLOTS`], which its `__init__` would fill in the same way.
struct Maker<'py> {
    kind: Bound<'py, PyType>,
    new: ffi::newfunc,
    nothing: Bound<'py, PyTuple>,
    slots: Vec<(Bound<'py, PyAny>, ffi::descrsetfunc)>,
}

impl<'py> Maker<'py> {
    fn new(kind: &Bound<'py, PyType>) -> PyResult<Self> {
        let new = function(kind, ffi::Py_tp_new)?;
        let slots = SLOTS.map(|name| {
            let slot = kind.getattr(name)?;
            let set = function(&slot.get_type(), ffi::Py_tp_descr_set)?;
            // SAFETY: what a type has in this place is such a function.
            PyResult::Ok((slot, unsafe {
                transmute::<*mut c_void, ffi::descrsetfunc>(set)
            }))
        });
        Ok(Self {
            kind: kind.clone(),
            // SAFETY: what a type has in this place is such a function.
            new: unsafe { transmute::<*mut c_void, ffi::newfunc>(new) },
            nothing: PyTuple::empty(kind.py()),
            slots: slots.into_iter().collect::<PyResult<_>>()?,
        })
    }

    fn make(&self, values: [Bound<'py, PyAny>; SLOTS.len()]) -> PyResult<Bound<'py, PyAny>> {
        let py = self.kind.py();
        // SAFETY: it is the type's own `__new__`, called as Python calls it: with the type and no arguments; it gives
        // a new reference, or null with an exception set.
        let made = unsafe {
            let made = (self.new)(
                self.kind.as_type_ptr(),
                self.nothing.as_ptr(),
                std::ptr::null_mut(),
            );
            Bound::from_owned_ptr_or_err(py, made)?
        };
        for ((slot, set), value) in self.slots.iter().zip(values) {
            // SAFETY: it is the `__set__` of the slot's own type, which checks what it is called with, and takes a
            // reference of its own.
            if unsafe { set(slot.as_ptr(), made.as_ptr(), value.as_ptr()) } != 0 {
                return Err(PyErr::fetch(py));
            }
        }
        Ok(made)
    }
}

/// A function of a type, which is not null.
fn function(kind: &Bound<'_, PyType>, slot: i32) -> PyResult<*mut c_void> {
    // SAFETY: the type is alive, and the number is that of a slot.
    let function = unsafe { ffi::PyType_GetSlot(kind.as_type_ptr(), slot) };
    if function.is_null() {
        return Err(PyTypeError::new_err("this is no class of slots"));
    }
    Ok(function)
}
