//! Blocks of documents through a tokenizer, on several threads: one driver, whatever encodes a document.

use std::cell::Cell;

use crate::documents::{self, Documents, Task};
use crate::encode::encoded::{Encoded, Part, room_for};
use crate::encode::gather::gather;
use crate::encode::staged::Variation;
use crate::encode::workers::{Worker, Workers};
use crate::error::Result;
use crate::memory::budget::Budget;
use crate::memory::kept;
use crate::special::SpecialMatcher;
use crate::threads;

/// A block to be encoded, and how.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// The documents.
    pub documents: Documents<'a>,
    /// What is looked for in them.
    pub matcher: Option<&'a SpecialMatcher>,
    /// Whether ids are kept, or only counted.
    pub keep: bool,
    /// How encoding varies; only [`Encoder::sample`] asks for it.
    pub variation: Option<Variation>,
}

impl<'a> Job<'a> {
    /// All ids, and always the same.
    pub fn new(documents: &Documents<'a>, matcher: Option<&'a SpecialMatcher>) -> Self {
        Self {
            documents: *documents,
            matcher,
            keep: true,
            variation: None,
        }
    }
}

/// What a thread has before it.
#[derive(Debug)]
pub(super) struct Desk<W> {
    pub worker: Box<W>,
    pub part: Part,
    /// Documents that are laid together, and where each ends.
    pub text: Vec<u8>,
    pub ends: Vec<u64>,
}

impl<W> Desk<W> {
    fn new(worker: Box<W>, part: Part) -> Self {
        Self {
            worker,
            part,
            text: Vec::new(),
            ends: Vec::new(),
        }
    }
}

/// A way of encoding: compiled, and immutable, since threads share it.
pub trait Encode: Sync {
    /// What one thread works with.
    type Worker: Worker;

    /// Whether a block is cut even for one thread, because what a task needs grows with its text.
    const CUTS_FOR_ONE: bool;

    /// The last offset at which a text can be cut, whatever follows, and each part be encoded by itself (the
    /// later one with `continued`); 0 when there is none.
    fn safe_cut(&self, text: &[u8]) -> usize;

    /// An offset at which a text that begins where a piece does can be cut for the sake of its ids alone, though a piece
    /// is in two parts then; 0 when nothing is known of one.
    fn cut_in_piece(&self, text: &[u8]) -> usize;

    /// Appends the ids of a task, and how many there are at the end of each document. Errors have their
    /// offset in the block.
    fn encode_task(
        &self,
        job: &Job<'_>,
        task: &Task,
        worker: &mut Self::Worker,
        part: &mut Part,
    ) -> Result<()>;
}

/// How much room for ids is kept for the next short text.
const LARGEST_BRIEF: usize = 1 << 14;

thread_local! {
    /// What the last short text was encoded into.
    static BRIEF: Cell<Part> = const { Cell::new(Part::new()) };
}

/// A compiled tokenizer: immutable but for working memory, shared by threads.
#[derive(Debug)]
pub struct Encoder<E: Encode> {
    pub(super) way: E,
    workers: Workers<E::Worker>,
}

impl<E: Encode> Encoder<E> {
    pub(super) fn new(way: E) -> Self {
        Self {
            way,
            workers: Workers::default(),
        }
    }

    /// Encodes a block.
    ///
    /// # Errors
    /// [`crate::Error::MissingByte`] with the offset in the block; [`crate::Error::Invalid`] for ends that
    /// contradict the text, and when a stage fails; [`crate::Error::Memory`] when there is none for the ids.
    pub fn encode(
        &self,
        documents: &Documents<'_>,
        matcher: Option<&SpecialMatcher>,
        threads: usize,
    ) -> Result<Encoded> {
        let job = Job::new(documents, matcher);
        self.run_all(&job, threads)
    }

    /// Encodes one short text and gives its ids to a function, or only their number, in memory that the thread's next
    /// short text gets too: asking for memory would take longer than the text.
    ///
    /// # Errors
    /// As [`Encoder::encode`].
    pub fn brief<R>(
        &self,
        text: &[u8],
        matcher: Option<&SpecialMatcher>,
        keep: bool,
        take: impl FnOnce(&Part) -> R,
    ) -> Result<R> {
        let ends = [text.len() as u64];
        let documents = Documents {
            text,
            ends: &ends,
            continued: false,
        };
        let job = Job {
            keep,
            ..Job::new(&documents, matcher)
        };
        // What `take` does may come here again: the memory is nobody's then.
        let mut part = BRIEF.take();
        part.clear();
        part.only_counts = !keep;
        let task = Task::whole(&documents);
        let done =
            (self.workers).briefly(|worker| self.way.encode_task(&job, &task, worker, &mut part));
        let taken = done.map(|()| take(&part));
        if part.ids.capacity() <= LARGEST_BRIEF {
            BRIEF.set(part);
        }
        taken
    }

    /// Counts each document's tokens.
    ///
    /// # Errors
    /// As [`Encoder::encode`].
    pub fn count(
        &self,
        documents: &Documents<'_>,
        matcher: Option<&SpecialMatcher>,
        threads: usize,
    ) -> Result<Vec<u64>> {
        let job = Job {
            keep: false,
            ..Job::new(documents, matcher)
        };
        Ok(self.run_all(&job, threads)?.counts())
    }

    /// Gives the last offset at which a text can be cut, whatever follows, and each part be encoded by
    /// itself (the later one with `continued`); 0 when there is none.
    #[must_use]
    pub fn safe_cut(&self, text: &[u8]) -> usize {
        self.way.safe_cut(text)
    }

    /// Gives an offset inside a piece at which a text can be cut, and each part be encoded as after
    /// [`Encoder::safe_cut`]: a piece is in two parts then, but the ids are the same. The text is a document's, or what
    /// such cuts left of it. 0 when nothing is known of one.
    #[must_use]
    pub fn cut_in_piece(&self, text: &[u8]) -> usize {
        self.way.cut_in_piece(text)
    }

    /// Changes how much memory all caches may take together, from the next block on.
    pub fn set_budget(&mut self, budget: Budget) {
        self.workers.budget = budget;
    }

    /// The bytes of all caches, but for those of calls that run now.
    #[must_use]
    pub fn cache_bytes(&self) -> usize {
        self.workers.cache_bytes()
    }

    /// Gives back the memory of all caches, but for those of calls that run now, and what is kept for the next ids.
    pub fn clear_cache(&self) {
        self.workers.clear();
        let _ = kept::clear();
    }

    /// Encodes a block task by task.
    pub(super) fn run_all(&self, job: &Job<'_>, threads: usize) -> Result<Encoded> {
        let Job {
            documents, keep, ..
        } = *job;
        documents.check()?;
        let tasks = self.tasks(job, threads);
        let bytes = if keep { documents.text.len() } else { 0 };
        let work = |desk: &mut Desk<E::Worker>, task: &Task| {
            self.way
                .encode_task(job, task, &mut desk.worker, &mut desk.part)
        };
        self.gathered(&tasks, bytes, documents.ends.len(), keep, threads, work)
    }

    /// Gathers what becomes of each item: of several documents with so many bytes.
    pub(super) fn gathered<T: Sync>(
        &self,
        items: &[T],
        bytes: usize,
        documents: usize,
        keep: bool,
        threads: usize,
        work: impl Fn(&mut Desk<E::Worker>, &T) -> Result<()> + Sync,
    ) -> Result<Encoded> {
        if threads <= 1 || items.len() <= 1 {
            let part = match keep {
                true => Part::with_room_for(bytes),
                false => Part::counting(),
            };
            let mut desk = Desk::new(self.worker(), part);
            let done = items.iter().try_for_each(|item| work(&mut desk, item));
            self.return_worker(desk.worker);
            return done.map(|()| desk.part.into());
        }
        let (encoded, _) = gather(room_for(bytes), documents, |gather| {
            let begin = |_| Desk::new(self.worker(), Part::default());
            let work = |desk: &mut Desk<E::Worker>, (number, item)| {
                desk.part.only_counts = !keep;
                work(desk, item)?;
                desk.part = gather.put(number, std::mem::take(&mut desk.part));
                Ok(())
            };
            let end = |desk: Desk<E::Worker>| self.return_worker(desk.worker);
            threads::map_with(items.iter().enumerate(), threads, begin, work, end)
        })?;
        Ok(encoded)
    }

    /// Cuts a block into what threads take.
    pub(crate) fn tasks(&self, job: &Job<'_>, threads: usize) -> Vec<Task> {
        if threads <= 1 && !E::CUTS_FOR_ONE {
            return vec![Task::whole(&job.documents)];
        }
        documents::tasks(&job.documents, |text| self.safe_cut(text), job.matcher)
    }

    /// Encodes a task.
    pub(crate) fn run(&self, job: &Job<'_>, task: &Task, worker: &mut E::Worker) -> Result<Part> {
        let mut part = match job.keep {
            true => Part::with_room_for(task.end - task.start),
            false => Part::counting(),
        };
        self.way.encode_task(job, task, worker, &mut part)?;
        Ok(part)
    }

    /// Lends a worker, to be given to [`Encoder::return_worker`].
    pub(crate) fn worker(&self) -> Box<E::Worker> {
        self.workers.worker()
    }

    pub(crate) fn return_worker(&self, worker: Box<E::Worker>) {
        self.workers.return_worker(worker);
    }
}
