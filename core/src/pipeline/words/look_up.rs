//! The waiting words looked up, and what becomes of those that are not known.

use super::cache::{Known, MANY, MAX_IDS};
use super::plan::INSIDE;
use super::{BATCH, CHARACTER, Run, TOO_LONG};
use crate::error::Result;

impl Run<'_> {
    /// Looks the waiting words up.
    pub(super) fn look_up(&mut self) -> Result<()> {
        let mut ids = [0; BATCH * MAX_IDS];
        let mut found = 0;
        for number in 0..self.waiting {
            let key = self.keys[number];
            let known = if key & CHARACTER != 0 {
                let &(ids, count) = self.memory.characters.ids(key as u32);
                Some((ids, count))
            } else {
                self.recall(key).map(|known| (known.ids, known.count))
            };
            if let Some((own, count)) = known {
                ids[found..found + MAX_IDS].copy_from_slice(&own);
                found += count;
            } else {
                self.part.ids.extend_from_slice(&ids[..found]);
                found = 0;
                let (start, end) = self.ranges[number];
                self.seldom(start as usize, end as usize, key)?;
            }
        }
        self.waiting = 0;
        self.part.ids.extend_from_slice(&ids[..found]);
        if !self.keep && self.part.ids.len() > 1 << 12 {
            self.part.forget();
        }
        Ok(())
    }

    #[inline]
    fn recall(&mut self, key: u128) -> Option<Known> {
        if key == TOO_LONG {
            return None;
        }
        let known = self.memory.cache.recall(key)?;
        if known.count == MANY {
            return None;
        }
        if let Some(scores) = self.scores {
            if self.sum.abs() >= known.bound() {
                return None;
            }
            for &id in &known.ids[..known.count] {
                self.sum += scores[id as usize];
            }
        }
        Some(known)
    }

    /// Handles a word that the first memory does not know.
    #[inline(never)]
    fn seldom(&mut self, start: usize, end: usize, key: u128) -> Result<()> {
        if self.recall_long(start, end, key).is_some() {
            return Ok(());
        }
        let before = self.part.ids.len();
        let mut bound = f32::INFINITY;
        let mut from = start;
        while let Some(to) = self.plan.joint(self.text, from, end) {
            bound = bound.min(self.part_of_word(from, to, before)?);
            from = to;
        }
        if from == start {
            return self.spell(start, end, key).map(|_| ());
        }
        bound = bound.min(self.part_of_word(from, end, before)?);
        self.remember(start, end, key, before, bound.max(0.0));
        Ok(())
    }

    /// Handles a part of a word that has no other parts, and gives the bound of its ids as part of the
    /// word whose ids began with that number.
    fn part_of_word(&mut self, start: usize, end: usize, before: usize) -> Result<f32> {
        let tokens = self.part.ids.len() - before;
        let key = self.key(start, end);
        let bound = if let Some(known) = self.recall(key) {
            self.part.ids.extend_from_slice(&known.ids[..known.count]);
            match self.scores {
                Some(_) => known.bound(),
                None => f32::INFINITY,
            }
        } else if let Some(bound) = self.recall_long(start, end, key) {
            bound
        } else {
            self.spell(start, end, key)?
        };
        // So much may the tokens before it add, and a little more because sums are rounded.
        Ok(bound - 1.01 * tokens as f32 * self.largest)
    }

    /// Asks the other memory, where the first one is known to know nothing but that there is something;
    /// gives the bound of the ids.
    fn recall_long(&mut self, start: usize, end: usize, key: u128) -> Option<f32> {
        if key != TOO_LONG {
            self.memory
                .cache
                .recall(key)
                .filter(|known| known.count == MANY)?;
        }
        let (ids, bound) = self.memory.long.recall(&self.text[start..end])?;
        if let Some(scores) = self.scores {
            if self.sum.abs() >= bound {
                return None;
            }
            for &id in ids {
                self.sum += scores[id as usize];
            }
        }
        self.part.ids.extend_from_slice(ids);
        Some(bound)
    }

    /// Remembers that a word became the ids since there were so many.
    fn remember(&mut self, start: usize, end: usize, key: u128, before: usize, bound: f32) {
        let ids = &self.part.ids[before..];
        let bounded = self.scores.map(|_| bound);
        if key == TOO_LONG || !self.memory.cache.remember(key, ids, bounded) {
            self.memory
                .long
                .remember(&self.text[start..end], ids, bound);
        }
    }

    /// Sends a word through all stages and remembers what came out, whose bound it gives.
    #[cold]
    fn spell(&mut self, start: usize, end: usize, key: u128) -> Result<f32> {
        let word = &self.text[start..end];
        let before = self.part.ids.len();
        let ids = &mut self.part.ids;
        self.worker.scratch.sum = self.sum;
        self.worker.scratch.bound = f32::INFINITY;
        self.pipeline.spell(word, INSIDE, self.worker, ids)?;
        self.sum = self.worker.scratch.sum;
        let bound = self.worker.scratch.bound;
        self.remember(start, end, key, before, bound);
        Ok(bound)
    }
}
