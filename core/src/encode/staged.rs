//! A tokenizer with all of its stages: normalizers, pre-tokenizers and any model.
//!
//! The way of a document: special tokens are found in it; each stretch between them is normalized;
//! added tokens are found in what came out; each stretch between those is cut into pieces; each piece
//! becomes tokens, which remember the part of the original that they stand for if somebody asks.

use std::ops::Range;
use std::sync::Arc;

use crate::documents::{self, Documents, Segment, Task};
use crate::encode::encoded::{self, Encoded, Part};
use crate::encode::workers;
use crate::encode::{Encode, Encoder, Job};
use crate::error::{Error, Result};
use crate::memory::piece_cache::{self, PieceCache};
use crate::models::model::{Border, Found, Model, Scratch};
use crate::normalize::Context;
use crate::random::{Draw, Place};
use crate::special::SpecialMatcher;
use crate::split::stage::Pieces;
use crate::split::visible;
use crate::stages::{Shape, Stages};
use crate::text::Text;

mod borders;
mod out;
mod placed;
mod words;

use borders::cut_at_borders;
use out::{Out, place_of};
pub use out::{Span, Variation};
use words::plan::Plan;

/// How long a stretch may be that goes through the stages: offsets in it are u32. Tests come near it.
const LONGEST_STRETCH: usize = if cfg!(test) {
    1 << 20
} else {
    u32::MAX as usize
};

/// Stages, and a model for the pieces that come out of them.
#[derive(Debug)]
pub struct Staged {
    stages: Arc<Stages>,
    model: Box<dyn Model>,
    /// How words are told apart, if they can be.
    plan: Option<Plan>,
    /// Whether a text is one piece for a model whose sums are rounded.
    carries: bool,
}

/// What one thread works with.
#[derive(Debug, Default)]
pub struct Worker {
    cache: PieceCache,
    /// The same with what each token stands for; made when somebody asks for spans.
    placed: Option<PieceCache>,
    packed: Vec<u32>,
    scratch: Scratch,
    pieces: Pieces,
    found: Vec<Found>,
    bytes: Vec<u8>,
    /// What words became; made when there is a plan.
    words: Option<words::Memory>,
}

impl workers::Worker for Worker {}

impl Encode for Staged {
    type Worker = Worker;

    const CUTS_FOR_ONE: bool = true;

    fn safe_cut(&self, text: &[u8]) -> usize {
        match self.model.border() {
            Some(Border::Before(_)) => self.stages.safe_cut_at_marks(text),
            _ => self.stages.safe_cut(text),
        }
    }

    fn encode_task(
        &self,
        job: &Job<'_>,
        task: &Task,
        worker: &mut Worker,
        part: &mut Part,
    ) -> Result<()> {
        for document in job.documents.parts_of(task) {
            let variation = job.variation.map(|variation| Variation {
                from: place_of(variation.from, &job.documents, document.number),
                ..variation
            });
            let mut run = Run {
                staged: self,
                text: job.documents.text,
                matcher: job.matcher,
                variation,
                worker: &mut *worker,
                out: Out::Ids(&mut *part, job.keep),
            };
            run.document(document.range, document.continued)?;
            if document.closed {
                part.ends.push(part.total());
            }
        }
        Ok(())
    }
}

impl Encoder<Staged> {
    /// Puts a tokenizer together.
    #[must_use]
    pub fn staged(stages: Arc<Stages>, model: Box<dyn Model>) -> Self {
        let plan = Plan::new(&stages, &*model);
        let is_one_piece = matches!(stages.shape(), Shape::Marks | Shape::MappedMarks);
        Self::new(Staged {
            carries: is_one_piece && model.carrying().is_some(),
            plan,
            stages,
            model,
        })
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &dyn Model {
        &*self.way.model
    }

    /// Encodes a block with variation.
    ///
    /// # Errors
    /// As [`Encoder::encode`], and [`Error::Invalid`] when the model cannot be varied as asked.
    pub fn sample(
        &self,
        documents: &Documents<'_>,
        matcher: Option<&SpecialMatcher>,
        threads: usize,
        variation: Variation,
    ) -> Result<Encoded> {
        let job = Job {
            documents: *documents,
            matcher,
            keep: true,
            variation: Some(variation),
        };
        encoded::join(self.parts(&job, threads)?, threads)
    }

    /// Encodes one document and says what part of it each token stands for.
    ///
    /// # Errors
    /// As [`Encoder::encode`].
    pub fn spans(
        &self,
        document: &[u8],
        matcher: Option<&SpecialMatcher>,
        continued: bool,
    ) -> Result<Vec<Span>> {
        let mut spans = Vec::new();
        let mut worker = self.worker();
        let mut run = self.spans_of(document, matcher, &mut worker, &mut spans);
        let result = run.document(0..document.len(), continued);
        self.return_worker(worker);
        result.map(|()| spans)
    }

    /// Begins to append the spans of documents that lie in a text.
    pub(crate) fn spans_of<'a>(
        &'a self,
        text: &'a [u8],
        matcher: Option<&'a SpecialMatcher>,
        worker: &'a mut Worker,
        spans: &'a mut Vec<Span>,
    ) -> Run<'a> {
        Run {
            staged: &self.way,
            text,
            matcher,
            variation: None,
            worker,
            out: Out::Spans(spans),
        }
    }
}

/// One text on its way.
pub(crate) struct Run<'a> {
    staged: &'a Staged,
    text: &'a [u8],
    matcher: Option<&'a SpecialMatcher>,
    variation: Option<Variation>,
    worker: &'a mut Worker,
    out: Out<'a>,
}

impl Run<'_> {
    /// Encodes a document, or a part of one, that lies at a range of the text. Offsets of errors and of
    /// spans are offsets in the text.
    pub(crate) fn document(&mut self, range: Range<usize>, continued: bool) -> Result<()> {
        let document = &self.text[range.clone()];
        documents::segments(document, self.matcher, |segment| {
            let (start, end) = match segment {
                Segment::Special { id, start, end } => {
                    let at = range.start + start..range.start + end;
                    return self.out.special(id, at);
                }
                Segment::Text { start, end } => (start, end),
            };
            let context = Context {
                continued: continued && start == 0,
                first: !continued && start == 0,
            };
            let at = range.start + start..range.start + end;
            let result = self.stretch(at.clone(), context);
            if let (Err(Error::MissingByte { .. }), Out::Ids(..)) = (&result, &self.out) {
                // Again, to say where: the bulk way does not remember.
                let mut again = Run {
                    worker: &mut *self.worker,
                    out: Out::Spans(&mut Vec::new()),
                    ..*self
                };
                again.stretch(at, context)?;
            }
            result
        })
    }

    /// Encodes a stretch between special tokens.
    fn stretch(&mut self, range: Range<usize>, mut context: Context) -> Result<()> {
        if range.len() > LONGEST_STRETCH {
            return Err(Error::Invalid(
                "a text without a safe place to cut it is longer than 4 GiB".to_owned(),
            ));
        }
        let added = self.matcher.filter(|matcher| matcher.looks_in_normalized());
        if let (Some(plan), Out::Ids(part, keep), None, None) =
            (&self.staged.plan, &mut self.out, self.variation, added)
        {
            let text = &self.text[range];
            return self
                .staged
                .encode_words(plan, text, context, self.worker, part, *keep);
        }
        let origins = matches!(self.out, Out::Spans(_)) || self.variation.is_some();
        let base = range.start;
        let mut pieces = std::mem::take(&mut self.worker.pieces);
        pieces.text.reset(&self.text[range], origins);
        let mut result = self.staged.stages.normalize(&mut pieces.text, context);
        if result.is_ok()
            && let Some(matcher) = added
        {
            let normalized = std::mem::take(&mut pieces.text);
            result = matcher.segments_normalized(normalized.bytes(), |segment| {
                match segment {
                    Segment::Special { id, start, end } => {
                        let origin = normalized.origin(start..end).unwrap_or_default();
                        let at = base + origin.start as usize..base + origin.end as usize;
                        self.out.special(id, at)?;
                        context.first = false;
                        context.continued = false;
                    }
                    Segment::Text { start, end } => {
                        pieces.text = normalized.slice(start..end);
                        self.normalized(&mut pieces, base, context)?;
                    }
                }
                Ok(())
            });
        } else if result.is_ok() {
            result = self.normalized(&mut pieces, base, context);
        }
        self.worker.pieces = pieces;
        result
    }

    /// Encodes a normalized text; what it was made of begins at `base`.
    fn normalized(&mut self, pieces: &mut Pieces, base: usize, context: Context) -> Result<()> {
        let Staged { stages, model, .. } = self.staged;
        stages.pre_tokenize(pieces, context)?;
        let ranges = std::mem::take(&mut pieces.ranges);
        let begins = self.out.len();
        let result = ranges.iter().try_for_each(|range| {
            let before = self.out.len();
            if pieces.visible && model.reads_bytes() {
                return self.visible(&pieces.text, range.clone(), base);
            }
            let text = pieces.text.bytes();
            cut_at_borders(text, range.clone(), model.border(), |part| {
                self.piece(&pieces.text, part, base)
            })?;
            if let Some(id) = model.fuses()
                && before > begins
            {
                self.out.fuse(id, before);
            }
            Ok(())
        });
        pieces.ranges = ranges;
        result
    }

    /// Encodes a piece that is spelt as visible characters: the model wants its bytes.
    fn visible(&mut self, text: &Text, range: Range<usize>, base: usize) -> Result<()> {
        let mut plain = Text::default();
        let mut bytes = std::mem::take(&mut self.worker.bytes);
        bytes.clear();
        visible::decode(&text.bytes()[range.clone()], &mut bytes);
        plain.adopt(&bytes, text, range);
        self.worker.bytes = bytes;
        let whole = 0..plain.bytes().len();
        self.piece(&plain, whole, base)
    }

    #[inline]
    fn piece(&mut self, text: &Text, range: Range<usize>, base: usize) -> Result<()> {
        let Self {
            staged,
            variation,
            worker,
            out,
            ..
        } = self;
        let bytes = text.bytes();
        let key = match (&mut *out, *variation) {
            (Out::Ids(part, _), None) => {
                let key = piece_cache::key(bytes, range.start, range.end);
                if let Some(key) = key
                    && worker.cache.recall(key, &mut part.ids)
                {
                    return Ok(());
                }
                key
            }
            (Out::Spans(spans), None) => {
                let key = piece_cache::key(bytes, range.start, range.end);
                worker.packed.clear();
                if let Some(key) = key
                    && worker
                        .placed
                        .get_or_insert_default()
                        .recall(key, &mut worker.packed)
                {
                    let found = worker.packed.iter().map(|&packed| placed::unpack(packed));
                    spans.extend(found.map(|found| span_of(text, found, range.start, base)));
                    return Ok(());
                }
                key
            }
            _ => None,
        };
        let piece = &bytes[range.clone()];
        worker.found.clear();
        let place = |at: usize| {
            let origin = text.origin(at..bytes.len().min(at + 1)).unwrap_or_default();
            base + origin.start as usize
        };
        let result = match *variation {
            None => staged
                .model
                .encode_piece(piece, &mut worker.scratch, &mut worker.found),
            Some(Variation { sampling, from }) => {
                let at = place(range.start) as u64;
                let offset = from.offset.wrapping_add(at);
                let mut draw = Draw::at(Place { offset, ..from });
                staged.model.sample_piece(
                    piece,
                    sampling,
                    &mut draw,
                    &mut worker.scratch,
                    &mut worker.found,
                )
            }
        };
        result.map_err(|error| match error {
            Error::MissingByte { byte, offset } => Error::MissingByte {
                byte,
                offset: place(range.start + offset),
            },
            other => other,
        })?;
        out.reserve(worker.found.len())?;
        match out {
            Out::Ids(part, keep) => {
                let before = part.ids.len();
                part.ids.extend(worker.found.iter().map(|found| found.id));
                if let Some(key) = key {
                    worker.cache.remember(key, &part.ids[before..]);
                }
                if !*keep && part.ids.len() > 1 << 12 && staged.model.fuses().is_none() {
                    part.forget();
                }
            }
            Out::Spans(spans) => {
                if let Some(key) = key {
                    worker.packed.clear();
                    let packed = worker.found.iter().map(|&found| placed::pack(found));
                    worker.packed.extend(packed);
                    let placed = worker.placed.get_or_insert_default();
                    placed.remember(key, &worker.packed);
                }
                let found = worker.found.iter();
                spans.extend(found.map(|&found| span_of(text, found, range.start, base)));
            }
        }
        Ok(())
    }
}

/// What a token stands for: it was found in a piece that begins at `start` in a text, which is what
/// became of an original that begins at `base`.
fn span_of(text: &Text, found: Found, start: usize, base: usize) -> Span {
    let origin = text
        .origin(start + found.start as usize..start + found.end as usize)
        .unwrap_or_default();
    Span {
        id: found.id,
        start: (base + origin.start as usize) as u64,
        end: (base + origin.end as usize) as u64,
    }
}
