//! Workers between calls: their caches stay warm from block to block.

use std::sync::TryLockError;

use crate::memory::budget::{Budget, Share};
use crate::threads::cores;
use crate::threads::sync::atomic::{AtomicUsize, Ordering};
use crate::threads::sync::{Mutex, MutexGuard};

/// How often a lock is tried whose holder only moves a pointer; then the holder is taken to be lost.
const TRIES: usize = 100;

/// What one thread works with.
pub trait Worker: Default + Send {
    /// How many caches it has.
    const CACHES: usize;

    /// Changes how much memory its caches may take, and gives back what is over.
    fn set_share(&mut self, share: Share);

    /// The bytes of its caches.
    fn cache_bytes(&self) -> usize;
}

/// The workers of a tokenizer.
#[derive(Debug)]
pub struct Workers<W> {
    /// The first that is idle. Who has little to do locks it meanwhile, which takes less than to move it away and back.
    near: Mutex<Option<Box<W>>>,
    /// The others. Boxed: they are large, and would be moved more often than they work.
    idle: Mutex<Vec<Box<W>>>,
    /// How many there are, idle or at work.
    all: AtomicUsize,
    /// What their caches may take together.
    pub budget: Budget,
}

impl<W> Default for Workers<W> {
    fn default() -> Self {
        Self {
            near: Mutex::new(None),
            idle: Mutex::new(Vec::new()),
            all: AtomicUsize::new(0),
            budget: Budget::default(),
        }
    }
}

impl<W: Worker> Workers<W> {
    /// Lends a worker for something short.
    pub fn briefly<R>(&self, work: impl FnOnce(&mut W) -> R) -> R {
        // What `work` does may come here again, and other threads may: they take another.
        if let Some(mut near) = try_lock(&self.near) {
            let mut worker = near.take().unwrap_or_else(|| self.other());
            worker.set_share(self.share());
            let done = work(&mut worker);
            *near = Some(worker);
            return done;
        }
        let mut worker = self.worker();
        let done = work(&mut worker);
        self.return_worker(worker);
        done
    }

    /// Lends a worker, to be given to [`Workers::return_worker`].
    pub fn worker(&self) -> Box<W> {
        let near = try_lock(&self.near).and_then(|mut near| near.take());
        let mut worker = near.unwrap_or_else(|| self.other());
        worker.set_share(self.share());
        worker
    }

    /// Takes a worker back, or drops it if as many are idle as can work at once.
    pub fn return_worker(&self, worker: Box<W>) {
        if let Some(mut near) = try_lock(&self.near)
            && near.is_none()
        {
            *near = Some(worker);
            return;
        }
        if let Some(mut idle) = lock(&self.idle)
            && idle.len() + 1 < cores()
        {
            idle.push(worker);
            return;
        }
        self.all.fetch_sub(1, Ordering::Relaxed);
    }

    /// Drops the workers that are idle.
    pub fn clear(&self) {
        let near = try_lock(&self.near).and_then(|mut near| near.take());
        let idle = lock(&self.idle).map(|mut idle| std::mem::take(&mut *idle));
        let dropped = near.iter().len() + idle.iter().flatten().count();
        self.all.fetch_sub(dropped, Ordering::Relaxed);
    }

    /// The bytes of the caches of workers that are idle.
    pub fn cache_bytes(&self) -> usize {
        let near = try_lock(&self.near);
        let idle = lock(&self.idle);
        let near = near.iter().flat_map(|near| near.iter());
        let idle = idle.iter().flat_map(|idle| idle.iter());
        near.chain(idle).map(|worker| worker.cache_bytes()).sum()
    }

    /// One of the other workers that are idle, or a new one.
    fn other(&self) -> Box<W> {
        let idle = lock(&self.idle).and_then(|mut idle| idle.pop());
        idle.unwrap_or_else(|| {
            self.all.fetch_add(1, Ordering::Relaxed);
            Box::default()
        })
    }

    /// What a worker's caches may take, as many as there are.
    fn share(&self) -> Share {
        self.budget.share(self.all.load(Ordering::Relaxed))
    }
}

/// Locks what is locked only while a pointer moves. None if that takes too long: a copy that a fork makes of a process has
/// the locks of all its threads, but only one of the threads, and waiting for another would never end.
fn lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    for _ in 0..TRIES {
        let locked = try_lock(mutex);
        if locked.is_some() {
            return locked;
        }
        std::thread::yield_now();
    }
    None
}

/// Locks what nobody else has locked.
fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(locked) => Some(locked),
        Err(TryLockError::Poisoned(locked)) => Some(locked.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::documents::{Documents, Task};
    use crate::encode::{Encode, Encoder, Job};
    use crate::memory::budget::LEAST;

    /// Whatever the budget and the number of workers: ids are what they are without a cache, and once all workers know how
    /// many they are, their caches together take no more than the budget.
    pub(crate) fn budgets_are_heeded<E: Encode>(
        encoder: &Encoder<E>,
        text: &[u8],
        expected: impl Fn(&[u8]) -> Vec<u32>,
    ) {
        const PARTS: usize = 64;
        let cut = |number: usize| number * text.len() / PARTS;
        let parts: Vec<_> = (0..PARTS)
            .map(|number| &text[cut(number)..cut(number + 1)])
            .map(|part| (part, expected(part)))
            .collect();
        for bytes in [0, 1 << 14, 1 << 20, 16 << 20] {
            let mut workers: Vec<E::Worker> = Vec::new();
            for number in 0..PARTS {
                workers.push(E::Worker::default());
                let share = Budget { bytes }.share(workers.len());
                for (other, worker) in workers.iter_mut().enumerate() {
                    worker.set_share(share);
                    if (other ^ number) & 15 != 0 && other != number {
                        continue;
                    }
                    let (text, expected) = &parts[number * 31 % PARTS];
                    let documents = Documents {
                        text,
                        ends: &[text.len() as u64],
                        continued: false,
                    };
                    let job = Job {
                        documents,
                        matcher: None,
                        keep: true,
                        variation: None,
                    };
                    let part = encoder.run(&job, &Task::whole(&documents), worker).unwrap();
                    assert!(
                        part.ids == *expected,
                        "{bytes} bytes, worker {other} of {number}"
                    );
                }
                let taken: usize = workers.iter().map(Worker::cache_bytes).sum();
                let least = workers.len() * E::Worker::CACHES * LEAST;
                assert!(
                    taken <= bytes + least,
                    "{} workers take {taken} of {bytes}",
                    workers.len()
                );
            }
        }
    }

    /// What it may take.
    #[derive(Default)]
    struct Told(Share);

    impl Worker for Told {
        const CACHES: usize = 1;

        fn set_share(&mut self, share: Share) {
            self.0 = share;
        }

        fn cache_bytes(&self) -> usize {
            self.0.most
        }
    }

    fn share(workers: usize) -> Share {
        Budget::default().share(workers)
    }

    #[test]
    fn as_many_are_kept_as_work_at_once() {
        let workers = Workers::<Told>::default();
        assert_eq!(workers.worker().0, share(1));
        workers.clear();
        let lent: Vec<_> = (0..cores() + 3).map(|_| workers.worker()).collect();
        assert_eq!(lent.last().unwrap().0, share(cores() + 4));
        lent.into_iter()
            .for_each(|worker| workers.return_worker(worker));
        assert_eq!(workers.idle_workers(), cores());
        workers.clear();
        assert_eq!(workers.idle_workers(), 0);
    }

    impl<W> Workers<W> {
        fn idle_workers(&self) -> usize {
            let (near, idle) = (lock(&self.near).unwrap(), lock(&self.idle).unwrap());
            near.iter().len() + idle.len()
        }
    }

    /// Something short inside something short has a worker of its own; who panics loses theirs.
    #[test]
    fn short_work_takes_the_worker_that_is_near() {
        let workers = Workers::<Told>::default();
        let told = workers.briefly(|first| {
            let place: *const Told = first;
            let second = workers.briefly(|second| (std::ptr::from_ref(second), second.0));
            assert_ne!(place, second.0);
            (place, first.0, second.1)
        });
        assert_eq!((told.1, told.2), (share(1), share(2)));
        assert_eq!(workers.briefly(|again| std::ptr::from_ref(again)), told.0);
        assert_eq!(workers.idle_workers(), cores().min(2));
        let panics = || workers.briefly(|_| panic!("as a worker may"));
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics)).is_err());
        assert_eq!(workers.idle_workers(), cores().min(2) - 1);
    }

    #[test]
    fn who_was_alone_hears_of_another() {
        let workers = Workers::<Told>::default();
        let first = workers.worker();
        assert_eq!((first.0, workers.worker().0), (share(1), share(2)));
        workers.return_worker(first);
        assert_eq!(workers.worker().0, share(2));
        assert_eq!(workers.cache_bytes(), 0);
    }

    /// As it is in a copy of a process, when another thread had the lock at the fork.
    #[test]
    fn a_lock_that_nobody_frees_is_not_waited_for() {
        let workers = Workers::<Told>::default();
        workers.return_worker(workers.worker());
        let held = (workers.near.lock().unwrap(), workers.idle.lock().unwrap());
        let lent = workers.worker();
        assert_eq!(lent.0, share(2));
        workers.return_worker(lent);
        assert_eq!(workers.briefly(|worker| worker.0), share(2));
        workers.clear();
        assert_eq!(workers.cache_bytes(), 0);
        assert_eq!(held.0.iter().len() + held.1.len(), 1);
        drop(held);
        assert_eq!(workers.worker().0, share(1));
    }

    /// However calls of several threads lie: no worker is lost, and as many are counted as there are.
    #[cfg(shuttle)]
    fn workers_are_counted() {
        let workers = Workers::<Told>::default();
        crate::threads::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let lent = [workers.worker(), workers.worker(), workers.worker()];
                    lent.into_iter()
                        .for_each(|worker| workers.return_worker(worker));
                });
            }
            scope.spawn(|| workers.briefly(|worker| worker.0));
            scope.spawn(|| workers.clear());
        });
        let idle = workers.idle_workers();
        assert!(idle <= cores());
        assert_eq!(workers.all.load(Ordering::Relaxed), idle);
    }

    #[cfg(shuttle)]
    #[test]
    fn schedules_of_workers_that_are_lent_and_dropped() {
        shuttle::check_random(workers_are_counted, crate::threads::schedules::SCHEDULES);
    }
}
