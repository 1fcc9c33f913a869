//! Writing a text anew, from left to right, up to a limit.

use std::ops::Range;

use super::Origin;
use crate::memory::asking::room_for;

/// Why a text could not be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// It would be longer than it may be.
    Grown,
    /// There is no memory for it.
    Memory,
}

/// Writes the new form of a text.
#[derive(Debug)]
pub struct Rewriter<'a> {
    pub(super) source: &'a [u8],
    pub(super) old: Option<&'a [Origin]>,
    pub(super) bytes: Vec<u8>,
    pub(super) origins: Vec<Origin>,
    pub(super) limit: usize,
    pub(super) trouble: Option<Trouble>,
}

impl Rewriter<'_> {
    /// Makes room for more bytes; says whether there is any.
    #[inline]
    pub(super) fn reserve(&mut self, more: usize) -> bool {
        if self.bytes.len() + more > self.limit {
            self.trouble = Some(Trouble::Grown);
        } else if !room_for(&mut self.bytes, more)
            || self.old.is_some() && !room_for(&mut self.origins, more)
        {
            self.trouble = Some(Trouble::Memory);
        }
        self.trouble.is_none()
    }

    /// Where the next byte will stand in the new text.
    #[must_use]
    pub fn position(&self) -> usize {
        self.bytes.len()
    }

    /// What has been written so far.
    #[must_use]
    pub fn written(&self) -> &[u8] {
        &self.bytes
    }

    /// Keeps a range of the present text as it is.
    pub fn keep(&mut self, range: Range<usize>) {
        if !self.reserve(range.len()) {
            return;
        }
        self.bytes.extend_from_slice(&self.source[range.clone()]);
        if let Some(old) = self.old {
            self.origins.extend_from_slice(&old[range]);
        }
    }

    /// Puts bytes in the place of a range of the present text; each stands for all of the range.
    pub fn replace(&mut self, range: Range<usize>, with: &[u8]) {
        if !self.reserve(with.len()) {
            return;
        }
        self.bytes.extend_from_slice(with);
        if let Some(old) = self.old {
            let origin = if range.is_empty() {
                let at = old
                    .get(range.start)
                    .map_or_else(|| old.last().map_or(0, |last| last.end), |next| next.start);
                Origin { start: at, end: at }
            } else {
                old[range]
                    .iter()
                    .copied()
                    .reduce(Origin::join)
                    .unwrap_or_default()
            };
            self.origins.extend(std::iter::repeat_n(origin, with.len()));
        }
    }

    /// Puts bytes in that stand for a given part of the original.
    pub fn insert(&mut self, with: &[u8], origin: Origin) {
        if !self.reserve(with.len()) {
            return;
        }
        self.bytes.extend_from_slice(with);
        if self.old.is_some() {
            self.origins.extend(std::iter::repeat_n(origin, with.len()));
        }
    }

    /// The origin of a byte of the present text; nothing in particular if origins are not kept.
    #[must_use]
    pub fn origin_at(&self, at: usize) -> Origin {
        self.old.map_or_else(Origin::default, |old| old[at])
    }
}
