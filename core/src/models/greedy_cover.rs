//! Lay tokens over a piece in the order of their ids, each where it cuts none that lies there already (GreedTok: Lim,
//! Choo and Lauw 2025, arXiv:2501.06246). A token may lie over others. What no token lies over becomes characters.
//!
//! A place between two characters is *open* as long as a token may begin or end there. A token that is laid closes the
//! places inside it, and none is ever opened again: whatever comes to lie over a closed place has it inside, too. So a
//! token can be laid where both of its ends are open. As in the authors' code, two tokens of the same id side by side
//! close the place between them.
//!
//! A piece goes by *stretches*, which end where no beginning of a token goes on: those are independent of each other.
//! An automaton of the tokens tells their ends, and one of the tokens from their ends, which reads a stretch from its
//! end, the longest token that begins at each place. In a stretch, a queue has the next token of each place, the lowest
//! id in front.
//!
//! Complexity: reading is linear. Each token that begins at a place is looked at once: at most as many as one token has
//! others as its beginnings. Memory is linear in the longest stretch, and in the tokens: a token's list of its beginnings
//! is no longer than its text.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::automaton::{Automaton, ROOT, read_symbol, symbols_of};
use super::found::{Counted, Tokens, reserve};
use super::model::{Found, Model, check_unknown};
use super::scratch::Scratch;
use crate::error::{Error, Result};
use crate::tables::{NONE, TokenTable};

/// Tokens that are laid in the order of their ids.
#[derive(Debug)]
pub struct GreedyCover {
    tokens: TokenTable<'static>,
    automaton: Automaton,
    /// Of the tokens from their ends.
    reversed: Automaton,
    /// By id.
    beginnings: Vec<Beginnings>,
    /// The ids that `beginnings` speaks of.
    ids: Vec<u32>,
    unk_id: Option<u32>,
}

/// What is known of a token.
#[derive(Clone, Copy, Debug, Default)]
struct Beginnings {
    /// Its characters.
    length: u32,
    /// Where the ids of the tokens of several characters that it begins with are, itself among them, ascending.
    start: u32,
    end: u32,
}

/// A character of a stretch, and the place before it.
#[derive(Clone, Copy, Debug)]
struct Place {
    symbol: u32,
    /// Where it is in the piece.
    at: u32,
    /// The longest token that begins here, or [`NONE`].
    longest: u32,
    /// The last token that was laid from here on, or [`NONE`].
    from: u32,
    /// The last token that was laid up to here, or [`NONE`].
    to: u32,
    open: bool,
}

impl Place {
    fn new(symbol: u32, at: usize) -> Self {
        Self {
            symbol,
            at: at as u32,
            longest: NONE,
            from: NONE,
            to: NONE,
            open: true,
        }
    }
}

/// Working memory.
#[derive(Debug, Default)]
struct Cover {
    /// Those of a stretch, and one for its end.
    places: Vec<Place>,
    /// Tokens that may be laid, each with its place: the id in the upper half.
    queue: BinaryHeap<Reverse<u64>>,
}

impl GreedyCover {
    /// Takes all tokens; of equal ones the lowest id counts. A character without one becomes `unk_id`, or is an error.
    ///
    /// # Errors
    /// When the id for unknown characters is too high for one.
    pub fn new(tokens: TokenTable<'static>, unk_id: Option<u32>) -> Result<Self> {
        check_unknown(unk_id)?;
        let spelt = || tokens.iter().map(|(id, text)| (id, symbols_of(text)));
        let automaton = Automaton::new(spelt());
        let reversed = Automaton::new(spelt().map(|(id, mut symbols)| {
            symbols.reverse();
            (id, symbols)
        }));
        let mut beginnings = vec![Beginnings::default(); tokens.len()];
        let mut ids = Vec::new();
        for mut node in reversed.by_depth() {
            let Some(id) = reversed.token(node) else {
                continue;
            };
            let (length, start) = (reversed.depth(node) as u32, ids.len());
            while reversed.depth(node) > 1 {
                ids.extend(reversed.token(node));
                node = reversed.longest_word(reversed.failure(node));
            }
            ids[start..].sort_unstable();
            beginnings[id as usize] = Beginnings {
                length,
                start: start as u32,
                end: ids.len() as u32,
            };
        }
        Ok(Self {
            tokens,
            automaton,
            reversed,
            beginnings,
            ids,
            unk_id,
        })
    }

    fn encode(&self, piece: &[u8], cover: &mut Cover, out: &mut impl Tokens) -> Result<()> {
        let mut start = 0;
        while start < piece.len() {
            start = cover.read(self, piece, start)?;
            cover.lay_all(self)?;
            let mut number = 0;
            while let Some(after) = cover.places.get(number + 1) {
                let Place {
                    symbol, at, from, ..
                } = cover.places[number];
                let (id, end) = match from {
                    NONE => (self.character(symbol), after.at),
                    id => {
                        number += self.length(id) - 1;
                        (Some(id), cover.places[number + 1].at)
                    }
                };
                number += 1;
                let id = id.ok_or(Error::MissingByte {
                    byte: piece[at as usize],
                    offset: at as usize,
                })?;
                out.reserve(1)?;
                out.push(Found { id, start: at, end });
            }
        }
        Ok(())
    }

    /// The token of a character that no token lies over.
    fn character(&self, symbol: u32) -> Option<u32> {
        let node = self.reversed.step(ROOT, symbol);
        self.reversed.token(node).or(self.unk_id)
    }

    /// Characters of a token.
    #[inline]
    fn length(&self, id: u32) -> usize {
        self.beginnings[id as usize].length as usize
    }
}

impl Cover {
    /// Reads a stretch from a place on; says where it ends.
    fn read(&mut self, model: &GreedyCover, piece: &[u8], start: usize) -> Result<usize> {
        self.places.clear();
        let (mut node, mut at) = (ROOT, start);
        while at < piece.len() {
            let (symbol, length) = read_symbol(piece, at);
            node = model.automaton.step(node, symbol);
            if at > start && model.automaton.depth(node) < 2 {
                break;
            }
            reserve(&mut self.places, 2)?;
            self.places.push(Place::new(symbol, at));
            at += length;
        }
        let mut node = ROOT;
        for place in self.places.iter_mut().rev() {
            node = model.reversed.step(node, place.symbol);
            let longest = model.reversed.longest_word(node);
            place.longest = model.reversed.token(longest).unwrap_or(NONE);
        }
        self.places.push(Place::new(0, at));
        Ok(at)
    }

    /// Lays the tokens of a stretch, the lowest ids first, and each from left to right.
    fn lay_all(&mut self, model: &GreedyCover) -> Result<()> {
        let end = self.places.len() - 1;
        let first = self.places[0].longest;
        if first != NONE && model.length(first) == end {
            if end > 1 {
                self.lay(first, 0, end); // whatever would be laid before, it would lie over that
            }
            return Ok(());
        }
        let mut waiting = std::mem::take(&mut self.queue).into_vec();
        waiting.clear();
        reserve(&mut waiting, end)?;
        waiting.extend((0..end).filter_map(|at| self.next_from(model, at, 0)));
        self.queue = waiting.into();
        while let Some(Reverse(next)) = self.queue.pop() {
            let (id, at) = ((next >> 32) as u32, next as u32 as usize);
            if !self.places[at].open {
                continue;
            }
            let end = at + model.length(id);
            if self.places[end].open {
                self.lay(id, at, end);
            }
            if self.places[at].open {
                let next = self.next_from(model, at, id + 1);
                self.queue.extend(next);
            }
        }
        Ok(())
    }

    /// The first token from an id on that may be laid at a place.
    fn next_from(&self, model: &GreedyCover, at: usize, id: u32) -> Option<Reverse<u64>> {
        let longest = model.beginnings.get(self.places[at].longest as usize)?;
        let ids = &model.ids[longest.start as usize..longest.end as usize];
        let mut rest = ids[ids.partition_point(|&other| other < id)..].iter();
        let next = rest.find(|&&id| self.places[at + model.length(id)].open)?;
        Some(Reverse(u64::from(*next) << 32 | at as u64))
    }

    fn lay(&mut self, id: u32, start: usize, end: usize) {
        for place in &mut self.places[start + 1..end] {
            place.open = false;
        }
        self.places[start].open &= self.places[start].to != id;
        self.places[end].open &= self.places[end].from != id;
        self.places[start].from = id;
        self.places[end].to = id;
    }
}

impl Model for GreedyCover {
    fn tokens(&self) -> &TokenTable<'static> {
        &self.tokens
    }

    /// No token goes on across pieces.
    fn fuses(&self) -> Option<u32> {
        None
    }

    fn encode_piece(
        &self,
        piece: &[u8],
        scratch: &mut Scratch,
        out: &mut Vec<Found>,
    ) -> Result<()> {
        self.encode(piece, scratch.own.of(), out)
    }

    fn encode_ids(&self, piece: &[u8], scratch: &mut Scratch, ids: &mut Vec<u32>) -> Result<()> {
        self.encode(piece, scratch.own.of(), ids)
    }

    fn count_ids(&self, piece: &[u8], scratch: &mut Scratch) -> Result<u64> {
        let mut counted = Counted::default();
        self.encode(piece, scratch.own.of(), &mut counted)?;
        Ok(counted.0)
    }
}

#[cfg(test)]
mod tests;
