//! The texts of tokens as Python's strings.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyString;

use super::objects::str_of;

/// How many texts have their places made at once.
const TOGETHER: usize = 64;

/// The texts of tokens that are whole characters, each made when it is first asked for.
pub struct TokenTexts(Box<[PyOnceLock<Several>]>);

type Several = Box<[PyOnceLock<Py<PyString>>; TOGETHER]>;

impl TokenTexts {
    /// Places for the texts of the ids below a size.
    pub fn below(size: usize) -> Self {
        let several = (0..size.div_ceil(TOGETHER)).map(|_| PyOnceLock::new());
        Self(several.collect())
    }

    /// The text of an id, if it is kept.
    pub fn get<'py>(&self, py: Python<'py>, id: u32) -> Option<Bound<'py, PyString>> {
        let several = self.0.get(id as usize / TOGETHER)?.get(py)?;
        Some(several[id as usize % TOGETHER].get(py)?.bind(py).clone())
    }

    /// Keeps the text of an id of the table.
    ///
    /// # Errors
    /// There is no memory for it.
    pub fn keep<'py>(
        &self,
        py: Python<'py>,
        id: u32,
        text: &str,
    ) -> PyResult<Bound<'py, PyString>> {
        let several = self.0[id as usize / TOGETHER]
            .get_or_init(py, || Box::new([const { PyOnceLock::new() }; TOGETHER]));
        let place = &several[id as usize % TOGETHER];
        let kept = place.get_or_try_init(py, || str_of(py, text).map(Bound::unbind))?;
        Ok(kept.bind(py).clone())
    }
}
