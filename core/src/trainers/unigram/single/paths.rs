//! Best segmentations in f32: found by Viterbi's algorithm where they are better than others by more than rounding
//! can change, and else by the search that rounds as the original.

use super::super::exact::{self, counts_to};
use super::super::lattices::{Block, Home, Lattices, Packing, WordLattice};
use super::super::prune::Alternative;
use super::super::scored_pieces::ScoredPieces;
use super::scores;
use crate::error::Result;
use crate::models::unigram::lattice::{Lattice, Node};
use crate::threads;

/// Gives how often each token occurs in the best segmentations, added in the order of the words.
pub fn frequencies(pieces: &ScoredPieces<f32>, lattices: &Lattices, threads: usize) -> Vec<f32> {
    let scores = scores(pieces);
    let packing = lattices.packing();
    threads::fold(
        lattices.blocks().into_iter(),
        threads,
        vec![0.0; pieces.len()],
        |block, made: &mut Paths| made.find(block, pieces, &scores, packing),
        |frequencies, made| {
            for &(place, count) in &made.tokens {
                frequencies[place] += count;
            }
        },
    )
}

/// The tokens of the best segmentations of some words, with the words' counts.
#[derive(Default)]
struct Paths {
    tokens: Vec<(usize, f32)>,
    path: Vec<u32>,
    steps: Vec<Step>,
    lattice: Lattice<f32>,
    nodes: Vec<Node<f32>>,
}

/// The best way to a place: its score, the token it ends with, and the score of the best of those whose last token
/// begins earlier.
#[derive(Clone, Copy)]
struct Step {
    score: f32,
    edge: u32,
    earlier: f32,
}

impl Paths {
    fn find(
        &mut self,
        block: Block<'_>,
        pieces: &ScoredPieces<f32>,
        scores: &[f32],
        packing: Packing,
    ) {
        self.tokens.clear();
        for word in block.words() {
            let count = word.count as f32;
            let place = |id: usize| counts_to(id, pieces.len());
            if self.walk(word, scores, packing) {
                let ids = self.path.iter().map(|&edge| packing.id(edge));
                self.tokens.extend(ids.map(|id| (place(id), count)));
                continue;
            }
            let (edges, characters) = (word.edges, word.characters);
            exact::fill(&mut self.lattice, pieces, packing, edges, characters);
            self.lattice.best(&mut self.nodes);
            let ids = self.nodes.iter().map(|node| node.id as usize);
            self.tokens.extend(ids.map(|id| (place(id), count)));
        }
    }

    /// Finds the best segmentation, from the right; gives false if another is as good once rounded.
    fn walk(&mut self, word: WordLattice<'_>, scores: &[f32], packing: Packing) -> bool {
        self.path.clear();
        if let [edge] = *word.edges {
            self.path.push(edge);
            return true;
        }
        let nothing = Step {
            score: f32::NEG_INFINITY,
            edge: 0,
            earlier: f32::NEG_INFINITY,
        };
        self.steps.clear();
        self.steps.resize(word.characters + 1, nothing);
        self.steps[0].score = 0.0;
        let (mut at, mut before) = (0, 0.0);
        for &edge in word.edges {
            let length = packing.length(edge);
            if length == 1 {
                before = self.steps[at].score;
                at += 1;
            }
            let score = before + scores[packing.id(edge)];
            let step = &mut self.steps[at - 1 + length];
            if score > step.score {
                *step = Step {
                    score,
                    edge,
                    earlier: step.score,
                };
            }
        }
        let (mut at, mut behind) = (word.characters, 0.0);
        while at > 0 {
            let step = self.steps[at];
            // Of those that are equal with what follows the original takes the one that begins first.
            if step.earlier + behind >= step.score + behind {
                return false;
            }
            self.path.push(step.edge);
            behind = scores[packing.id(step.edge)];
            at -= packing.length(step.edge);
        }
        true
    }
}

/// The two best segmentations of a token's text into other tokens.
#[derive(Default)]
pub struct TwoBest {
    steps: Vec<Two>,
}

/// The scores of the two best ways to a place, and the token that the best ends with.
#[derive(Clone, Copy)]
struct Two {
    best: f64,
    second: f64,
    edge: u32,
}

impl TwoBest {
    /// [`exact::alternative`], which is asked where others are about as good.
    ///
    /// # Errors
    /// As [`exact::alternative`].
    pub fn alternative(
        &mut self,
        pieces: &ScoredPieces<f32>,
        packing: Packing,
        home: Home<'_>,
        others: &mut Vec<usize>,
    ) -> Result<Alternative> {
        if home.length == 1 {
            return Ok(Alternative::None);
        }
        let largest = self.run(pieces, packing, home);
        let own = f64::from(pieces.score(home.id));
        let Two { best, second, .. } = self.steps[home.length];
        // The search of the original adds up to a score for each character, and compares sums of what is before a
        // place with what is behind it: one rounding more. Each rounding is off by 2^-24 of a sum, and no sum is
        // larger than so many of the largest score. Two of its sums compare rightly if they are twice that apart.
        // It takes segmentations in descending order of its sums: something on the way to the best one is always
        // among what it chooses from, and none that is worse by so much comes before it; then so with the second.
        let length = home.length as f64;
        let margin = (length + 2.0) * length * largest.max(own.abs()) * (0.5f64).powi(23);
        if best > own + margin {
            return Ok(Alternative::Better);
        }
        if own <= best + margin || best <= second + margin {
            return exact::alternative(pieces, packing, home, others);
        }
        others.clear();
        let mut at = home.length;
        while at > 0 {
            let edge = self.steps[at].edge;
            others.push(counts_to(packing.id(edge), pieces.len()));
            at -= packing.length(edge);
        }
        others.reverse();
        Ok(Alternative::Without)
    }

    /// Fills in the steps, without the token itself; gives the largest of the scores, without its sign.
    fn run(&mut self, pieces: &ScoredPieces<f32>, packing: Packing, home: Home<'_>) -> f64 {
        let nothing = Two {
            best: f64::NEG_INFINITY,
            second: f64::NEG_INFINITY,
            edge: 0,
        };
        self.steps.clear();
        self.steps.resize(home.length + 1, nothing);
        self.steps[0].best = 0.0;
        let (mut at, mut before, mut largest) = (0, nothing, 0f64);
        for &edge in home.edges {
            let length = packing.length(edge);
            if length == 1 {
                if at == home.length {
                    break;
                }
                before = self.steps[at];
                at += 1;
            }
            let id = packing.id(edge);
            let Some(step) = self.steps.get_mut(at - 1 + length) else {
                continue;
            };
            if id == home.id {
                continue;
            }
            let score = f64::from(pieces.score(id));
            largest = largest.max(score.abs());
            let best = before.best + score;
            if best > step.best {
                *step = Two {
                    best,
                    second: step.best.max(before.second + score),
                    edge,
                };
            } else {
                step.second = step.second.max(best);
            }
        }
        largest
    }
}
