//! Work on a block's documents by several threads, with results in order.
//!
//! A block is cut into tasks: runs of small documents, and parts of long ones, cut only where the
//! splitter and the special tokens allow.

use std::ops::Range;

use crate::boundaries::last_cut;
use crate::error::{Result, ensure};
use crate::special::{Segment, SpecialMatcher};
use crate::threads;

#[cfg(any(feature = "python", test))]
pub(crate) mod usable;

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

impl<'a> Documents<'a> {
    /// The documents of a text.
    pub fn new(text: &'a [u8], ends: &'a [u64], continued: bool) -> Self {
        Self {
            text,
            ends,
            continued,
        }
    }

    /// Checks ends that came over the border.
    ///
    /// # Errors
    /// A sentence when they descend or do not close with the text.
    pub fn check(&self) -> Result<()> {
        let mut last = 0;
        for &end in self.ends {
            ensure!(
                end >= last,
                "a document ends at {end}, before it begins at {last}"
            );
            last = end;
        }
        ensure!(
            last == self.text.len() as u64,
            "the last document ends at {last}, the text at {}",
            self.text.len()
        );
        Ok(())
    }

    /// The documents of a task, and the beginning of one more if it has that.
    pub(crate) fn parts_of(self, task: &Task) -> impl Iterator<Item = DocumentPart> {
        let Task {
            start,
            end,
            document,
            continued,
            closed_documents,
        } = *task;
        let mut start = start;
        (0..=closed_documents).filter_map(move |number| {
            let closed = number < closed_documents;
            let end = if closed {
                self.ends[document + number] as usize
            } else {
                end
            };
            let part = DocumentPart {
                number: document + number,
                range: std::mem::replace(&mut start, end)..end,
                continued: continued && number == 0,
                closed,
            };
            (closed || !part.range.is_empty()).then_some(part)
        })
    }
}

/// A document, or a part of one, in a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentPart {
    /// The document's number in the block.
    pub number: usize,
    /// Where it lies in the text.
    pub range: Range<usize>,
    /// Whether the document began before.
    pub continued: bool,
    /// Whether the document ends with it.
    pub closed: bool,
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
    pub closed_documents: usize,
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
            closed_documents: documents.ends.len(),
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
    let moves_cut = |text: &[u8], cut| matcher.and_then(|matcher| matcher.moves_cut(text, cut));
    let mut tasks = Vec::new();
    let mut open = Task {
        start: 0,
        end: 0,
        document: 0,
        continued: documents.continued,
        closed_documents: 0,
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
            // Of the document alone, or what is left of it: what stands before a cut decides whether special tokens allow it.
            let from = open.start.max(begin);
            let limit = (open.start + reach).saturating_sub(from);
            let find_cut = || last_cut(&text[from..end], limit, &safe_cut, moves_cut);
            match (limit > 0).then(find_cut).flatten() {
                Some(cut) => {
                    let cut = from + cut;
                    tasks.push(Task { end: cut, ..open });
                    open = Task {
                        start: cut,
                        end: cut,
                        document,
                        continued: true,
                        closed_documents: 0,
                    };
                    reach = TASK_BYTES;
                }
                None => reach *= 2,
            }
        }
        open.closed_documents += 1;
        if end - open.start >= TASK_BYTES {
            tasks.push(Task { end, ..open });
            open = Task {
                start: end,
                end,
                document: document + 1,
                continued: false,
                closed_documents: 0,
            };
        }
    }
    if open.closed_documents > 0 {
        tasks.push(Task {
            end: text.len(),
            ..open
        });
    }
    tasks
}

/// Runs every task on up to `threads` threads and gives the results in order of the tasks.
///
/// `worker` makes what a thread works with; `return_worker` takes it back at the end.
///
/// # Errors
/// The error of the first task, in order, that has one.
pub fn run<W, R: Send>(
    tasks: &[Task],
    threads: usize,
    worker: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, &Task) -> Result<R> + Sync,
    return_worker: impl Fn(W) + Sync,
) -> Result<Vec<R>> {
    let (results, _) = threads::map_with(tasks.iter(), threads, |_| worker(), work, return_worker)?;
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::special::NORMALIZED;
    use crate::stages::Stages;

    #[test]
    fn special_tokens_are_asked_about_a_document_and_not_what_stands_before_it() {
        let stages = r#"{"normalizers": [{"type": "Prepend", "prepend": "x"}], "pre_tokenizers": [{"type": "WhitespaceSplit"}]}"#;
        let stages = Arc::new(Stages::from_json(stages).unwrap());
        let contents = vec![b"a b".to_vec()];
        let matcher =
            SpecialMatcher::new(contents, vec![1], &[NORMALIZED], Some(stages.clone())).unwrap();
        let first = b"ab ".repeat(TASK_BYTES / 3 - 1);
        let second = [b"a b ".as_slice(), &b"ab ".repeat(2 * TASK_BYTES)].concat();
        let text = [first.as_slice(), &second].concat();
        let ends = [first.len() as u64, text.len() as u64];
        let documents = Documents {
            text: &text,
            ends: &ends,
            continued: false,
        };
        let all = tasks(&documents, |text| stages.safe_cut(text), Some(&matcher));
        let inside = all.iter().filter(|task| task.continued);
        let cuts: Vec<usize> = inside.map(|task| task.start - first.len()).collect();
        assert!(cuts.len() > 3);
        for cut in cuts {
            assert_eq!(matcher.moves_cut(&second, cut), None);
        }
    }
}
