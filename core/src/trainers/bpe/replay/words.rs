//! The words of a run: what lies between places that no merge crosses. They go through the merges alone, and come again
//! where runs do not.
//!
//! Let a place be between two symbols such that no merge joins a token that ends with the last byte of the one to a
//! token that begins with the first byte of the other. The tokens on its two sides are in no merge together, whatever
//! has been merged: so no merge crosses the place, and none is met there.

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use crate::text::byte_pairs::BytePairs;

/// Longer words are not remembered, nor more of them than so many.
const LONGEST: usize = 32;
const MOST: usize = 1 << 18;

/// Where words end.
#[derive(Debug)]
pub(super) struct Ends {
    /// The first and the last byte of each token that has any.
    edges: Vec<Option<[u8; 2]>>,
    /// Last bytes and first ones that a merge joins.
    joined: BytePairs,
}

impl Ends {
    /// Finds where (left, right, product) cross nothing, given what tokens say.
    pub fn new(merges: &[[u32; 3]], tokens: &[Vec<u8>]) -> Self {
        let edges_of = |token: &Vec<u8>| Some([*token.first()?, *token.last()?]);
        let edges: Vec<_> = tokens.iter().map(edges_of).collect();
        let mut joined = vec![[false; 256]; 256];
        for &[left, right, _] in merges {
            if let [Some([_, before]), Some([behind, _])] =
                [left, right].map(|id| edges[id as usize])
            {
                joined[usize::from(before)][usize::from(behind)] = true;
            }
        }
        Self {
            edges,
            joined: BytePairs::of(|before, behind| {
                joined[usize::from(before)][usize::from(behind)]
            }),
        }
    }

    /// Whether a word ends between two symbols. None ends beside a symbol that is not a token.
    #[inline]
    fn are_between(&self, before: u32, behind: u32) -> bool {
        let edges = [before, behind].map(|id| self.edges.get(id as usize).copied().flatten());
        matches!(edges, [Some([_, before]), Some([behind, _])] if !self.joined.has(before, behind))
    }

    /// The words of a run.
    pub fn words<'s>(&self, symbols: &'s [u32]) -> impl Iterator<Item = &'s [u32]> {
        symbols.chunk_by(|&before, &behind| !self.are_between(before, behind))
    }
}

/// What words became.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// Symbols of a word -> where its tokens begin and end.
    words: HashMap<Box<[u32]>, (usize, usize), RandomState>,
    tokens: Vec<u32>,
}

impl Known {
    /// The tokens of a word, if it is remembered.
    #[inline]
    pub fn find(&self, word: &[u32]) -> Option<&[u32]> {
        let &(begin, end) = self.words.get(word)?;
        Some(&self.tokens[begin..end])
    }

    /// Remembers the tokens of a word, if there is room.
    pub fn insert(&mut self, word: &[u32], tokens: &[u32]) {
        if word.len() <= LONGEST && self.words.len() < MOST {
            let begin = self.tokens.len();
            self.tokens.extend_from_slice(tokens);
            self.words.insert(word.into(), (begin, self.tokens.len()));
        }
    }
}
