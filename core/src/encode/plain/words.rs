//! Pieces of several words: they seldom come again, but their words do. So words are looked up, many at a time like the pieces
//! of [`super::batch`], whichever piece they stand in, and then the model merges what they became, inside each piece.
//!
//! [`crate::models::bpe::superwords`] says where words end and why that is right.

use super::ideographs::ByCharacter;
use crate::encode::encoded::Part;
use crate::error::Result;
use crate::memory::key;
use crate::memory::piece_cache::{MAX_IDS, PieceCache};
use crate::models::bpe::BpeScratch;
use crate::models::bpe::superwords::{Joined, Superwords};

/// Words that are looked up together.
const AT_ONCE: usize = if cfg!(test) { 24 } else { 256 };

/// A longer piece goes through windows, which need less memory than the ids of its words.
pub(super) const LONGEST: usize = 1 << 16;

/// The words that are looked up together, and what all words became whose piece has not ended yet.
#[derive(Debug)]
pub(super) struct Words {
    /// Where words end in the text.
    ends: [usize; AT_ONCE],
    keys: [u128; AT_ONCE],
    buckets: [u32; AT_ONCE],
    /// How many ids there are up to each word's end.
    reached: [usize; AT_ONCE],
    /// For each piece that ends, how many words there are up to its end, and then how many ids.
    closed: [usize; AT_ONCE],
    part: Part,
    /// What some ids became together.
    joined: Joined,
}

impl Default for Words {
    fn default() -> Self {
        Self {
            ends: [0; AT_ONCE],
            keys: [0; AT_ONCE],
            buckets: [0; AT_ONCE],
            reached: [0; AT_ONCE],
            closed: [0; AT_ONCE],
            part: Part::new(),
            joined: Joined::default(),
        }
    }
}

/// What a look-up needs.
#[derive(Debug)]
pub(super) struct Memory<'a> {
    pub cache: &'a mut PieceCache,
    pub scratch: &'a mut BpeScratch,
    /// Is told of words that the cache does not know.
    pub by_character: &'a mut ByCharacter,
    /// The ids of some pieces, while they are only counted.
    pub counted: &'a mut Vec<u32>,
}

impl Words {
    /// Appends the ids of pieces of a text that stand side by side from `from` on, none of them longer than [`LONGEST`]; `pieces`
    /// are their ends.
    ///
    /// # Errors
    /// [`crate::error::Error::MissingByte`] with the offset in the text; [`crate::error::Error::Memory`] when there is no memory for
    /// the ids.
    #[inline(never)]
    pub fn take<const KEEP: bool>(
        &mut self,
        superwords: &Superwords,
        text: &[u8],
        mut from: usize,
        mut pieces: &[usize],
        memory: &mut Memory<'_>,
        part: &mut Part,
    ) -> Result<()> {
        self.part.clear();
        while !pieces.is_empty() {
            memory.cache.grow();
            let (found, ended) =
                superwords.find_words(text, from, pieces, &mut self.ends, &mut self.closed);
            self.ask(text, from, found, memory.cache);
            self.look_up(superwords, text, from, found, memory)?;
            from = self.ends[found - 1];
            pieces = &pieces[ended..];
            self.join::<KEEP>(superwords, ended, memory, part)?;
        }
        Ok(())
    }

    /// Makes the keys of words, finds their buckets, and asks for those.
    #[inline]
    fn ask(&mut self, text: &[u8], mut from: usize, found: usize, cache: &mut PieceCache) {
        let table = cache.buckets();
        let places = self.keys.iter_mut().zip(&mut self.buckets);
        for (&end, (key, bucket)) in self.ends[..found].iter().zip(places) {
            *key = key::of_word(key::pack_any(text, from, end));
            let index = table.bucket_of(*key);
            table.prefetch(index);
            *bucket = index as u32;
            from = end;
        }
    }

    /// Appends the ids of words to those of the words before them.
    #[inline]
    fn look_up(
        &mut self,
        superwords: &Superwords,
        text: &[u8],
        from: usize,
        found: usize,
        memory: &mut Memory<'_>,
    ) -> Result<()> {
        let mut done = 0;
        loop {
            done += self.take_known(done, found, memory.cache)?;
            if done == found {
                return Ok(());
            }
            let start = if done == 0 { from } else { self.ends[done - 1] };
            let (end, key) = (self.ends[done], self.keys[done]);
            let word = &text[start..end];
            let ids = &mut self.part.ids;
            let before = ids.len();
            if memory.cache.find(key, word, ids).is_none() {
                let encoded = superwords.encode_word(word, memory.scratch, ids);
                encoded.map_err(|error| error.moved(start as isize))?;
                memory.cache.insert(key, word, &ids[before..], None);
                memory.by_character.missed(text, start, end);
            }
            self.reached[done] = ids.len();
            done += 1;
        }
    }

    /// Takes words from number `next` on as long as slots hold their ids; returns how many.
    #[inline]
    fn take_known(&mut self, next: usize, found: usize, cache: &mut PieceCache) -> Result<usize> {
        self.part.reserve((found - next) * MAX_IDS)?;
        let mut table = cache.buckets();
        let mut total = self.part.ids.len();
        let looked_for = self.keys[next..found]
            .iter()
            .zip(&self.buckets[next..found])
            .zip(&mut self.reached[next..found]);
        let slots = looked_for.map_while(|((&key, &bucket), reached)| {
            let value = table.get(bucket as usize, key)?;
            let count = value.count()?;
            total += count;
            *reached = total;
            Some((value, count))
        });
        Ok(self.part.extend_by_slots(slots))
    }

    /// Appends what the ids became of the pieces that have ended, so many, and keeps those of the piece that has not.
    #[inline]
    fn join<const KEEP: bool>(
        &mut self,
        superwords: &Superwords,
        ended: usize,
        memory: &mut Memory<'_>,
        part: &mut Part,
    ) -> Result<()> {
        let closed = &mut self.closed[..ended];
        for words in closed.iter_mut() {
            *words = self.reached[*words - 1];
        }
        let Some(&end) = closed.last() else {
            return Ok(());
        };
        let ids = &self.part.ids[..end];
        let (joined, scratch) = (&mut self.joined, &mut *memory.scratch);
        if KEEP {
            part.reserve(end)?;
            superwords.join(ids, closed, joined, scratch, &mut part.ids)?;
        } else {
            memory.counted.clear();
            superwords.join(ids, closed, joined, scratch, memory.counted)?;
            part.add(memory.counted.len() as u64);
        }
        self.part.ids.copy_within(end.., 0);
        self.part.ids.truncate(self.part.ids.len() - end);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
