//! Pieces of several words: they seldom come again, but their words do. So words are looked up, many at a time like the pieces
//! of [`super::batch`], and then the model merges what they became.
//!
//! [`crate::models::bpe::superwords`] says where words end and why that is right.

use crate::encode::encoded::Part;
use crate::error::Result;
use crate::memory::key::{self, MAX_PIECE};
use crate::memory::piece_cache::{MAX_IDS, PieceCache};
use crate::models::bpe::superwords::Superwords;
use crate::models::bpe::{Bpe, BpeScratch};

/// Words that are looked up together.
const AT_ONCE: usize = 64;

/// A longer piece goes through windows, which need less memory than the ids of its words.
const LONGEST: usize = 1 << 16;

/// The words of a piece, and what they became.
#[derive(Debug)]
pub(super) struct Words {
    /// Where words end in the piece.
    ends: [usize; AT_ONCE],
    keys: [u128; AT_ONCE],
    buckets: [u32; AT_ONCE],
    /// The ids of all words so far.
    part: Part,
}

impl Default for Words {
    fn default() -> Self {
        Self {
            ends: [0; AT_ONCE],
            keys: [0; AT_ONCE],
            buckets: [0; AT_ONCE],
            part: Part::default(),
        }
    }
}

impl Words {
    /// Appends the ids of a piece, word by word, if it is long and the model has tokens of several words; returns whether it
    /// is so.
    ///
    /// # Errors
    /// [`crate::error::Error::MissingByte`] with the offset in the piece; [`crate::error::Error::Memory`] when there is no memory for
    /// the ids.
    #[inline]
    pub fn take(
        &mut self,
        model: &Bpe,
        piece: &[u8],
        cache: &mut PieceCache,
        scratch: &mut BpeScratch,
        out: &mut Vec<u32>,
    ) -> Result<bool> {
        if piece.len() <= MAX_PIECE || piece.len() > LONGEST {
            return Ok(false);
        }
        let Some(superwords) = model.superwords(piece.len(), scratch) else {
            return Ok(false);
        };
        match model.whole_piece(piece, scratch) {
            Some(id) => out.push(id),
            None => self.take_words(superwords, piece, cache, scratch, out)?,
        }
        Ok(true)
    }

    #[inline(never)]
    fn take_words(
        &mut self,
        superwords: &Superwords,
        piece: &[u8],
        cache: &mut PieceCache,
        scratch: &mut BpeScratch,
        out: &mut Vec<u32>,
    ) -> Result<()> {
        self.part.clear();
        let mut from = 0;
        while from < piece.len() {
            let found = superwords.ends(piece, from, &mut self.ends);
            // The buckets of pieces that wait in the batch may be others then: these pieces are looked up once more.
            cache.grow();
            self.find_buckets(piece, from, found, cache);
            let mut next = 0;
            loop {
                next += self.take_known(next, found, cache)?;
                if next == found {
                    break;
                }
                let start = if next == 0 { from } else { self.ends[next - 1] };
                let word = &piece[start..self.ends[next]];
                let ids = &mut self.part.ids;
                let before = ids.len();
                if cache.find(self.keys[next], word, ids).is_none() {
                    let done = superwords.encode_word(word, scratch, ids);
                    done.map_err(|error| error.moved(start as isize))?;
                    cache.insert(self.keys[next], word, &ids[before..], None);
                }
                next += 1;
            }
            from = self.ends[found - 1];
        }
        superwords.join(&self.part.ids, scratch, out)
    }

    /// Makes the keys of words, finds their buckets, and asks for those ahead.
    #[inline]
    fn find_buckets(
        &mut self,
        piece: &[u8],
        mut from: usize,
        found: usize,
        cache: &mut PieceCache,
    ) {
        let table = cache.buckets();
        let places = self.keys.iter_mut().zip(&mut self.buckets);
        for (&end, (key, bucket)) in self.ends[..found].iter().zip(places) {
            *key = key::of_word(key::pack_any(piece, from, end));
            let index = table.bucket_of(*key);
            table.prefetch(index);
            *bucket = index as u32;
            from = end;
        }
    }

    /// Takes words from number `next` up to `found` as long as slots hold their ids; returns how many.
    #[inline]
    fn take_known(&mut self, next: usize, found: usize, cache: &mut PieceCache) -> Result<usize> {
        self.part.reserve((found - next) * MAX_IDS)?;
        let mut table = cache.buckets();
        let looked_for = self.keys[next..found]
            .iter()
            .zip(&self.buckets[next..found]);
        let slots = looked_for.map_while(|(&key, &bucket)| {
            let value = table.get(bucket as usize, key)?;
            Some((value, value.count()?))
        });
        Ok(self.part.extend_by_slots(slots))
    }
}

#[cfg(test)]
mod tests;
