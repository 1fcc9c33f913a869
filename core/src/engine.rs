//! The compiled tokenizer: blocks of documents in, ids out.

use std::sync::Mutex;

use crate::error::{Error, Result};
use crate::models::bpe::{Bpe, Scratch};
use crate::models::cache::{self, PieceCache};
use crate::parallel::{self, Documents, Segment, Task};
use crate::parts::{self, Encoded, Part};
use crate::special::SpecialMatcher;
use crate::split::{AT_A_TIME, Scanner};

/// A compiled tokenizer: immutable but for working memory, shared by threads.
#[derive(Debug)]
pub struct Engine {
    scanner: Scanner,
    model: Bpe,
    prefix_space: bool,
    /// Working memory between calls: caches stay warm from block to block.
    idle: Mutex<Vec<Worker>>,
}

/// What one thread works with.
#[derive(Debug, Default)]
pub(crate) struct Worker {
    cache: PieceCache,
    scratch: Scratch,
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
        Ok(parts::join(self.parts(documents, matcher, threads, true)?))
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
        Ok(parts::counts(
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
        let mut ids = Vec::new();
        let mut start = 0;
        let result = ends.iter().try_for_each(|&end| {
            let end = end as usize;
            let result = self.encode_piece(text, start, end, &mut worker, &mut ids);
            start = end;
            result
        });
        self.retire(worker);
        result.map(|()| ids)
    }

    pub(crate) fn worker(&self) -> Worker {
        self.idle
            .lock()
            .map(|mut idle| idle.pop())
            .unwrap_or_default()
            .unwrap_or_default()
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
        parallel::tasks(documents, |text| self.scanner.safe_cut(text), matcher)
    }

    fn parts(
        &self,
        documents: &Documents<'_>,
        matcher: Option<&SpecialMatcher>,
        threads: usize,
        keep: bool,
    ) -> Result<Vec<Part>> {
        documents.check()?;
        let tasks = self.tasks(documents, matcher);
        parallel::run(
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
        let mut part = Part::default();
        if keep {
            part.ids.reserve((task.end - task.start) / 3);
        }
        let mut start = task.start;
        let closed = &documents.ends[task.document..task.document + task.closes];
        for (number, &end) in closed.iter().enumerate() {
            let continued = task.continued && number == 0;
            let end = end as usize;
            self.encode_document(
                documents.text,
                start,
                end,
                continued,
                matcher,
                worker,
                &mut part,
                keep,
            )?;
            part.ends.push(part.total());
            start = end;
        }
        if start < task.end {
            let continued = task.continued && task.closes == 0;
            self.encode_document(
                documents.text,
                start,
                task.end,
                continued,
                matcher,
                worker,
                &mut part,
                keep,
            )?;
        }
        Ok(part)
    }

    #[expect(clippy::too_many_arguments, reason = "the loop's state, by name")]
    fn encode_document(
        &self,
        text: &[u8],
        start: usize,
        end: usize,
        continued: bool,
        matcher: Option<&SpecialMatcher>,
        worker: &mut Worker,
        part: &mut Part,
        keep: bool,
    ) -> Result<()> {
        let document = &text[start..end];
        let mut first = true;
        parallel::segments(document, matcher, |segment| {
            match segment {
                Segment::Special { id, .. } => part.ids.push(id),
                Segment::Text {
                    start: from,
                    end: to,
                } => {
                    let prefix =
                        self.prefix_space && !(first && continued) && document[from] != b' ';
                    self.encode_text(text, start + from, start + to, prefix, worker, part, keep)?;
                }
            }
            first = false;
            Ok(())
        })?;
        if !keep {
            part.forget();
        }
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "the loop's state, by name")]
    fn encode_text(
        &self,
        text: &[u8],
        start: usize,
        end: usize,
        prefix: bool,
        worker: &mut Worker,
        part: &mut Part,
        keep: bool,
    ) -> Result<()> {
        if prefix {
            let spaced = [b" ", &text[start..end]].concat();
            let result = self.encode_pieces_of(&spaced, 0, spaced.len(), worker, part, keep);
            return result.map_err(|error| shift(error, start as isize - 1));
        }
        self.encode_pieces_of(text, start, end, worker, part, keep)
    }

    fn encode_pieces_of(
        &self,
        text: &[u8],
        start: usize,
        end: usize,
        worker: &mut Worker,
        part: &mut Part,
        keep: bool,
    ) -> Result<()> {
        let mut ends = self.scanner.ends(&text[start..end]);
        let mut room = [0; AT_A_TIME];
        let mut from = start;
        loop {
            let found = ends.fill(&mut room);
            if found == 0 {
                return Ok(());
            }
            for end in &room[..found] {
                let to = start + end;
                self.encode_piece(text, from, to, worker, &mut part.ids)?;
                from = to;
            }
            if !keep {
                part.forget();
            }
        }
    }

    /// Appends the ids of the piece at `start..end`.
    #[inline]
    fn encode_piece(
        &self,
        text: &[u8],
        start: usize,
        end: usize,
        worker: &mut Worker,
        ids: &mut Vec<u32>,
    ) -> Result<()> {
        let key = cache::key(text, start, end);
        if let Some(key) = key
            && worker.cache.recall(key, ids)
        {
            return Ok(());
        }
        let before = ids.len();
        self.model
            .encode_piece(&text[start..end], &mut worker.scratch, ids)
            .map_err(|error| shift(error, start as isize))?;
        if let Some(key) = key {
            worker.cache.remember(key, &ids[before..]);
        }
        Ok(())
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
