//! What the documents of a block become, and what one task gives of it.

use std::mem::MaybeUninit;

use crate::error::Result;
use crate::memory::asking;
use crate::memory::huge_pages::{LARGE_PAGE, Paging};
use crate::memory::kept;
use crate::memory::slots::{MAX_IDS, Value};
use crate::models::found;
use crate::threads::going_on;

/// Ids of a block's documents.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Encoded {
    /// The ids, one document after the other.
    pub ids: Vec<u32>,
    /// Where each document's ids end.
    pub ends: Vec<u64>,
}

/// More ids than are added to those of a long text: what stands before it, say.
const ADDED: usize = 64;

impl From<Part> for Encoded {
    fn from(part: Part) -> Self {
        Self {
            ids: part.ids,
            ends: part.ends,
        }
    }
}

impl Encoded {
    /// How many ids each document has.
    #[must_use]
    pub fn counts(mut self) -> Vec<u64> {
        let mut last = 0;
        for end in &mut self.ends {
            *end -= std::mem::replace(&mut last, *end);
        }
        self.ends
    }
}

/// The room for the ids of so many bytes of text.
///
/// A long text gets an id for each byte: room that nobody uses costs nothing there, and large pages can't be moved when
/// ids need more room than they have.
pub(crate) fn room_for(bytes: usize) -> usize {
    if bytes < LARGE_PAGE {
        bytes / 3
    } else {
        bytes + ADDED
    }
}

/// More ids than are held while they are only counted.
const MANY: usize = 1 << 12;

/// What one task gave: ids (or only their number), and how many there were at each document's end.
#[derive(Debug, Default)]
pub struct Part {
    /// Ids, as far as they are kept.
    pub ids: Vec<u32>,
    /// Up to where there are pages for them, and how more come.
    ready: usize,
    paging: Paging,
    counted: u64,
    /// How many ids there were at the end of each document.
    pub ends: Vec<u64>,
    /// Whether ids are given up, now and then, and only their number is kept.
    pub only_counts: bool,
}

/// Where the ids of a part of a text begin.
#[derive(Clone, Copy, Debug)]
pub struct Begin {
    /// How many there were.
    pub ids: usize,
    counted: u64,
}

impl Part {
    /// Nothing yet, and no memory.
    pub const fn new() -> Self {
        Self {
            ids: Vec::new(),
            ready: 0,
            paging: Paging::new(),
            counted: 0,
            ends: Vec::new(),
            only_counts: false,
        }
    }

    /// Nothing yet, for ids that are only counted.
    #[must_use]
    pub fn counting() -> Self {
        Self {
            only_counts: true,
            ..Self::default()
        }
    }

    /// Nothing yet, with room for the ids of so many bytes of text.
    #[must_use]
    pub fn with_room_for(bytes: usize) -> Self {
        let room = room_for(bytes);
        let (ids, ready) = kept::take(room);
        let mut part = Self {
            ids,
            ready,
            ..Self::default()
        };
        // If there is no such room, it may be found bit by bit.
        let _ = asking::room_for(&mut part.ids, room);
        part
    }

    /// Begins again with nothing, in the same memory.
    pub fn clear(&mut self) {
        self.ids.clear();
        self.ends.clear();
        self.counted = 0;
    }

    /// Makes sure that there is room for so many more ids.
    ///
    /// # Errors
    /// [`crate::error::Error::Memory`] when there is no memory for it.
    #[inline]
    pub fn reserve(&mut self, more: usize) -> Result<()> {
        going_on::check()?;
        if self.ready < self.ids.len() + more {
            return self.prepare(more);
        }
        Ok(())
    }

    #[cold]
    fn prepare(&mut self, more: usize) -> Result<()> {
        found::reserve(&mut self.ids, more)?;
        let room = self.ids.spare_capacity_mut();
        let prepared = self.paging.prepare(room, more);
        self.ready = self.ids.len() + prepared;
        Ok(())
    }

    /// How many ids there were.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counted + self.ids.len() as u64
    }

    /// Where the next ids begin.
    #[must_use]
    pub fn begin(&self) -> Begin {
        Begin {
            ids: self.ids.len(),
            counted: self.counted,
        }
    }

    /// The ids since then; None if some were only counted.
    #[must_use]
    pub fn since(&self, begin: Begin) -> Option<&[u32]> {
        (self.counted == begin.counted).then(|| &self.ids[begin.ids..])
    }

    /// Adds ids that are only counted.
    #[inline]
    pub fn add(&mut self, ids: u64) {
        self.counted += ids;
    }

    /// Appends the ids of slots, up to one that has none or to the end of the room; returns how many slots. Of each,
    /// [`MAX_IDS`] are written, however many there are.
    #[inline]
    pub fn extend_by_slots(&mut self, slots: impl Iterator<Item = (Value, usize)>) -> usize {
        let room = self.ids.spare_capacity_mut();
        let (mut found, mut written) = (0, 0);
        for (value, count) in slots {
            let Some(room) = room[written..].first_chunk_mut() else {
                break;
            };
            *room = value.ids().map(MaybeUninit::new);
            written += count.min(MAX_IDS);
            found += 1;
        }
        let length = self.ids.len() + written;
        assert!(length <= self.ids.capacity());
        // SAFETY: there is such room, and the loop has written all of it: of each slot `MAX_IDS` ids where those of
        // the one before it ended, of which no more than that are counted.
        unsafe { self.ids.set_len(length) };
        found
    }

    /// Adds the ids of slots without holding them; returns how many slots.
    #[inline]
    pub fn count_slots(&mut self, slots: impl Iterator<Item = (Value, usize)>) -> usize {
        let (found, ids) = slots.fold((0, 0), |(found, ids), (_, count)| (found + 1, ids + count));
        self.add(ids as u64);
        found
    }

    /// Gives up the ids, if only their number is asked and they have become many.
    #[inline]
    pub fn forget_some(&mut self) {
        if self.only_counts && self.ids.len() > MANY {
            self.counted += self.ids.len() as u64;
            self.ids.clear();
        }
    }
}
