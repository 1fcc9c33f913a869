//! The same threads, one at a time: shuttle says at each lock and each atomic access which of them goes on, by a seed,
//! and so tries orders that a machine would seldom come to. `make test-schedules` builds the tests for it.

use std::io;
use std::num::NonZero;

pub use shuttle::sync;
pub use shuttle::thread::scope;

use shuttle::thread::{Scope, ScopedJoinHandle};

/// How many of them a test tries, where chance chooses.
pub const SCHEDULES: usize = 5_000;

/// What makes a thread.
#[derive(Debug)]
pub struct Builder;

impl Builder {
    /// Makes one.
    pub fn new() -> Self {
        Self
    }

    /// Starts a thread, which shuttle never refuses.
    pub fn spawn_scoped<'scope, T: Send + 'scope>(
        self,
        scope: &'scope Scope<'scope, '_>,
        work: impl FnOnce() -> T + Send + 'scope,
    ) -> io::Result<ScopedJoinHandle<'scope, T>> {
        Ok(scope.spawn(work))
    }
}

/// As many as the tests start, whatever the machine has.
pub fn available_parallelism() -> io::Result<NonZero<usize>> {
    NonZero::new(4).ok_or(io::ErrorKind::Unsupported.into())
}

mod tests {
    use shuttle::scheduler::DfsScheduler;
    use shuttle::{Config, Runner, check_random};

    use super::SCHEDULES;
    use crate::threads::{fold, map_with};

    /// Results by item, ends by thread; the items of a thread ascend; the first error in order wins.
    fn items_are_handed_out(items: usize, threads: usize, wrong: &[usize]) {
        let begin = |number| (number, Vec::new());
        let work = |own: &mut (usize, Vec<usize>), item: usize| {
            own.1.push(item);
            if wrong.contains(&item) {
                return Err(item);
            }
            Ok((own.0, item * item))
        };
        let result = map_with(0..items, threads, begin, work, |own| own);
        let Some(first) = wrong.iter().min() else {
            let (results, ended) = result.unwrap();
            assert_eq!(results.len(), items);
            for (item, (thread, square)) in results.into_iter().enumerate() {
                assert_eq!(square, item * item);
                assert!(ended[thread].1.contains(&item));
            }
            for (number, (thread, own)) in ended.into_iter().enumerate() {
                assert_eq!(number, thread);
                assert!(!own.is_empty() && own.is_sorted());
            }
            return;
        };
        assert_eq!(result.unwrap_err(), *first);
    }

    #[test]
    fn every_schedule_of_two_threads_and_three_items() {
        for wrong in [&[][..], &[1, 2]] {
            let every = Runner::new(DfsScheduler::new(None, false), Config::new());
            let schedules = every.run(move || items_are_handed_out(3, 2, wrong));
            assert!(schedules > 100);
        }
    }

    #[test]
    fn schedules_of_four_threads_and_ten_items() {
        check_random(|| items_are_handed_out(10, 4, &[]), SCHEDULES);
        check_random(|| items_are_handed_out(10, 4, &[7, 4]), SCHEDULES);
    }

    /// All is added, in order, and nothing is left behind when all threads are done.
    fn items_are_added(items: usize, threads: usize) {
        let work = |item: usize, made: &mut usize| *made = item;
        let all = fold(0..items, threads, Vec::new(), work, |all, &made| {
            all.push(made)
        });
        assert!(all.into_iter().eq(0..items));
    }

    #[test]
    fn schedules_of_adding_in_order() {
        let every = Runner::new(DfsScheduler::new(Some(20_000), false), Config::new());
        assert!(every.run(|| items_are_added(2, 2)) > 100);
        check_random(|| items_are_added(3, 2), SCHEDULES);
        check_random(|| items_are_added(40, 4), SCHEDULES);
    }
}
