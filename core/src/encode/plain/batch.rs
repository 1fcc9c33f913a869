//! Pieces through the cache, many at a time.
//!
//! One look at the cache is a wait for memory; 256 of them can wait together. So the pieces that the scanner has cut are
//! kept until there are enough, whatever documents they are of. Then all keys are made and their buckets asked for ahead,
//! and only then compared. Nearly every piece is found at the first look, so that the loop over them has one branch that
//! matters; its ids are written four at a time, however many there are.

use std::ops::Range;

use super::Plain;
use super::ideographs::ByCharacter;
use super::words::{LONGEST, Memory, Words};
use crate::encode::encoded::Part;
use crate::error::Result;
use crate::memory::asking::need_room;
use crate::memory::budget::Share;
use crate::memory::key::{self, MAX_PIECE};
use crate::memory::piece_cache::{MAX_IDS, PieceCache};
use crate::models::bpe::BpeScratch;
use crate::models::bpe::ideographs::Ideographs;
use crate::models::bpe::superwords::Superwords;
use crate::split::AT_A_TIME;
use crate::threads::going_on;

/// Pieces that wait to be looked up.
#[derive(Debug)]
pub(super) struct Batch {
    /// Where the first piece begins in the text.
    from: usize,
    /// Where each ends, which is where the next begins.
    ends: [usize; AT_A_TIME],
    filled: usize,
    /// How many pieces there were at the end of each document that ends here.
    closed: Vec<usize>,
}

impl Default for Batch {
    fn default() -> Self {
        Self {
            from: 0,
            ends: [0; AT_A_TIME],
            filled: 0,
            closed: Vec::new(),
        }
    }
}

impl Batch {
    /// Forgets everything; the next piece begins at `from`.
    pub fn begin(&mut self, from: usize) {
        self.from = from;
        self.filled = 0;
        self.closed.clear();
    }

    /// Where the next piece begins.
    pub fn reached(&self) -> usize {
        match self.filled {
            0 => self.from,
            filled => self.ends[filled - 1],
        }
    }

    pub fn is_full(&self) -> bool {
        self.filled == AT_A_TIME
    }

    /// Room for the ends of the next pieces; to be said to [`Batch::filled`].
    pub fn room(&mut self) -> &mut [usize] {
        &mut self.ends[self.filled..]
    }

    /// Takes so many ends that were written into the room, moved by `base`.
    pub fn filled(&mut self, found: usize, base: usize) {
        for end in &mut self.ends[self.filled..][..found] {
            *end += base;
        }
        self.filled += found;
    }

    /// Takes the end of a document.
    pub fn close(&mut self) -> Result<()> {
        need_room(&mut self.closed, 1, "documents")?;
        self.closed.push(self.filled);
        Ok(())
    }
}

/// What the look-ups need, one per thread.
#[derive(Debug)]
pub(super) struct LookUp {
    cache: PieceCache,
    scratch: BpeScratch,
    words: Words,
    pub(super) by_character: ByCharacter,
    keys: [u128; AT_A_TIME],
    buckets: [u32; AT_A_TIME],
    /// The ids of one piece, while they are only counted.
    counted: Vec<u32>,
}

impl Default for LookUp {
    fn default() -> Self {
        Self {
            cache: PieceCache::default(),
            scratch: BpeScratch::default(),
            words: Words::default(),
            by_character: ByCharacter::default(),
            keys: [0; AT_A_TIME],
            buckets: [0; AT_A_TIME],
            counted: Vec::new(),
        }
    }
}

/// One of so many pieces that is longer than a key is many.
const MANY_LONG: usize = 8;

/// A piece has no more ids than bytes; but for those of a giant one, memory is found as they come.
const MOST_RESERVED: usize = 1 << 24;

/// A piece of so many bytes is counted without holding its ids, which are too many to be remembered.
const GIANT: usize = if cfg!(test) { 256 } else { 1 << 16 };

impl Plain {
    /// Looks all pieces of a batch up, and begins the next where they end. `KEEP`: ids are kept, not only counted.
    ///
    /// # Errors
    /// [`crate::error::Error::MissingByte`] with the offset in the text.
    pub(super) fn look_up<const KEEP: bool>(
        &self,
        text: &[u8],
        batch: &mut Batch,
        look_up: &mut LookUp,
        part: &mut Part,
    ) -> Result<()> {
        going_on::check()?;
        look_up.cache.grow();
        look_up.by_character.begin_batch(&self.model);
        let superwords = self.model.superwords();
        let ends = &batch.ends[..batch.filled];
        match look_up.by_character.goes() {
            _ if superwords.is_some() => {}
            true => look_up.find_buckets::<true>(text, batch.from, ends),
            false => look_up.find_buckets::<false>(text, batch.from, ends),
        }
        let mut take = |from, ends: &[usize], done, part: &mut Part| match superwords {
            Some(superwords) => {
                self.take_by_words::<KEEP>(superwords, text, from, &ends[done..], look_up, part)
            }
            None => self.take::<KEEP>(text, from, ends, done, look_up, part),
        };
        need_room(&mut part.ends, batch.closed.len(), "documents")?;
        let mut from = batch.from;
        let mut done = 0;
        for &closed in &batch.closed {
            take(from, &batch.ends[..closed], done, part)?;
            if closed > done {
                (done, from) = (closed, batch.ends[closed - 1]);
            }
            part.ends.push(part.total());
        }
        take(from, &batch.ends[..batch.filled], done, part)?;
        batch.begin(batch.reached());
        Ok(())
    }

    /// Takes the pieces of a batch from number `done` on, which begins at `from`.
    #[inline]
    fn take<const KEEP: bool>(
        &self,
        text: &[u8],
        mut from: usize,
        ends: &[usize],
        done: usize,
        look_up: &mut LookUp,
        part: &mut Part,
    ) -> Result<()> {
        let mut next = done;
        while next < ends.len() {
            if KEEP {
                part.reserve((ends.len() - next) * MAX_IDS)?;
            }
            let found = look_up.take_known::<KEEP>(next, ends.len(), part);
            next += found;
            if next == ends.len() {
                break;
            }
            if next > 0 && found > 0 {
                from = ends[next - 1];
            }
            let rest = &ends[next..];
            next +=
                self.take_unknown::<KEEP>(text, from, rest, look_up.keys[next], look_up, part)?;
            from = ends[next - 1];
        }
        Ok(())
    }

    /// Takes pieces that begin at `from` and end at `ends` word by word, but for those that go otherwise.
    #[inline(never)]
    fn take_by_words<const KEEP: bool>(
        &self,
        superwords: &Superwords,
        text: &[u8],
        mut from: usize,
        ends: &[usize],
        look_up: &mut LookUp,
        part: &mut Part,
    ) -> Result<()> {
        let mut next = 0;
        while next < ends.len() {
            let LookUp {
                cache,
                scratch,
                words,
                by_character,
                counted,
                ..
            } = &mut *look_up;
            let mut start = from;
            let goes = ends[next..].iter().take_while(|&&end| {
                let piece = std::mem::replace(&mut start, end)..end;
                piece.len() <= LONGEST
                    && !by_character.takes(text, piece.start, piece.end)
                    && self.model.whole_piece(&text[piece], scratch).is_none()
            });
            let count = goes.count();
            if count > 0 {
                let pieces = &ends[next..next + count];
                let mut memory = Memory {
                    cache,
                    scratch,
                    by_character,
                    counted,
                };
                words.take::<KEEP>(superwords, text, from, pieces, &mut memory, part)?;
                next += count;
            } else {
                let (rest, key) = (&ends[next..], key::NONE);
                let is_chinese = by_character.takes(text, from, rest[0]);
                let taken = self.take_unknown::<KEEP>(text, from, rest, key, look_up, part)?;
                look_up
                    .by_character
                    .found(if is_chinese { taken } else { 0 });
                next += taken;
            }
            from = ends[next - 1];
        }
        Ok(())
    }

    /// Takes a piece that no slot holds the ids of, or several of Chinese that go by their characters; returns how many. `ends`
    /// are its end and those of the pieces behind it.
    ///
    /// All of this stands outside the loop over pieces that are known, which is slower with any of it.
    #[inline(never)]
    fn take_unknown<const KEEP: bool>(
        &self,
        text: &[u8],
        from: usize,
        ends: &[usize],
        key: u128,
        look_up: &mut LookUp,
        part: &mut Part,
    ) -> Result<usize> {
        let LookUp {
            scratch,
            by_character,
            counted,
            ..
        } = look_up;
        if key == key::NONE && by_character.goes() {
            let memory = (scratch, counted);
            let taken = by_character.take::<KEEP>(&self.model, text, from, ends, memory, part)?;
            if taken > 0 {
                return Ok(taken);
            }
        }
        if let Some(&end) = ends.first() {
            self.take_one::<KEEP>(text, from..end, key, look_up, part)?;
        }
        Ok(1)
    }

    /// Takes a piece that no slot holds the ids of.
    #[inline]
    fn take_one<const KEEP: bool>(
        &self,
        text: &[u8],
        place: Range<usize>,
        key: u128,
        look_up: &mut LookUp,
        part: &mut Part,
    ) -> Result<()> {
        let (from, piece) = (place.start, &text[place.clone()]);
        if !KEEP && piece.len() >= GIANT {
            let counted = self.model.count_piece(piece, &mut look_up.scratch);
            part.add(counted.map_err(|error| error.moved(from as isize))?);
            return Ok(());
        }
        let LookUp {
            cache,
            scratch,
            by_character,
            counted,
            ..
        } = look_up;
        let (start, end) = (place.start, place.end);
        if piece.len() > MAX_PIECE {
            self.model.ask_for_superwords(piece.len(), scratch);
        }
        counted.clear();
        if KEEP {
            part.reserve(piece.len().min(MOST_RESERVED))?;
        }
        let out = if KEEP { &mut part.ids } else { counted };
        let before = out.len();
        let key = match key {
            // It was not to be looked up.
            key::NONE => key::pack_any(text, start, end),
            key => key,
        };
        if cache.find(key, piece, out).is_none() {
            let done = self.model.encode_piece(piece, scratch, out);
            done.map_err(|error| error.moved(from as isize))?;
            cache.insert(key, piece, &out[before..], None);
            by_character.missed(text, start, end);
        }
        if !KEEP {
            part.add(look_up.counted.len() as u64);
        }
        Ok(())
    }
}

impl LookUp {
    /// Changes how much memory may be taken.
    pub fn set_share(&mut self, share: Share) {
        self.cache.set_share(share);
    }

    /// The bytes of what is remembered.
    pub fn bytes(&self) -> usize {
        self.cache.bytes()
    }

    /// Makes keys, finds buckets, and asks for those ahead; not for pieces that go by their characters, if any may.
    #[inline]
    fn find_buckets<const SOME_APART: bool>(
        &mut self,
        text: &[u8],
        mut from: usize,
        ends: &[usize],
    ) {
        let table = self.cache.buckets();
        let places = self.keys.iter_mut().zip(&mut self.buckets);
        let (mut long, mut characters) = (0, 0);
        for (&end, (key, bucket)) in ends.iter().zip(places) {
            if SOME_APART && Ideographs::may_be(text, from, end) {
                characters += 1;
                (*key, *bucket, from) = (key::NONE, 0, end);
                continue;
            }
            *key = key::pack_any(text, from, end);
            long += usize::from(end - from > MAX_PIECE);
            let index = table.bucket_of(*key);
            table.prefetch(index);
            *bucket = index as u32;
            from = end;
        }
        let looked_for = self.keys.iter().copied().zip(self.buckets);
        let looked_for = looked_for.take(ends.len());
        if MANY_LONG * long > ends.len() {
            self.cache.prefetch_more(looked_for);
        } else if long > 0 {
            // Looking at all of them takes longer than waiting for a few.
            let long = looked_for.filter(|&(key, _)| key::is_long(key));
            self.cache.prefetch_more(long);
        }
        if SOME_APART {
            self.by_character.found(characters);
        }
    }

    /// Takes pieces from number `next` up to `end` as long as slots hold their ids and four more have room; says how many.
    #[inline]
    fn take_known<const KEEP: bool>(&mut self, next: usize, end: usize, part: &mut Part) -> usize {
        let mut table = self.cache.buckets();
        let looked_for = self.keys[next..end].iter().zip(&self.buckets[next..end]);
        let slots = looked_for.map_while(|(&key, &bucket)| {
            let value = table.get(bucket as usize, key)?;
            Some((value, value.count()?))
        });
        match KEEP {
            true => part.extend_by_slots(slots),
            false => part.count_slots(slots),
        }
    }
}
