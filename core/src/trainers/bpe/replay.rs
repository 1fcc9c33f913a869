//! Applies a list of merges to a piece as the training did that learnt it: in their order, each once.
//!
//! That is not how text is encoded: a token that two merges make may come too late for a merge between them.
//! Pieces do not depend on each other, so each is done by itself: of the merges that are still to come, the
//! first one that stands in it is next.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::convert::Infallible;

use foldhash::fast::RandomState;
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;

use super::alphabet::Alphabet;
use super::cells::SEPARATOR;
use super::pairs::pack;
use crate::error::Result;
use crate::threads;

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
}

/// The tokens of some pieces, one piece after the other, and where each ends.
type Merged = (Vec<u32>, Vec<usize>);

/// What a thread works with, used again for each piece.
struct Memory {
    /// The tokens of the piece; [`NONE`] where one went into the token before it.
    tokens: Vec<u32>,
    before: Vec<u32>,
    after: Vec<u32>,
    /// What may be next: the number of a merge, and a place.
    next: BinaryHeap<Reverse<u64>>,
    /// For each merge, whether its pair has stood in a piece before its turn was over.
    met: Vec<bool>,
}

impl<'a> Replay<'a> {
    /// Takes (left, right, product) in order.
    pub fn new(merges: &'a [[u32; 3]]) -> Self {
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
        }
    }

    /// Lays pieces out and applies the merges to them; tells `each` of every piece in its order: its tokens, its count.
    /// Gives which merges were met.
    ///
    /// # Errors
    /// What `each` gives.
    pub fn lay_out(
        &self,
        pieces: &[(&[u8], u64)],
        alphabet: &mut Alphabet,
        threads: usize,
        mut each: impl FnMut(&[u32], u64) -> Result<()>,
    ) -> Result<Vec<bool>> {
        let mut met = vec![false; self.merges.len()];
        let (mut symbols, mut ends) = (Vec::new(), Vec::new());
        for some in pieces.chunks(AT_ONCE) {
            symbols.clear();
            ends.clear();
            ends.push(0);
            for (piece, _) in some {
                alphabet.lay_out(piece, SEPARATOR, &mut symbols);
                ends.push(symbols.len());
            }
            let (shares, found) = self.apply_all(&symbols, &ends, threads);
            for own in found {
                met.iter_mut().zip(own).for_each(|(met, own)| *met |= own);
            }
            let mut counts = some.iter().map(|&(_, count)| count);
            for (tokens, ends) in shares {
                let mut start = 0;
                for (end, count) in ends.into_iter().zip(&mut counts) {
                    each(&tokens[start..end], count)?;
                    start = end;
                }
            }
        }
        Ok(met)
    }

    /// Applies the merges to pieces, of which `ends` says where they begin and end in their symbols. Gives the
    /// pieces in their order, some at a time; and by thread, which merges it met.
    fn apply_all(
        &self,
        symbols: &[u32],
        ends: &[usize],
        threads: usize,
    ) -> (Vec<Merged>, Vec<Vec<bool>>) {
        let shares = (1..ends.len()).step_by(SHARE);
        let work = |memory: &mut Memory, first: usize| {
            let (mut tokens, mut own_ends) = (Vec::new(), Vec::new());
            for piece in ends[first - 1..ends.len().min(first + SHARE)].windows(2) {
                self.apply(&symbols[piece[0]..piece[1]], memory, &mut tokens);
                own_ends.push(tokens.len());
            }
            Ok::<_, Infallible>((tokens, own_ends))
        };
        let end = |memory: Memory| memory.met;
        let Ok(done) = threads::map_with(shares, threads, |_| self.memory(), work, end);
        done
    }

    /// Begins to work.
    fn memory(&self) -> Memory {
        Memory {
            tokens: Vec::new(),
            before: Vec::new(),
            after: Vec::new(),
            next: BinaryHeap::new(),
            met: vec![false; self.merges.len()],
        }
    }

    /// Applies the merges to the symbols of a piece, and appends its tokens to `merged`.
    fn apply(&self, symbols: &[u32], memory: &mut Memory, merged: &mut Vec<u32>) {
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
mod tests {
    use super::*;

    fn replayed(merges: &[[u32; 3]], symbols: &[u32]) -> (Vec<u32>, Vec<bool>) {
        let replay = Replay::new(merges);
        let (mut memory, mut merged) = (replay.memory(), Vec::new());
        replay.apply(&[1], &mut memory, &mut Vec::new());
        replay.apply(symbols, &mut memory, &mut merged);
        (merged, memory.met)
    }

    #[test]
    fn a_merge_whose_places_are_used_up_is_met() {
        let merges = [[0, 1, 10], [1, 2, 11], [2, 0, 12], [10, 2, 13]];
        let expected = (vec![13], vec![true, true, false, true]);
        assert_eq!(replayed(&merges, &[0, 1, 2]), expected);
    }

    #[test]
    fn places_do_not_overlap() {
        let merges = [[0, 0, 10], [10, 10, 11]];
        assert_eq!(replayed(&merges, &[0; 7]).0, [11, 10, 0]);
    }

    #[test]
    fn each_merge_has_its_turn_once() {
        // 10 is made again after its own merge had its turn, and the third merge is the first one again.
        let merges = [[10, 2, 11], [0, 1, 10], [10, 2, 12]];
        assert_eq!(replayed(&merges[..2], &[0, 1, 2]).0, [10, 2]);
        let (merged, met) = replayed(&merges, &[0, 1, 2]);
        assert_eq!((merged, met), (vec![12], vec![false, true, true]));
    }
}
