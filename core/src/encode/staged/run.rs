//! One text through all stages: special tokens, normalizers, pre-tokenizers, model.

use std::ops::Range;

use super::out::{Out, Span, Variation};
use super::{Staged, Worker, placed};
use crate::boundaries::seams::cut_at_borders;
use crate::documents;
use crate::encode::encoded::Part;
use crate::error::{Error, Result};
use crate::memory::key;
use crate::memory::piece_cache::MOST_IDS;
use crate::memory::reserve;
use crate::models::found;
use crate::models::model::Found;
use crate::models::scratch::Scratch;
use crate::normalize::Context;
use crate::random::{Draw, Place};
use crate::special::{Segment, SpecialMatcher};
use crate::split::stage::Pieces;
use crate::text::{Text, visible};

/// The bytes of a piece whose ids are not held where they are only counted.
const GIANT: usize = if cfg!(test) { 257 } else { 1 << 16 };

/// How long a stretch may be that goes through the stages: offsets in it are u32. Tests come near it.
pub(super) const LONGEST_STRETCH: usize = if cfg!(test) {
    1 << 20
} else {
    u32::MAX as usize
};

/// One text on its way.
pub(crate) struct Run<'a> {
    pub(super) staged: &'a Staged,
    pub(super) text: &'a [u8],
    pub(super) matcher: Option<&'a SpecialMatcher>,
    pub(super) variation: Option<Variation>,
    pub(super) worker: &'a mut Worker,
    pub(super) out: Out<'a>,
}

impl<'a> Run<'a> {
    /// Begins a text of which the ids are asked.
    pub(crate) fn of(
        staged: &'a Staged,
        text: &'a [u8],
        matcher: Option<&'a SpecialMatcher>,
        worker: &'a mut Worker,
        part: &'a mut Part,
    ) -> Self {
        Run {
            staged,
            text,
            matcher,
            variation: None,
            worker,
            out: Out::Ids(part),
        }
    }

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
    fn stretch(&mut self, range: Range<usize>, context: Context) -> Result<()> {
        if range.len() > LONGEST_STRETCH {
            return Err(Error::Invalid(
                "a text without a safe place to cut it is longer than 4 GiB".to_owned(),
            ));
        }
        let added = self.added();
        if let (Some(plan), Out::Ids(part), None, None) =
            (&self.staged.plan, &mut self.out, self.variation, added)
        {
            let text = &self.text[range];
            return self
                .staged
                .encode_words(plan, text, context, self.worker, part);
        }
        self.through_stages(range, context)
    }

    /// What finds added tokens in normalized text.
    fn added(&self) -> Option<&'a SpecialMatcher> {
        self.matcher.filter(|matcher| matcher.looks_in_normalized())
    }

    /// Encodes such a stretch stage by stage.
    pub(super) fn through_stages(
        &mut self,
        range: Range<usize>,
        mut context: Context,
    ) -> Result<()> {
        let added = self.added();
        let origins = matches!(self.out, Out::Spans(_)) || self.variation.is_some();
        let base = range.start;
        let _spare = reserve::hold_for(&self.text[range.clone()])?;
        let mut pieces = std::mem::take(&mut self.worker.pieces);
        let text = &self.text[range];
        let stages = &self.staged.stages;
        let mut result = if origins {
            pieces.text.reset(text, true);
            stages.normalize(&mut pieces.text, context)
        } else {
            stages.begin(text, &mut pieces.text, context)
        };
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
        reserve::check()?;
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
            (Out::Ids(part), None) => {
                part.reserve(MOST_IDS)?;
                let key = key::pack(bytes, range.start, range.end);
                if let Some(key) = key
                    && worker.cache.recall(key, &mut part.ids)
                {
                    return Ok(());
                }
                key
            }
            (Out::Spans(spans), None) => {
                let key = key::pack(bytes, range.start, range.end);
                worker.packed.clear();
                if let Some(key) = key
                    && worker.placed.recall(key, &mut worker.packed)
                {
                    found::reserve(spans, worker.packed.len())?;
                    let found = worker.packed.iter().map(|&packed| placed::unpack(packed));
                    spans.extend(found.map(|found| span_of(text, found, range.start, base)));
                    return Ok(());
                }
                key
            }
            _ => None,
        };
        let piece = &bytes[range.clone()];
        let place = |at: usize| {
            let origin = text.origin(at..bytes.len().min(at + 1)).unwrap_or_default();
            base + origin.start as usize
        };
        let with_place = |error| match error {
            Error::MissingByte { byte, offset } => Error::MissingByte {
                byte,
                offset: place(range.start + offset),
            },
            other => other,
        };
        if let (Out::Ids(part), None) = (&mut *out, *variation) {
            let before = part.ids.len();
            let result = staged.take_piece(piece, &mut worker.scratch, part);
            result.map_err(with_place)?;
            if let Some(key) = key {
                worker.cache.remember(key, &part.ids[before..]);
            }
            staged.forget_some(part);
            return Ok(());
        }
        reserve::check()?;
        worker.found.clear();
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
        result.map_err(with_place)?;
        out.reserve(worker.found.len())?;
        match out {
            Out::Ids(part) => {
                part.ids.extend(worker.found.iter().map(|found| found.id));
                staged.forget_some(part);
            }
            Out::Spans(spans) => {
                if let Some(key) = key {
                    worker.packed.clear();
                    let packed = worker.found.iter().map(|&found| placed::pack(found));
                    worker.packed.extend(packed);
                    worker.placed.remember(key, &worker.packed);
                }
                let found = worker.found.iter();
                spans.extend(found.map(|&found| span_of(text, found, range.start, base)));
            }
        }
        Ok(())
    }
}

impl Staged {
    /// Appends the ids of a piece. Those of a giant one are only counted where nobody asks for them.
    #[inline]
    pub(super) fn take_piece(
        &self,
        piece: &[u8],
        scratch: &mut Scratch,
        part: &mut Part,
    ) -> Result<()> {
        if part.only_counts && piece.len() >= GIANT && self.model.fuses().is_none() {
            part.add(self.model.count_ids(piece, scratch)?);
            return Ok(());
        }
        self.model.encode_ids(piece, scratch, &mut part.ids)
    }

    /// Gives up ids of which only the number is asked, unless the last one may become one with the next.
    #[inline]
    fn forget_some(&self, part: &mut Part) {
        if part.only_counts && self.model.fuses().is_none() {
            part.forget_some();
        }
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
