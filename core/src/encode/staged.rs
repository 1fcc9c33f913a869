//! A tokenizer with all of its stages: normalizers, pre-tokenizers and any model.
//!
//! The way of a document: special tokens are found in it; each stretch between them is normalized;
//! added tokens are found in what came out; each stretch between those is cut into pieces; each piece
//! becomes tokens, which remember the part of the original that they stand for if somebody asks.

use std::ops::Range;
use std::sync::Mutex;

use crate::documents::{self, Segment};
use crate::error::{Error, Result};
use crate::memory::piece_cache::{self, PieceCache};
use crate::models::model::{Found, Model};
use crate::models::scratch::Scratch;
use crate::normalize::Context;
use crate::random::{Draw, Place};
use crate::special::SpecialMatcher;
use crate::split::stage::Pieces;
use crate::split::visible;
use crate::stages::{Shape, Stages};
use crate::text::Text;

mod borders;
mod bulk;
mod out;
mod placed;
mod words;

use borders::cut_at_borders;
use out::Out;
pub use out::{Span, Variation};
use words::plan::Plan;

/// A compiled tokenizer: immutable but for working memory, shared by threads.
#[derive(Debug)]
pub struct Pipeline {
    stages: std::sync::Arc<Stages>,
    model: Box<dyn Model>,
    /// How words are told apart, if they can be.
    plan: Option<Plan>,
    /// Whether a text is one piece for a model whose sums are rounded.
    carries: bool,
    idle: Mutex<Vec<Worker>>,
}

/// What one thread works with.
#[derive(Debug, Default)]
pub(crate) struct Worker {
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

impl Pipeline {
    /// Puts a tokenizer together.
    #[must_use]
    pub fn new(stages: std::sync::Arc<Stages>, model: Box<dyn Model>) -> Self {
        let plan = Plan::new(&stages, &*model);
        let is_one_piece = matches!(stages.shape(), Shape::Marks | Shape::MappedMarks);
        Self {
            carries: is_one_piece && model.carrying().is_some(),
            plan,
            stages,
            model,
            idle: Mutex::default(),
        }
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &dyn Model {
        &*self.model
    }

    /// The stages before the model.
    #[must_use]
    pub fn stages(&self) -> &Stages {
        &self.stages
    }

    /// Encodes one document and says what part of it each token stands for.
    ///
    /// # Errors
    /// As [`Pipeline::encode`].
    pub fn spans(
        &self,
        document: &[u8],
        matcher: Option<&SpecialMatcher>,
        continued: bool,
    ) -> Result<Vec<Span>> {
        let mut spans = Vec::new();
        let mut worker = self.worker();
        let whole = 0..document.len();
        let result =
            self.encode_spans(document, whole, continued, matcher, &mut worker, &mut spans);
        self.retire(worker);
        result.map(|()| spans)
    }

    /// Appends the spans of a document, or a part of one, that lies at a range of a text.
    pub(crate) fn encode_spans(
        &self,
        text: &[u8],
        range: Range<usize>,
        continued: bool,
        matcher: Option<&SpecialMatcher>,
        worker: &mut Worker,
        spans: &mut Vec<Span>,
    ) -> Result<()> {
        let mut out = Out::Spans(spans);
        self.encode_document(text, range, continued, matcher, worker, &mut out, None)
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

    /// Encodes a document, or a part of one, that lies at a range of a text. Offsets of errors and of
    /// spans are offsets in the text.
    #[expect(clippy::too_many_arguments, reason = "the loop's state, by name")]
    fn encode_document(
        &self,
        text: &[u8],
        range: Range<usize>,
        continued: bool,
        matcher: Option<&SpecialMatcher>,
        worker: &mut Worker,
        out: &mut Out<'_>,
        variation: Option<Variation>,
    ) -> Result<()> {
        let document = &text[range.clone()];
        documents::segments(document, matcher, |segment| {
            match segment {
                Segment::Special { id, start, end } => {
                    out.special(id, range.start + start..range.start + end);
                }
                Segment::Text { start, end } => {
                    let context = Context {
                        continued: continued && start == 0,
                        first: !continued && start == 0,
                    };
                    let at = range.start + start..range.start + end;
                    let result = self.encode_segment(
                        text,
                        at.clone(),
                        context,
                        matcher,
                        worker,
                        out,
                        variation,
                    );
                    if let (Err(Error::MissingByte { .. }), Out::Ids(..)) = (&result, &*out) {
                        // Again, to say where: the bulk way does not remember.
                        let mut spans = Out::Spans(&mut Vec::new());
                        self.encode_segment(
                            text, at, context, matcher, worker, &mut spans, variation,
                        )?;
                    }
                    result?;
                }
            }
            Ok(())
        })
    }

    #[expect(clippy::too_many_arguments, reason = "the loop's state, by name")]
    fn encode_segment(
        &self,
        text: &[u8],
        range: Range<usize>,
        mut context: Context,
        matcher: Option<&SpecialMatcher>,
        worker: &mut Worker,
        out: &mut Out<'_>,
        variation: Option<Variation>,
    ) -> Result<()> {
        if u32::try_from(range.len()).is_err() {
            return Err(Error::Invalid(
                "a text without a safe place to cut it is longer than 4 GiB".to_owned(),
            ));
        }
        if let (Some(plan), Out::Ids(part, keep), None) = (&self.plan, &mut *out, variation)
            && !matcher.is_some_and(SpecialMatcher::looks_in_normalized)
        {
            return self.encode_words(plan, &text[range], context, worker, part, *keep);
        }
        let origins = matches!(out, Out::Spans(_)) || variation.is_some();
        let base = range.start;
        let mut pieces = std::mem::take(&mut worker.pieces);
        pieces.text.reset(&text[range], origins);
        let mut result = self.stages.normalize(&mut pieces.text, context);
        let added = matcher.filter(|matcher| matcher.looks_in_normalized());
        if result.is_ok()
            && let Some(matcher) = added
        {
            let normalized = std::mem::take(&mut pieces.text);
            result = documents::segments_normalized(normalized.bytes(), matcher, |segment| {
                match segment {
                    Segment::Special { id, start, end } => {
                        let origin = normalized.origin(start..end).unwrap_or_default();
                        out.special(id, base + origin.start as usize..base + origin.end as usize);
                        context.first = false;
                        context.continued = false;
                    }
                    Segment::Text { start, end } => {
                        pieces.text = normalized.slice(start..end);
                        self.encode_normalized(&mut pieces, base, context, worker, out, variation)?;
                    }
                }
                Ok(())
            });
        } else if result.is_ok() {
            result = self.encode_normalized(&mut pieces, base, context, worker, out, variation);
        }
        worker.pieces = pieces;
        result
    }

    fn encode_normalized(
        &self,
        pieces: &mut Pieces,
        base: usize,
        context: Context,
        worker: &mut Worker,
        out: &mut Out<'_>,
        variation: Option<Variation>,
    ) -> Result<()> {
        self.stages.pre_tokenize(pieces, context)?;
        let ranges = std::mem::take(&mut pieces.ranges);
        let begins = out.len();
        let result = ranges.iter().try_for_each(|range| {
            let before = out.len();
            if pieces.visible && self.model.reads_bytes() {
                return self.encode_visible(
                    &pieces.text,
                    range.clone(),
                    base,
                    worker,
                    out,
                    variation,
                );
            }
            let text = pieces.text.bytes();
            cut_at_borders(text, range.clone(), self.model.border(), |part| {
                self.encode_piece(&pieces.text, part, base, worker, out, variation)
            })?;
            if let Some(id) = self.model.fuses()
                && before > begins
            {
                out.fuse(id, before);
            }
            Ok(())
        });
        pieces.ranges = ranges;
        result
    }

    /// Encodes a piece that is spelt as visible characters: the model wants its bytes.
    fn encode_visible(
        &self,
        text: &Text,
        range: Range<usize>,
        base: usize,
        worker: &mut Worker,
        out: &mut Out<'_>,
        variation: Option<Variation>,
    ) -> Result<()> {
        let mut plain = Text::default();
        let mut bytes = std::mem::take(&mut worker.bytes);
        bytes.clear();
        visible::decode(&text.bytes()[range.clone()], &mut bytes);
        plain.adopt(&bytes, text, range);
        worker.bytes = bytes;
        let whole = 0..plain.bytes().len();
        self.encode_piece(&plain, whole, base, worker, out, variation)
    }

    #[inline]
    fn encode_piece(
        &self,
        text: &Text,
        range: Range<usize>,
        base: usize,
        worker: &mut Worker,
        out: &mut Out<'_>,
        variation: Option<Variation>,
    ) -> Result<()> {
        let bytes = text.bytes();
        let key = match (&mut *out, variation) {
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
        let result = match variation {
            None => self
                .model
                .encode_piece(piece, &mut worker.scratch, &mut worker.found),
            Some(Variation { sampling, from }) => {
                let at = place(range.start) as u64;
                let offset = from.offset.wrapping_add(at);
                let mut draw = Draw::at(Place { offset, ..from });
                self.model.sample_piece(
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
        match out {
            Out::Ids(part, keep) => {
                let before = part.ids.len();
                part.ids.extend(worker.found.iter().map(|found| found.id));
                if let Some(key) = key {
                    worker.cache.remember(key, &part.ids[before..]);
                }
                if !*keep && part.ids.len() > 1 << 12 && self.model.fuses().is_none() {
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
