//! How a command line ends when the system has no memory for what nobody can do without.

use std::sync::OnceLock;

use pyo3::prelude::*;

static LAST_WORDS: OnceLock<(Vec<u8>, i32)> = OnceLock::new();

/// Has the process write this and end with this status when memory is refused that nobody asked for. On other systems than
/// Unix nothing changes.
#[pyfunction]
pub fn end_without_memory(message: Vec<u8>, status: i32) {
    if LAST_WORDS.set((message, status)).is_ok() {
        #[cfg(unix)]
        crate::memory::asking::end_with(end);
    }
}

/// Ends the process at once: other threads still run, and nothing that has to be done at an end could rely on memory.
#[cfg(unix)]
fn end() -> ! {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    static ENDS: AtomicBool = AtomicBool::new(false);
    if ENDS.swap(true, Ordering::Relaxed) {
        // Another thread was refused memory too, and says so.
        loop {
            std::thread::sleep(Duration::from_secs(1));
        }
    }
    let (message, status) = match LAST_WORDS.get() {
        Some((message, status)) => (&message[..], *status),
        None => (&[][..], 1),
    };
    // SAFETY: so many bytes lie there. If there is no stderr, nobody is left to tell.
    unsafe {
        libc::write(2, message.as_ptr().cast(), message.len());
        libc::_exit(status)
    }
}
