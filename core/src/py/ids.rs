//! Ids as Python's numbers.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyInt, PyList};

use super::objects::{int_of, list_of};

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
    ///
    /// # Errors
    /// There is no memory for it.
    #[inline]
    pub fn number<'py>(&self, py: Python<'py>, id: u32) -> PyResult<Bound<'py, PyInt>> {
        let (first, place) = (id as usize / TOGETHER, id as usize % TOGETHER);
        match self.0.get(first).and_then(|several| several.get(py)) {
            Some(several) => Ok(several[place].bind(py).clone()),
            None => self.new_number(py, id),
        }
    }

    #[cold]
    fn new_number<'py>(&self, py: Python<'py>, id: u32) -> PyResult<Bound<'py, PyInt>> {
        let (first, place) = (id as usize / TOGETHER, id as usize % TOGETHER);
        match self.0.get(first) {
            Some(several) => {
                let several = several.get_or_try_init(py, || made_from(py, first * TOGETHER))?;
                Ok(several[place].bind(py).clone())
            }
            None => int_of(py, id.into()),
        }
    }

    /// A list of ids.
    ///
    /// # Errors
    /// There is no memory for it.
    pub fn list<'py>(&self, py: Python<'py>, ids: &[u32]) -> PyResult<Bound<'py, PyList>> {
        list_of(py, ids.iter().map(|&id| self.number(py, id)))
    }
}

fn made_from(py: Python<'_>, first: usize) -> PyResult<Several> {
    let mut numbers = Vec::with_capacity(TOGETHER);
    for number in first..first + TOGETHER {
        numbers.push(int_of(py, number as u64)?.unbind());
    }
    Ok(numbers
        .try_into()
        .unwrap_or_else(|_| unreachable!("there are as many")))
}
