//! What becomes of a word whose ids are in no slot: they may be in the ring; else the word is cut where no token goes on,
//! and what is left goes through the stages and the model.

use super::plan::INSIDE;
use super::shrink::shrink;
use super::windows;
use super::{Run, STRETCH};
use crate::boundaries::seams::cut_at_borders;
use crate::encode::encoded::{Begin, Part};
use crate::encode::staged::run::Run as Whole;
use crate::encode::staged::{Staged, Worker};
use crate::error::Result;
use crate::memory::key;
use crate::memory::piece_cache::MOST_IDS;
use crate::memory::reserve;
use crate::normalize::Context;

impl Run<'_> {
    /// Handles a word whose ids are in no slot.
    #[inline(never)]
    pub(super) fn miss(&mut self, start: usize, end: usize, key: u128) -> Result<()> {
        if end - start >= STRETCH {
            return self.run_stages(start, end, key).map(|_| ());
        }
        self.part.reserve(MOST_IDS)?;
        if self.recall(start, end, key).is_some() {
            return Ok(());
        }
        let before = self.part.begin();
        let mut bound = f32::INFINITY;
        let mut from = start;
        while let Some(to) = self.plan.joint(self.text, from, end) {
            bound = bound.min(self.part_of_word(from, to, before)?);
            from = to;
        }
        if from == start {
            return self.run_stages(start, end, key).map(|_| ());
        }
        bound = bound.min(self.part_of_word(from, end, before)?);
        self.remember(start, end, key, before, bound.max(0.0));
        Ok(())
    }

    /// Handles a part of a word that has no other parts, and gives the bound of its ids as part of the
    /// word that began there.
    fn part_of_word(&mut self, start: usize, end: usize, before: Begin) -> Result<f32> {
        let tokens = self.part.ids.len() - before.ids;
        let key = key::pack_any(self.text, start, end);
        self.part.reserve(MOST_IDS)?;
        let bound = match self.recall(start, end, key) {
            Some(bound) => bound,
            None => self.run_stages(start, end, key)?,
        };
        // So much may the tokens before it add, and a little more because sums are rounded.
        Ok(bound - 1.01 * tokens as f32 * self.largest)
    }

    /// Appends the ids of a word if they are known and hold here; returns their bound.
    fn recall(&mut self, start: usize, end: usize, key: u128) -> Option<f32> {
        let ids = &mut self.part.ids;
        let before = ids.len();
        let bound = self.memory.cache.find(key, &self.text[start..end], ids)?;
        let Some(scores) = self.scores else {
            return Some(f32::INFINITY);
        };
        if self.sum.abs() >= f64::from(bound) {
            ids.truncate(before);
            return None;
        }
        self.sum = scores.add_up(self.sum, &ids[before..]);
        Some(bound)
    }

    /// Remembers that a word became the ids since then, if all of them are there.
    fn remember(&mut self, start: usize, end: usize, key: u128, before: Begin, bound: f32) {
        if self.scores.is_some() && bound == 0.0 {
            if !self.text[start..end].is_ascii() {
                self.memory.unbounded_bytes += end - start;
            }
            return;
        }
        let word = &self.text[start..end];
        let bound = self.scores.map(|_| bound);
        if let Some(ids) = self.part.since(before) {
            self.memory.cache.insert(key, word, ids, bound);
        }
    }

    /// Sends a word through all stages and remembers what came out, whose bound it gives.
    #[cold]
    fn run_stages(&mut self, start: usize, end: usize, key: u128) -> Result<f32> {
        let word = &self.text[start..end];
        let before = self.part.begin();
        self.worker.scratch.sum = self.sum;
        self.worker.scratch.bound = f32::INFINITY;
        self.staged.spell(word, INSIDE, self.worker, self.part)?;
        self.sum = self.worker.scratch.sum;
        let bound = self.worker.scratch.bound;
        self.remember(start, end, key, before, bound);
        Ok(bound)
    }
}

impl Staged {
    /// Appends the ids of a text that goes through the stages by itself.
    pub(super) fn spell(
        &self,
        text: &[u8],
        context: Context,
        worker: &mut Worker,
        part: &mut Part,
    ) -> Result<()> {
        let _spare = reserve::hold_for(text)?;
        if let Some(plan) = &self.plan
            && plan.runs_shrink
            && text.len() > windows::LEAST
            && let Some(shorter) = shrink(text)
        {
            return self.spell(&shorter, context, worker, part);
        }
        if let Some(plan) = &self.plan
            && plan.by_windows
            && text.len() > windows::LEAST
            && self.spell_by_windows(text, context, worker, part)?
        {
            return Ok(());
        }
        if self.plan.as_ref().is_some_and(|plan| plan.by_pieces) {
            return Whole::of(self, text, None, worker, part)
                .through_stages(0..text.len(), context);
        }
        let Worker {
            pieces,
            scratch,
            bytes,
            ..
        } = worker;
        if let Some(plan) = &self.plan
            && context == INSIDE
            && plan.write(text, bytes)
        {
            return match self.model.carrying().filter(|_| self.carries) {
                Some(model) => model.encode_on(bytes, scratch, &mut part.ids),
                None => self.take_piece(bytes, scratch, part),
            };
        }
        self.stages.begin(text, &mut pieces.text, context)?;
        self.stages.pre_tokenize(pieces, context)?;
        let text = pieces.text.bytes();
        for range in &pieces.ranges {
            if let Some(model) = self.model.carrying()
                && self.carries
            {
                model.encode_on(&text[range.clone()], scratch, &mut part.ids)?;
            } else {
                cut_at_borders(text, range.clone(), self.model.border(), |piece| {
                    self.take_piece(&text[piece], scratch, part)
                })?;
            }
        }
        Ok(())
    }
}
