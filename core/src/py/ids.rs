//! Ids as Python's numbers.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyInt, PyList};

/// How many numbers are made at once.
const TOGETHER: usize = 64;

/// A number for each id, made when one near it is first asked for, and then shared by all lists: a list of ids that has
/// only to point to its numbers is made in a fraction of the time, and takes a fifth of the memory.
pub struct Ids(Box<[PyOnceLock<Several>]>);

/// Numbers that are made together.
type Several = Box<[Py<PyInt>; TOGETHER]>;

impl Ids {
    /// Numbers for the ids below a size; those of other ids are made anew each time.
    pub fn below(size: usize) -> Self {
        let several = (0..size.div_ceil(TOGETHER)).map(|_| PyOnceLock::new());
        Self(several.collect())
    }

    /// The number of an id.
    pub fn number<'py>(&self, py: Python<'py>, id: u32) -> Bound<'py, PyInt> {
        let (first, place) = (id as usize / TOGETHER, id as usize % TOGETHER);
        match self.0.get(first) {
            Some(several) => several.get_or_init(py, || made_from(py, first * TOGETHER))[place]
                .bind(py)
                .clone(),
            None => PyInt::new(py, id),
        }
    }

    /// A list of ids.
    pub fn list<'py>(&self, py: Python<'py>, ids: &[u32]) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, ids.iter().map(|&id| self.number(py, id)))
    }
}

fn made_from(py: Python<'_>, first: usize) -> Several {
    Box::new(std::array::from_fn(|place| {
        PyInt::new(py, first + place).unbind()
    }))
}
