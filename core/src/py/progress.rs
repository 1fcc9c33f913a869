//! Work that says how far it is, and that a signal or the caller can stop.

use pyo3::prelude::*;

use super::working::working;
use crate::error::{Error, Result};
use crate::memory::reserve;

/// Works without the GIL, and takes it for each report of (done, all there is to do): signals are
/// checked, and `progress` is called. What either raises ends the work.
pub fn run<T: Send>(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    job: impl FnOnce(&mut dyn FnMut(usize, usize) -> Result<()>) -> Result<T> + Send,
) -> PyResult<T> {
    // What a callback or a signal handler raised, kept while the core unwinds.
    let mut raised = None;
    let result = working(py, || {
        job(&mut |done, all| {
            reserve::check()?;
            let called = Python::attach(|py| {
                py.check_signals()?;
                let call = progress.map(|call| call.call1(py, (done, all)));
                call.transpose()
            });
            called.map(drop).map_err(|error| {
                raised = Some(error);
                Error::Stopped
            })
        })
    });
    match raised {
        Some(error) => Err(error),
        None => result.map_err(PyErr::from),
    }
}
