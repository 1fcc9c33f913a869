//! How often each piece occurs: exact, in u64, in order of first occurrence.
//!
//! Invariant: the order and the counts depend on the documents alone, not on threads or blocks. So
//! counting on many machines and merging in order gives what one machine gives.

mod by_stretch;
mod cutters;
mod packed;
mod places;
mod recent;
mod saved;
mod spilled;
mod table;
mod together;

use std::hash::BuildHasher as _;

use foldhash::fast::RandomState;

use crate::count::by_stretch::Chunks;
use crate::count::cutters::{ByScanner, ByStages, Cutter};
use crate::documents::{self, Documents, Task};
use crate::error::{Error, Result, invalid};
use crate::memory::key;
use crate::memory::prefetch::prefetch;
use crate::memory::reserve;
use crate::special::SpecialMatcher;
use crate::split::Scanner;
use crate::stages::Stages;
use crate::threads;
pub use packed::Packed;
use places::Places;
use recent::RecentCounts;
pub use spilled::{Merged, Numbered, PARTITIONS, WritePart, merge};
use together::Run;

/// Counts of pieces.
#[derive(Debug)]
pub struct Counts {
    arena: Vec<u8>,
    entries: Vec<Entry>,
    places: Places,
    /// Random for each process: text cannot be written to collide. No result depends on it.
    hasher: RandomState,
    max_bytes: usize,
    total: u64,
    total_bytes: u64,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    count: u64,
    start: u64,
    length: u32,
    /// The top half of the piece's hash, which is all that [`Places`] goes by.
    hash: u32,
}

impl Entry {
    fn hash(&self) -> u64 {
        u64::from(self.hash) << 32
    }
}

/// Memory of a piece besides its bytes: its entry, and about two slots.
const BYTES_EACH: usize = size_of::<Entry>() + 16;

impl Counts {
    /// Starts empty; `max_bytes` bounds the memory of pieces and table together.
    #[must_use]
    pub fn new(max_bytes: usize) -> Self {
        Self {
            arena: Vec::new(),
            entries: Vec::new(),
            places: Places::new(),
            hasher: RandomState::default(),
            max_bytes,
            total: 0,
            total_bytes: 0,
        }
    }

    /// Empty ones, with the same bound and the same hasher.
    fn empty(&self) -> Self {
        Self {
            hasher: self.hasher.clone(),
            ..Self::new(self.max_bytes)
        }
    }

    /// Number of different pieces.
    #[must_use]
    pub fn unique(&self) -> usize {
        self.entries.len()
    }

    /// Number of pieces, repetitions counted.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Bytes of all pieces, repetitions counted.
    #[must_use]
    pub fn total_bytes(&self) -> u64 {
        self.total_bytes
    }

    /// (piece, count) in order of first occurrence.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&[u8], u64)> {
        self.entries
            .iter()
            .map(|entry| (slice(&self.arena, entry), entry.count))
    }

    /// The piece and count at a place in that order.
    #[must_use]
    pub fn get(&self, place: usize) -> Option<(&[u8], u64)> {
        self.entries
            .get(place)
            .map(|entry| (slice(&self.arena, entry), entry.count))
    }

    /// How often a piece occurs.
    #[must_use]
    pub fn count_of(&self, piece: &[u8]) -> u64 {
        let place = self.find(piece, self.hash(piece));
        place.map_or(0, |place| self.entries[place as usize].count)
    }

    fn find(&self, piece: &[u8], hash: u64) -> Option<u32> {
        self.places.find(hash, |place| {
            slice(&self.arena, &self.entries[place as usize]) == piece
        })
    }

    #[inline]
    fn hash(&self, piece: &[u8]) -> u64 {
        match key::pack(piece, 0, piece.len()) {
            Some(key) => self.hash_short(key),
            None => self.hasher.hash_one(piece),
        }
    }

    #[inline]
    fn hash_short(&self, key: u128) -> u64 {
        self.hasher.hash_one(key)
    }

    /// Asks for the entry that a hash likely leads to.
    #[inline]
    fn prefetch(&self, hash: u64) {
        if let Some(place) = self.places.guess(hash) {
            prefetch(&self.entries, place as usize);
        }
    }

    /// Adds occurrences of a piece.
    ///
    /// # Errors
    /// [`Error::Bound`] if it is a new one and the bound would be passed.
    pub fn add(&mut self, piece: &[u8], count: u64) -> Result<()> {
        self.add_at(piece, count).map(drop)
    }

    /// The same; gives the piece's place in order of first occurrence, or None if there is nothing to add.
    ///
    /// # Errors
    /// As [`Counts::add`].
    pub(crate) fn add_at(&mut self, piece: &[u8], count: u64) -> Result<Option<usize>> {
        self.add_hashed(piece, count, self.hash(piece))
    }

    fn add_hashed(&mut self, piece: &[u8], count: u64, hash: u64) -> Result<Option<usize>> {
        if piece.is_empty() || count == 0 {
            return Ok(None);
        }
        let totals = count
            .checked_mul(piece.len() as u64)
            .ok_or_else(too_many_bytes)
            .and_then(|bytes| totals_with((self.total, self.total_bytes), count, bytes))?;
        let place = self.place_of(piece, hash)?;
        self.entries[place as usize].count += count;
        (self.total, self.total_bytes) = totals;
        Ok(Some(place as usize))
    }

    /// The place of a piece, which is taken in if it is new; its count is not touched.
    fn place_of(&mut self, piece: &[u8], hash: u64) -> Result<u32> {
        match self.find(piece, hash) {
            Some(place) => Ok(place),
            None => {
                self.check_room(1, piece.len())?;
                self.append(piece, 0, hash)
            }
        }
    }

    /// Checks that there is room for so many new pieces with so many bytes.
    fn check_room(&self, pieces: usize, bytes: usize) -> Result<()> {
        reserve::check()?;
        let unique = self.unique() + pieces;
        let used = self.arena.len() + bytes + unique * BYTES_EACH;
        if used <= self.max_bytes && unique <= u32::MAX as usize {
            return Ok(());
        }
        let limit = match self.max_bytes >> 20 {
            0 => format!("{} KiB", self.max_bytes >> 10),
            mebibytes => format!("{mebibytes} MiB"),
        };
        Err(Error::Bound(format!(
            "{unique} different pieces take more than {limit} of memory"
        )))
    }

    /// Appends a piece that is new, and for which there is room; gives its place.
    fn append(&mut self, piece: &[u8], count: u64, hash: u64) -> Result<u32> {
        let length = u32::try_from(piece.len())
            .map_err(|_| invalid!("a piece of text is longer than 4 GiB"))?;
        let place = self.unique() as u32;
        self.entries.push(Entry {
            count,
            start: self.arena.len() as u64,
            length,
            hash: (hash >> 32) as u32,
        });
        self.arena.extend_from_slice(piece);
        self.places.insert(hash, place);
        Ok(place)
    }

    /// Splits the documents of a block and counts their pieces; special tokens are not counted.
    ///
    /// # Errors
    /// [`Error::Bound`] when the bound is passed, [`Error::Invalid`] for ends that contradict the text.
    pub fn add_block(
        &mut self,
        scanner: &Scanner,
        matcher: Option<&SpecialMatcher>,
        prefix_space: bool,
        documents: &Documents<'_>,
        threads: usize,
    ) -> Result<()> {
        documents.check()?;
        let tasks = documents::tasks(documents, |text| scanner.safe_cut(text), matcher);
        let cutter = ByScanner {
            documents,
            scanner,
            matcher,
            prefix_space,
        };
        self.add_tasks(&tasks, &cutter, threads)
    }

    /// Sends the documents of a block through stages and counts the pieces that come out.
    ///
    /// # Errors
    /// As [`Counts::add_block`], and [`Error::Invalid`] when a stage fails.
    pub fn add_staged(
        &mut self,
        stages: &Stages,
        matcher: Option<&SpecialMatcher>,
        documents: &Documents<'_>,
        threads: usize,
    ) -> Result<()> {
        documents.check()?;
        let tasks = documents::tasks(documents, |text| stages.safe_cut(text), matcher);
        let blanks = stages.answers().blanks();
        if let Some(blanks) = blanks.filter(|blanks| blanks.allow(documents.text)) {
            let chunks = Chunks {
                documents,
                stages,
                blanks: blanks.bytes,
                matcher,
            };
            return chunks.count(self, &tasks, threads);
        }
        let cutter = ByStages {
            documents,
            stages,
            matcher,
        };
        self.add_tasks(&tasks, &cutter, threads)
    }

    pub(crate) fn add_tasks(
        &mut self,
        tasks: &[Task],
        cutter: &impl Cutter,
        threads: usize,
    ) -> Result<()> {
        reserve::check()?;
        if threads == 1 || tasks.len() < 2 {
            let mut counter = RecentCounts::new(std::mem::replace(self, Self::new(0)));
            let cut = tasks.iter().try_for_each(|task| {
                cutter.cut(task, |text, start, ends| counter.add(text, start, ends))
            });
            let finished;
            (*self, finished) = counter.finish();
            return cut.and(finished);
        }
        // A thread takes tasks in ascending order: what is new to it in a task lies together. Those of all
        // threads, in order of the tasks, are in order of first occurrence.
        let (news, found) = threads::map_with(
            tasks.iter(),
            threads,
            |number| (number, RecentCounts::new(self.empty())),
            |(number, counter), task| {
                let before = counter.unique();
                cutter.cut(task, |text, start, ends| counter.add(text, start, ends))?;
                Ok(Run {
                    thread: *number,
                    places: before..counter.unique(),
                })
            },
            |(_, counter)| {
                let (counts, finished) = counter.finish();
                finished.map(|()| counts)
            },
        )?;
        let found = found.into_iter().collect::<Result<Vec<_>>>()?;
        self.add_found(&found, &news, threads)
    }

    /// Counts pieces that are cut already; `ends` says where each ends, `counts` how often it occurs.
    ///
    /// # Errors
    /// As [`Counts::add_block`]; also if there are not as many counts as ends.
    pub fn add_pieces(&mut self, text: &[u8], ends: &[u64], counts: Option<&[u64]>) -> Result<()> {
        Documents {
            text,
            ends,
            continued: false,
        }
        .check()?;
        if let Some(counts) = counts.filter(|counts| counts.len() != ends.len()) {
            return Err(invalid!(
                "{} pieces have {} counts",
                ends.len(),
                counts.len()
            ));
        }
        let mut start = 0;
        for (place, &end) in ends.iter().enumerate() {
            let end = end as usize;
            self.add(&text[start..end], counts.map_or(1, |counts| counts[place]))?;
            start = end;
        }
        Ok(())
    }

    /// Adds another's counts, its new pieces after the own ones.
    ///
    /// # Errors
    /// [`Error::Bound`] when the bound is passed.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        let mut hashes = [0; 64];
        for some in other.entries.chunks(hashes.len()) {
            for (entry, hash) in some.iter().zip(&mut hashes) {
                *hash = self.hash(slice(&other.arena, entry));
                self.places.prefetch(*hash);
            }
            for (number, entry) in some.iter().enumerate() {
                self.prefetch(hashes[(number + 6) % hashes.len()]);
                self.add_hashed(slice(&other.arena, entry), entry.count, hashes[number])?;
            }
        }
        Ok(())
    }
}

/// Totals, when so many pieces with so many bytes are added.
///
/// # Errors
/// Says which of them passes 2^64.
fn totals_with((total, total_bytes): (u64, u64), pieces: u64, bytes: u64) -> Result<(u64, u64)> {
    let passes = || invalid!("the counts of all pieces together pass 2^64");
    let total = total.checked_add(pieces).ok_or_else(passes)?;
    let bytes = total_bytes.checked_add(bytes);
    Ok((total, bytes.ok_or_else(too_many_bytes)?))
}

fn too_many_bytes() -> Error {
    invalid!("the counted bytes pass 2^64 in total")
}

#[inline]
fn slice<'a>(arena: &'a [u8], entry: &Entry) -> &'a [u8] {
    let start = entry.start as usize;
    &arena[start..start + entry.length as usize]
}

#[cfg(test)]
mod tests;
