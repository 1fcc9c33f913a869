//! What becomes of a word that the first memory does not know: the other memory is asked, the word is cut
//! where no token goes on, and what is left goes through the stages and the model.

use super::cache::MANY;
use super::plan::INSIDE;
use super::{Run, STRETCH, TOO_LONG};
use crate::boundaries::seams::cut_at_borders;
use crate::encode::staged::{Pipeline, Worker};
use crate::error::Result;
use crate::normalize::Context;

impl Run<'_> {
    /// Handles a word that the first memory does not know.
    #[inline(never)]
    pub(super) fn seldom(&mut self, start: usize, end: usize, key: u128) -> Result<()> {
        if end - start >= STRETCH {
            return self.spell(start, end, key).map(|_| ());
        }
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
        if self.scores.is_some() && bound == 0.0 {
            if !self.text[start..end].is_ascii() {
                self.memory.lost += end - start;
            }
            return;
        }
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

impl Pipeline {
    /// Appends the ids of a text that goes through the stages by itself.
    pub(super) fn spell(
        &self,
        text: &[u8],
        context: Context,
        worker: &mut Worker,
        ids: &mut Vec<u32>,
    ) -> Result<()> {
        let Worker {
            pieces,
            scratch,
            found,
            bytes,
            ..
        } = worker;
        if let Some(plan) = &self.plan
            && context == INSIDE
            && plan.write(text, bytes)
        {
            found.clear();
            match self.model.carrying().filter(|_| self.carries) {
                Some(model) => model.encode_on(bytes, scratch, found)?,
                None => self.model.encode_piece(bytes, scratch, found)?,
            }
            ids.extend(found.iter().map(|found| found.id));
            return Ok(());
        }
        pieces.text.reset(text, false);
        self.stages.normalize(&mut pieces.text, context)?;
        self.stages.pre_tokenize(pieces, context)?;
        let text = pieces.text.bytes();
        for range in &pieces.ranges {
            found.clear();
            if let Some(model) = self.model.carrying()
                && self.carries
            {
                model.encode_on(&text[range.clone()], scratch, found)?;
            } else {
                cut_at_borders(text, range.clone(), self.model.border(), |part| {
                    self.model.encode_piece(&text[part], scratch, found)
                })?;
            }
            ids.extend(found.iter().map(|found| found.id));
        }
        Ok(())
    }
}
