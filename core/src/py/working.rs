//! Work without the GIL that takes its memory for granted, and work that a signal can end, too.

use std::cell::RefCell;

use pyo3::prelude::*;

use crate::error::{Error, Result};
use crate::memory::reserve;
use crate::threads::going_on;

thread_local! {
    /// What a signal handler raised, while the core unwinds.
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Works without the GIL, and with spare addresses: where these are limited, a refusal of memory becomes an error.
pub fn working<T: Send>(py: Python<'_>, job: impl FnOnce() -> T + Send) -> T {
    py.detach(|| {
        let _spare = reserve::hold();
        job()
    })
}

/// Works without the GIL, and asks for memory; what a signal handler raises meanwhile, such as KeyboardInterrupt in the
/// main thread, ends work that asks whether it is to go on.
pub fn interruptible<T: Send>(
    py: Python<'_>,
    job: impl FnOnce() -> Result<T> + Send,
) -> PyResult<T> {
    let result = py.detach(|| going_on::asking(check_signals, job));
    match RAISED.take() {
        Some(error) => Err(error),
        None => result.map_err(PyErr::from),
    }
}

fn check_signals() -> Result<()> {
    Python::attach(|py| py.check_signals()).map_err(|error| {
        RAISED.set(Some(error));
        Error::Stopped
    })
}
