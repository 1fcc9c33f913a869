//! Workers between calls: their caches stay warm from block to block.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::threads::cores;

/// What one thread works with.
pub trait Worker: Default + Send {
    /// Hears how many workers the tokenizer has, which share what its caches may hold.
    fn share_with(&mut self, _workers: usize) {}
}

/// The workers of a tokenizer.
#[derive(Debug)]
pub struct Workers<W> {
    idle: Mutex<Vec<W>>,
    /// How many there are, idle or at work.
    all: AtomicUsize,
}

impl<W> Default for Workers<W> {
    fn default() -> Self {
        Self {
            idle: Mutex::default(),
            all: AtomicUsize::new(0),
        }
    }
}

impl<W: Worker> Workers<W> {
    /// Lends a worker, to be given to [`Workers::return_worker`].
    pub fn worker(&self) -> W {
        let idle = self.idle().pop();
        let mut worker = idle.unwrap_or_else(|| {
            self.all.fetch_add(1, Ordering::Relaxed);
            W::default()
        });
        worker.share_with(self.all.load(Ordering::Relaxed));
        worker
    }

    /// Takes a worker back, or drops it if as many are idle as can work at once.
    pub fn return_worker(&self, worker: W) {
        let mut idle = self.idle();
        if idle.len() < cores() {
            idle.push(worker);
        } else {
            drop(idle);
            self.all.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Drops the workers that are idle.
    pub fn clear(&self) {
        let idle = std::mem::take(&mut *self.idle());
        self.all.fetch_sub(idle.len(), Ordering::Relaxed);
    }

    fn idle(&self) -> MutexGuard<'_, Vec<W>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many others it has heard of.
    #[derive(Default)]
    struct Hears(usize);

    impl Worker for Hears {
        fn share_with(&mut self, workers: usize) {
            self.0 = workers;
        }
    }

    #[test]
    fn as_many_are_kept_as_work_at_once() {
        let workers = Workers::<Hears>::default();
        assert_eq!(workers.worker().0, 1);
        workers.clear();
        let lent: Vec<_> = (0..cores() + 3).map(|_| workers.worker()).collect();
        assert_eq!(lent.last().unwrap().0, cores() + 4);
        lent.into_iter()
            .for_each(|worker| workers.return_worker(worker));
        assert_eq!(workers.idle().len(), cores());
        workers.clear();
        assert_eq!(workers.idle().len(), 0);
    }

    #[test]
    fn who_was_alone_hears_of_another() {
        let workers = Workers::<Hears>::default();
        let first = workers.worker();
        assert_eq!((first.0, workers.worker().0), (1, 2));
        workers.return_worker(first);
        assert_eq!(workers.worker().0, 2);
    }
}
