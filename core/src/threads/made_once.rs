//! What is made when it is first needed.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::Duration;

/// How long a thread sleeps between two looks whether another has made the value.
const BETWEEN_LOOKS: Duration = Duration::from_micros(50);

/// Nobody makes the value.
const NOBODY: u32 = 0;

/// A value that one thread makes when it is first needed, while others wait for it.
///
/// A [`OnceLock`] is locked while its value is made. A copy of the process that a fork makes meanwhile has that lock, but
/// not the thread that would open it, and whoever needs the value there waits for ever. Here the copy makes its own.
#[derive(Debug)]
pub struct MadeOnce<T> {
    /// Locked only while the value moves in.
    value: OnceLock<T>,
    /// The number of the process in which a thread makes the value, or [`NOBODY`].
    maker: AtomicU32,
}

impl<T> Default for MadeOnce<T> {
    fn default() -> Self {
        Self::from_lock(OnceLock::new())
    }
}

impl<T> From<T> for MadeOnce<T> {
    fn from(value: T) -> Self {
        Self::from_lock(OnceLock::from(value))
    }
}

/// A value that is being made is not in the copy.
impl<T: Clone> Clone for MadeOnce<T> {
    fn clone(&self) -> Self {
        Self::from_lock(self.value.clone())
    }
}

impl<T> MadeOnce<T> {
    fn from_lock(value: OnceLock<T>) -> Self {
        Self {
            value,
            maker: AtomicU32::new(NOBODY),
        }
    }

    /// The value, if it has been made.
    #[inline]
    pub fn get(&self) -> Option<&T> {
        self.value.get()
    }

    /// The value, made now if nobody has.
    ///
    /// # Panics
    /// If `make` does. The next one who needs the value makes it then.
    #[inline]
    pub fn get_or_make(&self, make: impl FnOnce() -> T) -> &T {
        match self.value.get() {
            Some(value) => value,
            None => self.wait_or_make(make),
        }
    }

    #[cold]
    fn wait_or_make(&self, make: impl FnOnce() -> T) -> &T {
        let _making = loop {
            if let Some(value) = self.value.get() {
                return value;
            }
            if let Some(making) = Making::begin(&self.maker) {
                break making;
            }
            sleep(BETWEEN_LOOKS);
        };
        if let Some(value) = self.value.get() {
            return value; // made between the two looks
        }
        let made = make();
        self.value.get_or_init(|| made)
    }
}

/// Tells others that this thread makes the value, until it is dropped.
struct Making<'a>(&'a AtomicU32);

impl<'a> Making<'a> {
    /// None if another thread of this process makes it.
    fn begin(maker: &'a AtomicU32) -> Option<Self> {
        let here = std::process::id();
        let now = maker.load(Ordering::Relaxed);
        let begun = now != here
            && maker
                .compare_exchange(now, here, Ordering::Acquire, Ordering::Relaxed)
                .is_ok();
        begun.then(|| Self(maker))
    }
}

impl Drop for Making<'_> {
    fn drop(&mut self) {
        self.0.store(NOBODY, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::AtomicUsize;
    use std::sync::mpsc::channel;
    use std::thread;

    use super::*;

    #[test]
    fn one_thread_makes_it_and_all_get_it() {
        let (once, made) = (MadeOnce::default(), AtomicUsize::new(0));
        let make = || {
            sleep(Duration::from_millis(2));
            made.fetch_add(1, Ordering::Relaxed)
        };
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| assert_eq!(*once.get_or_make(make), 0));
            }
        });
        assert_eq!(made.load(Ordering::Relaxed), 1);
        assert_eq!((once.get(), *once.get_or_make(|| 5)), (Some(&0), 0));
        assert_eq!(MadeOnce::from(7).get(), Some(&7));
    }

    #[test]
    fn another_makes_it_if_the_first_panics() {
        let once = MadeOnce::default();
        let panics = || once.get_or_make(|| panic!("on purpose"));
        assert!(catch_unwind(AssertUnwindSafe(|| *panics())).is_err());
        assert_eq!((once.get(), *once.get_or_make(|| 3)), (None, 3));
    }

    #[test]
    fn a_copy_of_the_process_makes_its_own() {
        let once = MadeOnce::default();
        // As after a fork: a thread of the process that was copied was making it.
        once.maker.store(std::process::id() + 1, Ordering::Relaxed);
        assert_eq!(*once.get_or_make(|| 4), 4);
    }

    #[test]
    fn it_is_not_locked_while_it_is_made() {
        let once = MadeOnce::default();
        let (begun, begins) = channel();
        let (end, ends) = channel();
        thread::scope(|scope| {
            let once = &once;
            scope.spawn(move || {
                once.get_or_make(|| {
                    begun.send(()).unwrap();
                    ends.recv().unwrap();
                    1
                });
            });
            begins.recv().unwrap();
            assert_eq!(once.value.get_or_init(|| 2), &2);
            end.send(()).unwrap();
        });
        assert_eq!(once.get(), Some(&2));
    }
}
