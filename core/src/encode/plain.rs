//! Byte-level BPE behind a scanner: text is only split, and pieces are looked up many at a time.

use std::ops::Range;
use std::sync::Arc;

use crate::boundaries::runs::Joins;
use crate::documents::{self, Documents, Task};
use crate::encode::encoded::Part;
use crate::encode::workers;
use crate::encode::{Encode, Encoder, Job};
use crate::error::Result;
use crate::memory::asking::need_exact_room;
use crate::memory::budget::Share;
use crate::memory::prefetch::prefetch;
use crate::models::bpe::Bpe;
use crate::special::{Segment, SpecialMatcher};
use crate::split::Scanner;

mod batch;
mod ideographs;
mod words;

use batch::{Batch, LookUp};

/// A scanner, and byte-level BPE for the pieces that it cuts.
#[derive(Debug)]
pub struct Plain {
    scanner: Scanner,
    /// What goes through all stages sometimes may have it too.
    pub(super) model: Arc<Bpe>,
    prefix_space: bool,
}

/// How far ahead of the scanner the text is asked for.
const AHEAD: usize = 1 << 13;
/// The bytes that come when one is asked for.
const LINE: usize = 64;

/// What one thread works with.
#[derive(Debug, Default)]
pub struct Worker {
    batch: Batch,
    look_up: LookUp,
}

impl workers::Worker for Worker {
    const CACHES: usize = 1;

    fn set_share(&mut self, share: Share) {
        self.look_up.set_share(share);
    }

    fn cache_bytes(&self) -> usize {
        self.look_up.bytes()
    }
}

impl Encode for Plain {
    type Worker = Worker;

    const CUTS_FOR_ONE: bool = false;

    fn safe_cut(&self, text: &[u8]) -> usize {
        self.scanner.safe_cut(text)
    }

    fn cut_in_piece(&self, text: &[u8]) -> usize {
        match self.scanner.cut_in_run(text) {
            0 => 0,
            cut => match self.model.joins_blanks() {
                Joins::Never => cut,
                Joins::Perhaps => 0,
            },
        }
    }

    fn encode_task(
        &self,
        job: &Job<'_>,
        task: &Task,
        worker: &mut Worker,
        part: &mut Part,
    ) -> Result<()> {
        let mut run = self.begin(job.documents.text, task.start, worker, part);
        for document in job.documents.parts_of(task) {
            run.document(document.range, document.continued, job.matcher)?;
            if document.closed {
                run.close()?;
            }
        }
        run.flush()
    }
}

impl Plain {
    pub(super) fn new(scanner: Scanner, model: Bpe, prefix_space: bool) -> Self {
        Self {
            scanner,
            model: Arc::new(model),
            prefix_space,
        }
    }

    /// Begins to encode documents that lie in a text from a place on.
    pub(super) fn begin<'a>(
        &'a self,
        text: &'a [u8],
        from: usize,
        worker: &'a mut Worker,
        part: &'a mut Part,
    ) -> Run<'a> {
        worker.batch.begin(from);
        Run {
            plain: self,
            text,
            worker,
            part,
        }
    }
}

impl Encoder<Plain> {
    /// Puts a tokenizer together. `prefix_space` puts a space before text that begins with none.
    #[must_use]
    pub fn plain(scanner: Scanner, model: Bpe, prefix_space: bool) -> Self {
        Self::new(Plain::new(scanner, model, prefix_space))
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &Bpe {
        &self.way.model
    }

    /// Whether a space is put before text that begins with none.
    #[must_use]
    pub fn prefix_space(&self) -> bool {
        self.way.prefix_space
    }

    /// Encodes pieces that are cut already; `ends` says where each ends.
    ///
    /// # Errors
    /// As [`Encoder::encode`].
    pub fn encode_pieces(&self, text: &[u8], ends: &[u64]) -> Result<Vec<u32>> {
        Documents {
            text,
            ends,
            continued: false,
        }
        .check()?;
        let mut worker = self.worker();
        let mut part = Part::default();
        let mut run = self.way.begin(text, 0, &mut worker, &mut part);
        let result = run.pieces(ends);
        self.return_worker(worker);
        result.map(|()| part.ids)
    }
}

/// One text on its way.
pub(super) struct Run<'a> {
    plain: &'a Plain,
    text: &'a [u8],
    worker: &'a mut Worker,
    pub(super) part: &'a mut Part,
}

impl Run<'_> {
    /// Encodes a document, or a part of one. Its last ids may be there after [`Run::flush`] only.
    pub(super) fn document(
        &mut self,
        range: Range<usize>,
        continued: bool,
        matcher: Option<&SpecialMatcher>,
    ) -> Result<()> {
        let document = &self.text[range.clone()];
        let mut first = true;
        documents::segments(document, matcher, |segment| {
            match segment {
                Segment::Special { id, .. } => {
                    self.flush()?;
                    if self.part.only_counts {
                        self.part.add(1);
                    } else {
                        self.part.reserve(1)?;
                        self.part.ids.push(id);
                    }
                }
                Segment::Text { start, end } => {
                    let at = range.start + start..range.start + end;
                    let spaced =
                        self.plain.prefix_space && !(first && continued) && document[start] != b' ';
                    if spaced {
                        self.flush()?;
                        self.spaced_stretch(at)?;
                    } else {
                        self.stretch(at)?;
                    }
                }
            }
            first = false;
            Ok(())
        })
    }

    /// Takes the end of a document.
    pub(super) fn close(&mut self) -> Result<()> {
        self.worker.batch.close()
    }

    /// Encodes a stretch of the text with a space before it.
    fn spaced_stretch(&mut self, range: Range<usize>) -> Result<()> {
        let start = range.start;
        let mut spaced = Vec::new();
        need_exact_room(&mut spaced, 1 + range.len(), "bytes of text")?;
        spaced.push(b' ');
        spaced.extend_from_slice(&self.text[range]);
        self.worker.batch.begin(0);
        let mut run = Run {
            text: &spaced,
            worker: &mut *self.worker,
            part: &mut *self.part,
            ..*self
        };
        run.stretch(0..spaced.len())
            .and_then(|()| run.flush())
            .map_err(|error| error.moved(start as isize - 1))
    }

    /// Cuts a stretch of the text into pieces for the batch.
    fn stretch(&mut self, range: Range<usize>) -> Result<()> {
        if self.worker.batch.reached() != range.start {
            self.flush()?;
            self.worker.batch.begin(range.start);
        }
        let mut ends = self.plain.scanner.ends(&self.text[range.clone()]);
        let mut asked = range.start;
        loop {
            if self.worker.batch.is_full() {
                self.flush()?;
            }
            // A processor that reads ahead by itself stops where a page ends.
            let ahead = range.end.min(self.worker.batch.reached() + AHEAD);
            while asked < ahead {
                prefetch(self.text, asked);
                asked += LINE;
            }
            let found = ends.fill(self.worker.batch.room());
            if found == 0 {
                return Ok(());
            }
            self.worker.batch.filled(found, range.start);
        }
    }

    /// Takes pieces that are cut already.
    fn pieces(&mut self, ends: &[u64]) -> Result<()> {
        // A piece without bytes has no ids.
        let mut last = 0;
        let mut ends = ends
            .iter()
            .map(|&end| end as usize)
            .filter(|&end| end != std::mem::replace(&mut last, end))
            .peekable();
        while ends.peek().is_some() {
            let room = self.worker.batch.room();
            let found = room
                .iter_mut()
                .zip(&mut ends)
                .map(|(room, end)| *room = end);
            let found = found.count();
            self.worker.batch.filled(found, 0);
            self.flush()?;
        }
        Ok(())
    }

    /// Looks up what the batch holds.
    pub(super) fn flush(&mut self) -> Result<()> {
        let Worker { batch, look_up } = &mut *self.worker;
        if self.part.only_counts {
            self.plain
                .look_up::<false>(self.text, batch, look_up, self.part)
        } else {
            self.plain
                .look_up::<true>(self.text, batch, look_up, self.part)
        }
    }
}

// They need large tables.
#[cfg(all(test, feature = "embedded"))]
mod tests;
