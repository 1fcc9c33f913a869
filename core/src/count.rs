//! How often each piece occurs: exact, in u64, in order of first occurrence.
//!
//! Invariant: the order and the counts depend on the documents alone, not on threads or blocks. So
//! counting on many machines and merging in order gives what one machine gives.

use std::hash::BuildHasher as _;

use foldhash::fast::RandomState;
use hashbrown::HashTable;

use crate::chunks::Chunks;
use crate::cutting::{ByScanner, ByStages, Cutter};
use crate::error::{Error, Result};
use crate::parallel::{self, Documents, Task};
use crate::special::SpecialMatcher;
use crate::split::Scanner;
use crate::stages::Stages;

/// Counts of pieces.
#[derive(Debug)]
pub struct Counts {
    arena: Vec<u8>,
    entries: Vec<Entry>,
    table: HashTable<u32>,
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
}

impl Counts {
    /// Starts empty; `max_bytes` bounds the memory of pieces and table together.
    #[must_use]
    pub fn new(max_bytes: usize) -> Self {
        Self {
            arena: Vec::new(),
            entries: Vec::new(),
            table: HashTable::new(),
            hasher: RandomState::default(),
            max_bytes,
            total: 0,
            total_bytes: 0,
        }
    }

    /// How many bytes pieces and table may take.
    pub(crate) fn max_bytes(&self) -> usize {
        self.max_bytes
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
        let hash = self.hasher.hash_one(piece);
        let place = self.table.find(hash, |&place| {
            slice(&self.arena, &self.entries[place as usize]) == piece
        });
        place.map_or(0, |&place| self.entries[place as usize].count)
    }

    /// Adds occurrences of a piece.
    ///
    /// # Errors
    /// [`Error::Memory`] if it is a new one and the bound would be passed.
    pub fn add(&mut self, piece: &[u8], count: u64) -> Result<()> {
        if piece.is_empty() || count == 0 {
            return Ok(());
        }
        let Self {
            arena,
            entries,
            table,
            hasher,
            ..
        } = self;
        let hash = hasher.hash_one(piece);
        let found = table.find(hash, |&place| {
            slice(arena, &entries[place as usize]) == piece
        });
        let overflow = || Error::Invalid("a count passes 2^64".to_owned());
        let total = self.total.checked_add(count).ok_or_else(overflow)?;
        let bytes = count.checked_mul(piece.len() as u64).ok_or_else(overflow)?;
        let total_bytes = self.total_bytes.checked_add(bytes).ok_or_else(overflow)?;
        if let Some(&place) = found {
            entries[place as usize].count += count;
            (self.total, self.total_bytes) = (total, total_bytes);
            return Ok(());
        }
        let used = arena.len() + piece.len() + (entries.len() + 1) * (size_of::<Entry>() + 8);
        if used > self.max_bytes || entries.len() >= u32::MAX as usize {
            let limit = match self.max_bytes >> 20 {
                0 => format!("{} KiB", self.max_bytes >> 10),
                mebibytes => format!("{mebibytes} MiB"),
            };
            return Err(Error::Memory(format!(
                "{} different pieces take more than {limit} of memory",
                entries.len() + 1,
            )));
        }
        let length = u32::try_from(piece.len())
            .map_err(|_| Error::Invalid("a piece of text is longer than 4 GiB".to_owned()))?;
        let place = entries.len() as u32;
        entries.push(Entry {
            count,
            start: arena.len() as u64,
            length,
        });
        arena.extend_from_slice(piece);
        let rehash = |&place: &u32| hasher.hash_one(slice(arena, &entries[place as usize]));
        table.insert_unique(hash, place, rehash);
        (self.total, self.total_bytes) = (total, total_bytes);
        Ok(())
    }

    /// Splits the documents of a block and counts their pieces; special tokens are not counted.
    ///
    /// # Errors
    /// [`Error::Memory`] when the bound is passed, [`Error::Invalid`] for ends that contradict the text.
    pub fn add_block(
        &mut self,
        scanner: &Scanner,
        matcher: Option<&SpecialMatcher>,
        prefix_space: bool,
        documents: &Documents<'_>,
        threads: usize,
    ) -> Result<()> {
        documents.check()?;
        let tasks = parallel::tasks(documents, |text| scanner.safe_cut(text), matcher);
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
        let tasks = parallel::tasks(documents, |text| stages.safe_cut(text), matcher);
        if let Some(blanks) = stages.blanks() {
            let chunks = Chunks {
                documents,
                stages,
                blanks,
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
        if threads == 1 || tasks.len() < 2 {
            return tasks
                .iter()
                .try_for_each(|task| cutter.cut(task, |piece, _| self.add(piece, 1)));
        }
        // Each thread keeps, for each of its pieces, where it saw it first: threads take tasks in
        // ascending order, so that is the smallest offset. Sorting by it restores the text's order.
        let max_bytes = self.max_bytes;
        let found = std::sync::Mutex::new(Vec::new());
        let hasher = || (Counts::new(max_bytes), Vec::new());
        parallel::run(
            tasks,
            threads,
            hasher,
            |(counts, firsts): &mut (Counts, Vec<usize>), task| {
                cutter.cut(task, |piece, offset| {
                    counts.add(piece, 1)?;
                    if firsts.len() < counts.unique() {
                        firsts.push(offset);
                    }
                    Ok(())
                })
            },
            |own| {
                if let Ok(mut found) = found.lock() {
                    found.push(own);
                }
            },
        )?;
        let found = found
            .into_inner()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        self.add_found(&found)
    }

    /// Adds what several threads found: their counts, and where in the text each of their pieces stood
    /// first. The order is that of the text.
    pub(crate) fn add_found(&mut self, found: &[(Self, Vec<usize>)]) -> Result<()> {
        let mut order: Vec<(usize, usize, usize)> = Vec::new();
        for (thread, (_, firsts)) in found.iter().enumerate() {
            order.extend(
                firsts
                    .iter()
                    .enumerate()
                    .map(|(place, &first)| (first, thread, place)),
            );
        }
        order.sort_unstable();
        for (_, thread, place) in order {
            if let Some((piece, count)) = found[thread].0.get(place) {
                self.add(piece, count)?;
            }
        }
        Ok(())
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
            let sentence = format!("{} pieces have {} counts", ends.len(), counts.len());
            return Err(Error::Invalid(sentence));
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
    /// [`Error::Memory`] when the bound is passed.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        other
            .iter()
            .try_for_each(|(piece, count)| self.add(piece, count))
    }

    /// All different pieces, one after the other, each with a prefix; and where each ends.
    #[must_use]
    pub fn pieces(&self, prefix: &[u8]) -> (Vec<u8>, Vec<u64>) {
        let mut bytes = Vec::with_capacity(self.arena.len() + prefix.len() * self.unique());
        let ends = self.iter().map(|(piece, _)| {
            bytes.extend_from_slice(prefix);
            bytes.extend_from_slice(piece);
            bytes.len() as u64
        });
        let ends = ends.collect();
        (bytes, ends)
    }

    /// Serialises: for each piece a LEB128 length, a LEB128 count, the bytes.
    #[must_use]
    pub fn dump(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.arena.len() + 4 * self.entries.len());
        for (piece, count) in self.iter() {
            write_number(&mut bytes, piece.len() as u64);
            write_number(&mut bytes, count);
            bytes.extend_from_slice(piece);
        }
        bytes
    }

    /// Reads what [`Counts::dump`] wrote.
    ///
    /// # Errors
    /// Names the byte where the data is cut, a length lies, or a piece stands twice.
    pub fn load(bytes: &[u8], max_bytes: usize) -> Result<Self> {
        let mut counts = Self::new(max_bytes);
        let mut at = 0;
        while at < bytes.len() {
            let begin = at;
            let broken =
                |what: &str| Error::Invalid(format!("{what} at byte {begin} of the counts"));
            let length = read_number(bytes, &mut at).ok_or_else(|| broken("a length is cut"))?;
            let count = read_number(bytes, &mut at).ok_or_else(|| broken("a count is cut"))?;
            let end = usize::try_from(length)
                .ok()
                .and_then(|length| at.checked_add(length));
            let piece = end
                .and_then(|end| bytes.get(at..end))
                .ok_or_else(|| broken("a length lies"))?;
            if piece.is_empty() || count == 0 {
                return Err(broken("an empty piece or count stands"));
            }
            let before = counts.unique();
            counts.add(piece, count)?;
            if counts.unique() == before {
                return Err(broken("a piece stands for the second time"));
            }
            at += piece.len();
        }
        Ok(counts)
    }
}

#[inline]
fn slice<'a>(arena: &'a [u8], entry: &Entry) -> &'a [u8] {
    let start = entry.start as usize;
    &arena[start..start + entry.length as usize]
}

fn write_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn read_number(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.get(*at)?;
        *at += 1;
        let bits = u64::from(byte & 0x7F);
        if shift == 63 && bits > 1 {
            return None;
        }
        number |= bits << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
#[path = "count_tests.rs"]
mod tests;
