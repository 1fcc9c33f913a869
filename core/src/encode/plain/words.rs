//! Pieces of several words: they seldom come again, but their words do. So words are looked up, many at a time like the pieces
//! of [`super::batch`], and then the model merges what they became.
//!
//! [`crate::models::bpe::superwords`] says where words end and why that is right.

use std::ops::Range;

use crate::encode::encoded::Part;
use crate::error::Result;
use crate::memory::key::{self, MAX_PIECE};
use crate::memory::piece_cache::{MAX_IDS, PieceCache};
use crate::models::bpe::superwords::{Joined, Superwords};
use crate::models::bpe::{Bpe, BpeScratch};

/// Words that are looked up together.
const AT_ONCE: usize = 64;

/// A longer piece goes through windows, which need less memory than the ids of its words.
const LONGEST: usize = 1 << 16;

/// So many pieces ahead is looked for one whose words are asked for.
const AHEAD: usize = 4;

/// What a look-up needs, and where ids go.
#[derive(Debug)]
pub(super) struct LookedUp<'a> {
    pub cache: &'a mut PieceCache,
    pub scratch: &'a mut BpeScratch,
    pub out: &'a mut Vec<u32>,
}

/// Some of the words of a piece, whose buckets were asked for.
#[derive(Debug)]
struct Asked {
    /// Where the first word begins in the text.
    from: usize,
    /// Where words end in the text.
    ends: [usize; AT_ONCE],
    keys: [u128; AT_ONCE],
    buckets: [u32; AT_ONCE],
    /// How many there are; none if nothing was asked for.
    found: usize,
}

impl Default for Asked {
    fn default() -> Self {
        Self {
            from: 0,
            ends: [0; AT_ONCE],
            keys: [0; AT_ONCE],
            buckets: [0; AT_ONCE],
            found: 0,
        }
    }
}

impl Asked {
    /// Finds the first words of what stands at a place, makes their keys, finds their buckets, and asks for those.
    #[inline]
    fn ask(
        &mut self,
        superwords: &Superwords,
        text: &[u8],
        piece: Range<usize>,
        cache: &mut PieceCache,
    ) {
        // The buckets of what waits may be others then: it is looked up once more.
        cache.grow();
        self.from = piece.start;
        self.found = superwords.ends(text, piece.clone(), &mut self.ends);
        let table = cache.buckets();
        let places = self.keys.iter_mut().zip(&mut self.buckets);
        let mut from = piece.start;
        for (&end, (key, bucket)) in self.ends[..self.found].iter().zip(places) {
            *key = key::of_word(key::pack_any(text, from, end));
            let index = table.bucket_of(*key);
            table.prefetch(index);
            *bucket = index as u32;
            from = end;
        }
    }

    /// Where word number `next` stands in the text.
    fn word(&self, next: usize) -> Range<usize> {
        let start = match next {
            0 => self.from,
            _ => self.ends[next - 1],
        };
        start..self.ends[next]
    }

    /// Takes words from number `next` on as long as slots hold their ids; returns how many.
    #[inline]
    fn take_known(&self, next: usize, cache: &mut PieceCache, part: &mut Part) -> Result<usize> {
        part.reserve((self.found - next) * MAX_IDS)?;
        let mut table = cache.buckets();
        let looked_for = self.keys[next..self.found]
            .iter()
            .zip(&self.buckets[next..self.found]);
        let slots = looked_for.map_while(|(&key, &bucket)| {
            let value = table.get(bucket as usize, key)?;
            Some((value, value.count()?))
        });
        Ok(part.extend_by_slots(slots))
    }
}

/// The words of a piece, and what they became.
#[derive(Debug, Default)]
pub(super) struct Words {
    /// The words that are looked up, and those that are next.
    now: Asked,
    next: Asked,
    /// The ids of all words so far.
    part: Part,
    /// What some of them became together.
    joined: Joined,
}

impl Words {
    /// Forgets what was asked for: another text begins, or other memory.
    pub fn begin(&mut self) {
        (self.now.found, self.next.found) = (0, 0);
    }

    /// Appends the ids of a piece of a text, word by word, if it is long and the model has tokens of several words; returns
    /// whether it is so. `ends` are those of the pieces behind it.
    ///
    /// # Errors
    /// [`crate::error::Error::MissingByte`] with the offset in the piece; [`crate::error::Error::Memory`] when there is no memory for
    /// the ids.
    #[inline]
    pub fn take(
        &mut self,
        model: &Bpe,
        text: &[u8],
        piece: Range<usize>,
        ends: &[usize],
        LookedUp {
            cache,
            scratch,
            out,
        }: LookedUp<'_>,
    ) -> Result<bool> {
        if !goes_by_words(&piece) {
            return Ok(false);
        }
        let Some(superwords) = model.superwords(piece.len(), scratch) else {
            return Ok(false);
        };
        match model.whole_piece(&text[piece.clone()], scratch) {
            Some(id) => out.push(id),
            None => {
                let behind = next_piece(piece.end, ends);
                self.find_words(superwords, text, piece, behind, cache, scratch)?;
                superwords.join(&self.part.ids, &mut self.joined, scratch, out)?;
            }
        }
        Ok(true)
    }

    /// Finds the ids of all words of a piece. What comes `behind` it is asked for before it is read.
    #[inline(never)]
    fn find_words(
        &mut self,
        superwords: &Superwords,
        text: &[u8],
        piece: Range<usize>,
        behind: Range<usize>,
        cache: &mut PieceCache,
        scratch: &mut BpeScratch,
    ) -> Result<()> {
        let Self {
            now, next, part, ..
        } = self;
        part.clear();
        if now.found == 0 || now.from != piece.start {
            now.ask(superwords, text, piece.clone(), cache);
        }
        loop {
            let reached = now.ends[now.found - 1];
            let rest = reached..piece.end;
            let is_last = rest.is_empty();
            next.ask(
                superwords,
                text,
                if is_last { behind.clone() } else { rest },
                cache,
            );
            let mut done = 0;
            loop {
                done += now.take_known(done, cache, part)?;
                if done == now.found {
                    break;
                }
                let place = now.word(done);
                let word = &text[place.clone()];
                let before = part.ids.len();
                if cache.find(now.keys[done], word, &mut part.ids).is_none() {
                    let encoded = superwords.encode_word(word, scratch, &mut part.ids);
                    encoded.map_err(|error| error.moved((place.start - piece.start) as isize))?;
                    cache.insert(now.keys[done], word, &part.ids[before..], None);
                }
                done += 1;
            }
            std::mem::swap(now, next);
            if is_last {
                return Ok(());
            }
        }
    }
}

/// Whether a piece is long enough to go word by word. One that is too long goes through windows, which need less memory
/// than the ids of its words.
#[inline]
pub(super) fn goes_by_words(piece: &Range<usize>) -> bool {
    MAX_PIECE < piece.len() && piece.len() <= LONGEST
}

/// The next piece that goes word by word, of a few that begin at a place; an empty one if there is none.
#[inline]
fn next_piece(mut from: usize, ends: &[usize]) -> Range<usize> {
    for &end in ends.iter().take(AHEAD) {
        if goes_by_words(&(from..end)) {
            return from..end;
        }
        from = end;
    }
    0..0
}

#[cfg(test)]
mod tests;
