//! Adds up what several threads counted, on as many threads: in order of first occurrence, as one thread would have.
//!
//! Each piece belongs to one share, by its hash. Who has a share adds up all that any thread counted of its pieces, and
//! looks them up in the counts so far, which nobody changes meanwhile. So nothing is left for one thread alone but to add
//! these sums to the counts, and to append the new pieces in order.

use std::ops::Range;

use super::places::Places;
use super::{Counts, Entry, slice, totals_with};
use crate::error::Result;
use crate::threads;

/// How many pieces are looked up together: their slots are asked for first.
const BATCH: usize = 64;
/// How many pieces ahead of the one that is looked up its likely entry is asked for.
const AHEAD: usize = 6;

/// Pieces of a thread that follow each other, in order of first occurrence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Whose they are.
    pub thread: usize,
    /// Their places in what it counted.
    pub places: Range<usize>,
}

/// A piece that one thread counted.
#[derive(Clone, Copy)]
struct Member {
    /// Its number among all of all runs.
    number: usize,
    thread: u32,
    place: u32,
}

impl Member {
    fn of<'a>(&self, found: &'a [Counts]) -> (&'a [u8], &'a Entry) {
        let counts = &found[self.thread as usize];
        let entry = &counts.entries[self.place as usize];
        (slice(&counts.arena, entry), entry)
    }
}

/// What all threads together counted of the pieces of a share.
#[derive(Default)]
struct Sums {
    /// Of pieces that have a place: their places, and occurrences to add.
    known: Vec<(u32, u64)>,
    /// Of pieces that are new: where each is met first, and its occurrences.
    fresh: Vec<(Member, u64)>,
    /// The bytes of these.
    bytes: usize,
}

impl Counts {
    /// Adds what threads counted, in tables with the hasher of this one. The runs have each piece of each thread once, and
    /// are in order of first occurrence: of the same piece in several, the first says where it belongs.
    ///
    /// # Errors
    /// [`Error::Bound`](crate::Error::Bound) when the bound is passed; nothing is added then.
    pub fn add_found(&mut self, found: &[Self], runs: &[Run], threads: usize) -> Result<()> {
        let shares = threads.min(threads::cores());
        let sums = threads::map(0..shares, shares, |share| {
            self.sums_of(found, runs, share, shares)
        });
        let new = sums.iter().map(|sums| sums.fresh.len()).sum();
        let bytes = sums.iter().map(|sums| sums.bytes).sum();
        self.check_room(new, bytes)?;
        let mut totals = (self.total, self.total_bytes);
        for counts in found {
            totals = totals_with(totals, counts.total, counts.total_bytes)?;
        }
        // No count passes 2^64, as their sum does not.
        for &(place, count) in sums.iter().flat_map(|sums| &sums.known) {
            self.entries[place as usize].count += count;
        }
        let mut counts = vec![0; found.iter().map(Self::unique).sum()];
        for (first, count) in sums.iter().flat_map(|sums| &sums.fresh) {
            counts[first.number] = *count;
        }
        self.arena.reserve(bytes);
        self.entries.reserve(new);
        self.places.reserve(new);
        let mut counts = counts.into_iter();
        for run in runs {
            let own = &found[run.thread];
            for (entry, count) in own.entries[run.places.clone()].iter().zip(&mut counts) {
                if count > 0 {
                    self.append(slice(&own.arena, entry), count, entry.hash())?;
                }
            }
        }
        (self.total, self.total_bytes) = totals;
        Ok(())
    }

    /// Adds up all pieces of a share.
    fn sums_of(&self, found: &[Self], runs: &[Run], share: usize, shares: usize) -> Sums {
        let (mut sums, mut places) = (Sums::default(), Places::new());
        places.reserve(found.iter().map(Self::unique).sum::<usize>() / shares);
        let mut batch = Vec::with_capacity(BATCH);
        let mut number = 0;
        for run in runs {
            for (place, entry) in run
                .places
                .clone()
                .zip(&found[run.thread].entries[run.places.clone()])
            {
                let hash = entry.hash();
                if share_of(hash, shares) == share {
                    self.places.prefetch(hash);
                    places.prefetch(hash);
                    let (thread, place) = (run.thread as u32, place as u32);
                    batch.push(Member {
                        number,
                        thread,
                        place,
                    });
                    if batch.len() == BATCH {
                        self.sum(&mut batch, found, &mut sums, &mut places);
                    }
                }
                number += 1;
            }
        }
        self.sum(&mut batch, found, &mut sums, &mut places);
        sums
    }

    /// Adds a batch to the sums of a share, and empties it; `places` leads to the new pieces.
    fn sum(&self, batch: &mut Vec<Member>, found: &[Self], sums: &mut Sums, places: &mut Places) {
        for (at, member) in batch.iter().enumerate() {
            if let Some(coming) = batch.get(at + AHEAD) {
                self.prefetch(coming.of(found).1.hash());
            }
            let (piece, entry) = member.of(found);
            let (hash, count) = (entry.hash(), entry.count);
            if let Some(place) = self.find(piece, hash) {
                sums.known.push((place, count));
                continue;
            }
            let is_piece = |place: u32| sums.fresh[place as usize].0.of(found).0 == piece;
            if let Some(place) = places.find(hash, is_piece) {
                sums.fresh[place as usize].1 += count;
            } else {
                places.insert(hash, sums.fresh.len() as u32);
                sums.fresh.push((*member, count));
                sums.bytes += piece.len();
            }
        }
        batch.clear();
    }
}

/// Whose piece it is. The hash is mixed again, or the pieces of a share would lie close together in its table.
fn share_of(hash: u64, shares: usize) -> usize {
    let mixed = ((hash >> 32) as u32).wrapping_mul(0x9E37_79B9);
    ((u64::from(mixed) * shares as u64) >> 32) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn is_what_one_after_the_other_gives(
            parts in proptest::collection::vec(
                (0..3_usize, proptest::collection::vec(("[ab]{1,3}|[a-z]{1,20}", 1..5_u64), 0..40)), 0..12,
            ),
            before in proptest::collection::vec(("[ab]{1,3}", 1..5_u64), 0..10),
            threads in 1..5_usize,
        ) {
            let mut plain = Counts::new(1 << 30);
            for (piece, count) in &before {
                plain.add(piece.as_bytes(), *count).unwrap();
            }
            let mut together = plain.empty();
            together.merge(&plain).unwrap();
            let mut each = [(); 3].map(|()| plain.empty());
            let mut runs = Vec::new();
            for (thread, pieces) in &parts {
                let start = each[*thread].unique();
                for (piece, count) in pieces {
                    each[*thread].add(piece.as_bytes(), *count).unwrap();
                    plain.add(piece.as_bytes(), *count).unwrap();
                }
                runs.push(Run { thread: *thread, places: start..each[*thread].unique() });
            }
            together.add_found(&each, &runs, threads).unwrap();
            prop_assert!(together.iter().eq(plain.iter()));
            prop_assert_eq!((together.total(), together.total_bytes()), (plain.total(), plain.total_bytes()));
            for (piece, count) in plain.iter() {
                prop_assert_eq!(together.count_of(piece), count);
            }
        }
    }

    #[test]
    fn nothing_is_added_where_the_bound_is_passed() {
        let mut counts = Counts::new(1000);
        counts.add(b"a", 1).unwrap();
        let mut found = Counts {
            hasher: counts.hasher.clone(),
            ..Counts::new(1 << 20)
        };
        for number in 0..100_u32 {
            found.add(&number.to_le_bytes(), 1).unwrap();
        }
        found.add(b"a", 1).unwrap();
        let runs = [Run {
            thread: 0,
            places: 0..101,
        }];
        let error = counts.add_found(&[found], &runs, 1).unwrap_err();
        assert!(matches!(error, crate::Error::Bound(_)), "{error}");
        assert_eq!(
            (counts.unique(), counts.total(), counts.count_of(b"a")),
            (1, 1, 1)
        );
    }
}
