//! Counts stretches of a text without copying them: most are short, and the table holds those in its
//! slots.
//!
//! A slot has a stretch of up to 15 bytes with its length as one number, and its count: a look-up touches
//! one line of memory, and compares all of what it looks for, so that nothing is trusted to a hash.
//! Longer stretches are compared with where they stood first. It is neither a cache, which forgets, nor
//! [`Places`](super::places::Places), whose slots lead to an entry and its bytes: two lines more.

use std::hash::BuildHasher as _;
use std::ops::Range;

use foldhash::fast::RandomState;
use hashbrown::HashTable;

use crate::error::Result;
use crate::memory::{key, reserve};
use crate::normalize::Context;

/// Slots to begin with, as a power of two.
const SLOTS: u32 = 12;

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// The stretch's key, and its context in bits that a key of so few bytes leaves. Zero where there is none: none is empty.
    key: u128,
    count: u64,
    entry: usize,
}

/// A stretch where it stood first.
#[derive(Clone, Copy, Debug)]
struct Entry {
    start: usize,
    length: usize,
    context: Context,
}

/// Counts of stretches of a text, in order of first occurrence.
pub struct Stretches<'a> {
    text: &'a [u8],
    entries: Vec<Entry>,
    /// Counts of the longer ones; those of others are in their slots.
    counts: Vec<u64>,
    slots: Vec<Slot>,
    short: usize,
    long: HashTable<usize>,
    /// Random for each process: text cannot be written to collide. No result depends on it.
    hasher: RandomState,
}

impl<'a> Stretches<'a> {
    /// Begins with none of a text.
    pub fn new(text: &'a [u8]) -> Self {
        Self {
            text,
            entries: Vec::new(),
            counts: Vec::new(),
            slots: vec![Slot::default(); 1 << SLOTS],
            short: 0,
            long: HashTable::new(),
            hasher: RandomState::default(),
        }
    }

    /// Counts a stretch, which is not empty.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error::Memory) when it is a new one, and no memory is left.
    #[inline]
    pub fn add(&mut self, range: Range<usize>, context: Context) -> Result<()> {
        let Some(key) = key::pack(self.text, range.start, range.end) else {
            return self.add_long(range, context);
        };
        let key = key | u128::from(context.continued) << 124 | u128::from(context.first) << 125;
        let mask = self.slots.len() - 1;
        let mut at = self.hasher.hash_one(key) as usize & mask;
        loop {
            let slot = &mut self.slots[at];
            if slot.key == key {
                slot.count += 1;
                return Ok(());
            }
            if slot.key == 0 {
                *slot = Slot {
                    key,
                    count: 1,
                    entry: self.entries.len(),
                };
                break;
            }
            at = (at + 1) & mask;
        }
        self.push(range, context);
        self.short += 1;
        if 8 * self.short > 5 * self.slots.len() {
            self.grow();
        }
        reserve::check()
    }

    fn push(&mut self, range: Range<usize>, context: Context) {
        self.entries.push(Entry {
            start: range.start,
            length: range.len(),
            context,
        });
        self.counts.push(0);
    }

    fn add_long(&mut self, range: Range<usize>, context: Context) -> Result<()> {
        let (text, entries, hasher) = (self.text, &self.entries, &self.hasher);
        let stretch = |entry: &Entry| {
            (
                &text[entry.start..entry.start + entry.length],
                entry.context,
            )
        };
        let wanted = (&text[range.clone()], context);
        let hash = hasher.hash_one(wanted.0);
        let found = self
            .long
            .find(hash, |&entry| stretch(&entries[entry]) == wanted);
        if let Some(&entry) = found {
            self.counts[entry] += 1;
            return Ok(());
        }
        let fresh = self.entries.len();
        let rehash = |&entry: &usize| hasher.hash_one(stretch(&entries[entry]).0);
        self.long.insert_unique(hash, fresh, rehash);
        self.push(range, context);
        self.counts[fresh] = 1;
        reserve::check()
    }

    fn grow(&mut self) {
        let fresh = vec![Slot::default(); 2 * self.slots.len()];
        let old = std::mem::replace(&mut self.slots, fresh);
        let mask = self.slots.len() - 1;
        for slot in old.into_iter().filter(|slot| slot.key != 0) {
            let mut at = self.hasher.hash_one(slot.key) as usize & mask;
            while self.slots[at].key != 0 {
                at = (at + 1) & mask;
            }
            self.slots[at] = slot;
        }
    }

    /// Gives where each different stretch stood first, its context, and how often it occurs.
    pub fn finish(mut self) -> Vec<(Range<usize>, Context, u64)> {
        for slot in self.slots.iter().filter(|slot| slot.key != 0) {
            self.counts[slot.entry] = slot.count;
        }
        drop(self.slots);
        let entries = self.entries.into_iter().zip(self.counts);
        entries
            .map(|(entry, count)| {
                (
                    entry.start..entry.start + entry.length,
                    entry.context,
                    count,
                )
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn counts_as_a_plain_list_does(
            parts in proptest::collection::vec(("[ab]{1,2}|a{14,17}|\u{0}{1,3}|[a-z]{1,3}", 0..3usize), 0..400),
        ) {
            let contexts = [(true, false), (false, false), (false, true)];
            let contexts = contexts.map(|(continued, first)| Context { continued, first });
            let text: String = parts.iter().map(|(part, _)| &part[..]).collect();
            let mut stretches = Stretches::new(text.as_bytes());
            let mut expected: Vec<(Range<usize>, Context, u64)> = Vec::new();
            let mut start = 0;
            for (part, context) in &parts {
                let range = start..start + part.len();
                start = range.end;
                let context = contexts[*context];
                stretches.add(range.clone(), context).unwrap();
                let same = |known: &&mut (Range<usize>, Context, u64)| text[known.0.clone()] == *part && known.1 == context;
                match expected.iter_mut().find(same) {
                    Some(known) => known.2 += 1,
                    None => expected.push((range, context, 1)),
                }
            }
            prop_assert_eq!(stretches.finish(), expected);
        }
    }

    #[test]
    fn grows() {
        let text: String = (0..40_000).map(|number| format!("{number:05}")).collect();
        let mut stretches = Stretches::new(text.as_bytes());
        for start in (0..2 * text.len()).step_by(5) {
            let start = start % text.len();
            stretches.add(start..start + 5, Context::default()).unwrap();
        }
        let found = stretches.finish();
        assert_eq!(found.len(), 40_000);
        assert!(
            found
                .iter()
                .enumerate()
                .all(|(at, (range, _, count))| range.start == 5 * at && *count == 2)
        );
    }
}
