//! Work in shards of fixed number on any number of threads, with results in order.
//!
//! Sums of floating-point numbers depend on their order; the shards do not depend on the threads, and
//! whoever adds their results adds them in order.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::threads::share;

/// Runs `work` for each number below `count` on up to `threads` threads; gives the results in order.
pub fn run<R: Send>(count: usize, threads: usize, work: impl Fn(usize) -> R + Sync) -> Vec<R> {
    if threads <= 1 || count <= 1 {
        return (0..count).map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, R)>> = Mutex::new(Vec::with_capacity(count));
    share(threads.min(count), || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return;
            }
            let result = work(number);
            if let Ok(mut results) = results.lock() {
                results.push((number, result));
            }
        }
    });
    let mut results = results
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    results.sort_unstable_by_key(|(number, _)| *number);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Changes each of some items, on up to `threads` threads.
pub fn change<T: Send>(items: &mut [T], threads: usize, work: impl Fn(&mut T) + Sync) {
    if threads <= 1 || items.len() <= 1 {
        return items.iter_mut().for_each(work);
    }
    let threads = threads.min(items.len());
    let waiting = Mutex::new(items.iter_mut());
    let take = || waiting.lock().ok().and_then(|mut waiting| waiting.next());
    share(threads, || {
        while let Some(item) = take() {
            work(item);
        }
    });
}

#[cfg(test)]
mod tests {
    #[test]
    fn changes_all() {
        for threads in [1, 3] {
            let mut numbers: Vec<usize> = (0..100).collect();
            super::change(&mut numbers, threads, |number| *number *= 2);
            assert!(
                numbers
                    .iter()
                    .enumerate()
                    .all(|(at, &number)| number == 2 * at)
            );
        }
    }

    #[test]
    fn keeps_the_order() {
        for threads in [1, 3] {
            let expected: Vec<usize> = (0..100).map(|number| number * number).collect();
            assert_eq!(super::run(100, threads, |number| number * number), expected);
        }
    }
}
