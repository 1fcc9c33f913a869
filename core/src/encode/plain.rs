//! The compiled tokenizer: blocks of documents in, ids out.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::documents::{self, Documents, Task};
use crate::encode::encoded::{self, Encoded, Part};
use crate::error::{Error, Result};
use crate::models::bpe::Bpe;
use crate::special::{Segment, SpecialMatcher};
use crate::split::Scanner;

mod batch;

use batch::{Batch, LookUp};

/// A compiled tokenizer: immutable but for working memory, shared by threads.
#[derive(Debug)]
pub struct Engine {
    scanner: Scanner,
    model: Bpe,
    prefix_space: bool,
    /// Working memory between calls: caches stay warm from block to block.
    idle: Mutex<Vec<Worker>>,
    /// How many workers there are.
    workers: AtomicUsize,
}

/// What one thread works with.
#[derive(Debug, Default)]
pub(crate) struct Worker {
    batch: Batch,
    look_up: LookUp,
}

impl Engine {
    /// Puts a tokenizer together. `prefix_space` puts a space before text that begins with none.
    #[must_use]
    pub fn new(scanner: Scanner, model: Bpe, prefix_space: bool) -> Self {
        Self {
            scanner,
            model,
            prefix_space,
            idle: Mutex::default(),
            workers: AtomicUsize::new(0),
        }
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &Bpe {
        &self.model
    }

    /// Whether a space is put before text that begins with none.
    #[must_use]
    pub fn prefix_space(&self) -> bool {
        self.prefix_space
    }

    /// Encodes a block.
    ///
    /// # Errors
    /// [`Error::MissingByte`] with the offset in the block.
    pub fn encode(
        &self,
        documents: &Documents<'_>,
        matcher: Option<&SpecialMatcher>,
        threads: usize,
    ) -> Result<Encoded> {
        Ok(encoded::join(
            self.parts(documents, matcher, threads, true)?,
            threads,
        ))
    }

    /// Counts each document's tokens.
    ///
    /// # Errors
    /// As [`Engine::encode`].
    pub fn count(
        &self,
        documents: &Documents<'_>,
        matcher: Option<&SpecialMatcher>,
        threads: usize,
    ) -> Result<Vec<u64>> {
        Ok(encoded::counts(
            &self.parts(documents, matcher, threads, false)?,
        ))
    }

    /// Encodes pieces that are cut already; `ends` says where each ends.
    ///
    /// # Errors
    /// As [`Engine::encode`].
    pub fn encode_pieces(&self, text: &[u8], ends: &[u64]) -> Result<Vec<u32>> {
        Documents {
            text,
            ends,
            continued: false,
        }
        .check()?;
        let mut worker = self.worker();
        let mut part = Part::default();
        let result = self.take_pieces(text, ends, &mut worker, &mut part);
        self.retire(worker);
        result.map(|()| part.ids)
    }

    fn take_pieces(
        &self,
        text: &[u8],
        ends: &[u64],
        worker: &mut Worker,
        part: &mut Part,
    ) -> Result<()> {
        worker.batch.begin(0);
        // A piece without bytes has no ids.
        let mut last = 0;
        let mut ends = ends
            .iter()
            .map(|&end| end as usize)
            .filter(|&end| end != std::mem::replace(&mut last, end))
            .peekable();
        while ends.peek().is_some() {
            let room = worker.batch.room();
            let found = room
                .iter_mut()
                .zip(&mut ends)
                .map(|(room, end)| *room = end);
            let found = found.count();
            worker.batch.filled(found, 0);
            self.flush(text, worker, part, true)?;
        }
        Ok(())
    }

    pub(crate) fn worker(&self) -> Worker {
        let idle = self.idle.lock().map(|mut idle| idle.pop());
        let mut worker = idle.unwrap_or_default().unwrap_or_else(|| {
            self.workers.fetch_add(1, Ordering::Relaxed);
            Worker::default()
        });
        worker
            .look_up
            .alone(self.workers.load(Ordering::Relaxed) == 1);
        worker
    }

    pub(crate) fn retire(&self, worker: Worker) {
        if let Ok(mut idle) = self.idle.lock() {
            idle.push(worker);
        }
    }

    /// Cuts a block into what threads take.
    pub(crate) fn tasks(
        &self,
        documents: &Documents<'_>,
        matcher: Option<&SpecialMatcher>,
    ) -> Vec<Task> {
        documents::tasks(documents, |text| self.scanner.safe_cut(text), matcher)
    }

    fn parts(
        &self,
        documents: &Documents<'_>,
        matcher: Option<&SpecialMatcher>,
        threads: usize,
        keep: bool,
    ) -> Result<Vec<Part>> {
        documents.check()?;
        let tasks = if threads <= 1 {
            vec![Task::whole(documents)]
        } else {
            self.tasks(documents, matcher)
        };
        documents::run(
            &tasks,
            threads,
            || self.worker(),
            |worker, task| self.run(documents, matcher, task, worker, keep),
            |worker| self.retire(worker),
        )
    }

    pub(crate) fn run(
        &self,
        documents: &Documents<'_>,
        matcher: Option<&SpecialMatcher>,
        task: &Task,
        worker: &mut Worker,
        keep: bool,
    ) -> Result<Part> {
        let text = documents.text;
        let mut part = Part::with_room_for(if keep { task.end - task.start } else { 0 });
        worker.batch.begin(task.start);
        let mut start = task.start;
        for number in 0..=task.closes {
            let closed = number < task.closes;
            let end = if closed {
                documents.ends[task.document + number] as usize
            } else {
                task.end
            };
            let continued = task.continued && number == 0;
            self.encode_document(
                text,
                start..end,
                continued,
                matcher,
                worker,
                &mut part,
                keep,
            )?;
            if closed {
                worker.batch.close();
            }
            start = end;
        }
        self.flush(text, worker, &mut part, keep)?;
        Ok(part)
    }

    #[expect(clippy::too_many_arguments, reason = "the loop's state, by name")]
    fn encode_document(
        &self,
        text: &[u8],
        range: Range<usize>,
        continued: bool,
        matcher: Option<&SpecialMatcher>,
        worker: &mut Worker,
        part: &mut Part,
        keep: bool,
    ) -> Result<()> {
        let document = &text[range.clone()];
        let mut first = true;
        documents::segments(document, matcher, |segment| {
            match segment {
                Segment::Special { id, .. } => {
                    self.flush(text, worker, part, keep)?;
                    if keep {
                        part.ids.push(id);
                    } else {
                        part.add(1);
                    }
                }
                Segment::Text { start, end } => {
                    let at = range.start + start..range.start + end;
                    let prefix =
                        self.prefix_space && !(first && continued) && document[start] != b' ';
                    if prefix {
                        self.flush(text, worker, part, keep)?;
                        self.encode_spaced(&text[at.clone()], at.start, worker, part, keep)?;
                    } else {
                        self.encode_text(text, at, worker, part, keep)?;
                    }
                }
            }
            first = false;
            Ok(())
        })
    }

    /// Encodes a text that begins at `start` with a space before it.
    fn encode_spaced(
        &self,
        text: &[u8],
        start: usize,
        worker: &mut Worker,
        part: &mut Part,
        keep: bool,
    ) -> Result<()> {
        let spaced = [b" ", text].concat();
        worker.batch.begin(0);
        self.encode_text(&spaced, 0..spaced.len(), worker, part, keep)
            .and_then(|()| self.flush(&spaced, worker, part, keep))
            .map_err(|error| shift(error, start as isize - 1))
    }

    /// Cuts a stretch of a text into pieces for the batch.
    fn encode_text(
        &self,
        text: &[u8],
        range: Range<usize>,
        worker: &mut Worker,
        part: &mut Part,
        keep: bool,
    ) -> Result<()> {
        if worker.batch.reached() != range.start {
            self.flush(text, worker, part, keep)?;
            worker.batch.begin(range.start);
        }
        let mut ends = self.scanner.ends(&text[range.clone()]);
        loop {
            if worker.batch.is_full() {
                self.flush(text, worker, part, keep)?;
            }
            let found = ends.fill(worker.batch.room());
            if found == 0 {
                return Ok(());
            }
            worker.batch.filled(found, range.start);
        }
    }

    /// Looks up what the batch holds.
    fn flush(&self, text: &[u8], worker: &mut Worker, part: &mut Part, keep: bool) -> Result<()> {
        let Worker { batch, look_up } = worker;
        if keep {
            self.look_up::<true>(text, batch, look_up, part)
        } else {
            self.look_up::<false>(text, batch, look_up, part)
        }
    }
}

/// Moves an error's offset from a piece to the block.
fn shift(error: Error, by: isize) -> Error {
    match error {
        Error::MissingByte { byte, offset } => Error::MissingByte {
            byte,
            offset: offset.saturating_add_signed(by),
        },
        other => other,
    }
}

// They need large tables.
#[cfg(all(test, feature = "embedded"))]
mod tests;
