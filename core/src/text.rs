//! Text on its way through the stages, which remembers where each of its bytes came from.
//!
//! A normalizer reads the text from left to right and says for each stretch whether it keeps it,
//! puts something else in its place, or leaves it out ([`Text::rewrite`]). Origins are byte ranges in
//! the text as it was given, and are only kept when somebody will ask for them: on the way of bulk
//! encoding, nobody does.

pub(crate) mod byte_pairs;
#[cfg(any(feature = "python", test))]
pub(crate) mod characters;
pub mod finder;
pub(crate) mod json;
pub mod json_lines;
pub mod lines;
pub mod pattern;
pub(crate) mod prefixes;
mod rewrite;
pub mod subject;
mod utf8;
pub mod visible;

use std::ops::Range;

use crate::error::{Error, Result, invalid};
pub use rewrite::Rewriter;
pub(crate) use rewrite::Trouble;
pub(crate) use utf8::{begin_of_last, continues, length_from};
pub use utf8::{character_len, characters, read_char};

/// The first of the letters that stand for stray bytes: U+14400 and the byte make a letter without
/// case, of a script (Anatolian hieroglyphs) that no pattern singles out.
pub(crate) const STRAY: u32 = 0x1_4400;

/// A byte range in the original text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// Where it begins.
    pub start: u32,
    /// Where it ends (exclusive). Equal to `start` for what was put in without a model.
    pub end: u32,
}

impl Origin {
    /// The smallest range that holds both.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        Self {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }
}

/// A text and, for each of its bytes, what part of the original it stands for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    bytes: Vec<u8>,
    /// One for each byte, or None when they are not kept.
    origins: Option<Vec<Origin>>,
    /// How long the original is.
    original: u32,
    /// Why the text was not written to its end, if it was not.
    trouble: Option<Trouble>,
}

/// How many times longer than its original a text may become by normalizing it, or than its tokens by decoding them, and
/// how long in any case. What both are for makes text some 18 times longer at worst (NFKD of U+FDFA); a rule that puts a
/// thousand letters in the place of one would take all memory.
const MOST_GROWTH: usize = 64;
const LONG_IN_ANY_CASE: usize = 1 << 24;

impl Text {
    /// Begins with an original text. With `origins`, each character stands for itself: every byte of
    /// it has the whole character's range.
    ///
    /// # Panics
    /// When the text is 4 GiB or longer; callers check it.
    #[must_use]
    pub fn new(original: &[u8], origins: bool) -> Self {
        let mut text = Self::default();
        text.reset(original, origins);
        text
    }

    /// Begins anew, with the memory that there is.
    ///
    /// # Panics
    /// As [`Text::new`].
    pub fn reset(&mut self, original: &[u8], origins: bool) {
        self.clear(original);
        self.bytes.extend_from_slice(original);
        if !origins {
            self.origins = None;
            return;
        }
        let list = self.origins.get_or_insert_default();
        list.clear();
        list.reserve(original.len());
        for (start, character) in characters(original) {
            let origin = Origin {
                start: start as u32,
                end: (start + character.len()) as u32,
            };
            list.extend(std::iter::repeat_n(origin, character.len()));
        }
    }

    /// Begins, without origins, with what `write` makes of an original; see [`Text::rewrite`].
    ///
    /// # Panics
    /// As [`Text::new`].
    pub fn begin(&mut self, original: &[u8], write: impl FnOnce(&[u8], &mut Rewriter<'_>)) {
        self.clear(original);
        let mut rewriter = Rewriter {
            old: None,
            bytes: std::mem::take(&mut self.bytes),
            origins: Vec::new(),
            source: original,
            limit: self.limit(),
            trouble: None,
        };
        rewriter.reserve(original.len());
        write(original, &mut rewriter);
        self.bytes = rewriter.bytes;
        self.trouble = rewriter.trouble;
        self.origins = None;
    }

    /// Forgets what there is, for an original.
    fn clear(&mut self, original: &[u8]) {
        self.original = u32::try_from(original.len()).expect("callers pass less than 4 GiB");
        self.trouble = None;
        self.bytes.clear();
    }

    /// The text as it is now.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// How many bytes the original has.
    #[must_use]
    pub fn original_len(&self) -> usize {
        self.original as usize
    }

    /// Whether origins are kept.
    #[must_use]
    pub fn keeps_origins(&self) -> bool {
        self.origins.is_some()
    }

    /// What a range of the text stands for: from the first byte's beginning to the last byte's end. An
    /// empty range stands for the empty place before its first byte. None if origins are not kept.
    #[must_use]
    pub fn origin(&self, range: Range<usize>) -> Option<Origin> {
        let list = self.origins.as_ref()?;
        if range.is_empty() {
            let at = list
                .get(range.start)
                .map_or_else(|| list.last().map_or(0, |last| last.end), |next| next.start);
            return Some(Origin { start: at, end: at });
        }
        Some(
            list[range]
                .iter()
                .copied()
                .reduce(Origin::join)
                .unwrap_or_default(),
        )
    }

    /// A range of the text as a text of its own, with the same original.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Self {
        Self {
            bytes: self.bytes[range.clone()].to_vec(),
            origins: self.origins.as_ref().map(|list| list[range].to_vec()),
            original: self.original,
            trouble: self.trouble,
        }
    }

    /// How long the text may become.
    fn limit(&self) -> usize {
        limit(self.original_len())
    }

    /// Makes sure that the text was always written to its end.
    ///
    /// # Errors
    /// [`Error::Invalid`] when it grew beyond its limit, [`Error::Memory`] when there was no memory for it.
    pub fn check(&self) -> Result<()> {
        match self.trouble {
            None => Ok(()),
            Some(Trouble::Grown) => Err(invalid!(
                "a text of {} bytes becomes longer than {} bytes by its normalization, which is the limit",
                self.original,
                self.limit()
            )),
            Some(Trouble::Memory) => Err(Error::Memory(format!(
                "there is no memory for what normalization makes of a text of {} bytes",
                self.original
            ))),
        }
    }

    /// Becomes other bytes that stand for a range of another text, character by byte: byte `i` has the
    /// origin of the range's character `i`.
    pub fn adopt(&mut self, bytes: &[u8], from: &Self, range: Range<usize>) {
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        self.original = from.original;
        self.origins = from.origins.as_ref().map(|list| {
            characters(&from.bytes[range.clone()])
                .map(|(offset, _)| list[range.start + offset])
                .collect()
        });
    }

    /// Writes the text anew: `write` goes through the present bytes and says, from left to right, what
    /// becomes of them. What it does not mention is left out. What would be too long is not written: see
    /// [`Text::check`].
    pub fn rewrite(&mut self, write: impl FnOnce(&[u8], &mut Rewriter<'_>)) {
        let mut rewriter = Rewriter {
            old: self.origins.as_deref(),
            bytes: Vec::new(),
            origins: Vec::new(),
            source: &self.bytes,
            limit: self.limit(),
            trouble: self.trouble,
        };
        rewriter.reserve(self.bytes.len());
        write(&self.bytes, &mut rewriter);
        let Rewriter {
            bytes,
            origins,
            trouble,
            ..
        } = rewriter;
        self.trouble = trouble;
        debug_assert!(self.origins.is_none() || origins.len() == bytes.len());
        self.bytes = bytes;
        if let Some(list) = &mut self.origins {
            *list = origins;
        }
    }
}

/// How long a text may become that was so long: so long that offsets in it fit into u32.
fn limit(original: usize) -> usize {
    growth_limit(original).min(u32::MAX as usize)
}

/// The same without what offsets ask for.
pub(crate) fn growth_limit(original: usize) -> usize {
    (original.saturating_mul(MOST_GROWTH)).max(LONG_IN_ANY_CASE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_grows_without_end_is_stopped() {
        let mut text = Text::new(&vec![b'a'; 1 << 20], false);
        for _ in 0..3 {
            text.rewrite(|old, new| {
                for at in 0..old.len() {
                    new.replace(at..at + 1, b"0123456789");
                }
            });
        }
        assert!(text.bytes().len() <= 64 << 20);
        assert_eq!(
            text.check().unwrap_err().to_string(),
            "a text of 1048576 bytes becomes longer than 67108864 bytes by its normalization, which is the limit"
        );
        text.reset(b"a", false);
        assert_eq!(text.check(), Ok(()));
    }

    #[test]
    fn offsets_in_a_text_that_grew_fit_into_32_bits() {
        assert_eq!(limit(1), LONG_IN_ANY_CASE);
        assert_eq!(limit(1 << 20), 64 << 20);
        for long in [1 << 26, 1 << 28, u32::MAX as usize] {
            assert_eq!(limit(long), u32::MAX as usize);
        }
    }

    #[test]
    fn remembers_where_bytes_came_from() {
        let mut text = Text::new("aéb c".as_bytes(), true);
        text.rewrite(|old, new| {
            assert_eq!(old, "aéb c".as_bytes());
            new.keep(0..1);
            new.replace(1..3, b"e");
            new.keep(3..4);
            new.insert("▁".as_bytes(), new.origin_at(4));
            new.keep(5..6);
        });
        assert_eq!(text.bytes(), "aeb▁c".as_bytes());
        assert_eq!(text.origin(1..2), Some(Origin { start: 1, end: 3 }));
        assert_eq!(text.origin(3..6), Some(Origin { start: 4, end: 5 }));
        assert_eq!(text.origin(0..7), Some(Origin { start: 0, end: 6 }));
        assert_eq!(text.origin(7..7), Some(Origin { start: 6, end: 6 }));
        assert_eq!(Text::new(b"x", false).origin(0..1), None);
    }
}
