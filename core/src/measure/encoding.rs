//! Encoding that is counted on the way: each thread tallies what it has just encoded.

use std::sync::Mutex;

use super::tally::{self, Block, Counter, Part, Tally, Tokens};
use crate::documents::{self, Documents, Task};
use crate::encode::encoded::Encoded;
use crate::encode::plain::Engine;
use crate::encode::staged::{Pipeline, Span};
use crate::error::Result;
use crate::special::SpecialMatcher;

impl Engine {
    /// Encodes a block of documents and counts what becomes of it. Only right where special tokens take
    /// nothing along, and where there are none if a space is put before texts.
    ///
    /// # Errors
    /// As [`Engine::encode`].
    pub fn tally(
        &self,
        block: Block<'_>,
        matcher: Option<&SpecialMatcher>,
        threads: usize,
        tally: &mut Tally,
    ) -> Result<()> {
        let Block { documents, .. } = block;
        documents.check()?;
        let tasks = self.tasks(&documents, matcher);
        let tables = std::sync::Arc::clone(tally.tables());
        let counters = Mutex::new(Vec::new());
        let found = documents::run(
            &tasks,
            threads,
            || (self.worker(), tally.counter()),
            |(worker, counter), task| {
                let part = self.run(&documents, matcher, task, worker, true)?;
                let mut parts = Vec::new();
                let mut from = 0;
                for document in parts_of(&block, task) {
                    let to = part
                        .ends
                        .get(parts.len())
                        .map_or(part.ids.len(), |&end| end as usize);
                    parts.push(tally::count(
                        &tables,
                        counter,
                        documents.text,
                        document.range,
                        Tokens::Plain(&part.ids[from..to], self.prefix_space()),
                        (document.continued, document.unfinished),
                    ));
                    from = to;
                }
                Ok(parts)
            },
            |(worker, counter)| {
                self.retire(worker);
                keep(&counters, counter);
            },
        )?;
        add_up(tally, &found, counters);
        Ok(())
    }
}

impl Pipeline {
    /// Encodes a block of documents and counts what becomes of it. Gives the ids.
    ///
    /// # Errors
    /// As [`Pipeline::encode`].
    pub fn tally(
        &self,
        block: Block<'_>,
        matcher: Option<&SpecialMatcher>,
        threads: usize,
        tally: &mut Tally,
    ) -> Result<Encoded> {
        let Block { documents, .. } = block;
        documents.check()?;
        let tasks = self.tasks(&documents, matcher);
        let tables = std::sync::Arc::clone(tally.tables());
        let counters = Mutex::new(Vec::new());
        let found = documents::run(
            &tasks,
            threads,
            || (self.worker(), tally.counter(), Vec::new()),
            |(worker, counter, spans), task| {
                let mut parts = Vec::new();
                let mut ids = Vec::new();
                for document in parts_of(&block, task) {
                    spans.clear();
                    let at = document.range.clone();
                    let continued = document.continued;
                    self.encode_spans(documents.text, at, continued, matcher, worker, spans)?;
                    ids.extend(spans.iter().map(|span: &Span| span.id));
                    parts.push(tally::count(
                        &tables,
                        counter,
                        documents.text,
                        document.range,
                        Tokens::Spans(spans),
                        (document.continued, document.unfinished),
                    ));
                }
                Ok((parts, ids))
            },
            |(worker, counter, _)| {
                self.retire(worker);
                keep(&counters, counter);
            },
        )?;
        let mut encoded = Encoded {
            ids: Vec::with_capacity(found.iter().map(|(_, ids)| ids.len()).sum()),
            ends: Vec::with_capacity(documents.ends.len()),
        };
        let mut all = Vec::with_capacity(found.len());
        for ((parts, ids), task) in found.into_iter().zip(&tasks) {
            let mut end = encoded.ids.len() as u64;
            for part in &parts[..task.closes] {
                end += part.tokens();
                encoded.ends.push(end);
            }
            encoded.ids.extend_from_slice(&ids);
            all.push(parts);
        }
        add_up(tally, &all, counters);
        Ok(encoded)
    }
}

/// A document, or a part of one, in a task.
struct DocumentPart {
    range: std::ops::Range<usize>,
    continued: bool,
    unfinished: bool,
}

/// The documents of a task, and the beginning of one more if it has that.
fn parts_of<'a>(block: &'a Block<'_>, task: &'a Task) -> impl Iterator<Item = DocumentPart> + 'a {
    let Documents { ends, .. } = block.documents;
    let mut start = task.start;
    (0..=task.closes).filter_map(move |number| {
        let closed = number < task.closes;
        let document = task.document + number;
        let end = if closed {
            ends[document] as usize
        } else {
            task.end
        };
        let range = std::mem::replace(&mut start, end)..end;
        let part = DocumentPart {
            continued: task.continued && number == 0,
            unfinished: !closed || (block.unfinished && document + 1 == ends.len()),
            range,
        };
        (closed || !part.range.is_empty()).then_some(part)
    })
}

fn keep(counters: &Mutex<Vec<Counter>>, counter: Counter) {
    if let Ok(mut counters) = counters.lock() {
        counters.push(counter);
    }
}

fn add_up(tally: &mut Tally, found: &[Vec<Part>], counters: Mutex<Vec<Counter>>) {
    found
        .iter()
        .flatten()
        .for_each(|part| tally.take_part(part));
    let counters = counters
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    for mut counter in counters {
        tally.take_counter(&mut counter);
    }
}
