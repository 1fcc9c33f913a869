//! Blocks of documents through a pipeline, on several threads.

use super::out::{Out, Variation, place_of};
use super::{Pipeline, Worker};
use crate::documents::{self, Documents, Task};
use crate::encode::encoded::{self, Encoded, Part};
use crate::error::Result;
use crate::models::seams::Border;
use crate::special::SpecialMatcher;

impl Pipeline {
    /// Encodes a block.
    ///
    /// # Errors
    /// [`crate::Error::MissingByte`] with the offset in the block; [`crate::Error::Invalid`] when a stage fails or
    /// the model cannot be varied as asked.
    pub fn encode(
        &self,
        documents: &Documents<'_>,
        matcher: Option<&SpecialMatcher>,
        threads: usize,
        variation: Option<Variation>,
    ) -> Result<Encoded> {
        Ok(encoded::join(
            self.parts(documents, matcher, threads, true, variation)?,
            threads,
        ))
    }

    /// Counts each document's tokens.
    ///
    /// # Errors
    /// As [`Pipeline::encode`].
    pub fn count(
        &self,
        documents: &Documents<'_>,
        matcher: Option<&SpecialMatcher>,
        threads: usize,
    ) -> Result<Vec<u64>> {
        Ok(encoded::counts(
            &self.parts(documents, matcher, threads, false, None)?,
        ))
    }

    /// Cuts a block into what threads take.
    pub(crate) fn tasks(
        &self,
        documents: &Documents<'_>,
        matcher: Option<&SpecialMatcher>,
    ) -> Vec<Task> {
        documents::tasks(documents, |text| self.safe_cut(text), matcher)
    }

    /// Gives the last offset at which a text can be cut, whatever follows, and each part be encoded by
    /// itself (the later one with `continued`); 0 when there is none.
    #[must_use]
    pub fn safe_cut(&self, text: &[u8]) -> usize {
        match self.model.border() {
            Some(Border::Before(_)) => self.stages.safe_cut_at_marks(text),
            _ => self.stages.safe_cut(text),
        }
    }

    fn parts(
        &self,
        documents: &Documents<'_>,
        matcher: Option<&SpecialMatcher>,
        threads: usize,
        keep: bool,
        variation: Option<Variation>,
    ) -> Result<Vec<Part>> {
        documents.check()?;
        let tasks = self.tasks(documents, matcher);
        documents::run(
            &tasks,
            threads,
            || self.worker(),
            |worker, task| self.run(documents, matcher, task, worker, keep, variation),
            |worker| self.retire(worker),
        )
    }

    fn run(
        &self,
        documents: &Documents<'_>,
        matcher: Option<&SpecialMatcher>,
        task: &Task,
        worker: &mut Worker,
        keep: bool,
        variation: Option<Variation>,
    ) -> Result<Part> {
        let mut part = Part::with_room_for(if keep { task.end - task.start } else { 0 });
        let mut start = task.start;
        for number in 0..=task.closes {
            let document = task.document + number;
            let closed = number < task.closes;
            let end = if closed {
                documents.ends[document] as usize
            } else {
                task.end
            };
            if !closed && start == end {
                break;
            }
            let continued = task.continued && number == 0;
            let variation = variation.map(|variation| Variation {
                from: place_of(variation.from, documents, document),
                ..variation
            });
            self.encode_document(
                documents.text,
                start..end,
                continued,
                matcher,
                worker,
                &mut Out::Ids(&mut part, keep),
                variation,
            )?;
            if closed {
                part.ends.push(part.total());
            }
            start = end;
        }
        Ok(part)
    }
}
