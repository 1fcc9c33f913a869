//! Counts that outgrow memory: written out as records, and added up part by part.
//!
//! A record is a piece with its count and its number, which rises in order of first occurrence. Whoever
//! spills gives each piece to one of [`PARTITIONS`] by its hash, so that all records of a piece are in one
//! partition, in rising order. So each partition is added up by itself ([`Numbered`]), in the memory that
//! its different pieces take, and [`merge`] puts the partitions together by number: the counts that one
//! table without a bound would have, in its order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{BYTES_EACH, Counts};
use crate::error::{Result, invalid};
use crate::leb128;

/// Into how many parts pieces are divided: each takes about this share of the memory that all would take.
pub const PARTITIONS: usize = 64;
/// Bytes of records that are handed over at a time.
const BATCH: usize = 1 << 16;

/// Receives some whole records, and the partition that they belong to.
pub type WritePart<'a> = &'a mut dyn FnMut(usize, &[u8]) -> Result<()>;

/// A record.
#[derive(Clone, Copy, Debug)]
struct Record<'a> {
    number: u64,
    count: u64,
    piece: &'a [u8],
}

impl<'a> Record<'a> {
    fn write(self, out: &mut Vec<u8>) {
        leb128::write(out, self.number);
        self.write_counted(out);
    }

    /// Writes it without its number, as [`Counts::dump`] does.
    fn write_counted(self, out: &mut Vec<u8>) {
        leb128::write(out, self.piece.len() as u64);
        leb128::write(out, self.count);
        out.extend_from_slice(self.piece);
    }

    /// Reads the record at `at`, and moves `at` behind it.
    fn read(bytes: &'a [u8], at: &mut usize) -> Result<Self> {
        let mut number = || leb128::read(bytes, at);
        let (Some(place), Some(length), Some(count)) = (number(), number(), number()) else {
            return Err(broken());
        };
        let end = (usize::try_from(length).ok()).and_then(|length| at.checked_add(length));
        let piece = end.and_then(|end| bytes.get(*at..end)).ok_or_else(broken)?;
        *at += piece.len();
        Ok(Self {
            number: place,
            count,
            piece,
        })
    }
}

fn broken() -> crate::Error {
    invalid!("counts in a temporary file are damaged")
}

impl Counts {
    /// About how much memory the pieces and their table take.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.arena.len() + self.unique() * BYTES_EACH
    }

    /// Hands all counts over as records, the first numbered `first`, and forgets them.
    ///
    /// # Errors
    /// What `write` gives; the counts are whole then.
    pub fn spill(&mut self, first: u64, write: WritePart<'_>) -> Result<()> {
        let mut parts: Vec<Vec<u8>> = vec![Vec::new(); PARTITIONS];
        for (number, (piece, count)) in (first..).zip(self.iter()) {
            let partition = (self.hash(piece) % PARTITIONS as u64) as usize;
            let part = &mut parts[partition];
            let record = Record {
                number,
                count,
                piece,
            };
            record.write(part);
            if part.len() >= BATCH {
                write(partition, part)?;
                part.clear();
            }
        }
        for (partition, part) in parts.iter().enumerate() {
            if !part.is_empty() {
                write(partition, part)?;
            }
        }
        // The hasher stays: a piece goes to the same partition next time.
        *self = self.empty();
        Ok(())
    }
}

/// The records of one partition, added up.
#[derive(Debug)]
pub struct Numbered {
    counts: Counts,
    /// The number of each piece, ascending.
    numbers: Vec<u64>,
}

impl Numbered {
    /// Starts empty; `max_bytes` bounds the memory of pieces and table together.
    #[must_use]
    pub fn new(max_bytes: usize) -> Self {
        Self {
            counts: Counts::new(max_bytes),
            numbers: Vec::new(),
        }
    }

    /// Adds whole records, whose numbers rise.
    ///
    /// # Errors
    /// As [`Counts::add`]; also if they are damaged.
    pub fn add(&mut self, records: &[u8]) -> Result<()> {
        let mut at = 0;
        while at < records.len() {
            let record = Record::read(records, &mut at)?;
            self.counts.add(record.piece, record.count)?;
            if self.numbers.len() < self.counts.unique() {
                self.numbers.push(record.number);
            }
        }
        Ok(())
    }

    /// Hands one record of each piece over, in order, some at a time.
    ///
    /// # Errors
    /// What `write` gives.
    pub fn write(&self, write: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let mut batch = Vec::with_capacity(BATCH);
        for (&number, (piece, count)) in self.numbers.iter().zip(self.counts.iter()) {
            let record = Record {
                number,
                count,
                piece,
            };
            record.write(&mut batch);
            if batch.len() >= BATCH {
                write(&batch)?;
                batch.clear();
            }
        }
        write(&batch)
    }
}

/// What [`merge`] wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// Number of different pieces.
    pub unique: u64,
    /// Number of pieces, repetitions counted.
    pub total: u64,
}

/// Puts partitions that are added up together: hands over what [`Counts::dump`] of all would give, some at a time.
///
/// Args: `read` gives the next records of a partition; None when there are no more.
///
/// # Errors
/// What `read` and `write` give; when records are damaged, or the counts together pass 2^64.
pub fn merge(
    partitions: usize,
    read: &mut dyn FnMut(usize) -> Result<Option<Vec<u8>>>,
    write: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<Merged> {
    let mut parts = vec![(Vec::new(), 0); partitions];
    let mut next: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new();
    let mut fill = |partition: usize, (bytes, at): &mut (Vec<u8>, usize)| -> Result<Option<u64>> {
        while *at == bytes.len() {
            let Some(more) = read(partition)? else {
                return Ok(None);
            };
            (*bytes, *at) = (more, 0);
        }
        leb128::read(bytes, &mut at.clone())
            .ok_or_else(broken)
            .map(Some)
    };
    for (partition, part) in parts.iter_mut().enumerate() {
        next.extend(fill(partition, part)?.map(|number| Reverse((number, partition))));
    }
    let mut merged = Merged::default();
    let mut batch = Vec::with_capacity(BATCH);
    while let Some(Reverse((_, partition))) = next.pop() {
        let part = &mut parts[partition];
        let record = Record::read(&part.0, &mut part.1)?;
        record.write_counted(&mut batch);
        merged.unique += 1;
        merged.total = (merged.total.checked_add(record.count))
            .ok_or_else(|| invalid!("the counts of all pieces together pass 2^64"))?;
        if batch.len() >= BATCH {
            write(&batch)?;
            batch.clear();
        }
        next.extend(fill(partition, part)?.map(|number| Reverse((number, partition))));
    }
    write(&batch)?;
    Ok(merged)
}

#[cfg(test)]
mod tests;
