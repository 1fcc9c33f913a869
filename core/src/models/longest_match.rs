//! Cut words by their longest tokens, without merges: two greedy encoders for a vocabulary.
//!
//! * *Anywhere*: tokens are tried from the longest to the shortest, among equals by frequency if that is
//!   known, and then by id; each takes all its places in what is still free, from left to right.
//! * *From the left*: the longest token at each place is taken, then what follows it.
//!
//! A stretch in which no token is taken is one unknown token. Words and tokens are spelt in units (`marks`). The mark of
//! an end counts as one character of a token's length, a prefix as none.
//!
//! Both find the longest token at every place in one pass from right to left over an automaton of the
//! reversed tokens; its links lead
//! from a token to the shorter ones that begin at the same place. Complexity: n log n, and at most
//! one step for each occurrence of a token; memory is linear in the text.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use serde::Deserialize;

use super::automaton::{Automaton, Node, ROOT};
use super::marks::{Marks, is_last};
use super::model::{Found, Model, check_unknown};
use super::scratch::Scratch;
use crate::error::{Result, ensure};
use crate::tables::{PieceTable, TokenTable};

/// A model that takes the longest tokens.
#[derive(Debug)]
pub struct LongestMatch {
    tokens: TokenTable<'static>,
    settings: Settings,
    /// Of the tokens from their ends, each by its rank: when it is tried.
    reversed: Automaton,
    /// By node: see [`first_tried`].
    first: Vec<Node>,
    /// Tokens by rank.
    ids: Vec<u32>,
}

/// What the model is told besides its tables.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The token of what no token is found in; without it that is left out.
    pub unk_id: Option<u32>,
    /// Whether the longest token at each place is taken, from the left; or the longest ones anywhere.
    pub left_to_right: bool,
    /// Written at the end of a word.
    pub end_of_word_suffix: String,
    /// Whether the suffix is a unit by itself, or belongs to the last character.
    pub separate_suffix: bool,
    /// Written before a token that does not begin a word.
    pub continuing_subword_prefix: String,
}

impl LongestMatch {
    /// Builds a model; text never becomes the unknown token by its characters.
    ///
    /// # Errors
    /// Names two tokens that are the same text, or an unknown token's id that is too large; or says that not
    /// all tokens have a frequency.
    pub fn new(
        tokens: TokenTable<'static>,
        frequencies: &[f64],
        settings: Settings,
    ) -> Result<Self> {
        check_unknown(settings.unk_id)?;
        PieceTable::build(&tokens)?;
        ensure!(
            frequencies.is_empty() || frequencies.len() == tokens.len(),
            "there are {} frequencies for {} tokens",
            frequencies.len(),
            tokens.len()
        );
        let marks = settings.marks();
        let mut spelt: Vec<(Reverse<usize>, u32, Vec<u32>)> = tokens
            .iter()
            .filter(|&(id, _)| Some(id) != settings.unk_id)
            .map(|(id, text)| {
                let units = marks.token(text);
                let end = usize::from(units.last().is_some_and(|&unit| is_last(unit)));
                (Reverse(units.len() + end), id, units)
            })
            .collect();
        let frequency = |id: u32| frequencies.get(id as usize).copied().unwrap_or(0.0);
        spelt.sort_unstable_by(|a, b| {
            let by_frequency = || frequency(b.1).total_cmp(&frequency(a.1));
            (a.0.cmp(&b.0)).then_with(by_frequency).then(a.1.cmp(&b.1))
        });
        let ids = spelt.iter().map(|&(_, id, _)| id).collect();
        let ranked = (0..).zip(spelt).map(|(rank, (_, _, mut units))| {
            units.reverse();
            (rank, units)
        });
        let reversed = Automaton::new(ranked);
        Ok(Self {
            tokens,
            settings,
            first: first_tried(&reversed),
            reversed,
            ids,
        })
    }

    /// Gives the places that tokens take: (first character, character after the last, rank), ascending.
    fn taken(&self, word: &[u32]) -> Vec<(u32, u32, u32)> {
        // The node of the longest token that begins at each character, or the root.
        let mut longest = vec![ROOT; word.len()];
        let mut node = ROOT;
        for (place, &unit) in longest.iter_mut().zip(word).rev() {
            node = self.reversed.step(node, unit);
            *place = self.reversed.longest_word(node);
        }
        if self.settings.left_to_right {
            self.longest_from_left(&longest)
        } else {
            self.anywhere(longest)
        }
    }

    fn longest_from_left(&self, longest: &[u32]) -> Vec<(u32, u32, u32)> {
        let mut taken = Vec::new();
        let mut at = 0;
        while let Some(&node) = longest.get(at as usize) {
            let Some(rank) = self.reversed.token(node) else {
                at += 1;
                continue;
            };
            let end = at + self.reversed.depth(node) as u32;
            taken.push((at, end, rank));
            at = end;
        }
        taken
    }

    /// Takes (rank, place) from the lowest on. In the queue, each place has the first of the tokens that
    /// fitted when it was put there; when it comes up and fits no more, the first of those that do.
    fn anywhere(&self, mut longest: Vec<u32>) -> Vec<(u32, u32, u32)> {
        let length = |node: Node| self.reversed.depth(node) as u32;
        let first_rank = |node: Node| self.reversed.token(self.first[node as usize]);
        let mut queue: BinaryHeap<Reverse<(u32, u32)>> = (0..)
            .zip(&longest)
            .filter_map(|(at, &node)| Some(Reverse((first_rank(node)?, at))))
            .collect();
        let mut taken: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
        while let Some(Reverse((expected, at))) = queue.pop() {
            if let Some((_, &(end, _))) = taken.range(..=at).next_back()
                && end > at
            {
                continue;
            }
            let free = match taken.range(at..).next() {
                Some((&next, _)) => next - at,
                None => longest.len() as u32 - at,
            };
            let mut node = longest[at as usize];
            while length(node) > free {
                node = self.reversed.longest_word(self.reversed.failure(node));
            }
            longest[at as usize] = node;
            let Some(first) = first_rank(node) else {
                continue;
            };
            if first == expected {
                let end = at + length(self.first[node as usize]);
                taken.insert(at, (end, expected));
            } else {
                queue.push(Reverse((first, at)));
            }
        }
        taken
            .into_iter()
            .map(|(start, (end, rank))| (start, end, rank))
            .collect()
    }
}

/// Finds for each node of a token, among that and the shorter ones that begin where it does, the one that is tried first.
fn first_tried(reversed: &Automaton) -> Vec<Node> {
    let mut first: Vec<Node> = (0..reversed.nodes() as Node).collect();
    for node in reversed.by_depth() {
        let shorter = reversed.longest_word(reversed.failure(node));
        if shorter != ROOT
            && let Some(rank) = reversed.token(node)
        {
            let other = first[shorter as usize];
            if reversed.token(other) < Some(rank) {
                first[node as usize] = other;
            }
        }
    }
    first
}

impl Settings {
    fn marks(&self) -> Marks<'_> {
        Marks::new(
            &self.end_of_word_suffix,
            self.separate_suffix,
            &self.continuing_subword_prefix,
        )
    }
}

impl Model for LongestMatch {
    fn tokens(&self) -> &TokenTable<'static> {
        &self.tokens
    }

    /// Nothing is joined across pieces.
    fn fuses(&self) -> Option<u32> {
        None
    }

    fn encode_piece(
        &self,
        piece: &[u8],
        _scratch: &mut Scratch,
        out: &mut Vec<Found>,
    ) -> Result<()> {
        let (word, starts) = self.settings.marks().word(piece);
        // The suffix stands for nothing in the piece.
        let offset = |place: u32| {
            starts
                .get(place as usize)
                .map_or(piece.len() as u32, |&s| s)
        };
        let found = |id, start, end| Found {
            id,
            start: offset(start),
            end: offset(end),
        };
        let characters = word.len() as u32;
        let mut free = 0;
        for (start, end, rank) in self.taken(&word) {
            if free < start {
                out.extend(
                    self.settings
                        .unk_id
                        .map(|unk_id| found(unk_id, free, start)),
                );
            }
            let id = self.ids[rank as usize];
            out.push(found(id, start, end));
            free = end;
        }
        if free < characters {
            out.extend(
                self.settings
                    .unk_id
                    .map(|unk_id| found(unk_id, free, characters)),
            );
        }
        Ok(())
    }
}
