//! A byte-pair model with tokens of several words as two: what is merged inside words, and what is merged after that.
//!
//! SuperBPE (Liu et al. 2025, arXiv:2503.13423) learns merges inside words first, and then merges across the spaces between
//! them. Its pieces are runs of words, which hardly ever come again, while their words do. Let K be a rank.
//!
//! * If no merge below K takes what a merge from K on makes, all merges below K happen first: those from K on make no
//!   candidate with a rank below K.
//! * If no merge below K joins a token that ends with one byte to a token that begins with another, then as long as these
//!   merges happen, the two sides of a place between such bytes do not touch each other.
//!
//! So a piece is cut at such places, each part (a *word* here) is merged alone with the merges below K, and then those
//! from K on merge what the words became. K is the lowest rank that crosses a space, or near it: see [`limit_of`].

use super::super::merging::table::Merges;
use super::{Bpe, BpeScratch, FIND_AFTER};
use crate::error::Result;
use crate::tables::NONE;
use crate::text::byte_pairs::{BytePairs, PLACES};
pub(crate) use joining::Joined;
use joining::Joins;

mod joining;

/// How many different pairs of bytes there are.
const PAIRS: usize = 1 << 16;

/// Of the merges up to the last one, at least one of so many must be below K.
const INSIDE: u64 = 8;

/// A model with tokens of several words.
#[derive(Clone, Debug)]
pub(crate) struct Superwords {
    /// The merges below K.
    words: Bpe,
    /// The merges from K on.
    across: Joins,
    /// Between which two bytes words are certainly cut.
    cuts: BytePairs,
}

impl Bpe {
    /// The model in two, if it is known to have tokens of several words.
    #[inline]
    pub(crate) fn superwords(&self) -> Option<&Superwords> {
        self.superwords.get()?.as_deref()
    }

    /// Takes note of a long piece: after many of them, finding out whether the model has tokens of several words is worth it.
    #[inline]
    pub(crate) fn ask_for_superwords(&self, length: usize, scratch: &mut BpeScratch) {
        if self.superwords.get().is_none() {
            scratch.asked += length;
            if scratch.asked > FIND_AFTER * self.tokens.len() {
                self.find_superwords();
            }
        }
    }

    #[cold]
    fn find_superwords(&self) {
        self.superwords
            .get_or_make(|| Superwords::of(self).map(Box::new));
    }
}

impl Superwords {
    /// Divides a model; None if it has no tokens of several words, or if that is not worth it.
    fn of(model: &Bpe) -> Option<Self> {
        let entries = entries_of(model);
        let limit = limit_of(model, &entries)?;
        Self::at(model, &entries, limit)
    }

    /// Divides the merges that can happen at a rank; None if one below takes what one from there on makes.
    fn at(model: &Bpe, entries: &[(u32, u32, u32)], limit: u32) -> Option<Self> {
        let is_inside = |&(_, _, rank): &(u32, u32, u32)| rank < limit;
        let (inside, across): (Vec<_>, Vec<_>) = entries.iter().copied().partition(is_inside);
        let mut is_part = vec![false; model.tokens.len()];
        for &(left, right, _) in &inside {
            is_part[left as usize] = true;
            is_part[right as usize] = true;
        }
        let product = |rank| model.merges.product(rank) as usize;
        if across.iter().any(|&(_, _, rank)| is_part[product(rank)]) {
            return None;
        }
        Some(Self {
            // What is in one table can be in two.
            words: model.only(&inside).ok()?,
            across: Joins::new(model, &inside, &across).ok()?,
            cuts: cuts_of(model, &crossings(model, &inside)),
        })
    }

    /// Finds the words of pieces that stand side by side from `from` on, given where these end, as many as there is room for.
    /// Writes where each word ends; and for each piece that ends there too, how many words have come up to its end. Returns how
    /// many words and pieces that are.
    ///
    /// There must be room for as many pieces as words.
    #[inline]
    pub fn find_words(
        &self,
        text: &[u8],
        from: usize,
        pieces: &[usize],
        words: &mut [usize],
        closed: &mut [usize],
    ) -> (usize, usize) {
        let stop = pieces.last().copied().unwrap_or(from);
        let (mut found, mut ended) = (0, 0);
        let mut at = from;
        while at < stop && found < words.len() {
            let mut last = 0_u64;
            for &end in pieces[ended..]
                .iter()
                .take_while(|&&end| end - at <= PLACES)
            {
                last |= 1 << (end - at - 1);
            }
            // Behind the last piece's end are no words.
            let inside = u64::MAX >> PLACES.saturating_sub(stop - at);
            let ends = lowest(
                (self.cuts.likely(text, at) | last) & inside,
                words.len() - found,
            );
            let mut rest = ends;
            for word in words[found..].iter_mut().take(ends.count_ones() as usize) {
                *word = at + 1 + rest.trailing_zeros() as usize;
                rest &= rest.wrapping_sub(1);
            }
            let mut last = last & ends;
            while last != 0 {
                let up_to = last ^ last.wrapping_sub(1);
                closed[ended] = found + (ends & up_to).count_ones() as usize;
                ended += 1;
                last &= last - 1;
            }
            found += ends.count_ones() as usize;
            at += PLACES;
        }
        (found, ended)
    }

    /// Appends the ids of a word inside a piece: not those of the same bytes as a piece, which go on.
    ///
    /// # Errors
    /// As [`Bpe::encode_piece`].
    pub fn encode_word(
        &self,
        word: &[u8],
        scratch: &mut BpeScratch,
        out: &mut Vec<u32>,
    ) -> Result<()> {
        self.words.encode_piece(word, scratch, out)
    }

    /// Appends the ids of pieces, given those of their words, one after the other, where those of each piece end, and what some of
    /// this model became lately.
    ///
    /// # Errors
    /// [`crate::Error::Memory`] when there is no memory for the ids.
    pub fn join(
        &self,
        ids: &[u32],
        ends: &[usize],
        joined: &mut Joined,
        scratch: &mut BpeScratch,
        out: &mut Vec<u32>,
    ) -> Result<()> {
        self.across.join(ids, ends, joined, scratch, out)
    }
}

/// So many of the bits that are set, the lowest ones.
#[inline]
fn lowest(bits: u64, most: usize) -> u64 {
    let mut rest = bits;
    if bits.count_ones() as usize > most {
        for _ in 0..most {
            rest &= rest - 1;
        }
        return bits & !rest;
    }
    bits
}

/// The merges that can happen: for a token that there are several ways to make, the one way that does.
fn entries_of(model: &Bpe) -> Vec<(u32, u32, u32)> {
    model.narrow();
    model.merges().pairs().entries().collect()
}

/// The lowest rank of a merge that crosses two bytes, by [`place`], or [`NONE`].
fn crossings(model: &Bpe, entries: &[(u32, u32, u32)]) -> Vec<u32> {
    let mut lowest = vec![NONE; PAIRS];
    for &(left, right, rank) in entries {
        let edges = (
            model.tokens.get(left).last(),
            model.tokens.get(right).first(),
        );
        if let (Some(&before), Some(&behind)) = edges {
            let lowest = &mut lowest[place(before, behind)];
            *lowest = rank.min(*lowest);
        }
    }
    lowest
}

#[inline]
fn place(before: u8, behind: u8) -> usize {
    usize::from(before) << 8 | usize::from(behind)
}

/// Finds K; None if merges stay inside words, or too few do.
///
/// The more merges are below K, the fewer are left to be done in each piece. But behind a byte that one of them joins to a
/// space, no word ends. A byte counts as much as there are merges that make a token with it at its end. K is the rank, among
/// those that are the lowest to join some byte to a space, for which K times the square of what is left is largest. Bytes such as
/// tabs are joined to spaces early, and so few tokens end with them that this does not matter. At least half must be left, and
/// a quarter of that must be joined to spaces from K on: otherwise there are no superwords, but perhaps runs of whitespace.
fn limit_of(model: &Bpe, entries: &[(u32, u32, u32)]) -> Option<u32> {
    let last = entries.iter().map(|&(_, _, rank)| rank).max()?;
    let mut made = [0_u64; 256];
    for &(_, right, _) in entries {
        if let Some(&byte) = model.tokens.get(right).last() {
            made[usize::from(byte)] += 1;
        }
    }
    made[usize::from(b' ')] = 0;
    let lowest = crossings(model, entries);
    let bytes = || (0..=u8::MAX).filter(|&byte| byte != b' ');
    let before_space = |byte| lowest[place(byte, b' ')];
    let left = |limit: u32| -> u64 {
        let uncrossed = bytes().filter(|&byte| before_space(byte) >= limit);
        uncrossed.map(|byte| made[usize::from(byte)]).sum()
    };
    let worth = |limit: u32| {
        let merges = limit.min(last + 1);
        u128::from(merges) * u128::from(left(limit)).pow(2)
    };
    let limits = bytes().map(before_space).chain([NONE]);
    // Of equals the last: none.
    let limit = limits.max_by_key(|&limit| worth(limit))?;
    let cuts_enough = 2 * left(limit) >= made.iter().sum::<u64>();
    let merges_enough = INSIDE * u64::from(limit) >= u64::from(last);
    let are_crossed = 4 * left(NONE) <= 3 * left(limit);
    (limit != NONE && cuts_enough && merges_enough && are_crossed).then_some(limit)
}

/// Between which two bytes words are cut: where no merge crosses, but not between two letters. There, words would be cut into
/// what does not come more often. Nor where eight classes of bytes cannot tell that from other places, so that no pair has to be
/// looked up where words end: which are given up, the tokens say that end and begin with such bytes.
fn cuts_of(model: &Bpe, crossings: &[u32]) -> BytePairs {
    let cuts = BytePairs::of(|before, behind| {
        let is_edge = !(is_letter(before) && is_letter(behind));
        is_edge && crossings[place(before, behind)] == NONE
    });
    let (mut ends, mut begins) = ([1; 256], [1; 256]);
    for id in 0..model.tokens.len() as u32 {
        let token = model.tokens.get(id);
        if let (Some(&first), Some(&last)) = (token.first(), token.last()) {
            begins[usize::from(first)] += 1;
            ends[usize::from(last)] += 1;
        }
    }
    let cuts = cuts.certain(&ends, &begins);
    debug_assert!(cuts.is_certain());
    cuts
}

/// Whether a byte is a letter or a digit, or a part of a character outside ASCII.
fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || !byte.is_ascii()
}

#[cfg(test)]
mod tests;
