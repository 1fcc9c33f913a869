//! All tokens of a piece with where they stand, and the search for its best segmentations.
//!
//! The n-best search is A* from the end of the piece (Nagata 1994); the forward scores tell exactly how
//! good the rest can be, so nothing is opened that leads to none of the n.

use super::heap::{self, Ordered};
use super::real::Real;
use crate::error::{Result, invalid};

/// The id of an unknown character in a lattice.
pub const UNKNOWN: u32 = u32::MAX;
/// More partial segmentations than this are refused: with their places in the agenda some 40 bytes each, up to twice
/// that while lists grow.
const MAX_HYPOTHESES: usize = 1 << 24;
/// More tokens than this in all segmentations together are refused: up to 32 bytes each.
const MAX_FOUND: u64 = 1 << 24;
const NONE: u32 = u32::MAX;

/// A token that stands at a place of the piece.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Node<T> {
    /// Where it begins.
    pub start: u32,
    /// Where it ends.
    pub end: u32,
    /// The token, or [`UNKNOWN`].
    pub id: u32,
    /// Its score.
    pub score: T,
    /// The score of the best segmentation of all up to its end that ends with it.
    pub best: T,
}

/// The tokens of a piece. The first node stands before the piece, empty; the others are in order of
/// their beginnings, and among those of their ends.
#[derive(Debug, Default)]
pub struct Lattice<T> {
    nodes: Vec<Node<T>>,
    /// Nodes in order of their ends, and where those of each end begin.
    by_end: Vec<u32>,
    firsts: Vec<u32>,
    length: usize,
}

impl<T: Real> Lattice<T> {
    /// Begins the lattice of a piece of so many bytes.
    pub fn reset(&mut self, length: usize) {
        self.length = length;
        self.nodes.clear();
        self.nodes.push(Node {
            start: 0,
            end: 0,
            id: UNKNOWN,
            score: T::default(),
            best: T::default(),
        });
    }

    /// Adds a token; beginnings, and ends for each beginning, must not descend.
    pub fn push(&mut self, start: usize, end: usize, id: u32, score: T) {
        self.nodes.push(Node {
            start: start as u32,
            end: end as u32,
            id,
            score,
            best: T::default(),
        });
    }

    /// The tokens, without the one before the piece.
    #[must_use]
    pub fn nodes(&self) -> &[Node<T>] {
        &self.nodes[1..]
    }

    /// Fills in the forward scores. Every beginning of a token must be reachable.
    pub fn close(&mut self) {
        self.firsts.clear();
        self.firsts.resize(self.length + 2, 0);
        for node in &self.nodes {
            self.firsts[node.end as usize + 1] += 1;
        }
        for at in 1..self.firsts.len() {
            self.firsts[at] += self.firsts[at - 1];
        }
        self.by_end.clear();
        self.by_end.resize(self.nodes.len(), 0);
        let mut next = self.firsts.clone();
        for (number, node) in self.nodes.iter().enumerate() {
            let place = &mut next[node.end as usize];
            self.by_end[*place as usize] = number as u32;
            *place += 1;
        }
        for number in 1..self.nodes.len() {
            let node = self.nodes[number];
            self.nodes[number].best = self.best_before(node.start as usize).plus(node.score);
        }
    }

    /// The numbers of the nodes that end at a place.
    fn ending(&self, at: usize) -> &[u32] {
        &self.by_end[self.firsts[at] as usize..self.firsts[at + 1] as usize]
    }

    /// The score of the best segmentation up to a place.
    fn best_before(&self, at: usize) -> T {
        let mut scores = self
            .ending(at)
            .iter()
            .map(|&number| self.nodes[number as usize].best);
        let first = scores.next().unwrap_or_default();
        scores.fold(first, |best, score| if score > best { score } else { best })
    }

    /// The best segmentation: for each token the earliest of equals is taken as the one before it.
    pub fn best(&self, out: &mut Vec<Node<T>>) -> T {
        out.clear();
        let total = self.best_before(self.length);
        let (mut at, mut score) = (self.length, T::default());
        while at > 0 {
            // Equal once the score of what follows is added, as rounded.
            let with = |number: u32| self.nodes[number as usize].best.plus(score);
            let ending = self.ending(at);
            let mut chosen = ending[0];
            for &number in &ending[1..] {
                if with(number) > with(chosen) {
                    chosen = number;
                }
            }
            let node = self.nodes[chosen as usize];
            out.push(node);
            (at, score) = (node.start as usize, node.score);
        }
        out.reverse();
        total
    }

    /// The `n` best segmentations with their scores, best first; fewer if there are fewer. Which of
    /// equals comes first depends on the piece alone.
    ///
    /// # Errors
    /// When the search needs too much memory.
    pub fn nbest(&self, n: usize) -> Result<Vec<(Vec<Node<T>>, T)>> {
        let mut found = Vec::new();
        if n == 0 || self.length == 0 {
            return Ok(found);
        }
        let too_many = || {
            invalid!(
                "the {n} best segmentations of a piece of {} bytes are too many to find",
                self.length
            )
        };
        // Known before anything is sought: so many tokens are handed out, and so many beginnings looked at, at least.
        let (ways, fewest) = self.size();
        let asked = ways.min(n as u64);
        if asked.saturating_mul(fewest) > MAX_FOUND || asked.max(fewest) > MAX_HYPOTHESES as u64 {
            return Err(too_many());
        }
        let mut tokens = 0;
        // What is known of each partial segmentation: its first node, what follows, and the score of
        // all behind its first node and of that.
        let mut hypotheses: Vec<(u32, u32, T)> = vec![(NONE, NONE, T::default())];
        let mut agenda: Vec<Ordered<T>> = Vec::new();
        heap::push(&mut agenda, self.best_before(self.length), 0);
        while let Some((score, top)) = heap::pop(&mut agenda) {
            let (node, _, behind) = hypotheses[top as usize];
            if node == 0 {
                let nodes = self.follow(&hypotheses, top);
                tokens += nodes.len() as u64;
                if tokens > MAX_FOUND {
                    return Err(too_many());
                }
                found.push((nodes, score));
                if found.len() == n {
                    break;
                }
                continue;
            }
            let at = match node {
                NONE => self.length,
                node => self.nodes[node as usize].start as usize,
            };
            for &number in self.ending(at) {
                let before = self.nodes[number as usize];
                if hypotheses.len() >= MAX_HYPOTHESES {
                    return Err(too_many());
                }
                heap::push(
                    &mut agenda,
                    before.best.plus(behind),
                    hypotheses.len() as u32,
                );
                hypotheses.push((number, top, before.score.plus(behind)));
            }
        }
        Ok(found)
    }

    /// How many segmentations there are, up to the largest number, and the fewest tokens that one has.
    fn size(&self) -> (u64, u64) {
        let mut sizes = vec![(0_u64, u64::MAX); self.length + 1];
        sizes[0] = (1, 0);
        // In order of their beginnings: what ends at one is complete.
        for node in self.nodes() {
            let (ways, fewest) = sizes[node.start as usize];
            let at_end = &mut sizes[node.end as usize];
            at_end.0 = at_end.0.saturating_add(ways);
            at_end.1 = at_end.1.min(fewest.saturating_add(1));
        }
        sizes[self.length]
    }

    /// The nodes of a finished hypothesis.
    fn follow(&self, hypotheses: &[(u32, u32, T)], finished: u32) -> Vec<Node<T>> {
        let mut nodes = Vec::new();
        let mut next = hypotheses[finished as usize].1;
        while hypotheses[next as usize].0 != NONE {
            let (node, after, _) = hypotheses[next as usize];
            nodes.push(self.nodes[node as usize]);
            next = after;
        }
        nodes
    }
}
