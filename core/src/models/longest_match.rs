//! Cut words by their longest tokens, without merges: two greedy encoders for a vocabulary.
//!
//! * *Anywhere*: tokens are tried from the longest to the shortest, among equals by frequency if that is
//!   known, and then by id; each takes all its places in what is still free, from left to right.
//! * *From the left*: the longest token at each place is taken, then what follows it.
//!
//! A stretch in which no token is taken is one unknown token. Words and tokens are spelt in *units*, which
//! are never cut: a character; a mark of the end by itself, or a last character together with it; with a
//! prefix, a first character is another unit than the same one inside a word. The mark of an end counts as
//! one character of a token's length, a prefix as none.
//!
//! Both find the longest token at every place in one pass from right to left over an automaton of the
//! reversed tokens (Aho and Corasick, "Efficient string matching", CACM 18(6), 1975); its links lead
//! from a token to the shorter ones that begin at the same place. Complexity: n log n, and at most
//! one step for each occurrence of a token; memory is linear in the text.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use hashbrown::HashMap;

use super::model::{Found, Model, check_unknown};
use super::scratch::Scratch;
use crate::error::{Error, Result};
use crate::tables::{NONE, PieceTable, TokenTable};
use crate::text::read_char;

/// A model that takes the longest tokens.
#[derive(Debug)]
pub struct LongestMatch {
    tokens: TokenTable<'static>,
    unk_id: Option<u32>,
    left_to_right: bool,
    marks: Marks,
    automaton: Automaton,
}

/// What is written around the characters of a word.
#[derive(Debug, Default)]
pub struct Marks {
    /// Written at the end of a word.
    pub suffix: Vec<u8>,
    /// Whether the suffix is a unit by itself, or belongs to the last character.
    pub separate: bool,
    /// Written before a token that does not begin a word.
    pub prefix: Vec<u8>,
}

/// The unit of a suffix by itself; above all characters and stray bytes.
const END: u32 = 1 << 21;
/// Of the unit of a character that has the suffix.
const LAST: u32 = 1 << 22;
/// Of the unit of a character that begins a word, where tokens inside words have a prefix.
const FIRST: u32 = 1 << 23;

/// The reversed tokens as a trie with links; node 0 is its root.
#[derive(Debug, Default)]
struct Automaton {
    /// (node << 32 | character) -> child.
    edges: HashMap<u64, u32, foldhash::fast::FixedState>,
    /// The longest proper suffix of a node that is a node: where to go on when there is no edge.
    fallback: Vec<u32>,
    /// The node itself if it is a token, else the next one that is on the way of fallbacks; or [`NONE`].
    token: Vec<u32>,
    /// Characters of a node.
    length: Vec<u32>,
    /// When a node's token is tried; [`NONE`] if it is not a token.
    rank: Vec<u32>,
    /// The one with the lowest rank among a node's token and the shorter ones.
    first: Vec<u32>,
    /// Tokens by rank.
    ids: Vec<u32>,
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
        unk_id: Option<u32>,
        left_to_right: bool,
        marks: Marks,
    ) -> Result<Self> {
        check_unknown(unk_id)?;
        PieceTable::build(&tokens)?;
        if !frequencies.is_empty() && frequencies.len() != tokens.len() {
            return Err(Error::Invalid(format!(
                "there are {} frequencies for {} tokens",
                frequencies.len(),
                tokens.len()
            )));
        }
        let mut spelt: Vec<(Reverse<usize>, u32, Vec<u32>)> = tokens
            .iter()
            .filter(|&(id, _)| Some(id) != unk_id)
            .map(|(id, text)| {
                let units = marks.token(text);
                let end = usize::from(units.last().is_some_and(|unit| unit & LAST != 0));
                (Reverse(units.len() + end), id, units)
            })
            .collect();
        let frequency = |id: u32| frequencies.get(id as usize).copied().unwrap_or(0.0);
        spelt.sort_unstable_by(|a, b| {
            let by_frequency = || frequency(b.1).total_cmp(&frequency(a.1));
            (a.0.cmp(&b.0)).then_with(by_frequency).then(a.1.cmp(&b.1))
        });
        let automaton = Automaton::new(spelt.into_iter().map(|(_, id, units)| (id, units)));
        Ok(Self {
            tokens,
            unk_id,
            left_to_right,
            marks,
            automaton,
        })
    }

    /// Gives the places that tokens take: (first character, character after the last, rank), ascending.
    fn taken(&self, word: &[u32]) -> Vec<(u32, u32, u32)> {
        let longest = self.automaton.longest(word);
        if self.left_to_right {
            self.longest_from_left(&longest)
        } else {
            self.anywhere(longest)
        }
    }

    fn longest_from_left(&self, longest: &[u32]) -> Vec<(u32, u32, u32)> {
        let mut taken = Vec::new();
        let mut at = 0;
        while let Some(&node) = longest.get(at as usize) {
            if node == NONE {
                at += 1;
                continue;
            }
            let end = at + self.automaton.length[node as usize];
            taken.push((at, end, self.automaton.rank[node as usize]));
            at = end;
        }
        taken
    }

    /// Takes (rank, place) from the lowest on. In the queue, each place has the first of the tokens that
    /// fitted when it was put there; when it comes up and fits no more, the first of those that do.
    fn anywhere(&self, mut longest: Vec<u32>) -> Vec<(u32, u32, u32)> {
        let Automaton {
            length,
            rank,
            first,
            ..
        } = &self.automaton;
        let first_rank = |node: u32| rank[first[node as usize] as usize];
        let mut queue: BinaryHeap<Reverse<(u32, u32)>> = (0..)
            .zip(&longest)
            .filter(|&(_, &node)| node != NONE)
            .map(|(at, &node)| Reverse((first_rank(node), at)))
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
            while node != NONE && length[node as usize] > free {
                node = self.automaton.shorter(node);
            }
            longest[at as usize] = node;
            if node == NONE {
                continue;
            }
            if first_rank(node) == expected {
                let end = at + length[first[node as usize] as usize];
                taken.insert(at, (end, expected));
            } else {
                queue.push(Reverse((first_rank(node), at)));
            }
        }
        taken
            .into_iter()
            .map(|(start, (end, rank))| (start, end, rank))
            .collect()
    }
}

impl Automaton {
    /// Builds the automaton of tokens in the order in which they are tried.
    fn new(tokens: impl Iterator<Item = (u32, Vec<u32>)>) -> Self {
        let mut automaton = Self {
            fallback: vec![0],
            token: vec![NONE],
            length: vec![0],
            rank: vec![NONE],
            ..Self::default()
        };
        let mut made: Vec<(u32, u32, u32)> = Vec::new(); // (parent, character, child)
        let mut ids = Vec::new();
        for (rank, (id, units)) in (0..).zip(tokens) {
            ids.push(id);
            let mut node = 0;
            for &character in units.iter().rev() {
                let next = automaton.fallback.len() as u32;
                let child = *automaton.edges.entry(edge(node, character)).or_insert(next);
                if child == next {
                    made.push((node, character, child));
                    automaton.fallback.push(0);
                    automaton.token.push(NONE);
                    automaton.rank.push(NONE);
                    let length = automaton.length[node as usize];
                    automaton.length.push(length + 1);
                }
                node = child;
            }
            automaton.rank[node as usize] = rank;
        }
        automaton.ids = ids;
        automaton.first = (0..automaton.rank.len() as u32).collect();
        // Shorter nodes first: links lead to those.
        made.sort_by_key(|&(_, _, child)| automaton.length[child as usize]);
        for (parent, character, child) in made {
            automaton.link(parent, character, child);
        }
        automaton
    }

    fn link(&mut self, parent: u32, character: u32, child: u32) {
        let fallback = if parent == 0 {
            0
        } else {
            self.step(self.fallback[parent as usize], character)
        };
        let at = child as usize;
        self.fallback[at] = fallback;
        let shorter = self.token[fallback as usize];
        if self.rank[at] == NONE {
            self.token[at] = shorter;
            return;
        }
        self.token[at] = child;
        if shorter != NONE {
            let other = self.first[shorter as usize];
            if self.rank[other as usize] < self.rank[at] {
                self.first[at] = other;
            }
        }
    }

    fn step(&self, mut node: u32, character: u32) -> u32 {
        loop {
            if let Some(&child) = self.edges.get(&edge(node, character)) {
                return child;
            }
            if node == 0 {
                return 0;
            }
            node = self.fallback[node as usize];
        }
    }

    /// The next shorter token that begins where a node's does, or [`NONE`].
    fn shorter(&self, node: u32) -> u32 {
        self.token[self.fallback[node as usize] as usize]
    }

    /// The node of the longest token that begins at each character, or [`NONE`].
    fn longest(&self, word: &[u32]) -> Vec<u32> {
        let mut longest = vec![NONE; word.len()];
        let mut node = 0;
        for (place, &character) in longest.iter_mut().zip(word).rev() {
            node = self.step(node, character);
            *place = self.token[node as usize];
        }
        longest
    }
}

#[inline]
fn edge(node: u32, character: u32) -> u64 {
    u64::from(node) << 32 | u64::from(character)
}

impl Marks {
    /// Spells a word in units, with where each begins in its text; the suffix by itself begins nowhere.
    fn word(&self, text: &[u8]) -> (Vec<u32>, Vec<u32>) {
        let (mut units, mut starts) = (Vec::new(), Vec::new());
        spell(text, &mut units, &mut starts);
        self.mark(&mut units, false, !self.suffix.is_empty());
        (units, starts)
    }

    /// Spells a token in units. What it begins and ends with are marks, unless nothing stands beside them.
    fn token(&self, text: &[u8]) -> Vec<u32> {
        let rest = match text.strip_suffix(&self.suffix[..]) {
            Some(rest) if self.separate || !rest.is_empty() => rest,
            _ => text,
        };
        let stem = match rest.strip_prefix(&self.prefix[..]) {
            Some(stem) if !stem.is_empty() => stem,
            _ => rest,
        };
        let mut units = Vec::new();
        spell(stem, &mut units, &mut Vec::new());
        self.mark(&mut units, stem.len() < rest.len(), rest.len() < text.len());
        units
    }

    fn mark(&self, units: &mut Vec<u32>, inside: bool, ends: bool) {
        if !self.prefix.is_empty()
            && !inside
            && let Some(first) = units.first_mut()
        {
            *first |= FIRST;
        }
        if ends && self.separate {
            units.push(END);
        } else if ends && let Some(last) = units.last_mut() {
            *last |= LAST;
        }
    }
}

/// Appends the characters of a text as numbers, and where each begins; a byte that is no part of UTF-8
/// has a number above all characters'.
fn spell(text: &[u8], word: &mut Vec<u32>, starts: &mut Vec<u32>) {
    let mut at = 0;
    while at < text.len() {
        let (character, length) = read_char(text, at);
        word.push(character.map_or(0x11_0000 + u32::from(text[at]), u32::from));
        starts.push(at as u32);
        at += length;
    }
}

impl Model for LongestMatch {
    fn tokens(&self) -> &TokenTable<'static> {
        &self.tokens
    }

    fn encode_piece(
        &self,
        piece: &[u8],
        _scratch: &mut Scratch,
        out: &mut Vec<Found>,
    ) -> Result<()> {
        let (word, starts) = self.marks.word(piece);
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
                out.extend(self.unk_id.map(|unk_id| found(unk_id, free, start)));
            }
            let id = self.automaton.ids[rank as usize];
            out.push(found(id, start, end));
            free = end;
        }
        if free < characters {
            out.extend(self.unk_id.map(|unk_id| found(unk_id, free, characters)));
        }
        Ok(())
    }
}
