//! Texts as Python holds them.

use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::memory::asking::{need_exact_room, need_room};

/// A str of fewer characters is copied, which takes less time than to ask whether it has to be.
const SHORT: usize = 512;

/// A text, whose memory nothing can write to: `bytes`, or a str that has its UTF-8.
pub enum Text<'py> {
    Bytes(Bound<'py, PyBytes>),
    Str(Bound<'py, PyString>),
}

impl<'py> FromPyObject<'_, 'py> for Text<'py> {
    type Error = PyErr;

    /// Takes `bytes` as they are, and of a str its UTF-8. Nothing else: what that holds may change.
    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = object.cast_exact::<PyBytes>() {
            return Ok(Self::Bytes(bytes.to_owned()));
        }
        let text = object
            .cast_exact::<PyString>()
            .map_err(|_| PyTypeError::new_err("this takes bytes and str"))?;
        // A str keeps UTF-8 that it was once asked for, unless it lies there as UTF-8 anyway.
        let is_ascii = intern!(object.py(), "isascii");
        if text.len()? >= SHORT && text.call_method0(is_ascii)?.is_truthy()? {
            return Ok(Self::Str(text.to_owned()));
        }
        text.encode_utf8().map(Self::Bytes)
    }
}

impl Text<'_> {
    /// Its bytes.
    pub fn bytes(&self) -> PyResult<&[u8]> {
        match self {
            Self::Bytes(bytes) => Ok(bytes.as_bytes()),
            Self::Str(text) => text.to_str().map(str::as_bytes),
        }
    }
}

/// A text that is encoded by itself: a short str is asked for its UTF-8, which it keeps if it is not ASCII. Copying
/// takes longer, and for one text at a time what is kept is little.
pub struct SingleText<'py>(pub Text<'py>);

impl<'py> FromPyObject<'_, 'py> for SingleText<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(text) = object.cast_exact::<PyString>()
            && text.len()? < SHORT
            && text.to_str().is_ok()
        {
            return Ok(Self(Text::Str(text.to_owned())));
        }
        object.extract().map(Self)
    }
}

/// Several texts.
pub struct Texts<'py>(Vec<Text<'py>>);

impl<'py> FromPyObject<'_, 'py> for Texts<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let mut texts = Vec::new();
        for text in object.try_iter()? {
            need_room(&mut texts, 1, "texts")?;
            texts.push(text?.extract()?);
        }
        Ok(Self(texts))
    }
}

impl Texts<'_> {
    /// The bytes of each.
    pub fn bytes(&self) -> PyResult<Vec<&[u8]>> {
        let mut texts = Vec::new();
        need_exact_room(&mut texts, self.0.len(), "texts")?;
        for text in &self.0 {
            texts.push(text.bytes()?);
        }
        Ok(texts)
    }
}
