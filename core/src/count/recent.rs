//! Counting the pieces of a text: what was met lately is found in a small table, the rest in the large one.
//!
//! A few thousand pieces are most of any text. A slot has one of up to 15 bytes whole, its place among the
//! counts, and how often it was met since it got the slot; that is added to its count when another piece
//! takes the slot, and at the end: so it is not the cache of pieces, which forgets what it evicts, and its hash is that of
//! all counts, which the large table needs at once. A piece that is not there is looked for among all, and those are asked
//! for a batch ahead.

use super::{Counts, totals_with};
use crate::error::Result;
use crate::memory::key;

/// Slots of 32 bytes: half a megabyte, so that they stay near the processor.
const SLOTS: usize = 1 << 14;
/// How many pieces ahead of the one that is looked for its likely entry is asked for.
const AHEAD: usize = 6;

#[derive(Clone, Copy, Default)]
struct Slot {
    /// The piece; 0 for none.
    key: u128,
    place: u32,
    /// Occurrences that its count does not have yet.
    pending: u32,
}

/// A piece that is looked for among all.
#[derive(Clone, Copy)]
struct Missed {
    /// 0: it is too long for a slot.
    key: u128,
    hash: u64,
    start: usize,
    end: usize,
}

/// Counts pieces; [`RecentCounts::finish`] completes the counts.
pub struct RecentCounts {
    counts: Counts,
    slots: Box<[Slot]>,
    missed: Vec<Missed>,
    pieces: u64,
    bytes: u64,
}

impl RecentCounts {
    /// Goes on from counts.
    pub fn new(counts: Counts) -> Self {
        Self {
            counts,
            slots: vec![Slot::default(); SLOTS].into_boxed_slice(),
            missed: Vec::new(),
            pieces: 0,
            bytes: 0,
        }
    }

    /// Number of different pieces so far.
    pub fn unique(&self) -> usize {
        self.counts.unique()
    }

    /// Counts pieces that follow each other in a text, given where the first begins and each ends.
    ///
    /// # Errors
    /// As [`Counts::add`].
    #[inline]
    pub fn add(&mut self, text: &[u8], start: usize, ends: &[usize]) -> Result<()> {
        self.missed.clear();
        let mut from = start;
        for &end in ends {
            let (key, hash) = if let Some(key) = key::pack(text, from, end) {
                let hash = self.counts.hash_short(key);
                let slot = &mut self.slots[home(hash)];
                if slot.key == key && slot.pending < u32::MAX {
                    slot.pending += 1;
                    from = end;
                    continue;
                }
                (key, hash)
            } else {
                (0, self.counts.hash(&text[from..end]))
            };
            self.counts.places.prefetch(hash);
            self.missed.push(Missed {
                key,
                hash,
                start: from,
                end,
            });
            from = end;
        }
        self.pieces += ends.len() as u64;
        self.bytes += (from - start) as u64;
        self.look_up(text)
    }

    /// Counts the pieces that have no slot, and gives them one.
    fn look_up(&mut self, text: &[u8]) -> Result<()> {
        let missed = std::mem::take(&mut self.missed);
        for (number, piece) in missed.iter().enumerate() {
            if let Some(coming) = missed.get(number + AHEAD) {
                self.counts.prefetch(coming.hash);
            }
            let content = &text[piece.start..piece.end];
            let place = self.counts.place_of(content, piece.hash)?;
            if piece.key == 0 {
                self.counts.entries[place as usize].count += 1;
                continue;
            }
            let slot = &mut self.slots[home(piece.hash)];
            let old = std::mem::replace(
                slot,
                Slot {
                    key: piece.key,
                    place,
                    pending: 1,
                },
            );
            self.counts.settle(old);
        }
        self.missed = missed;
        Ok(())
    }

    /// Gives the complete counts; what was counted before an error counts too.
    pub fn finish(mut self) -> (Counts, Result<()>) {
        for slot in self.slots {
            self.counts.settle(slot);
        }
        let totals = (self.counts.total, self.counts.total_bytes);
        match totals_with(totals, self.pieces, self.bytes) {
            Ok(totals) => {
                (self.counts.total, self.counts.total_bytes) = totals;
                (self.counts, Ok(()))
            }
            Err(error) => (self.counts, Err(error)),
        }
    }
}

#[inline]
fn home(hash: u64) -> usize {
    // The large table goes by the top bits.
    hash as usize % SLOTS
}

impl Counts {
    fn settle(&mut self, slot: Slot) {
        if slot.key != 0 {
            self.entries[slot.place as usize].count += u64::from(slot.pending);
        }
    }
}
