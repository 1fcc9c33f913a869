//! Tokens and merges as files have them, as text: read into tables in one pass.
//!
//! A document of many megabytes is nearly all tokens and merges. Here they are cut out of it, so
//! that what is left is small, and anything can read it; or they are taken as they stand in a file of GGUF. What is unusual in any way is refused with
//! None: a slow reader, which this one is held to, says what is wrong, or finds that nothing is.

pub use alphabet::byte_of;
use alphabet::{BEYOND, lay_bytes};
pub use counted::Counted;
use reading::{Listed, MergeTexts, Pairs};

use crate::tables::NONE;
use crate::threads::both;

/// A document of fewer bytes is read by one thread.
const LONG: usize = 1 << 20;
/// How many threads read a long one.
const THREADS: usize = 2;

/// Tokens with their ids, and merges of two of them.
pub struct Written {
    listed: Listed,
    pairs: Pairs,
}

/// Tables made of what was written.
#[derive(Debug, PartialEq, Eq)]
pub struct Tables {
    /// The tokens' bytes, one after the other.
    pub blob: Vec<u8>,
    /// Where each ends, by id; an id without a token is an empty range.
    pub ends: Vec<u32>,
    /// Left id, right id and product of each merge.
    pub triples: Vec<[u32; 3]>,
}

impl Written {
    /// Cuts tokens and merges out of a document, `{OUTER: {TOKENS: {text: id}, MERGES: [...]}}` with
    /// anything else in it; merges are `"a b"` or `["a", "b"]`, and stand behind the tokens.
    ///
    /// Gives them, and the document with null in their places, which nobody has checked. A document
    /// that is not so, or not JSON in what is cut out of it, gives None; so do tokens that are the
    /// same or have the same id, and merges of what is not a token.
    #[must_use]
    pub fn cut(
        document: &[u8],
        outer: &[u8],
        tokens: &[u8],
        merges: &[u8],
    ) -> Option<(Self, Vec<u8>)> {
        let threads = if document.len() < LONG { 1 } else { THREADS };
        let parts = cutting::cut(document, [outer, tokens, merges], threads)?;
        let listed = parts.listed;
        let pairs = Pairs::find(&parts.merges, &listed, threads)?;
        Some((Self { listed, pairs }, parts.rest))
    }

    /// Takes tokens and merges. The ids of the tokens count up from 0, and a merge is written as `a b`. An empty text is
    /// not a token, and neither is the text of an id in `absent`.
    ///
    /// Gives None if tokens are the same or not UTF-8, a merge is not two tokens and one space between, or there are other
    /// bytes behind the texts.
    #[must_use]
    pub fn listed(tokens: Counted<'_>, merges: Counted<'_>, absent: &[u32]) -> Option<Self> {
        let bytes = merges.bytes();
        let threads = if bytes.len() < LONG { 1 } else { THREADS };
        if !tokens.rest().is_empty() || !merges.rest().is_empty() {
            return None;
        }
        let read_listed = || Listed::of(tokens, absent);
        let (listed, merges) = both(threads, read_listed, || MergeTexts::of(merges, bytes));
        let listed = listed?;
        let pairs = Pairs::find(&merges?, &listed, threads)?;
        Some(Self { listed, pairs })
    }

    /// Gives the id of a text.
    #[must_use]
    pub fn id_of(&self, text: &[u8]) -> Option<u32> {
        self.listed.id_of(text)
    }

    /// Gives the text of an id.
    #[must_use]
    pub fn text_of(&self, id: u32) -> Option<&str> {
        self.listed.text_of(id)
    }

    /// Makes tables of them.
    ///
    /// * `prefix`: what the right part of a merge loses in the product.
    /// * `left_out`: ids of tokens that are left out, unless a merge makes or uses them.
    /// * `visible`: whether a character stands for a byte, see [`byte_of`]; a token of one such
    ///   character is never left out.
    ///
    /// None if a product is not a token, a merge stands twice, or a character stands for no byte.
    #[must_use]
    pub fn tables(&self, prefix: &[u8], left_out: &[u32], visible: bool) -> Option<Tables> {
        let triples = self.triples(prefix)?;
        let texts = self.listed.texts();
        let mut taken = vec![true; texts.len()];
        let mut hidden = false;
        for &id in left_out {
            let Some(text) = self.text_of(id) else {
                continue;
            };
            let mut characters = text.chars();
            let is_byte =
                characters.next().and_then(byte_of).is_some() && characters.next().is_none();
            taken[id as usize] = visible && is_byte;
            hidden = true;
        }
        if hidden {
            for &id in triples.as_flattened() {
                taken[id as usize] = true;
            }
        }
        let mut blob = vec![0; texts.blob().len() + BEYOND];
        let mut ends = Vec::with_capacity(texts.len());
        let (mut size, mut end, mut start) = (0, 0, 0);
        for (&next, taken) in texts.ends().iter().zip(taken) {
            let text = std::mem::replace(&mut start, next as usize)..next as usize;
            if taken && !text.is_empty() {
                let room = &mut blob[end..];
                end += if visible {
                    lay_bytes(room, texts.blob(), text)?
                } else {
                    room[..text.len()].copy_from_slice(&texts.blob()[text.clone()]);
                    text.len()
                };
                size = ends.len() + 1;
            }
            ends.push(end as u32);
        }
        blob.truncate(end);
        ends.truncate(size);
        Some(Tables {
            blob,
            ends,
            triples,
        })
    }

    fn triples(&self, prefix: &[u8]) -> Option<Vec<[u32; 3]>> {
        let mut triples = Vec::with_capacity(self.pairs.parts.len());
        let texts = self.listed.texts();
        // The last merge that makes a token, and the one before that makes the same.
        let mut last = vec![NONE; texts.len()];
        let mut before = Vec::with_capacity(self.pairs.parts.len());
        let mut both = Vec::new();
        for (number, (&parts, &joined)) in
            (0..).zip(self.pairs.parts.iter().zip(&self.pairs.joined))
        {
            let [left, right] = parts;
            let mut product = joined;
            if !prefix.is_empty()
                && let Some(second) = texts.get(right).strip_prefix(prefix)
            {
                both.clear();
                both.extend_from_slice(texts.get(left));
                both.extend_from_slice(second);
                product = self.id_of(&both)?;
            }
            if product == NONE {
                return None;
            }
            let same = std::mem::replace(&mut last[product as usize], number);
            before.push(same);
            let mut same = same;
            while same != NONE {
                if self.pairs.parts[same as usize] == parts {
                    return None;
                }
                same = before[same as usize];
            }
            triples.push([left, right, product]);
        }
        Some(triples)
    }
}

mod alphabet;
mod counted;
mod cutting;
mod reading;
#[cfg(test)]
mod tests;
