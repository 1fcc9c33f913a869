//! What one thread works with, and where it is between calls.

use std::sync::atomic::Ordering;

use super::Pipeline;
use super::words::Memory;
use crate::memory::budget::{Budget, Share};
use crate::memory::piece_cache::PieceCache;
use crate::models::model::{Found, Scratch};
use crate::split::stage::Pieces;

/// Working memory, and what is remembered from text to text.
#[derive(Debug, Default)]
pub(crate) struct Worker {
    pub cache: PieceCache,
    /// The same with what each token stands for.
    pub placed: PieceCache,
    pub packed: Vec<u32>,
    pub scratch: Scratch,
    pub pieces: Pieces,
    pub found: Vec<Found>,
    pub bytes: Vec<u8>,
    /// What words became; made when they are told apart.
    pub(super) words: Option<Memory>,
    share: Share,
}

impl Worker {
    /// Changes how much memory its caches may take: half of it the one of words.
    pub fn set_share(&mut self, share: Share) {
        self.share = share;
        self.cache.set_share(share.part(4));
        self.placed.set_share(share.part(4));
        if let Some(words) = &mut self.words {
            words.set_share(share.part(2));
        }
    }

    /// The bytes of its caches.
    pub fn cache_bytes(&self) -> usize {
        let words = self.words.as_ref().map_or(0, Memory::bytes);
        self.cache.bytes() + self.placed.bytes() + words
    }

    /// What words became, to be put back.
    pub(super) fn take_words(&mut self) -> Memory {
        self.words.take().unwrap_or_else(|| {
            let mut words = Memory::default();
            words.set_share(self.share.part(2));
            words
        })
    }
}

impl Pipeline {
    /// Changes how much memory the caches may take together, from each worker's next block on.
    pub fn set_budget(&mut self, budget: Budget) {
        self.budget = budget;
    }

    /// The bytes of all caches that no call uses at the moment.
    #[must_use]
    pub fn cache_bytes(&self) -> usize {
        (self.idle.lock()).map_or(0, |idle| idle.iter().map(Worker::cache_bytes).sum())
    }

    pub(crate) fn worker(&self) -> Worker {
        let idle = self.idle.lock().map(|mut idle| idle.pop());
        let mut worker = idle.unwrap_or_default().unwrap_or_else(|| {
            self.workers.fetch_add(1, Ordering::Relaxed);
            Worker::default()
        });
        worker.set_share(self.budget.share(self.workers.load(Ordering::Relaxed)));
        worker
    }

    pub(crate) fn retire(&self, worker: Worker) {
        if let Ok(mut idle) = self.idle.lock() {
            idle.push(worker);
        }
    }
}
