//! The fast way: words of the original text are looked up, and only those not met before go through the
//! stages and the model.
//!
//! The slow way, stage by stage over the whole text, stays beside it: it is what a word that is not
//! known goes through, and what the tests hold this way to. [`plan`] says where words end and why that
//! is right; here is the loop. It reads 64 bytes at a time, finds the places where words begin as bits
//! of a number, and looks words up in batches, so that the memory has their slots at hand by then.

mod cache;
mod characters;
mod long_cache;
mod masks;
pub(super) mod plan;
mod seldom;
#[cfg(test)]
mod tests;

use cache::{Known, MANY, MAX_IDS, MAX_WORD, WordCache};
use characters::{Characters, Fate};
use long_cache::LongCache;
use masks::{BLOCK, Masks};
use plan::{BLANK, INSIDE, MARK, Plan};

use super::{Staged, Worker};
use crate::encode::encoded::Part;
use crate::error::Result;
use crate::models::model::Carrying;
use crate::normalize::Context;

/// How many words are looked up together.
const BATCH: usize = 64;
/// No word that is remembered has a key with this bit: that is a place among characters.
const CHARACTER: u128 = 1 << 127;
/// The key of a word that is too long to be remembered.
const TOO_LONG: u128 = 0;
/// A sum of scores above which a word's best segmentation must lead by about one to be sure.
const LARGE: f32 = 4e5;
/// How long stretches are that go through the stages together where sums are [`LARGE`].
const STRETCH: usize = 1 << 14;
/// The bits that bytes outside ASCII have in a key.
const OUTSIDE_ASCII: u128 = 0x0080_8080_8080_8080_8080_8080_8080_8080;

/// What one thread remembers.
#[derive(Debug, Default)]
pub(super) struct Memory {
    cache: WordCache,
    long: LongCache,
    characters: Characters,
    /// How many bytes went through as words lately, and how many of those in words outside ASCII whose
    /// ids hold nowhere else.
    told_apart: usize,
    lost: usize,
    /// How many bytes are to go through the stages in long stretches, because that was too many.
    whole: usize,
}

/// One text on its way.
struct Run<'a> {
    staged: &'a Staged,
    plan: &'a Plan,
    text: &'a [u8],
    memory: &'a mut Memory,
    worker: &'a mut Worker,
    part: &'a mut Part,
    keep: bool,
    /// What stands at the beginning of the text, until that was handled.
    begins: Option<Context>,
    /// What scores have added up to, see `Carrying`.
    sum: f32,
    scores: Option<&'a [f32]>,
    largest: f32,
    keys: [u128; BATCH],
    ranges: [(u32, u32); BATCH],
    waiting: usize,
}

impl Staged {
    /// Appends the ids of a text between special tokens, word by word.
    pub(super) fn encode_words(
        &self,
        plan: &Plan,
        text: &[u8],
        context: Context,
        worker: &mut Worker,
        part: &mut Part,
        keep: bool,
    ) -> Result<()> {
        let mut memory = worker.words.take().unwrap_or_default();
        let carrying = self.model.carrying().filter(|_| self.carries);
        let mut run = Run {
            staged: self,
            plan,
            text,
            memory: &mut memory,
            worker,
            part,
            keep,
            begins: (plan.begins && !context.continued).then_some(context),
            sum: 0.0,
            scores: carrying.map(Carrying::scores),
            largest: carrying.map_or(0.0, Carrying::largest),
            keys: [0; BATCH],
            ranges: [(0, 0); BATCH],
            waiting: 0,
        };
        let result = run.all();
        worker.words = Some(memory);
        result
    }
}

impl Run<'_> {
    fn all(&mut self) -> Result<()> {
        let mut start = 0;
        let mut before = Masks::default();
        for at in (0..self.text.len()).step_by(BLOCK) {
            if self.scores.is_some() {
                self.judge();
            }
            let masks = Masks::of(&self.text[at..], &self.plan.classes);
            let behind = |kind: fn(&Masks) -> u64| kind(&masks) << 1 | kind(&before) >> 63;
            // Of the last byte of a block it is not known, and then no word ends there.
            let before_steady = (masks.settled | masks.blank) >> 1;
            let mut begins = behind(|masks| masks.alone)
                | (masks.blank | masks.alone) & behind(|masks| masks.settled)
                | masks.closes & behind(|masks| masks.letters) & before_steady
                | masks.letters & behind(|masks| masks.opens) & before_steady;
            before = masks;
            while begins != 0 {
                let end = at + begins.trailing_zeros() as usize;
                begins &= begins - 1;
                if end > start && end < self.text.len() && !self.goes_on(start, end) {
                    start = self.word(start, end)?;
                }
            }
        }
        if start < self.text.len() {
            self.part_of_text(start, self.text.len())?;
        }
        self.look_up()
    }

    /// Whether a stretch is to grow before it goes through the stages: where sums have become so large
    /// that what is remembered seldom holds, and where little can be remembered, words cost more than
    /// they save.
    #[inline]
    fn goes_on(&self, start: usize, end: usize) -> bool {
        self.scores.is_some()
            && end - start < STRETCH
            && (self.sum.abs() > LARGE || self.memory.whole > 0)
    }

    /// Hears that a block comes, and judges from time to time whether words are worth it.
    #[inline]
    fn judge(&mut self) {
        let memory = &mut *self.memory;
        if memory.whole > 0 {
            memory.whole = memory.whole.saturating_sub(BLOCK);
            return;
        }
        memory.told_apart += BLOCK;
        if memory.told_apart >= STRETCH / 4 {
            if memory.lost > memory.told_apart / 2 {
                memory.whole = 2 * STRETCH;
            }
            (memory.told_apart, memory.lost) = (0, 0);
        }
    }

    /// Takes the word that ends at an offset, and says where the next one begins: at the same place as
    /// this one if it goes on.
    #[inline]
    fn word(&mut self, start: usize, end: usize) -> Result<usize> {
        if self.plan.given_marks
            && self.text[end - 1] == MARK[2]
            && self.text[..end].ends_with(MARK)
        {
            return Ok(start);
        }
        self.part_of_text(start, end)?;
        Ok(end)
    }

    #[inline]
    fn part_of_text(&mut self, mut start: usize, end: usize) -> Result<()> {
        if let Some(context) = self.begins.take() {
            let word = &self.text[start..end];
            self.look_up()?;
            self.worker.scratch.sum = self.sum;
            let done = self
                .staged
                .spell(word, context, self.worker, &mut self.part.ids);
            self.sum = self.worker.scratch.sum;
            return done;
        }
        if self.plan.blanks_go && self.plan.classes[usize::from(self.text[start])] == BLANK {
            start += 1;
            if start == end {
                return Ok(());
            }
        }
        let apart = !matches!(self.plan.characters, plan::Apart::Never);
        if end - start <= MAX_WORD {
            let key = cache::key(self.text, start, end);
            if !apart || key & OUTSIDE_ASCII == 0 {
                return self.wait(key, start, end);
            }
        } else if !apart || self.text[start..end].is_ascii() {
            return self.wait(TOO_LONG, start, end);
        }
        self.characters(start, end)
    }

    /// Takes characters out of a stretch that are words by themselves.
    fn characters(&mut self, start: usize, end: usize) -> Result<()> {
        let mut from = start;
        let mut at = start;
        while at < end {
            let byte = self.text[at];
            if byte < 0x80 {
                at += 1;
                continue;
            }
            let (code_point, length) = characters::read(self.text, at);
            let fate = match self.memory.characters.fate(code_point) {
                Fate::Unseen => self.learn(code_point)?,
                known => known,
            };
            let Fate::Alone(place) = fate else {
                at += length;
                continue;
            };
            if from < at && self.attaches(from, at) {
                self.stretch(from, at + length)?;
            } else {
                if from < at {
                    self.stretch(from, at)?;
                }
                self.wait(CHARACTER | u128::from(place), at, at + length)?;
            }
            at += length;
            from = at;
        }
        if from < end {
            self.stretch(from, end)?;
        }
        Ok(())
    }

    /// Whether what follows a place belongs to what stands before it: a blank, or a mark like one.
    fn attaches(&self, from: usize, at: usize) -> bool {
        let is_blank = self.plan.classes[usize::from(self.text[at - 1])] == BLANK;
        is_blank || self.plan.given_marks && self.text[from..at].ends_with(MARK)
    }

    fn stretch(&mut self, start: usize, end: usize) -> Result<()> {
        self.wait(self.key(start, end), start, end)
    }

    fn key(&self, start: usize, end: usize) -> u128 {
        match end - start <= MAX_WORD {
            true => cache::key(self.text, start, end),
            false => TOO_LONG,
        }
    }

    /// Learns what becomes of a character.
    #[cold]
    fn learn(&mut self, code_point: u32) -> Result<Fate> {
        let alone = char::from_u32(code_point)
            .filter(|&character| self.plan.stands_alone(character, &self.staged.stages));
        let mut ids = Vec::new();
        let ids = match alone {
            Some(character) => {
                let mut text = [0; 4];
                let text = character.encode_utf8(&mut text).as_bytes();
                let done = self.staged.spell(text, INSIDE, self.worker, &mut ids);
                // What has no tokens is an error where it stands, and is told with its place.
                done.is_ok().then_some(&ids[..])
            }
            None => None,
        };
        Ok(self.memory.characters.learn(code_point, ids))
    }

    #[inline]
    fn wait(&mut self, key: u128, start: usize, end: usize) -> Result<()> {
        self.memory.cache.prepare(key);
        self.keys[self.waiting] = key;
        self.ranges[self.waiting] = (start as u32, end as u32);
        self.waiting += 1;
        if self.waiting == BATCH {
            self.look_up()?;
        }
        Ok(())
    }

    /// Looks the waiting words up.
    fn look_up(&mut self) -> Result<()> {
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
        self.part.reserve(found)?;
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
}
