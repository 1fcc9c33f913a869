//! What comes out of a pipeline, and how it varies.

use std::ops::Range;

use serde::Deserialize;

use crate::documents::Documents;
use crate::encode::encoded::Part;
use crate::error::Result;
use crate::models::found::reserve;
use crate::random::{Place, Sampling};

/// A token and the bytes of the document that it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The id.
    pub id: u32,
    /// Where it begins in the document.
    pub start: u64,
    /// Where it ends (exclusive).
    pub end: u64,
}

/// How bulk encoding varies: in what way, for what seed, and where the block stands in the input.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variation {
    /// In what way.
    pub sampling: Sampling,
    /// The seed; the number of the block's first document; how many bytes of it came before.
    pub from: Place,
}

/// What is done with the tokens of a document.
pub(super) enum Out<'a> {
    /// Ids are kept, or only counted.
    Ids(&'a mut Part),
    /// Ids and spans are kept.
    Spans(&'a mut Vec<Span>),
}

impl Out<'_> {
    /// Makes sure that there is room for so many more tokens.
    pub(super) fn reserve(&mut self, more: usize) -> Result<()> {
        match self {
            Out::Ids(part) => part.reserve(more),
            Out::Spans(spans) => reserve(spans, more),
        }
    }

    /// Takes a special token, which stands at a range of the text.
    pub(super) fn special(&mut self, id: u32, range: Range<usize>) -> Result<()> {
        self.reserve(1)?;
        match self {
            Out::Ids(part) => part.ids.push(id),
            Out::Spans(spans) => spans.push(Span {
                id,
                start: range.start as u64,
                end: range.end as u64,
            }),
        }
        Ok(())
    }

    /// How many tokens there are so far; to be compared, not counted.
    pub(super) fn len(&self) -> usize {
        match self {
            Out::Ids(part) => part.ids.len(),
            Out::Spans(spans) => spans.len(),
        }
    }

    /// Joins the last two tokens, if the last one is the first that was added since there were `len`
    /// and both have this id.
    pub(super) fn fuse(&mut self, id: u32, len: usize) {
        if len == 0 || self.len() <= len {
            return;
        }
        match self {
            Out::Ids(part) => {
                if part.ids[len - 1] == id && part.ids[len] == id {
                    part.ids.remove(len);
                }
            }
            Out::Spans(spans) => {
                if spans[len - 1].id == id && spans[len].id == id {
                    let joined = spans.remove(len);
                    spans[len - 1].end = joined.end;
                }
            }
        }
    }
}

/// The place of a block's document in the whole input; its offset is such that adding an offset in the
/// block gives the offset in the document.
pub(super) fn place_of(from: Place, documents: &Documents<'_>, document: usize) -> Place {
    let begins = if document == 0 {
        0
    } else {
        documents.ends[document - 1]
    };
    let before = if document == 0 { from.offset } else { 0 };
    Place {
        document: from.document + document as u64,
        offset: before.wrapping_sub(begins),
        ..from
    }
}
