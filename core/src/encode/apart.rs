//! Documents that lie apart, as their owner holds them.
//!
//! A long one is read where it is, on several threads if it is long enough. Short ones are laid together by the thread
//! that encodes them, a task at a time, in memory that is near and used again: pieces are looked up many at a time, and
//! a short document has few.

use std::mem::take;
use std::ops::Range;

use crate::documents::{Documents, Task};
use crate::encode::driver::{Desk, Encode, Encoder, Job};
use crate::encode::encoded::Encoded;
use crate::error::Result;
use crate::memory::asking::need_room;
use crate::special::SpecialMatcher;

/// Bytes of short documents that are laid together at least, unless there are no more.
const TOGETHER: usize = 1 << 18;
/// A document of so many bytes is read where it is.
const LONG: usize = 1 << 16;

/// What there is no memory for, if there is none for what threads take.
const STRETCHES: &str = "stretches of text";

/// What one thread takes.
#[derive(Debug)]
struct Stretch {
    /// The documents.
    numbers: Range<usize>,
    /// How many bytes all those before them have.
    before: usize,
    /// What is taken of a long one.
    task: Option<Task>,
}

impl<E: Encode> Encoder<E> {
    /// Encodes documents that lie apart, as [`Encoder::encode`] does a block of them. The offset of an error is that in
    /// all of them, one after the other.
    ///
    /// # Errors
    /// As [`Encoder::encode`].
    pub fn encode_apart(
        &self,
        texts: &[&[u8]],
        matcher: Option<&SpecialMatcher>,
        threads: usize,
    ) -> Result<Encoded> {
        self.apart(texts, matcher, true, threads)
    }

    /// Counts the tokens of documents that lie apart.
    ///
    /// # Errors
    /// As [`Encoder::encode_apart`].
    pub fn count_apart(
        &self,
        texts: &[&[u8]],
        matcher: Option<&SpecialMatcher>,
        threads: usize,
    ) -> Result<Vec<u64>> {
        Ok(self.apart(texts, matcher, false, threads)?.counts())
    }

    fn apart(
        &self,
        texts: &[&[u8]],
        matcher: Option<&SpecialMatcher>,
        keep: bool,
        threads: usize,
    ) -> Result<Encoded> {
        let (stretches, bytes) = self.stretches(texts, matcher, threads)?;
        let bytes = if keep { bytes } else { 0 };
        let work = |desk: &mut Desk<E::Worker>, stretch: &Stretch| {
            let done = match &stretch.task {
                Some(task) => {
                    let text = texts[stretch.numbers.start];
                    let ends = [text.len() as u64];
                    self.stretch(&alone(text, &ends), task, matcher, desk)
                }
                None => self.together(&texts[stretch.numbers.clone()], matcher, desk),
            };
            done.map_err(|error| error.moved(stretch.before as isize))
        };
        self.gathered(&stretches, bytes, texts.len(), keep, threads, work)
    }

    /// Says what each thread takes, and how many bytes there are.
    ///
    /// # Errors
    /// [`crate::Error::Memory`].
    fn stretches(
        &self,
        texts: &[&[u8]],
        matcher: Option<&SpecialMatcher>,
        threads: usize,
    ) -> Result<(Vec<Stretch>, usize)> {
        let mut stretches = Vec::new();
        let (mut first, mut before, mut reached) = (0, 0, 0);
        for (number, text) in texts.iter().enumerate() {
            let is_long = text.len() >= LONG;
            let end = number + usize::from(!is_long);
            let upto = reached + if is_long { 0 } else { text.len() };
            let is_last = number + 1 == texts.len();
            if end > first && (is_long || is_last || upto - before >= TOGETHER) {
                need_room(&mut stretches, 1, STRETCHES)?;
                stretches.push(Stretch {
                    numbers: first..end,
                    before,
                    task: None,
                });
                (first, before) = (end, upto);
            }
            if is_long {
                let of_long = |task| Stretch {
                    numbers: number..number + 1,
                    before: reached,
                    task: Some(task),
                };
                let tasks = self.tasks_of_long(text, matcher, threads);
                need_room(&mut stretches, tasks.len(), STRETCHES)?;
                stretches.extend(tasks.map(of_long));
                (first, before) = (number + 1, reached + text.len());
            }
            reached += text.len();
        }
        Ok((stretches, reached))
    }

    /// Cuts a long document if there is a reason to.
    fn tasks_of_long(
        &self,
        text: &[u8],
        matcher: Option<&SpecialMatcher>,
        threads: usize,
    ) -> impl ExactSizeIterator<Item = Task> + use<E> {
        let ends = [text.len() as u64];
        self.tasks(&Job::new(&alone(text, &ends), matcher), threads)
            .into_iter()
    }

    /// Encodes short documents.
    fn together(
        &self,
        texts: &[&[u8]],
        matcher: Option<&SpecialMatcher>,
        desk: &mut Desk<E::Worker>,
    ) -> Result<()> {
        let (mut text, mut ends) = (take(&mut desk.text), take(&mut desk.ends));
        text.clear();
        ends.clear();
        need_room(
            &mut text,
            texts.iter().map(|each| each.len()).sum(),
            "bytes of text",
        )?;
        need_room(&mut ends, texts.len(), "documents")?;
        for each in texts {
            text.extend_from_slice(each);
            ends.push(text.len() as u64);
        }
        let documents = alone(&text, &ends);
        let done = self.stretch(&documents, &Task::whole(&documents), matcher, desk);
        (desk.text, desk.ends) = (text, ends);
        done
    }

    fn stretch(
        &self,
        documents: &Documents<'_>,
        task: &Task,
        matcher: Option<&SpecialMatcher>,
        desk: &mut Desk<E::Worker>,
    ) -> Result<()> {
        let job = Job {
            keep: !desk.part.only_counts,
            ..Job::new(documents, matcher)
        };
        self.way
            .encode_task(&job, task, &mut desk.worker, &mut desk.part)
    }
}

/// Documents of which none began before.
fn alone<'a>(text: &'a [u8], ends: &'a [u64]) -> Documents<'a> {
    Documents {
        text,
        ends,
        continued: false,
    }
}

#[cfg(test)]
mod tests;
