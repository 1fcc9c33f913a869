//! Threads that share a piece of work; the work says itself who takes which part of it.

use std::panic::resume_unwind;
use std::sync::OnceLock;
use std::thread::{Builder, available_parallelism};

/// Calls `work` on up to `threads` threads at once, this one among them, and returns when all have.
///
/// The system may refuse a thread (a limit on processes or on memory): then fewer do the work, at worst this one alone.
/// So `work` takes what it does from what all share until nothing is left. More than the machine runs at once would only
/// wait for each other.
///
/// # Panics
/// When `work` does on one of them, with what that one said.
pub fn share(threads: usize, work: impl Fn() + Sync) {
    share_with(Builder::new, threads.min(cores()), work);
}

/// How many threads run at once; as many as anybody wants if the system does not say.
pub fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| available_parallelism().map_or(usize::MAX, usize::from))
}

fn share_with(builder: impl Fn() -> Builder, threads: usize, work: impl Fn() + Sync) {
    std::thread::scope(|scope| {
        let started = (1..threads).map_while(|_| builder().spawn_scoped(scope, &work).ok());
        let started: Vec<_> = started.collect();
        work();
        // A scope by itself would only say that a thread panicked.
        for thread in started {
            thread.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
    });
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread::Builder;

    fn calls(builder: impl Fn() -> Builder, threads: usize) -> usize {
        let calls = AtomicUsize::new(0);
        super::share_with(builder, threads, || {
            calls.fetch_add(1, Ordering::Relaxed);
        });
        calls.into_inner()
    }

    #[test]
    fn each_thread_calls_once() {
        for threads in [1, 2, 5] {
            assert_eq!(calls(Builder::new, threads), threads);
        }
    }

    #[test]
    fn a_panic_keeps_its_message() {
        let main = std::thread::current().id();
        let panic = std::panic::catch_unwind(|| {
            super::share_with(Builder::new, 3, || {
                assert_eq!(std::thread::current().id(), main, "a worker's own words");
            });
        });
        let message = panic.unwrap_err();
        let message = message.downcast_ref::<String>().unwrap();
        assert!(message.contains("a worker's own words"), "{message}");
    }

    #[test]
    fn no_more_threads_than_run_at_once() {
        let calls = AtomicUsize::new(0);
        super::share(100_000, || {
            calls.fetch_add(1, Ordering::Relaxed);
        });
        assert_eq!(calls.into_inner(), super::cores());
    }

    #[test]
    fn without_other_threads_this_one_works() {
        assert_eq!(calls(|| Builder::new().stack_size(1 << 46), 5), 1);
    }
}
