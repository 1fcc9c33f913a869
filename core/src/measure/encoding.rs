//! Encoding that is counted on the way: each thread tallies what it has just encoded.

use std::sync::Arc;

use super::tally::{self, Block, Tally, Tokens};
use crate::documents::{DocumentPart, Task};
use crate::encode::encoded::{self, Encoded, room_for};
use crate::encode::gather::gather;
use crate::encode::{Encode, Encoder, Job, Plain, Span, Staged};
use crate::error::Result;
use crate::special::SpecialMatcher;
use crate::threads;

/// What can say which tokens a document has, for a tally.
pub trait Tallied: Encode + Sized {
    /// Whether the ids are given: where tokens are the text's bytes, the tally has seen whether they decode to it.
    const GIVES_IDS: bool;

    /// Calls `each` with the documents of a task and their tokens, in order; gives their ids.
    #[doc(hidden)]
    fn documents(
        encoder: &Encoder<Self>,
        job: &Job<'_>,
        task: &Task,
        worker: &mut Self::Worker,
        each: impl FnMut(DocumentPart, Tokens<'_>),
    ) -> Result<encoded::Part>;
}

/// Only right where special tokens take nothing along, and where there are none if a space is put before texts.
impl Tallied for Plain {
    const GIVES_IDS: bool = false;

    fn documents(
        encoder: &Encoder<Self>,
        job: &Job<'_>,
        task: &Task,
        worker: &mut Self::Worker,
        mut each: impl FnMut(DocumentPart, Tokens<'_>),
    ) -> Result<encoded::Part> {
        let part = encoder.run(job, task, worker)?;
        let mut ends = part.ends.iter().map(|&end| end as usize);
        let mut from = 0;
        for document in job.documents.parts_of(task) {
            let to = ends.next().unwrap_or(part.ids.len());
            let ids = &part.ids[std::mem::replace(&mut from, to)..to];
            each(document, Tokens::Plain(ids, encoder.prefix_space()));
        }
        Ok(part)
    }
}

impl Tallied for Staged {
    const GIVES_IDS: bool = true;

    fn documents(
        encoder: &Encoder<Self>,
        job: &Job<'_>,
        task: &Task,
        worker: &mut Self::Worker,
        mut each: impl FnMut(DocumentPart, Tokens<'_>),
    ) -> Result<encoded::Part> {
        let mut part = encoded::Part::default();
        let mut spans = Vec::new();
        for document in job.documents.parts_of(task) {
            spans.clear();
            let text = job.documents.text;
            let mut run = encoder.spans_of(text, job.matcher, worker, &mut spans);
            run.document(document.range.clone(), document.continued)?;
            part.reserve(spans.len())?;
            part.ids.extend(spans.iter().map(|span: &Span| span.id));
            if document.closed {
                part.ends.push(part.total());
            }
            each(document, Tokens::Spans(&spans));
        }
        Ok(part)
    }
}

impl<E: Tallied> Encoder<E> {
    /// Encodes a block of documents and counts what becomes of it. Gives the ids if whether they decode to
    /// their documents was not seen on the way.
    ///
    /// # Errors
    /// As [`Encoder::encode`].
    pub fn tally(
        &self,
        block: Block<'_>,
        matcher: Option<&SpecialMatcher>,
        threads: usize,
        tally: &mut Tally,
    ) -> Result<Option<Encoded>> {
        let Block {
            documents,
            unfinished,
        } = block;
        documents.check()?;
        let job = Job::new(&documents, matcher);
        // A tally is made of small parts, on one thread too.
        let tasks = self.tasks(&job, threads.max(2));
        let tables = Arc::clone(tally.tables());
        let gives_ids = E::GIVES_IDS;
        let (room, ended) = match gives_ids {
            true => (room_for(documents.text.len()), documents.ends.len()),
            false => (0, 0),
        };
        let (encoded, (found, counters)) = gather(room, ended, |gather| {
            threads::map_with(
                tasks.iter().enumerate(),
                threads,
                |_| (self.worker(), tally.counter()),
                |(worker, counter), (number, task)| {
                    let mut counted = Vec::new();
                    let part = E::documents(self, &job, task, worker, |document, tokens| {
                        let is_last = document.number + 1 == documents.ends.len();
                        let goes_on = !document.closed || unfinished && is_last;
                        counted.push(tally::count(
                            &tables,
                            counter,
                            documents.text,
                            document.range,
                            tokens,
                            (document.continued, goes_on),
                        ));
                    })?;
                    if gives_ids {
                        gather.put(number, part);
                    }
                    Ok(counted)
                },
                |(worker, counter)| {
                    self.return_worker(worker);
                    counter
                },
            )
        })?;
        for part in found.iter().flatten() {
            tally.take_part(part);
        }
        for mut counter in counters {
            tally.take_counter(&mut counter);
        }
        Ok(gives_ids.then_some(encoded))
    }
}
