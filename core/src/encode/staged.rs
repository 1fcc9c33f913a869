//! A tokenizer with all of its stages: normalizers, pre-tokenizers and any model.
//!
//! The way of a document: special tokens are found in it; each stretch between them is normalized;
//! added tokens are found in what came out; each stretch between those is cut into pieces; each piece
//! becomes tokens, which remember the part of the original that they stand for if somebody asks.

use std::sync::Arc;

use crate::boundaries::seams::Joints;
use crate::boundaries::stages::Shape;
use crate::documents::{Documents, Task};
use crate::encode::encoded::{Encoded, Part};
use crate::encode::workers;
use crate::encode::{Encode, Encoder, Job};
use crate::error::Result;
use crate::memory::asking::need_room;
use crate::memory::budget::Share;
use crate::memory::piece_cache::PieceCache;
use crate::models::model::{Found, Model};
use crate::models::scratch::Scratch;
use crate::special::SpecialMatcher;
use crate::split::stage::Pieces;
use crate::stages::Stages;
use crate::text::{read_char, visible};
use crate::threads::made_once::MadeOnce;

mod out;
mod placed;
mod run;
mod words;

use out::{Out, place_of};
pub use out::{Span, Variation};
pub(super) use run::Run;
use words::plan::Plan;

/// Stages, and a model for the pieces that come out of them.
#[derive(Debug)]
pub struct Staged {
    stages: Arc<Stages>,
    model: Arc<dyn Model>,
    /// How words are told apart, if they can be.
    plan: Option<Plan>,
    /// Whether a text is one piece for a model whose sums are rounded.
    carries: bool,
    /// Where no token of the model goes on, for texts that are one piece without a plan.
    joints: MadeOnce<Option<Joints>>,
}

/// What a model sees around a place where spaces become marks, if it is none of these.
fn between_marks(left: &[u8], right: &[u8]) -> Option<(char, char)> {
    let stays = |character: &char| !character.is_whitespace() && *character != '\u{2581}';
    let read = |bytes| read_char(bytes, 0).0.filter(stays);
    read(left).zip(read(right))
}

/// What a model sees around a place where each byte is spelt as a visible character.
fn between_bytes(left: &[u8], right: &[u8]) -> Option<(char, char)> {
    let read = |byte: Option<&u8>| {
        let mut spelt = Vec::new();
        visible::encode(&[*byte?], &mut spelt);
        read_char(&spelt, 0).0
    };
    read(left.last()).zip(read(right.first()))
}

/// What one thread works with.
#[derive(Debug, Default)]
pub struct Worker {
    cache: PieceCache,
    /// The same with what each token stands for.
    placed: PieceCache,
    packed: Vec<u32>,
    scratch: Scratch,
    pieces: Pieces,
    found: Vec<Found>,
    bytes: Vec<u8>,
    /// What words became; made when there is a plan.
    words: Option<words::Memory>,
    share: Share,
}

impl Worker {
    /// What words became, to be put back.
    fn take_words(&mut self) -> words::Memory {
        self.words.take().unwrap_or_else(|| {
            let mut words = words::Memory::default();
            words.set_share(self.share.part(2));
            words
        })
    }
}

impl workers::Worker for Worker {
    const CACHES: usize = 3;

    /// Half of the memory is for words.
    fn set_share(&mut self, share: Share) {
        self.share = share;
        self.cache.set_share(share.part(4));
        self.placed.set_share(share.part(4));
        if let Some(words) = &mut self.words {
            words.set_share(share.part(2));
        }
    }

    fn cache_bytes(&self) -> usize {
        let words = self.words.as_ref().map_or(0, words::Memory::bytes);
        self.cache.bytes() + self.placed.bytes() + words
    }
}

impl Encode for Staged {
    type Worker = Worker;

    const CUTS_FOR_ONE: bool = true;

    fn safe_cut(&self, text: &[u8]) -> usize {
        let fuses = self.model.fuses().is_some();
        self.stages.safe_cut_for(self.model.border(), fuses, text)
    }

    /// Where stages only make marks of spaces, or spell bytes, a text is one piece, and may be cut where no token goes on.
    fn cut_in_piece(&self, text: &[u8]) -> usize {
        if self.model.fuses().is_some() || self.model.carrying().is_some() {
            return 0;
        }
        if self.stages.answers().shape() == Shape::Marks {
            let joints = self.plan.as_ref().and_then(|plan| plan.joints.as_ref());
            joints.map_or(0, |joints| joints.last_cut(text, between_marks))
        } else if self.stages.only_spell_bytes() {
            let joints = self.joints.get_or_make(|| self.model.seams().joints);
            joints
                .as_ref()
                .map_or(0, |joints| joints.last_cut(text, between_bytes))
        } else {
            0
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
                variation,
                ..Run::of(self, job.documents.text, job.matcher, worker, part)
            };
            run.document(document.range, document.continued)?;
            if document.closed {
                need_room(&mut part.ends, 1, "documents")?;
                part.ends.push(part.total());
            }
        }
        Ok(())
    }
}

impl Staged {
    pub(super) fn new(stages: Arc<Stages>, model: Arc<dyn Model>) -> Self {
        let plan = Plan::new(&stages, &*model);
        let is_one_piece = matches!(stages.answers().shape(), Shape::Marks | Shape::MappedMarks);
        Self {
            carries: is_one_piece && model.carrying().is_some(),
            plan,
            stages,
            model,
            joints: MadeOnce::default(),
        }
    }
}

impl Encoder<Staged> {
    /// Puts a tokenizer together.
    #[must_use]
    pub fn staged(stages: Arc<Stages>, model: Box<dyn Model>) -> Self {
        Self::new(Staged::new(stages, model.into()))
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &dyn Model {
        &*self.way.model
    }

    /// Encodes a block with variation.
    ///
    /// # Errors
    /// As [`Encoder::encode`], and [`crate::Error::Invalid`] when the model cannot be varied as asked.
    pub fn sample(
        &self,
        documents: &Documents<'_>,
        matcher: Option<&SpecialMatcher>,
        threads: usize,
        variation: Variation,
    ) -> Result<Encoded> {
        let job = Job {
            variation: Some(variation),
            ..Job::new(documents, matcher)
        };
        self.run_all(&job, threads)
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
