//! Pieces of Chinese: they seldom come again, but their characters do. So characters are looked up, without any cache, and only
//! where two may become one token, what stands together is merged, and remembered.
//!
//! [`crate::models::bpe::ideographs`] says which characters stand by themselves and why that is right.

use std::ops::Range;

use crate::encode::encoded::Part;
use crate::error::Result;
use crate::memory::key;
use crate::memory::lately::Lately;
use crate::memory::slots::{MAX_IDS, Value};
use crate::models::bpe::ideographs::{BYTES, Ideographs, MOST};
use crate::models::bpe::{Bpe, BpeScratch};

/// So many bytes of such pieces that were not in the cache are worth finding out what characters become.
const FIND_AFTER: usize = if cfg!(test) { 1 << 9 } else { 1 << 18 };
/// So many come before it is tried again where it was not worth it.
const AGAIN_AFTER: usize = if cfg!(test) { 1 << 18 } else { 1 << 22 };
/// What counts of earlier batches is less by this part at each batch.
const LATELY: usize = 4;
/// So many pieces of a batch that are not in the cache are many, and so few that go by their characters are few: they cost
/// all others a little.
const MANY: usize = if cfg!(test) { 2 } else { 24 };
const FEW: usize = if cfg!(test) { 0 } else { 8 };
/// How many places there are for what stood together lately, as a power of two.
const PLACES: u32 = 12;
/// Whether it is worth it is asked after so many characters.
const JUDGED: usize = if cfg!(test) { 1 << 10 } else { 1 << 14 };

/// Whether pieces of Chinese go by their characters, and what decides it.
#[derive(Debug)]
pub(super) struct ByCharacter {
    state: State,
    /// The bytes of such pieces that were not in the cache.
    missed: usize,
    /// How many such pieces came in the last batches, the latest ones counted most: those that were not in the cache, or all
    /// that go by their characters.
    lately: usize,
    /// Characters since it was last asked whether this is worth it, and how many of them stood together with others.
    seen: usize,
    joined: usize,
    /// What characters became.
    values: [Value; MOST],
    /// What characters that stood together became.
    remembered: Remembered,
}

impl Default for ByCharacter {
    fn default() -> Self {
        Self {
            state: State::default(),
            missed: 0,
            lately: 0,
            seen: 0,
            joined: 0,
            values: [Value::NONE; MOST],
            remembered: Remembered::default(),
        }
    }
}

type Remembered = Lately<PLACES>;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Few such pieces come, or they are in the cache.
    #[default]
    Waiting,
    Going,
    /// Too many characters stood together with others: the model has tokens for them.
    GivenUp,
}

impl ByCharacter {
    /// Whether pieces go by their characters now.
    #[inline]
    pub fn goes(&self) -> bool {
        self.state == State::Going
    }

    /// Whether a piece may go by its characters now.
    #[inline]
    pub fn takes(&self, text: &[u8], start: usize, end: usize) -> bool {
        self.goes() && Ideographs::may_be(text, start, end)
    }

    /// Decides at the beginning of a batch how its pieces go.
    #[inline]
    pub fn begin_batch(&mut self, model: &Bpe) {
        if self.lately > 0 {
            self.decide(model);
        }
    }

    fn decide(&mut self, model: &Bpe) {
        let enough = match self.state {
            State::GivenUp => AGAIN_AFTER,
            _ if model.knows_ideographs() => 0,
            _ => FIND_AFTER,
        };
        let are_few = self.lately.checked_sub(LATELY * FEW).is_none();
        match self.state {
            State::Going if are_few => self.state = State::Waiting,
            State::Going => {}
            _ if self.lately > LATELY * MANY && self.missed > enough => {
                (self.state, self.missed) = (State::Going, 0);
                self.lately += LATELY * LATELY * FEW; // a few batches more, whatever they bring
            }
            _ => {}
        }
        self.lately -= self.lately.div_ceil(LATELY);
    }

    /// Takes note of pieces of a batch that go by their characters.
    #[inline]
    pub fn found(&mut self, pieces: usize) {
        self.lately += pieces;
    }

    /// Takes note of a piece that was not in the cache.
    #[inline]
    pub fn missed(&mut self, text: &[u8], start: usize, end: usize) {
        if self.state != State::Going && Ideographs::may_be(text, start, end) {
            self.missed += end - start;
            self.lately += 1;
        }
    }

    /// Takes note of characters, and of how many stood together with others.
    #[inline]
    fn judge(&mut self, characters: usize, joined: usize) {
        self.seen += characters;
        self.joined += joined;
        if self.seen > JUDGED {
            if 3 * self.joined > self.seen {
                self.state = State::GivenUp;
            }
            (self.seen, self.joined) = (0, 0);
        }
    }
}

/// Pieces side by side whose characters have all been looked up.
struct Stretch<'a> {
    text: &'a [u8],
    from: usize,
    values: &'a [Value],
    /// The last character of each piece, as bits.
    last: u64,
    /// What may become one token with the next one, which is in the same piece.
    joined: u64,
}

impl ByCharacter {
    /// Appends the ids of the pieces from `from` on, as far as they are made of characters that can be looked up, and there is
    /// room for them; returns how many pieces that were. `memory` is used again.
    ///
    /// # Errors
    /// [`crate::Error::Memory`] when there is no memory for the ids.
    #[inline(never)]
    pub fn take<const KEEP: bool>(
        &mut self,
        model: &Bpe,
        text: &[u8],
        from: usize,
        ends: &[usize],
        memory: (&mut BpeScratch, &mut Vec<u32>),
        part: &mut Part,
    ) -> Result<usize> {
        let (mut reached, mut last) = (from, 0_u64);
        for &end in ends {
            let characters = (end - from) / BYTES;
            if characters > MOST || !Ideographs::may_be(text, reached, end) {
                break;
            }
            reached = end;
            last |= 1 << (characters - 1);
        }
        let ideographs = model.ideographs();
        let (known, joined) = ideographs.look_up(&text[from..reached], &mut self.values);
        // Up to the last piece before a character that is not known.
        last &= u64::MAX
            .checked_shr(u64::BITS - known as u32)
            .unwrap_or_default();
        let characters = (u64::BITS - last.leading_zeros()) as usize;
        let has_next = (1_u64 << characters.saturating_sub(1)) - 1;
        let stretch = Stretch {
            text,
            from,
            values: &self.values[..characters],
            last,
            joined: joined & !last & has_next,
        };
        let together = stretch.append::<KEEP>(model, &mut self.remembered, memory, part)?;
        self.judge(characters, together);
        Ok(last.count_ones() as usize)
    }
}

impl Stretch<'_> {
    /// Appends the ids of all characters; returns how many of them stand together with others.
    #[inline]
    fn append<const KEEP: bool>(
        &self,
        model: &Bpe,
        remembered: &mut Remembered,
        memory: (&mut BpeScratch, &mut Vec<u32>),
        part: &mut Part,
    ) -> Result<usize> {
        let (scratch, merged) = memory;
        if KEEP {
            part.reserve((self.values.len() + 1) * MAX_IDS)?;
        }
        let mut joined = self.joined;
        let (mut done, mut together) = (0, 0);
        while joined != 0 {
            let first = joined.trailing_zeros() as usize;
            let end = first + (joined >> first).trailing_ones() as usize + 1;
            joined &= joined.wrapping_add(1 << first);
            append_values::<KEEP>(&self.values[done..first], part);
            let key = self.key(first..end);
            if let Some(value) = remembered.find(key) {
                append_values::<KEEP>(&[value], part);
            } else {
                merged.clear();
                self.merge(model, first..end, scratch, merged)?;
                remembered.remember(key, merged);
                match KEEP {
                    true => part.ids.extend_from_slice(merged),
                    false => part.add(merged.len() as u64),
                }
            }
            together += end - first;
            done = end;
        }
        append_values::<KEEP>(&self.values[done..], part);
        Ok(together)
    }

    /// Where characters stand in the text.
    #[inline]
    fn place(&self, characters: Range<usize>) -> Range<usize> {
        self.from + BYTES * characters.start..self.from + BYTES * characters.end
    }

    /// Whether characters are a whole piece.
    #[inline]
    fn is_piece(&self, characters: Range<usize>) -> bool {
        let is_last = |character: usize| self.last >> character & 1 != 0;
        (characters.start == 0 || is_last(characters.start - 1)) && is_last(characters.end - 1)
    }

    /// What characters are remembered by: a whole piece can be a token that is not merged.
    #[inline]
    fn key(&self, characters: Range<usize>) -> u128 {
        let Range { start, end } = self.place(characters.clone());
        match (key::pack(self.text, start, end), self.is_piece(characters)) {
            (Some(key), true) => key,
            (Some(key), false) => key::of_some(key),
            (None, _) => key::NONE,
        }
    }

    /// Appends the ids of characters that stand together.
    #[inline(never)]
    fn merge(
        &self,
        model: &Bpe,
        characters: Range<usize>,
        scratch: &mut BpeScratch,
        out: &mut Vec<u32>,
    ) -> Result<()> {
        let place = self.place(characters.clone());
        let bytes = &self.text[place.clone()];
        let merged = match self.is_piece(characters) {
            true => model.encode_piece(bytes, scratch, out),
            false => model.merge_piece(bytes, scratch, out),
        };
        merged.map_err(|error| error.moved(place.start as isize))
    }
}

/// Appends ids, for which there is room.
#[inline]
fn append_values<const KEEP: bool>(values: &[Value], part: &mut Part) {
    let slots = values
        .iter()
        .map(|&value| (value, value.count().unwrap_or_default()));
    match KEEP {
        true => part.extend_by_slots(slots),
        false => part.count_slots(slots),
    };
}

// They need large tables.
#[cfg(all(test, feature = "embedded"))]
mod tests;
