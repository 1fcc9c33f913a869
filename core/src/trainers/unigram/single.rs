//! The steps of training in f32, as [`exact`](super::exact) has them, bit for bit, but on many threads and mostly
//! without its searches: where rounding decides, it is asked.

mod paths;
mod rounded;
#[cfg(test)]
mod tests;

pub use paths::{TwoBest, frequencies};

use self::rounded::{Rounded, add_exp};
use super::exact::counts_to;
use super::lattices::{Block, Lattices, Packing, WordLattice};
use super::scored_pieces::ScoredPieces;
use crate::threads;

/// Scores by id, that of unknown characters last.
fn scores(pieces: &ScoredPieces<f32>) -> Vec<f32> {
    let unknown = [pieces.unknown()];
    pieces.scores().iter().copied().chain(unknown).collect()
}

/// Gives how often each token is expected to occur. What each word adds is worked out on many threads; it is added
/// in the order of the words.
pub fn expect(pieces: &ScoredPieces<f32>, lattices: &Lattices, threads: usize) -> Vec<f32> {
    let scores = scores(pieces);
    let packing = lattices.packing();
    let rounded = Rounded::get();
    threads::fold(
        lattices.blocks().into_iter(),
        threads,
        vec![0.0; pieces.len()],
        |block, made: &mut Shares<'_>| made.find(block, &scores, packing, rounded),
        |expected, made| made.add_to(expected, packing),
    )
}

/// What the tokens in some words are expected to add.
#[derive(Default)]
struct Shares<'a> {
    block: Option<Block<'a>>,
    /// For each edge the logarithm of its share, and about how much it adds.
    logarithms: Vec<f32>,
    about: Vec<f64>,
    places: Places,
}

/// Sums over the segmentations before and behind each place of a word, and where the edges of each begin.
#[derive(Default)]
struct Places {
    before: Vec<f32>,
    behind: Vec<f32>,
    /// The scores of the edges.
    scores: Vec<f32>,
    firsts: Vec<u32>,
}

impl<'a> Shares<'a> {
    fn find(&mut self, block: Block<'a>, scores: &[f32], packing: Packing, rounded: &Rounded) {
        let edges = block.words().map(|word| word.edges.len()).sum();
        self.logarithms.resize(edges, 0.0);
        self.about.resize(edges, 0.0);
        let mut at = 0;
        for word in block.words() {
            self.places.fill(word, scores, packing, rounded);
            let count = word.count as f32 as f64;
            let edges = at..at + word.edges.len();
            at = edges.end;
            let made = self.logarithms[edges.clone()]
                .iter_mut()
                .zip(&mut self.about[edges]);
            for (share, (logarithm, about)) in self.places.shares(word, packing).zip(made) {
                *logarithm = share;
                *about = rounded.times_exp(count, share);
            }
        }
        self.block = Some(block);
    }

    fn add_to(&self, expected: &mut [f32], packing: Packing) {
        let mut at = 0;
        for word in self.block.iter().flat_map(Block::words) {
            let count = word.count as f32 as f64;
            let end = at + word.edges.len();
            let shares = self.logarithms[at..end].iter().zip(&self.about[at..end]);
            at = end;
            for (&edge, (&logarithm, &about)) in word.edges.iter().zip(shares) {
                let place = counts_to(packing.id(edge), expected.len());
                add_exp(&mut expected[place], count, logarithm, about);
            }
        }
    }
}

impl Places {
    /// The logarithms of the share that each edge has in all segmentations.
    fn shares(&self, word: WordLattice<'_>, packing: Packing) -> impl Iterator<Item = f32> {
        let Self {
            before,
            behind,
            scores,
            ..
        } = self;
        let whole = before[word.characters];
        let edges = packing.placed(word.edges).zip(scores);
        edges.map(move |((start, edge), score)| {
            before[start] + score + behind[start + packing.length(edge)] - whole
        })
    }

    fn fill(&mut self, word: WordLattice<'_>, scores: &[f32], packing: Packing, rounded: &Rounded) {
        let Self {
            before,
            behind,
            scores: own,
            firsts,
        } = self;
        // Nothing is minus infinity, to which anything can be added.
        before.clear();
        before.resize(word.characters + 1, f32::NEG_INFINITY);
        before[0] = 0.0;
        firsts.clear();
        own.clear();
        own.resize(word.edges.len(), 0.0);
        let (mut at, mut left) = (0, 0.0);
        for (number, (&edge, score)) in word.edges.iter().zip(&mut own[..]).enumerate() {
            let length = packing.length(edge);
            if length == 1 {
                left = before[at];
                at += 1;
                firsts.push(number as u32);
            }
            *score = scores[packing.id(edge)];
            let sum = &mut before[at - 1 + length];
            *sum = rounded.log_add(*sum, *score + left);
        }
        behind.clear();
        behind.resize(word.characters + 1, 0.0);
        let mut last = word.edges.len();
        for (start, &first) in firsts.iter().enumerate().rev() {
            let edges = first as usize..last;
            last = first as usize;
            let lengths = word.edges[edges.clone()]
                .iter()
                .map(|&edge| packing.length(edge));
            let mut terms = own[edges]
                .iter()
                .zip(lengths)
                .map(|(score, length)| score + behind[start + length]);
            let single = terms.next().unwrap_or_default();
            behind[start] = terms.fold(single, |sum, term| rounded.log_add(sum, term));
        }
    }
}
