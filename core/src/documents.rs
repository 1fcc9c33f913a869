//! Work on a block's documents by several threads, with results in order.
//!
//! A block is cut into tasks: runs of small documents, and parts of long ones, cut only where the
//! splitter and the special tokens allow.

use crate::error::{Error, Result};
use crate::special::SpecialMatcher;
use crate::threads;

/// Bytes that a task has at least, unless the block ends.
const TASK_BYTES: usize = 1 << 18;

/// A block of documents: where each ends in the text.
#[derive(Clone, Copy, Debug)]
pub struct Documents<'a> {
    /// All documents, one after the other.
    pub text: &'a [u8],
    /// Where each ends, ascending, the last being the text's length.
    pub ends: &'a [u64],
    /// Whether the first one goes on from an earlier block.
    pub continued: bool,
}

impl Documents<'_> {
    /// Checks ends that came over the border.
    ///
    /// # Errors
    /// A sentence when they descend or do not close with the text.
    pub fn check(&self) -> Result<()> {
        let mut last = 0;
        for &end in self.ends {
            if end < last {
                return Err(Error::Invalid(format!(
                    "a document ends at {end}, before it begins at {last}"
                )));
            }
            last = end;
        }
        if last != self.text.len() as u64 {
            let sentence = format!(
                "the last document ends at {last}, the text at {}",
                self.text.len()
            );
            return Err(Error::Invalid(sentence));
        }
        Ok(())
    }
}

/// A stretch of a block that one thread handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// Where it begins in the text.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// The first document it has a part of.
    pub document: usize,
    /// Whether it begins inside that document.
    pub continued: bool,
    /// How many documents end in it; it may have the beginning of one more.
    pub closes: usize,
}

impl Task {
    /// All of a block.
    #[must_use]
    pub fn whole(documents: &Documents<'_>) -> Self {
        Self {
            start: 0,
            end: documents.text.len(),
            document: 0,
            continued: documents.continued,
            closes: documents.ends.len(),
        }
    }
}

/// Cuts a block into tasks; `safe_cut` gives the last offset at which a text can be cut, or 0.
#[must_use]
pub fn tasks(
    documents: &Documents<'_>,
    safe_cut: impl Fn(&[u8]) -> usize,
    matcher: Option<&SpecialMatcher>,
) -> Vec<Task> {
    let Documents { text, ends, .. } = *documents;
    let mut tasks = Vec::new();
    let mut open = Task {
        start: 0,
        end: 0,
        document: 0,
        continued: documents.continued,
        closes: 0,
    };
    for (document, &end) in ends.iter().enumerate() {
        let end = end as usize;
        let begin = if document == 0 {
            0
        } else {
            ends[document - 1] as usize
        };
        // Cut a long document as long as there is enough left for another task.
        let mut reach = TASK_BYTES;
        while end - open.start >= 2 * reach {
            match cut_before(&text[open.start..end], reach, &safe_cut, matcher) {
                // At or before the document's own beginning it would be no cut inside it.
                Some(cut) if open.start + cut > begin => {
                    let cut = open.start + cut;
                    tasks.push(Task { end: cut, ..open });
                    open = Task {
                        start: cut,
                        end: cut,
                        document,
                        continued: true,
                        closes: 0,
                    };
                    reach = TASK_BYTES;
                }
                _ => reach *= 2,
            }
        }
        open.closes += 1;
        if end - open.start >= TASK_BYTES {
            tasks.push(Task { end, ..open });
            open = Task {
                start: end,
                end,
                document: document + 1,
                continued: false,
                closes: 0,
            };
        }
    }
    if open.closes > 0 {
        tasks.push(Task {
            end: text.len(),
            ..open
        });
    }
    tasks
}

/// The last offset up to `limit` where a text can be cut.
fn cut_before(
    text: &[u8],
    limit: usize,
    safe_cut: impl Fn(&[u8]) -> usize,
    matcher: Option<&SpecialMatcher>,
) -> Option<usize> {
    let mut cut = safe_cut(&text[..limit]);
    while cut > 0
        && let Some(before) = matcher.and_then(|matcher| matcher.moves_cut(text, cut))
    {
        cut = safe_cut(&text[..before]);
    }
    (cut > 0).then_some(cut)
}

/// Runs every task on up to `threads` threads and gives the results in order of the tasks.
///
/// `worker` makes what a thread works with; `retire` takes it back at the end.
///
/// # Errors
/// The error of the first task, in order, that has one.
pub fn run<W, R: Send>(
    tasks: &[Task],
    threads: usize,
    worker: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, &Task) -> Result<R> + Sync,
    retire: impl Fn(W) + Sync,
) -> Result<Vec<R>> {
    let (results, _) = threads::map_with(tasks.iter(), threads, |_| worker(), work, retire)?;
    Ok(results)
}

/// Calls `each` for each stretch of plain text and each special token, in order.
///
/// # Errors
/// The first error that the callback gives.
pub fn segments(
    text: &[u8],
    matcher: Option<&SpecialMatcher>,
    mut each: impl FnMut(Segment) -> Result<()>,
) -> Result<()> {
    match matcher {
        Some(matcher) => matcher.segments(text, each),
        None if text.is_empty() => Ok(()),
        None => each(Segment::Text {
            start: 0,
            end: text.len(),
        }),
    }
}

/// The same for normalized text and the tokens that are looked for in it.
///
/// # Errors
/// The first error that the callback gives.
pub fn segments_normalized(
    text: &[u8],
    matcher: &SpecialMatcher,
    each: impl FnMut(Segment) -> Result<()>,
) -> Result<()> {
    matcher.segments_normalized(text, each)
}

/// A stretch of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segment {
    /// Plain text.
    Text {
        /// Where it begins.
        start: usize,
        /// Where it ends.
        end: usize,
    },
    /// A special token.
    Special {
        /// Its id.
        id: u32,
        /// Where it begins.
        start: usize,
        /// Where it ends.
        end: usize,
    },
}

impl Segment {
    /// The same stretch in a text that has `by` bytes more before it.
    #[must_use]
    pub fn moved(self, by: usize) -> Self {
        match self {
            Self::Text { start, end } => Self::Text {
                start: start + by,
                end: end + by,
            },
            Self::Special { id, start, end } => Self::Special {
                id,
                start: start + by,
                end: end + by,
            },
        }
    }
}
