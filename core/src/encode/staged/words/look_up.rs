//! Words are looked up many at a time: their slots are asked for ahead, so that they are at hand when they are compared.

use super::characters::Characters;
use super::{BATCH, CHARACTER, Memory, Run};
use crate::error::Result;
use crate::memory::key;
use crate::memory::piece_cache::{MAX_IDS, PieceCache};
use crate::memory::slots::Value;
use crate::models::model::Scores;
use crate::models::unigram::real::Real;

impl Run<'_> {
    /// Takes a word, which is looked up when enough of them wait.
    #[inline]
    pub(super) fn wait(&mut self, key: u128, start: usize, end: usize) -> Result<()> {
        self.keys[self.waiting] = key;
        self.ranges[self.waiting] = (start as u32, end as u32);
        self.waiting += 1;
        if self.waiting == BATCH {
            self.look_up()?;
        }
        Ok(())
    }

    /// Looks the waiting words up.
    pub(super) fn look_up(&mut self) -> Result<()> {
        self.memory.cache.grow();
        let table = self.memory.cache.buckets();
        let keys = &self.keys[..self.waiting];
        let mut far = false;
        for (&key, bucket) in keys.iter().zip(&mut self.buckets) {
            if key >> 120 == CHARACTER {
                continue;
            }
            let index = table.bucket_of(key);
            table.prefetch(index);
            *bucket = index as u32;
            far |= key::is_long(key);
        }
        if far {
            let looked_for = keys.iter().copied().zip(self.buckets);
            self.memory.cache.prefetch_more(looked_for);
        }
        let mut next = 0;
        loop {
            next += match self.scores {
                None if self.part.only_counts && !self.fuses => self.count_known(next),
                None => self.take_known(next)?,
                Some(Scores::Single(scores)) => self.take_known_with_sums(next, scores)?,
                Some(Scores::Double(scores)) => self.take_known_with_sums(next, scores)?,
            };
            if next == self.waiting {
                break;
            }
            let (start, end) = self.ranges[next];
            self.miss(start as usize, end as usize, self.keys[next])?;
            next += 1;
        }
        self.waiting = 0;
        self.part.forget_some();
        Ok(())
    }

    /// Takes waiting words from number `next` on as long as slots hold their ids; returns how many.
    #[inline]
    fn take_known(&mut self, next: usize) -> Result<usize> {
        self.part.reserve((self.waiting - next) * MAX_IDS)?;
        let Memory {
            cache, characters, ..
        } = &mut *self.memory;
        let waiting = self.keys[next..self.waiting].iter();
        let slots = slots(cache, characters, waiting.zip(&self.buckets[next..]));
        Ok(self.part.extend_by_slots(slots))
    }

    /// The same where it matters what the scores of all tokens have added up to.
    #[inline]
    fn take_known_with_sums<T: Real>(&mut self, next: usize, scores: &[T]) -> Result<usize> {
        self.part.reserve((self.waiting - next) * MAX_IDS)?;
        let Memory {
            cache, characters, ..
        } = &mut *self.memory;
        let waiting = self.keys[next..self.waiting].iter();
        let mut sum = T::round(self.sum);
        let slots = slots(cache, characters, waiting.zip(&self.buckets[next..]));
        let slots = slots.map_while(|(value, count)| {
            if sum.wide().abs() >= f64::from(value.bound()) {
                return None;
            }
            for &id in &value.ids()[..count] {
                sum = sum.plus(scores[id as usize]);
            }
            Some((value, count))
        });
        let taken = self.part.extend_by_slots(slots);
        self.sum = sum.wide();
        Ok(taken)
    }

    /// Counts the tokens of waiting words from number `next` on as long as slots hold their ids; returns how many words.
    #[inline]
    fn count_known(&mut self, next: usize) -> usize {
        let Memory {
            cache, characters, ..
        } = &mut *self.memory;
        let waiting = self.keys[next..self.waiting].iter();
        let slots = slots(cache, characters, waiting.zip(&self.buckets[next..]));
        self.part.count_slots(slots)
    }
}

/// The slots of words by their keys and buckets, and how many ids each holds, up to the first that holds none.
#[inline]
fn slots<'a>(
    cache: &'a mut PieceCache,
    characters: &'a Characters,
    waiting: impl Iterator<Item = (&'a u128, &'a u32)> + 'a,
) -> impl Iterator<Item = (Value, usize)> + 'a {
    let mut table = cache.buckets();
    waiting.map_while(move |(&key, &bucket)| {
        let value = match key >> 120 == CHARACTER {
            true => characters.value(key as u32),
            false => table.get(bucket as usize, key)?,
        };
        Some((value, value.count()?))
    })
}
