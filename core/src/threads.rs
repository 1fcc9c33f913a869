//! The one place that starts threads: [`map`] and [`map_with`] hand items out and keep the results in order, [`both`] does
//! two things side by side, [`share`] lets threads share a piece of work that says itself who takes which part of it.

pub mod going_on;
pub(crate) mod made_once;
#[cfg(shuttle)]
pub(crate) mod schedules;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::panic::resume_unwind;
use std::sync::{OnceLock, PoisonError};

#[cfg(shuttle)]
pub(crate) use schedules::{Builder, available_parallelism, scope, sync};
#[cfg(not(shuttle))]
pub(crate) use std::{
    sync,
    thread::{Builder, available_parallelism, scope},
};

use sync::{Mutex, MutexGuard};

/// What `work` makes of each item, in their order, on up to `threads` threads. The results depend on the items alone.
///
/// # Panics
/// As [`share`].
pub fn map<T: Send, R: Send>(
    items: impl ExactSizeIterator<Item = T> + Send,
    threads: usize,
    work: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    let work = |(): &mut (), item| Ok::<R, Infallible>(work(item));
    let Ok((results, _)) = map_with(items, threads, |_| (), work, drop);
    results
}

/// The same, with something that each thread works with: `begin` makes it, given the thread's number, and `end` makes
/// something of it when no item is left. Returns what `work` made, by item, and what `end` made, by thread.
///
/// A thread takes its items in ascending order. A thread that gets none begins nothing.
///
/// # Errors
/// The error of the first item, in order, that has one; once there is one, no further item is begun.
///
/// # Panics
/// As [`share`].
pub fn map_with<T: Send, W, R: Send, E: Send, O: Send>(
    items: impl ExactSizeIterator<Item = T> + Send,
    threads: usize,
    begin: impl Fn(usize) -> W + Sync,
    work: impl Fn(&mut W, T) -> Result<R, E> + Sync,
    end: impl Fn(W) -> O + Sync,
) -> Result<(Vec<R>, Vec<O>), E> {
    let threads = threads.min(items.len());
    let results = Mutex::new(Vec::with_capacity(items.len()));
    let ended = Mutex::new(Vec::new());
    // How many threads have begun, and what is left: none after an error.
    let left = Mutex::new((0, Some(items.enumerate())));
    let take = || lock(&left).1.as_mut()?.next();
    share(threads, || {
        let (number, mut next) = {
            let mut left = lock(&left);
            let first = left.1.as_mut().and_then(Iterator::next);
            left.0 += usize::from(first.is_some());
            (left.0, first)
        };
        if next.is_none() {
            return;
        }
        let mut own = begin(number - 1);
        let mut done = Vec::new();
        while let Some((at, item)) = next {
            let result = work(&mut own, item);
            if result.is_err() {
                lock(&left).1 = None;
            }
            done.push((at, result));
            next = take();
        }
        let end = end(own);
        lock(&results).append(&mut done);
        lock(&ended).push((number, end));
    });
    let results = in_order(results).collect::<Result<_, E>>()?;
    Ok((results, in_order(ended).collect()))
}

/// Lets up to `threads` threads make something of each item, and adds what they made to `sum`, in the order of the
/// items; so the sum depends on the items alone, even if adding rounds. What is made is made anew in what is no
/// longer needed.
///
/// One thread at a time adds: whoever has made something while nobody else adds. So none waits, unless more is
/// waiting than [`WAITING`] for each thread.
///
/// # Panics
/// As [`share`].
pub fn fold<T: Send, R: Default + Send, S: Send>(
    items: impl ExactSizeIterator<Item = T> + Send,
    threads: usize,
    sum: S,
    work: impl Fn(T, &mut R) + Sync,
    add: impl Fn(&mut S, &R) + Sync,
) -> S {
    let made = Mutex::new(Made::default());
    let sum = Mutex::new(sum);
    map(items.enumerate(), threads, |(number, item)| {
        let mut own = lock(&made).spare.pop().unwrap_or_default();
        work(item, &mut own);
        let is_crowded = {
            let mut made = lock(&made);
            made.waiting.insert(number, own);
            made.waiting.len() > WAITING * threads
        };
        loop {
            let mut sum = match is_crowded {
                true => lock(&sum),
                false => match sum.try_lock() {
                    Ok(sum) => sum,
                    // Who holds it looks again when it has let it go.
                    Err(_) => return,
                },
            };
            let mut next = lock(&made).next();
            while let Some(made_of_next) = next {
                add(&mut sum, &made_of_next);
                let mut made = lock(&made);
                made.spare.push(made_of_next);
                next = made.next();
            }
            drop(sum);
            if !lock(&made).has_next() {
                return;
            }
        }
    });
    sum.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// What `first` and `second` give, side by side if there may be two threads, and can be; else `first` runs first.
///
/// # Panics
/// As [`share`].
pub fn both<A: Send, B: Send>(
    threads: usize,
    first: impl FnOnce() -> A + Send,
    second: impl FnOnce() -> B + Send,
) -> (A, B) {
    let work = Mutex::new((Some(first), Some(second)));
    let made = Mutex::new((None, None));
    share(threads.min(2), || {
        let first = lock(&work).0.take();
        if let Some(first) = first {
            let first = first();
            lock(&made).0 = Some(first);
        }
        let second = lock(&work).1.take();
        if let Some(second) = second {
            let second = second();
            lock(&made).1 = Some(second);
        }
    });
    match made.into_inner().unwrap_or_else(PoisonError::into_inner) {
        (Some(first), Some(second)) => (first, second),
        _ => unreachable!("what was not done has panicked"),
    }
}

/// So much may wait to be added, for each thread.
const WAITING: usize = 4;

/// What threads have made of items and nobody has added.
struct Made<R> {
    /// By the items' numbers.
    waiting: BTreeMap<usize, R>,
    /// How many are added.
    added: usize,
    /// What was made of items that are added.
    spare: Vec<R>,
}

impl<R> Default for Made<R> {
    fn default() -> Self {
        Self {
            waiting: BTreeMap::new(),
            added: 0,
            spare: Vec::new(),
        }
    }
}

impl<R> Made<R> {
    fn has_next(&self) -> bool {
        self.waiting.contains_key(&self.added)
    }

    /// Takes out what is to be added next, if it is there.
    fn next(&mut self) -> Option<R> {
        let next = self.waiting.remove(&self.added)?;
        self.added += 1;
        Some(next)
    }
}

/// What was collected, by its numbers.
fn in_order<R>(collected: Mutex<Vec<(usize, R)>>) -> impl Iterator<Item = R> {
    let mut all = (collected.into_inner()).unwrap_or_else(PoisonError::into_inner);
    all.sort_unstable_by_key(|&(number, _)| number);
    all.into_iter().map(|(_, result)| result)
}

/// A thread that panicked leaves nothing half done behind.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Calls `work` on up to `threads` threads at once, this one among them, and returns when all have.
///
/// The system may refuse a thread (a limit on processes or on memory): then fewer do the work, at worst this one alone.
/// So `work` takes what it does from what all share until nothing is left. More than the machine runs at once would only
/// wait for each other.
///
/// # Panics
/// When `work` does on one of them, with what that one said.
fn share(threads: usize, work: impl Fn() + Sync) {
    share_with(Builder::new, threads.min(cores()), work);
}

/// How many threads run at once; as many as anybody wants if the system does not say.
pub fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| available_parallelism().map_or(usize::MAX, usize::from))
}

fn share_with(builder: impl Fn() -> Builder, threads: usize, work: impl Fn() + Sync) {
    scope(|scope| {
        let started = (1..threads).map_while(|_| builder().spawn_scoped(scope, &work).ok());
        let started: Vec<_> = started.collect();
        work();
        // A scope by itself would only say that a thread panicked.
        for thread in started {
            thread.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
    });
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread::Builder;

    #[test]
    fn results_are_in_order_and_each_thread_ends_once() {
        for threads in [1, 3, 200] {
            let begun = AtomicUsize::new(0);
            let begin = |number| {
                begun.fetch_add(1, Ordering::Relaxed);
                (number, Vec::new())
            };
            let work = |own: &mut (usize, Vec<usize>), item: usize| {
                own.1.push(item);
                Ok::<_, usize>((own.0, item * item))
            };
            let (results, ended) =
                super::map_with(0..100, threads, begin, work, |own| own).unwrap();
            assert_eq!(ended.len(), begun.into_inner());
            assert_eq!(results.len(), 100);
            for (item, (thread, square)) in results.into_iter().enumerate() {
                assert_eq!(square, item * item);
                assert!(ended[thread].1.contains(&item));
            }
            for (number, (thread, items)) in ended.into_iter().enumerate() {
                assert_eq!(number, thread);
                assert!(!items.is_empty() && items.is_sorted());
            }
            let mut numbers: Vec<usize> = (0..100).collect();
            super::map(numbers.iter_mut(), threads, |number| *number *= 2);
            assert!(numbers.into_iter().eq((0..200).step_by(2)));
        }
    }

    #[test]
    fn both_are_done_and_a_panic_of_either_comes_through() {
        for threads in [1, 2, 9] {
            assert_eq!(super::both(threads, || 1, || "two"), (1, "two"));
            for wrong in [1, 2] {
                let work = |number: i32| move || assert_ne!(number, wrong, "one of both");
                let both = || super::both(threads, work(1), work(2));
                assert!(std::panic::catch_unwind(both).is_err());
            }
        }
    }

    #[test]
    fn what_was_made_is_added_in_order() {
        for threads in [1, 2, 7] {
            let work = |item: usize, made: &mut Vec<usize>| {
                // What is made anew is not what was made before.
                made.clear();
                made.extend([item, item * item]);
            };
            let add = |all: &mut Vec<usize>, made: &Vec<usize>| all.extend(made);
            let all = super::fold(0..500, threads, vec![7], work, add);
            let expected = (0..500).flat_map(|item| [item, item * item]);
            assert!(all.into_iter().eq(std::iter::once(7).chain(expected)));
        }
        let none = super::fold(0..0, 3, 5, |_: usize, (): &mut ()| (), |sum, ()| *sum += 1);
        assert_eq!(none, 5);
    }

    #[test]
    fn nobody_waits_for_one_who_panicked() {
        for threads in [1, 3] {
            let work = |item: usize, _: &mut ()| assert_ne!(item, 20, "the twentieth");
            let panic = std::panic::catch_unwind(|| {
                super::fold(0..1000, threads, 0, work, |sum, ()| *sum += 1)
            });
            assert!(panic.is_err());
            let add = |sum: &mut usize, (): &()| {
                *sum += 1;
                assert_ne!(*sum, 20, "the twentieth");
            };
            let panic = std::panic::catch_unwind(|| {
                super::fold(0..1000, threads, 0, |_: usize, (): &mut ()| (), add)
            });
            assert!(panic.is_err());
        }
    }

    #[test]
    fn the_first_error_in_order_is_the_one() {
        for threads in [1, 3] {
            let work =
                |(): &mut (), item: usize| if item % 40 == 39 { Err(item) } else { Ok(item) };
            let result = super::map_with(0..1000, threads, |_| (), work, drop);
            assert_eq!(result.unwrap_err(), 39);
        }
        assert!(super::map(0..0, 3, |item: usize| item).is_empty());
    }

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
