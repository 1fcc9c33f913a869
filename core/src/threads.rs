//! Threads that share a piece of work; the work says itself who takes which part of it.

use std::thread::Builder;

/// Calls `work` on up to `threads` threads at once, this one among them, and returns when all have.
///
/// The system may refuse a thread (a limit on processes or on memory): then fewer do the work, at worst this one alone.
/// So `work` takes what it does from what all share until nothing is left.
pub fn share(threads: usize, work: impl Fn() + Sync) {
    share_with(Builder::new, threads, work);
}

fn share_with(builder: impl Fn() -> Builder, threads: usize, work: impl Fn() + Sync) {
    std::thread::scope(|scope| {
        for _ in 1..threads {
            if builder().spawn_scoped(scope, &work).is_err() {
                break;
            }
        }
        work();
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
    fn without_other_threads_this_one_works() {
        assert_eq!(calls(|| Builder::new().stack_size(1 << 46), 5), 1);
    }
}
