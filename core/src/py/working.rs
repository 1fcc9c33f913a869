//! Work that takes its memory for granted.

use pyo3::prelude::*;

use crate::memory::reserve;

/// Works without the GIL, and with spare addresses: where these are limited, a refusal of memory becomes an error.
pub fn working<T: Send>(py: Python<'_>, job: impl FnOnce() -> T + Send) -> T {
    py.detach(|| {
        let _spare = reserve::hold();
        job()
    })
}
