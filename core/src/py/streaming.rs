//! The text of ids that come one at a time.

use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyInt, PyList, PyTuple};

use super::arrays::BufferArg;
use super::encoder::Encoder;

/// What a decoder of a stream looks at before anything else: what single ids read as. A subclass has `_feed`, for ids
/// that are not known, and `_feed_bytes`, for bytes that may end within a character or go on with one.
#[pyclass(subclass, frozen, module = "bpe_cli._core")]
pub struct KnownTexts {
    known: PyOnceLock<Known>,
    /// Whether no character is begun, so that the next id may read alone.
    ready: AtomicBool,
}

struct Known {
    encoder: Py<Encoder>,
    /// Ids that the encoder's table is not asked about, ascending.
    others: Box<[u32]>,
}

#[pymethods]
impl KnownTexts {
    #[new]
    #[pyo3(signature = (*_given, **_named))]
    fn new(_given: &Bound<'_, PyTuple>, _named: Option<&Bound<'_, PyDict>>) -> Self {
        Self {
            known: PyOnceLock::new(),
            ready: AtomicBool::new(false),
        }
    }

    /// Return the text that is certain after these ids.
    ///
    /// Raises:
    ///     InputError: if an id has no token; if the bytes are not UTF-8 and errors are strict; or if the decoders
    ///         change text that was already returned.
    fn feed<'py>(
        stream: &Bound<'py, Self>,
        ids: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = ids.py();
        let this = stream.get();
        let Some((known, id)) = this.known.get(py).zip(single(ids)) else {
            return stream.call_method1(intern!(py, "_feed"), (ids,));
        };
        let encoder = known.encoder.get();
        if this.ready.load(Ordering::Relaxed)
            && let Some(text) = encoder.texts.get(py, id)
        {
            return Ok(text.into_any());
        }
        let token = encoder.tokens().get(id);
        if token.is_empty() || known.others.binary_search(&id).is_ok() {
            return stream.call_method1(intern!(py, "_feed"), (ids,));
        }
        match std::str::from_utf8(token) {
            Ok(text) if this.ready.load(Ordering::Relaxed) => {
                Ok(encoder.texts.keep(py, id, text)?.into_any())
            }
            _ => stream.call_method1(intern!(py, "_feed_bytes"), (PyBytes::new(py, token),)),
        }
    }

    fn _know(&self, py: Python<'_>, encoder: Py<Encoder>, others: BufferArg<u32>) {
        let others = others.to_vec().into_boxed_slice();
        self.known.get_or_init(py, || Known { encoder, others });
    }

    fn _be_ready(&self, ready: bool) {
        self.ready.store(ready, Ordering::Relaxed);
    }
}

/// The number in a list of one, if it is an id: True and 1.0 are none.
fn single(ids: &Bound<'_, PyAny>) -> Option<u32> {
    let ids = ids
        .cast_exact::<PyList>()
        .ok()
        .filter(|ids| ids.len() == 1)?;
    let id = ids.get_item(0).ok()?.cast_into_exact::<PyInt>().ok()?;
    id.extract().ok()
}
