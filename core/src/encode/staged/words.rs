//! The fast way: words of the original text are looked up, and only those not met before go through the
//! stages and the model.
//!
//! The slow way, stage by stage over the whole text, stays beside it: it is what a word that is not
//! known goes through, and what the tests hold this way to. [`plan`] says where words end and why that
//! is right; here is the loop. It reads 64 bytes at a time, finds the places where words begin as bits
//! of a number, and looks words up in batches, so that the memory has their slots at hand by then.

mod characters;
mod look_up;
mod masks;
mod misses;
pub(super) mod plan;
mod shrink;
#[cfg(test)]
mod tests;
mod windows;

use characters::{Characters, Fate};
use masks::{BLOCK, Before};
use plan::{BLANK, INSIDE, MARK, Plan};

use super::{Staged, Worker};
use crate::encode::encoded::Part;
use crate::error::Result;
use crate::memory::budget::Share;
use crate::memory::key;
use crate::memory::piece_cache::PieceCache;
use crate::models::model::{Carrying, Scores};
use crate::normalize::Context;

/// How many words are looked up together.
const BATCH: usize = 128;
/// The last byte of a key that is no word's, but a place among characters.
const CHARACTER: u128 = 0x80;
/// A sum of scores above which a word's best segmentation must lead by about one to be sure.
const LARGE: f64 = 4e5;
/// How long stretches are that go through the stages together where sums are [`LARGE`].
const STRETCH: usize = 1 << 14;
/// The bits that bytes outside ASCII have in a key.
const OUTSIDE_ASCII: u128 = 0x0080_8080_8080_8080_8080_8080_8080_8080;

/// What one thread remembers.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// What words became, as they stand in the text: not what pieces become that have gone through the stages.
    cache: PieceCache,
    characters: Characters,
    /// How many bytes went through as words lately, and how many of those in words outside ASCII whose
    /// ids hold nowhere else.
    word_bytes: usize,
    unbounded_bytes: usize,
    /// How many bytes are to go through the stages in long stretches, because that was too many.
    bypass_bytes: usize,
}

impl Memory {
    /// Changes how much memory may be taken.
    pub fn set_share(&mut self, share: Share) {
        let characters = share.most / 8;
        let most = share.most - characters;
        self.characters.set_most(characters);
        self.cache.set_share(Share {
            wanted: share.wanted.min(most),
            most,
        });
    }

    /// The bytes of what is remembered.
    pub fn bytes(&self) -> usize {
        self.cache.bytes() + self.characters.bytes()
    }
}

/// One text on its way.
struct Run<'a> {
    staged: &'a Staged,
    plan: &'a Plan,
    text: &'a [u8],
    memory: &'a mut Memory,
    worker: &'a mut Worker,
    part: &'a mut Part,
    /// What stands at the beginning of the text, until that was handled.
    begins: Option<Context>,
    /// What scores have added up to, see `Carrying`.
    sum: f64,
    scores: Option<Scores<'a>>,
    largest: f32,
    /// Whether the last token may become one with the next, so that ids are held even where they are only counted.
    fuses: bool,
    keys: [u128; BATCH],
    ranges: [(u32, u32); BATCH],
    buckets: [u32; BATCH],
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
    ) -> Result<()> {
        let mut memory = worker.take_words();
        let carrying = self.model.carrying().filter(|_| self.carries);
        let mut run = Run {
            staged: self,
            plan,
            text,
            memory: &mut memory,
            worker,
            part,
            begins: (plan.begins && !context.continued).then_some(context),
            sum: 0.0,
            scores: carrying.map(Carrying::scores),
            largest: carrying.map_or(0.0, Carrying::largest),
            fuses: self.model.fuses().is_some(),
            keys: [0; BATCH],
            ranges: [(0, 0); BATCH],
            buckets: [0; BATCH],
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
        let mut before = Before::default();
        for at in (0..self.text.len()).step_by(BLOCK) {
            if self.scores.is_some() {
                self.update_bypass();
            }
            let mut begins = match &self.plan.places {
                Some(places) => before.begins_by_places(places, self.text, at),
                None => before.begins(&self.text[at..], &self.plan.classes),
            };
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
        let is_large = match self.scores {
            None => return false,
            Some(Scores::Single(_)) => self.sum.abs() > LARGE,
            Some(Scores::Double(_)) => false,
        };
        end - start < STRETCH && (is_large || self.memory.bypass_bytes > 0)
    }

    /// Counts a block that comes, and decides from time to time whether words are worth it.
    #[inline]
    fn update_bypass(&mut self) {
        let memory = &mut *self.memory;
        if memory.bypass_bytes > 0 {
            memory.bypass_bytes = memory.bypass_bytes.saturating_sub(BLOCK);
            return;
        }
        memory.word_bytes += BLOCK;
        if memory.word_bytes >= STRETCH / 4 {
            if memory.unbounded_bytes > memory.word_bytes / 2 {
                memory.bypass_bytes = 2 * STRETCH;
            }
            (memory.word_bytes, memory.unbounded_bytes) = (0, 0);
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
        if self.begins.is_some() {
            return self.first_word(start, end);
        }
        if self.plan.blanks_go && self.plan.classes[usize::from(self.text[start])] == BLANK {
            start += 1;
            if start == end {
                return Ok(());
            }
        }
        let apart = !matches!(self.plan.characters, plan::Apart::Never);
        let key = key::pack_any(self.text, start, end);
        if !apart || self.is_ascii(key, start, end) {
            return self.wait(key, start, end);
        }
        self.characters(start, end)
    }

    /// Takes the word at the beginning of the text.
    #[cold]
    fn first_word(&mut self, start: usize, end: usize) -> Result<()> {
        let Some(context) = self.begins.take() else {
            return Ok(());
        };
        let word = &self.text[start..end];
        self.look_up()?;
        self.worker.scratch.sum = self.sum;
        let done = self.staged.spell(word, context, self.worker, self.part);
        self.sum = self.worker.scratch.sum;
        done
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
                self.wait(CHARACTER << 120 | u128::from(place), at, at + length)?;
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

    /// Whether a word has no bytes outside ASCII, which the key of a short one tells.
    #[inline]
    fn is_ascii(&self, key: u128, start: usize, end: usize) -> bool {
        match end - start <= key::MAX_PIECE {
            true => key & OUTSIDE_ASCII == 0,
            false => self.text[start..end].is_ascii(),
        }
    }

    fn stretch(&mut self, start: usize, end: usize) -> Result<()> {
        self.wait(key::pack_any(self.text, start, end), start, end)
    }

    /// Learns what becomes of a character.
    #[cold]
    fn learn(&mut self, code_point: u32) -> Result<Fate> {
        if self.memory.characters.is_full() {
            return Ok(Fate::Joined);
        }
        let alone = char::from_u32(code_point)
            .filter(|&character| self.plan.stands_alone(character, &self.staged.stages));
        let mut part = Part::default();
        let ids = match alone {
            Some(character) => {
                let mut text = [0; 4];
                let text = character.encode_utf8(&mut text).as_bytes();
                let done = self.staged.spell(text, INSIDE, self.worker, &mut part);
                // What has no tokens is an error where it stands, and is told with its place.
                done.is_ok().then_some(&part.ids[..])
            }
            None => None,
        };
        Ok(self.memory.characters.learn(code_point, ids))
    }
}
