//! Applies a list of merges to a piece as the training did that learnt it: in their order, each once.
//!
//! That is not how text is encoded: a token that two merges make may come too late for a merge between them.
//! Pieces do not depend on each other, nor do their [`words`], so each is done by itself: of the merges that are still to
//! come, the first one that stands in it is next.

mod words;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::convert::Infallible;
use std::sync::PoisonError;

use foldhash::fast::RandomState;
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;

use super::alphabet::Alphabet;
use super::pairs::pack;
use crate::error::Result;
use crate::threads;
use crate::threads::sync::Mutex;
use words::{Ends, Known};

/// Pieces whose tokens wait to be laid out.
const AT_ONCE: usize = 1 << 16;
/// Pieces that a thread takes at a time.
const SHARE: usize = 1 << 10;
/// Instead of a number: none.
const NONE: u32 = u32::MAX;

/// Merges in order.
pub(super) struct Replay<'a> {
    merges: &'a [[u32; 3]],
    /// The first merge of each pair.
    first: HashMap<u64, u32, RandomState>,
    /// For each merge, the next one of the same pair.
    again: Vec<u32>,
    ends: Ends,
    /// What threads worked with that are done.
    idle: Mutex<Vec<Memory>>,
}

/// The tokens of some pieces, one piece after the other, and where each ends.
type Merged = (Vec<u32>, Vec<usize>);

/// What a thread works with, used again for each word.
#[derive(Debug)]
struct Memory {
    /// The tokens of the word; [`NONE`] where one went into the token before it.
    tokens: Vec<u32>,
    before: Vec<u32>,
    after: Vec<u32>,
    /// What may be next: the number of a merge, and a place.
    next: BinaryHeap<Reverse<u64>>,
    /// For each merge, whether its pair has stood in a piece before its turn was over.
    met: Vec<bool>,
    known: Known,
}

impl<'a> Replay<'a> {
    /// Takes (left, right, product) in order, and what tokens say.
    pub fn new(merges: &'a [[u32; 3]], tokens: &[Vec<u8>]) -> Self {
        let mut first = HashMap::default();
        let mut again = vec![NONE; merges.len()];
        for (number, &[left, right, _]) in merges.iter().enumerate().rev() {
            match first.entry(pack(left, right)) {
                Entry::Vacant(place) => {
                    place.insert(number as u32);
                }
                Entry::Occupied(mut place) => again[number] = place.insert(number as u32),
            }
        }
        Self {
            merges,
            first,
            again,
            ends: Ends::new(merges, tokens),
            idle: Mutex::default(),
        }
    }

    /// Lays pieces out and applies the merges to them; tells `each` of every piece in its order: its tokens, its count.
    ///
    /// # Errors
    /// What `each` gives.
    pub fn lay_out(
        &self,
        pieces: &[(&[u8], u64)],
        alphabet: &mut Alphabet,
        threads: usize,
        mut each: impl FnMut(&[u32], u64) -> Result<()>,
    ) -> Result<()> {
        let (mut symbols, mut ends) = (Vec::new(), Vec::new());
        for some in pieces.chunks(AT_ONCE) {
            symbols.clear();
            ends.clear();
            ends.push(0);
            for (piece, _) in some {
                alphabet.lay_out(piece, &mut symbols);
                ends.push(symbols.len());
            }
            let mut counts = some.iter().map(|&(_, count)| count);
            for (tokens, ends) in self.apply_all(&symbols, &ends, threads) {
                let mut start = 0;
                for (end, count) in ends.into_iter().zip(&mut counts) {
                    each(&tokens[start..end], count)?;
                    start = end;
                }
            }
        }
        Ok(())
    }

    /// Applies the merges to pieces, of which `ends` says where they begin and end in their symbols. Gives the
    /// pieces in their order, some at a time.
    fn apply_all(&self, symbols: &[u32], ends: &[usize], threads: usize) -> Vec<Merged> {
        let shares = (1..ends.len()).step_by(SHARE);
        let begin = |_| self.with_idle(Vec::pop).unwrap_or_else(|| self.memory());
        let work = |memory: &mut Memory, first: usize| {
            let (mut tokens, mut own_ends) = (Vec::new(), Vec::new());
            for piece in ends[first - 1..ends.len().min(first + SHARE)].windows(2) {
                self.apply(&symbols[piece[0]..piece[1]], memory, &mut tokens);
                own_ends.push(tokens.len());
            }
            Ok::<_, Infallible>((tokens, own_ends))
        };
        let end = |memory| self.with_idle(|idle| idle.push(memory));
        let Ok((done, _)) = threads::map_with(shares, threads, begin, work, end);
        done
    }

    /// For each merge, whether it was met in the pieces so far.
    pub fn met(&self) -> Vec<bool> {
        let mut met = vec![false; self.merges.len()];
        self.with_idle(|idle| {
            for memory in idle {
                met.iter_mut()
                    .zip(&memory.met)
                    .for_each(|(met, own)| *met |= own);
            }
        });
        met
    }

    fn with_idle<R>(&self, take: impl FnOnce(&mut Vec<Memory>) -> R) -> R {
        take(&mut self.idle.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Begins to work.
    fn memory(&self) -> Memory {
        Memory {
            tokens: Vec::new(),
            before: Vec::new(),
            after: Vec::new(),
            next: BinaryHeap::new(),
            met: vec![false; self.merges.len()],
            known: Known::default(),
        }
    }

    /// Applies the merges to the symbols of a piece, and appends its tokens to `merged`.
    fn apply(&self, symbols: &[u32], memory: &mut Memory, merged: &mut Vec<u32>) {
        for word in self.ends.words(symbols) {
            if let Some(tokens) = memory.known.find(word) {
                merged.extend_from_slice(tokens);
                continue;
            }
            let begin = merged.len();
            self.apply_to_word(word, memory, merged);
            memory.known.insert(word, &merged[begin..]);
        }
    }

    /// Does the same with symbols that are not divided.
    fn apply_to_word(&self, symbols: &[u32], memory: &mut Memory, merged: &mut Vec<u32>) {
        let length = symbols.len() as u32;
        memory.tokens.clear();
        memory.tokens.extend_from_slice(symbols);
        memory.before.clear();
        memory.before.push(NONE);
        memory.before.extend(0..length);
        memory.after.clear();
        memory.after.extend(1..=length);
        for place in 1..length {
            self.meet(place - 1, place, 0, memory);
        }
        while let Some(Reverse(next)) = memory.next.pop() {
            let (number, place) = ((next >> 32) as u32, next as u32);
            let [left, right, product] = self.merges[number as usize];
            let end = memory.after[place as usize];
            if memory.tokens[place as usize] != left
                || end == length
                || memory.tokens[end as usize] != right
            {
                continue; // one of the two has been merged with another
            }
            let (before, after) = (memory.before[place as usize], memory.after[end as usize]);
            memory.tokens[place as usize] = product;
            memory.tokens[end as usize] = NONE;
            memory.after[place as usize] = after;
            memory.before[after as usize] = place;
            if before != NONE {
                self.meet(before, place, number + 1, memory);
            }
            if after != length {
                self.meet(place, after, number + 1, memory);
            }
        }
        merged.extend(memory.tokens.iter().filter(|&&token| token != NONE));
    }

    /// Takes in that two tokens stand side by side, when the merges before `from` are done.
    #[inline]
    fn meet(&self, place: u32, end: u32, from: u32, memory: &mut Memory) {
        let pair = pack(memory.tokens[place as usize], memory.tokens[end as usize]);
        let Some(&first) = self.first.get(&pair) else {
            return;
        };
        let mut number = first;
        let mut is_next = true;
        while number != NONE {
            if number >= from {
                memory.met[number as usize] = true;
                if std::mem::take(&mut is_next) {
                    let next = u64::from(number) << 32 | u64::from(place);
                    memory.next.push(Reverse(next));
                }
            }
            number = self.again[number as usize];
        }
    }
}

#[cfg(test)]
mod tests;
