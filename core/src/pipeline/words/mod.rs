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
pub(super) mod plan;
#[cfg(test)]
mod tests;

use cache::{Known, MANY, MAX_IDS, MAX_WORD, WordCache};
use characters::{Characters, Fate};
use long_cache::LongCache;
use plan::{ALONE, BLANK, CLOSES, INSIDE, LETTER, MARK, OPENS, Plan, SETTLED};

use super::borders::cut_at_borders;
use super::{Pipeline, Worker};
use crate::error::Result;
use crate::models::staged::Carrying;
use crate::normalize::Context;
use crate::parts::Part;

/// How many words are looked up together.
const BATCH: usize = 64;
/// How many bytes are classified together.
const BLOCK: usize = 64;
/// No word that is remembered has a key with this bit: that is a place among characters.
const CHARACTER: u128 = 1 << 127;
/// The key of a word that is too long to be remembered.
const TOO_LONG: u128 = 0;
/// The bits that bytes outside ASCII have in a key.
const OUTSIDE_ASCII: u128 = 0x0080_8080_8080_8080_8080_8080_8080_8080;

/// What one thread remembers.
#[derive(Debug, Default)]
pub(super) struct Memory {
    cache: WordCache,
    long: LongCache,
    characters: Characters,
}

/// One text on its way.
struct Run<'a> {
    pipeline: &'a Pipeline,
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

impl Pipeline {
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
            pipeline: self,
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
                if end > start && end < self.text.len() {
                    start = self.word(start, end)?;
                }
            }
        }
        if start < self.text.len() {
            self.part_of_text(start, self.text.len())?;
        }
        self.look_up()
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
                .pipeline
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
            .filter(|&character| self.plan.stands_alone(character, &self.pipeline.stages));
        let mut ids = Vec::new();
        let ids = match alone {
            Some(character) => {
                let mut text = [0; 4];
                let text = character.encode_utf8(&mut text).as_bytes();
                let done = self.pipeline.spell(text, INSIDE, self.worker, &mut ids);
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
        if self.scores.is_some() && bound == 0.0 {
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
    fn spell(
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

/// Which bytes of a block are what, the first one in the lowest bit.
#[derive(Clone, Copy, Default)]
struct Masks {
    blank: u64,
    alone: u64,
    settled: u64,
    letters: u64,
    closes: u64,
    opens: u64,
}

impl Masks {
    /// Classifies the first bytes of a text. Bits beyond its end mean nothing.
    #[inline]
    fn of(text: &[u8], classes: &[u8; 256]) -> Self {
        match text.first_chunk() {
            Some(block) => Self::of_block(block, classes),
            None => {
                let mut block = [0; BLOCK];
                block[..text.len()].copy_from_slice(text);
                Self::of_block(&block, classes)
            }
        }
    }

    #[inline]
    fn of_block(block: &[u8; BLOCK], classes: &[u8; 256]) -> Self {
        let own = block.map(|byte| classes[usize::from(byte)]);
        let (eights, _) = own.as_chunks();
        let has = |kind: u8| {
            let bits = eights.iter().enumerate().map(|(number, eight)| {
                let of_kind = u64::from_le_bytes(*eight) >> kind.trailing_zeros();
                // The lowest bits of the eight bytes meet in the highest byte of this product.
                let together =
                    (of_kind & 0x0101_0101_0101_0101).wrapping_mul(0x0102_0408_1020_4080);
                together >> 56 << (8 * number)
            });
            bits.fold(0, |mask, bits| mask | bits)
        };
        Self {
            blank: has(BLANK),
            alone: has(ALONE),
            settled: has(SETTLED),
            letters: has(LETTER),
            closes: has(CLOSES),
            opens: has(OPENS),
        }
    }
}
