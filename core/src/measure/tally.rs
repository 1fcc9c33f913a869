//! The tally of one tokenizer on one input.
//!
//! Tokens come with the documents they stand for, block by block. Where tokens are plain bytes, where
//! each stands follows from their lengths, and whether a document comes back is seen on the way.

use std::sync::Arc;

use super::frequencies::Frequencies;
use super::tables::{Kind, Tables};
use super::words::{Stretch, Words};
use crate::documents::Documents;
use crate::encode::Span;
use crate::error::{Result, ensure};

/// A block of documents, and whether the last one goes on in the next.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    /// The documents.
    pub documents: Documents<'a>,
    /// Whether the last one goes on in a later block.
    pub unfinished: bool,
}

/// What a thread counts with.
#[derive(Debug, Default)]
pub struct Counter {
    /// How often each id occurs.
    pub frequencies: Frequencies,
    words: Words,
}

/// Sums over documents or parts of them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sums {
    /// Words, and those of them that several tokens have a part of.
    pub words: u64,
    /// See `words`.
    pub split_words: u64,
    /// Bytes of the text that unknown tokens stand for.
    pub unknown_bytes: u64,
    /// Documents that were decoded again on the way.
    pub checked: u64,
    /// Those of them that did not come back.
    pub failed: u64,
    /// Documents with tokens, and the sum of their bytes per token.
    pub with_tokens: u64,
    /// See `with_tokens`.
    pub sum_of_ratios: f64,
}

impl Sums {
    fn add(&mut self, other: &Self) {
        self.words += other.words;
        self.split_words += other.split_words;
        self.unknown_bytes += other.unknown_bytes;
        self.checked += other.checked;
        self.failed += other.failed;
        self.with_tokens += other.with_tokens;
        self.sum_of_ratios += other.sum_of_ratios;
    }
}

/// What was found in a document, or in a part of one.
#[derive(Clone, Copy, Debug)]
pub struct DocumentCounts {
    stretch: Stretch,
    bytes: u64,
    tokens: u64,
    unknown_bytes: u64,
    /// Whether its tokens decode to it; None if that was not seen.
    comes_back: Option<bool>,
    continued: bool,
    unfinished: bool,
}

/// A document that goes on.
#[derive(Clone, Copy, Debug, Default)]
struct Open {
    /// The word at its end, if it ends in one: how many tokens have a part of it.
    word: Option<u8>,
    bytes: u64,
    tokens: u64,
    comes_back: Option<bool>,
}

/// The tally of one tokenizer on one input.
#[derive(Debug)]
pub struct Tally {
    tables: Arc<Tables>,
    frequencies: Frequencies,
    sums: Sums,
    open: Open,
    /// Tokens of documents that ended since somebody asked.
    ended: Vec<u64>,
}

impl Tally {
    /// Starts empty.
    #[must_use]
    pub fn new(tables: Arc<Tables>) -> Self {
        Self {
            frequencies: Frequencies::new(tables.len()),
            tables,
            sums: Sums::default(),
            open: Open::default(),
            ended: Vec::new(),
        }
    }

    /// What is known of the ids.
    #[must_use]
    pub fn tables(&self) -> &Arc<Tables> {
        &self.tables
    }

    /// How often each id occurred.
    #[must_use]
    pub fn frequencies(&self) -> &Frequencies {
        &self.frequencies
    }

    /// The sums over all documents that ended.
    #[must_use]
    pub fn sums(&self) -> &Sums {
        &self.sums
    }

    /// Gives the numbers of tokens of the documents that ended since this was asked last.
    pub fn take_ended(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.ended)
    }

    /// How many tokens there are of a kind.
    #[must_use]
    pub fn tokens_of(&self, kind: Kind) -> u64 {
        let found = self.frequencies.iter();
        found
            .filter(|&(id, _)| self.tables.kind(id) == kind)
            .map(|(_, count)| count)
            .sum()
    }

    /// Adds what another has counted of whole documents.
    pub fn merge(&mut self, other: &Self) {
        self.frequencies.merge(&other.frequencies);
        self.sums.add(&other.sums);
    }

    /// Counts a block that is encoded already, by tokens that are plain bytes, or by spans in its text.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) for ends that contradict the text or the tokens.
    pub fn add(&mut self, block: Block<'_>, tokens: Tokens<'_>, ends: &[u64]) -> Result<()> {
        let Block {
            documents,
            unfinished,
        } = block;
        documents.check()?;
        ensure!(
            ends.len() == documents.ends.len()
                && ends.is_sorted()
                && ends.last().copied().unwrap_or(0) == tokens.len() as u64,
            "the tokens do not end where their documents do"
        );
        let mut counter = self.counter();
        let (mut start, mut from) = (0, 0);
        let last = ends.len().saturating_sub(1);
        for (number, (&end, &to)) in documents.ends.iter().zip(ends).enumerate() {
            let (end, to) = (end as usize, to as usize);
            let part = count(
                &self.tables,
                &mut counter,
                documents.text,
                start..end,
                tokens.slice(from..to),
                (
                    documents.continued && number == 0,
                    unfinished && number == last,
                ),
            );
            self.take_part(&part);
            (start, from) = (end, to);
        }
        self.take_counter(&mut counter);
        Ok(())
    }

    /// What a thread counts with.
    #[must_use]
    pub fn counter(&self) -> Counter {
        Counter {
            frequencies: Frequencies::new(self.tables.len()),
            words: Words::default(),
        }
    }

    /// Adds what a thread counted.
    pub fn take_counter(&mut self, counter: &mut Counter) {
        self.frequencies.take(&mut counter.frequencies);
    }

    /// Adds the next part, in the order of the text.
    pub fn take_part(&mut self, part: &DocumentCounts) {
        if !part.continued {
            self.open = Open::default();
        }
        let Stretch {
            words,
            split,
            head,
            tail,
            whole,
            empty,
        } = part.stretch;
        let mut more = Sums {
            words,
            split_words: split,
            unknown_bytes: part.unknown_bytes,
            ..Sums::default()
        };
        let open = &mut self.open;
        if let Some(touched) = head {
            open.word = Some(open.word.unwrap_or(0).saturating_add(touched));
        }
        let mut end_word = |word: &mut Option<u8>| {
            if let Some(touched) = word.take() {
                more.words += 1;
                more.split_words += u64::from(touched > 1);
            }
        };
        if !empty && !whole {
            end_word(&mut open.word);
            open.word = tail;
        }
        open.bytes += part.bytes;
        open.tokens += part.tokens;
        open.comes_back = match (part.continued, open.comes_back, part.comes_back) {
            (true, Some(before), Some(now)) => Some(before && now),
            (true, ..) => None,
            (false, _, now) => now,
        };
        if !part.unfinished {
            end_word(&mut open.word);
            more.checked += u64::from(open.comes_back.is_some());
            more.failed += u64::from(open.comes_back == Some(false));
            if open.tokens > 0 {
                more.with_tokens += 1;
                more.sum_of_ratios += open.bytes as f64 / open.tokens as f64;
            }
            self.ended.push(open.tokens);
        }
        self.sums.add(&more);
    }
}

/// The tokens of some documents.
#[derive(Clone, Copy, Debug)]
pub enum Tokens<'a> {
    /// Tokens whose bytes, one after the other, are the text. With `true` a space was put before documents
    /// that begin with none: it stands for nothing in them, and is there when they are decoded.
    Plain(&'a [u32], bool),
    /// Tokens with what they stand for.
    Spans(&'a [Span]),
}

impl Tokens<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Plain(ids, _) => ids.len(),
            Self::Spans(spans) => spans.len(),
        }
    }

    fn slice(&self, range: std::ops::Range<usize>) -> Self {
        match *self {
            Self::Plain(ids, spaced) => Self::Plain(&ids[range], spaced),
            Self::Spans(spans) => Self::Spans(&spans[range]),
        }
    }
}

/// Counts the tokens of a part of a document: its range in the text, and whether the document began
/// before and goes on after it.
pub fn count(
    tables: &Tables,
    counter: &mut Counter,
    text: &[u8],
    range: std::ops::Range<usize>,
    tokens: Tokens<'_>,
    (continued, unfinished): (bool, bool),
) -> DocumentCounts {
    let base = range.start;
    let Counter { frequencies, words } = counter;
    words.reset(&text[range.clone()]);
    let mut unknown_bytes = 0;
    let has_unknown = tables.has_unknown();
    let comes_back = match tokens {
        Tokens::Plain(ids, spaced) => {
            let mut at = base;
            let mut same = true;
            let mut ids = ids.iter();
            if spaced
                && !continued
                && text[range.clone()]
                    .first()
                    .is_some_and(|&byte| byte != b' ')
                && let Some(&id) = ids.next()
            {
                same = false;
                frequencies.add(id);
                words.begin(0);
                at += tables.bytes(id).len().saturating_sub(1);
            }
            for &id in ids {
                let (length, stands) = tables.stands_at(id, text, at);
                same &= stands;
                frequencies.add(id);
                words.begin(at - base);
                if has_unknown && tables.kind(id) == Kind::Unknown {
                    unknown_bytes += length as u64;
                }
                at += length;
            }
            words.tile();
            Some(same && at == range.end)
        }
        Tokens::Spans(spans) => {
            // Several tokens may stand for the same bytes, which are counted once.
            let mut covered = 0;
            for &Span { id, start, end } in spans {
                frequencies.add(id);
                let start = start.clamp(base as u64, range.end as u64);
                let end = end.clamp(start, range.end as u64);
                words.touch(start as usize - base, end as usize - base);
                if tables.kind(id) == Kind::Unknown {
                    unknown_bytes += end.saturating_sub(start.max(covered));
                    covered = covered.max(end);
                }
            }
            None
        }
    };
    DocumentCounts {
        stretch: words.finish(continued, unfinished),
        bytes: range.len() as u64,
        tokens: tokens.len() as u64,
        unknown_bytes,
        comes_back,
        continued,
        unfinished,
    }
}

mod saved;
#[cfg(test)]
mod tests;
