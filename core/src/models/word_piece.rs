//! The longest token from the left, again and again, in one pass over the word.
//!
//! The trie with failure links of Song, Salcianu, Song, Dopson and Zhou 2021 ("Fast WordPiece
//! Tokenization", arXiv:2012.15524): where a walk down the trie finds no next byte, the node knows which
//! tokens the longest match would take of the bytes behind it (its *pops*), and the node that the bytes
//! left over lead to (its *failure link*). No byte is read twice.
//!
//! There are two tries in one array: that of all tokens, for the beginning of a word, and that of the
//! tokens with the prefix, without it, for what goes on inside. Failure links lead into the second one.
//! So no prefix is a special case: neither an empty one, nor tokens that are the prefix itself or
//! contain it, nor words that do.
//!
//! Complexity: a word costs its bytes; building costs the bytes of all tokens, twice.

use std::ops::Range;

use super::model::{Found, Model, check_unknown};
use super::scratch::Scratch;
use crate::error::{Result, ensure};
use crate::tables::{NONE, TokenTable};
use crate::text;

/// The root for the beginning of a word.
const BEGINNING: u32 = 0;
/// The root for what goes on inside a word.
const INSIDE: u32 = 1;

/// Takes the longest token that a word begins with, again and again; a word that cannot be spelt so
/// becomes one unknown token.
#[derive(Debug)]
pub struct WordPiece {
    tokens: TokenTable<'static>,
    unk_id: u32,
    prefix_length: u32,
    max_characters: usize,
    /// The nodes in order of depth, so that children of a node lie side by side, by their bytes.
    nodes: Vec<Node>,
    /// The byte that leads to each node.
    labels: Vec<u8>,
    pops: Vec<Pop>,
}

/// A node of the trie.
#[derive(Clone, Copy, Debug)]
struct Node {
    /// The first child; the next node's first child ends the children.
    children: u32,
    /// Where to go on when no child fits; [`NONE`]: the word cannot be spelt.
    failure: u32,
    /// The last of the tokens taken on the way there; [`NONE`]: there are none.
    pop: u32,
}

/// A token in a list that is read from its end.
#[derive(Clone, Copy, Debug)]
struct Pop {
    id: u32,
    before: u32,
}

impl WordPiece {
    /// Builds the tries. If a token stands in the table twice, the later id is taken, as in a
    /// dictionary that is filled in order.
    ///
    /// # Errors
    /// Names a token that is not UTF-8, an id out of range, or says that the vocabulary is too large.
    pub fn new(
        tokens: TokenTable<'static>,
        unk_id: u32,
        continuing_subword_prefix: &str,
        max_characters: usize,
    ) -> Result<Self> {
        check_unknown(Some(unk_id))?;
        for (id, token) in tokens.iter() {
            ensure!(
                std::str::from_utf8(token).is_ok(),
                "token {id} is not UTF-8"
            );
        }
        ensure!(
            tokens.blob().len() < NONE as usize / 2,
            "the vocabulary's tokens are longer than 2 GiB together"
        );
        let prefix = continuing_subword_prefix.as_bytes();
        let mut model = Self {
            tokens,
            unk_id,
            prefix_length: prefix.len() as u32,
            max_characters,
            nodes: Vec::new(),
            labels: Vec::new(),
            pops: Vec::new(),
        };
        let ids = model.lay_out(prefix);
        model.link(&ids);
        Ok(model)
    }

    /// Lays the nodes of both tries out; gives the token at each node, or [`NONE`].
    fn lay_out(&mut self, prefix: &[u8]) -> Vec<u32> {
        let mut sorted: Vec<u32> = self.tokens.iter().map(|(id, _)| id).collect();
        // Of equal tokens the later one comes first, and is the one that is found.
        sorted.sort_unstable_by(|&a, &b| {
            let by_bytes = self.tokens.get(a).cmp(self.tokens.get(b));
            by_bytes.then(b.cmp(&a))
        });
        let token = |place: usize| self.tokens.get(sorted[place]);
        let with_prefix = {
            let start = sorted.partition_point(|&id| self.tokens.get(id) < prefix);
            let count =
                sorted[start..].partition_point(|&id| self.tokens.get(id).starts_with(prefix));
            start..start + count
        };
        // Each node in turn: its tokens among the sorted ones, and how many of their bytes are read.
        let mut turns: Vec<(Range<usize>, usize)> =
            vec![(0..sorted.len(), 0), (with_prefix, prefix.len())];
        let mut ids = Vec::new();
        self.labels = vec![0; 2];
        let mut turn = 0;
        while let Some((mut range, depth)) = turns.get(turn).cloned() {
            let mut id = NONE;
            while range.start < range.end && token(range.start).len() == depth {
                // A root stands for no bytes, even where a token is the prefix itself.
                if id == NONE && turn > INSIDE as usize {
                    id = sorted[range.start];
                }
                range.start += 1;
            }
            ids.push(id);
            self.nodes.push(Node {
                children: turns.len() as u32,
                failure: NONE,
                pop: NONE,
            });
            while range.start < range.end {
                let byte = token(range.start)[depth];
                let same =
                    sorted[range.clone()].partition_point(|&id| self.tokens.get(id)[depth] == byte);
                self.labels.push(byte);
                turns.push((range.start..range.start + same, depth + 1));
                range.start += same;
            }
            turn += 1;
        }
        self.nodes.push(Node {
            children: turns.len() as u32, // ends the last node's children
            failure: NONE,
            pop: NONE,
        });
        ids
    }

    /// Finds failure links and pops, in order of depth: a node's depend on those of shorter bytes.
    fn link(&mut self, ids: &[u32]) {
        let mut popped = Vec::new();
        for parent in 0..ids.len() as u32 {
            for child in self.children(parent) {
                if ids[child] != NONE {
                    self.nodes[child].pop = self.push_pop(NONE, ids[child]);
                    self.nodes[child].failure = INSIDE;
                    continue;
                }
                let byte = self.labels[child];
                let mut last = self.nodes[parent as usize].pop;
                let mut at = self.nodes[parent as usize].failure;
                while at != NONE {
                    if let Some(next) = self.child(at, byte) {
                        self.nodes[child].failure = next;
                        self.nodes[child].pop = last;
                        break;
                    }
                    popped.clear();
                    popped.extend(self.popped(self.nodes[at as usize].pop));
                    for &id in popped.iter().rev() {
                        last = self.push_pop(last, id);
                    }
                    at = self.nodes[at as usize].failure;
                }
            }
        }
    }

    fn push_pop(&mut self, before: u32, id: u32) -> u32 {
        self.pops.push(Pop { id, before });
        self.pops.len() as u32 - 1
    }

    /// The tokens of a list, the last one first.
    fn popped(&self, last: u32) -> impl Iterator<Item = u32> + '_ {
        let mut at = last;
        std::iter::from_fn(move || {
            let pop = self.pops.get(at as usize)?;
            at = pop.before;
            Some(pop.id)
        })
    }

    fn children(&self, node: u32) -> Range<usize> {
        let node = node as usize;
        self.nodes[node].children as usize..self.nodes[node + 1].children as usize
    }

    #[inline]
    fn child(&self, node: u32, byte: u8) -> Option<u32> {
        let children = self.children(node);
        let place = self.labels[children.clone()].binary_search(&byte).ok()?;
        Some((children.start + place) as u32)
    }

    /// Spells a word, or says that it cannot be; what it appended till then is to be taken back.
    fn spell(&self, word: &[u8], out: &mut Vec<Found>) -> bool {
        let mut node = BEGINNING;
        let mut position = 0;
        for &byte in word {
            node = loop {
                if let Some(next) = self.child(node, byte) {
                    break next;
                }
                let Some(next) = self.fail(node, &mut position, out) else {
                    return false;
                };
                node = next;
            };
        }
        while node != INSIDE {
            let Some(next) = self.fail(node, &mut position, out) else {
                return false;
            };
            node = next;
        }
        true
    }

    /// Takes a node's tokens and follows its failure link, if it has one.
    #[inline]
    fn fail(&self, node: u32, position: &mut u32, out: &mut Vec<Found>) -> Option<u32> {
        let Node { failure, pop, .. } = self.nodes[node as usize];
        if failure == NONE {
            return None;
        }
        let before = out.len();
        out.extend(self.popped(pop).map(|id| Found {
            id,
            start: 0,
            end: 0,
        }));
        out[before..].reverse();
        for found in &mut out[before..] {
            let unmarked = if *position == 0 {
                0
            } else {
                self.prefix_length
            };
            found.start = *position;
            *position += self.tokens.get(found.id).len() as u32 - unmarked;
            found.end = *position;
        }
        Some(failure)
    }
}

impl Model for WordPiece {
    fn tokens(&self) -> &TokenTable<'static> {
        &self.tokens
    }

    /// No word goes on across pieces.
    fn fuses(&self) -> Option<u32> {
        None
    }

    fn encode_piece(&self, piece: &[u8], _: &mut Scratch, out: &mut Vec<Found>) -> Result<()> {
        let before = out.len();
        let fits = piece.len() <= self.max_characters
            || text::characters(piece)
                .take(self.max_characters + 1)
                .count()
                <= self.max_characters;
        if !fits || !self.spell(piece, out) {
            out.truncate(before);
            out.push(Found {
                id: self.unk_id,
                start: 0,
                end: piece.len() as u32,
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
