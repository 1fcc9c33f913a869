//! Byte-level BPE behind normalizers that leave nearly all text as it is.
//!
//! A stretch that they leave is only split, as in [`Plain`]; any other goes through all stages, as in [`Staged`]. Ids and
//! errors are those of all stages for the whole text.

use std::sync::Arc;

use crate::documents::Task;
use crate::encode::encoded::Part;
use crate::encode::plain::{self, Plain};
use crate::encode::staged::{self, Staged};
use crate::encode::{Encode, Encoder, Job, workers};
use crate::error::Result;
use crate::memory::budget::Share;
use crate::models::bpe::Bpe;
use crate::models::model::Model;
use crate::special::SpecialMatcher;
use crate::split::Scanner;
use crate::stages::Stages;
use crate::stages::stretches::Stretch;
use crate::threads::made_once::MadeOnce;

/// A scanner and byte-level BPE, and the stages for the text that the normalizers may change.
#[derive(Debug)]
pub struct ByText {
    stages: Arc<Stages>,
    plain: Plain,
    /// Made when the first text needs it.
    staged: MadeOnce<Staged>,
}

/// What one thread works with.
#[derive(Debug, Default)]
pub struct Worker {
    plain: plain::Worker,
    staged: staged::Worker,
}

/// So much of the memory, as a divisor, is for text that goes through all stages.
const FOR_STAGED: usize = 8;

impl workers::Worker for Worker {
    const CACHES: usize = plain::Worker::CACHES + staged::Worker::CACHES;

    fn set_share(&mut self, share: Share) {
        let part = share.part(FOR_STAGED);
        self.plain.set_share(share.without(part));
        self.staged.set_share(part);
    }

    fn cache_bytes(&self) -> usize {
        self.plain.cache_bytes() + self.staged.cache_bytes()
    }
}

impl ByText {
    fn staged(&self) -> &Staged {
        self.staged.get_or_make(|| {
            let model: Arc<Bpe> = Arc::clone(&self.plain.model);
            Staged::new(Arc::clone(&self.stages), model)
        })
    }
}

impl Encode for ByText {
    type Worker = Worker;

    const CUTS_FOR_ONE: bool = false;

    fn safe_cut(&self, text: &[u8]) -> usize {
        let border = Model::border(&*self.plain.model);
        self.stages.safe_cut_for(border, false, text)
    }

    fn cut_in_piece(&self, _text: &[u8]) -> usize {
        0
    }

    fn encode_task(
        &self,
        job: &Job<'_>,
        task: &Task,
        worker: &mut Worker,
        part: &mut Part,
    ) -> Result<()> {
        let Job {
            documents, matcher, ..
        } = *job;
        if matcher.is_some_and(SpecialMatcher::looks_in_normalized) {
            return (self.staged()).encode_task(job, task, &mut worker.staged, part);
        }
        let text = &documents.text[..task.end];
        let moves_cut = |text: &[u8], cut| matcher.and_then(|matcher| matcher.moves_cut(text, cut));
        let mut stretch = Stretch::default();
        let mut run = (self.plain).begin(documents.text, task.start, &mut worker.plain, part);
        for document in documents.parts_of(task) {
            let (mut at, mut continued) = (document.range.start, document.continued);
            while at < document.range.end {
                if stretch.end <= at {
                    stretch = Stretch::of(&self.stages, text, at, documents.ends, moves_cut);
                }
                let end = stretch.end.min(document.range.end);
                if stretch.stays {
                    run.document(at..end, continued, matcher)?;
                } else {
                    run.flush()?;
                    let (staged, worker) = (self.staged(), &mut worker.staged);
                    staged::Run::of(staged, documents.text, matcher, worker, run.part)
                        .document(at..end, continued)?;
                }
                (at, continued) = (end, true);
            }
            if document.closed {
                run.close()?;
            }
        }
        run.flush()
    }
}

impl Encoder<ByText> {
    /// Puts a tokenizer together. The scanner cuts as the pre-tokenizers among the stages do; `prefix_space` as in
    /// [`Encoder::plain`].
    #[must_use]
    pub fn by_text(stages: Arc<Stages>, scanner: Scanner, model: Bpe, prefix_space: bool) -> Self {
        Self::new(ByText {
            stages,
            plain: Plain::new(scanner, model, prefix_space),
            staged: MadeOnce::default(),
        })
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &Bpe {
        &self.way.plain.model
    }
}

#[cfg(test)]
mod tests;
