//! The lattices of all words: which tokens stand where, found once and then only thinned out.
//!
//! Training goes dozens of times over the words, and each time asks the same: which tokens begin at each
//! character. The answer changes in one way only, that tokens are dropped. So it is kept as a list of
//! numbers, and no text is looked at after the list is made.
//!
//! An edge is a token at a place: its id, and how many characters it has, in 32 bits. Edges are in order
//! of the places where they begin, and of their lengths. Each place has an edge of one character, which
//! is thus the first one there and says that a new place begins; if no token is left for the character,
//! it is the unknown token's, whose id is the number of tokens.
//!
//! The first edge of each token is marked as its home. Around it stand all tokens that its text can be
//! made of.
//!
//! Memory: 4 bytes for each token at each place of the different words, and 24 for each word.

use super::scored_pieces::ScoredPieces;
use super::words::Words;
use crate::error::{Error, Result, invalid};
use crate::memory::reserve;
use crate::models::trie::Trie;
use crate::models::unigram::real::Real;
use crate::text::{character_len, characters};
use crate::threads;

/// What a token that is dropped becomes.
pub const GONE: u32 = u32::MAX;
/// So many characters of words are worth a shard, up to the most shards there are.
const SHARD: usize = 1 << 19;
const MOST_SHARDS: usize = 16;
/// So many edges of words are worth a block.
const BLOCK: usize = 1 << 13;

/// How an edge is written: `home | id | length - 1`.
#[derive(Clone, Copy, Debug)]
pub struct Packing {
    bits: u32,
}

const HOME: u32 = 1 << 31;

impl Packing {
    fn new(longest: usize, tokens: usize) -> Result<Self> {
        let bits = usize::BITS - (longest.max(1) - 1).leading_zeros();
        let packing = Self { bits };
        // The last id is the unknown token's.
        if tokens > (HOME >> bits) as usize - 1 {
            return Err(invalid!(
                "there are {tokens} tokens to begin with, more than the {} that fit if they have up to {longest} characters",
                (HOME >> bits) - 1
            ));
        }
        Ok(packing)
    }

    fn pack(self, id: u32, length: usize) -> u32 {
        id << self.bits | (length as u32 - 1)
    }

    /// The token's id.
    #[inline]
    pub fn id(self, edge: u32) -> usize {
        ((edge & !HOME) >> self.bits) as usize
    }

    /// How many characters it has.
    #[inline]
    pub fn length(self, edge: u32) -> usize {
        (edge & ((1 << self.bits) - 1)) as usize + 1
    }

    /// Edges, the first of which is the first of its place, each with the place where it begins.
    pub fn placed(self, edges: &[u32]) -> impl Iterator<Item = (usize, u32)> {
        let mut places = 0;
        edges.iter().map(move |&edge| {
            places += usize::from(self.length(edge) == 1);
            (places - 1, edge)
        })
    }
}

/// A word: its edges, how many characters and how many occurrences it has.
#[derive(Clone, Copy, Debug)]
struct Word {
    end: usize,
    characters: u32,
    count: u64,
}

/// Words that are worked on together.
#[derive(Debug, Default)]
pub struct Shard {
    edges: Vec<u32>,
    words: Vec<Word>,
}

/// Some consecutive words of a shard.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    /// The edges of the shard.
    edges: &'a [u32],
    /// Where theirs begin.
    start: usize,
    words: &'a [Word],
}

/// The lattice of a word.
#[derive(Clone, Copy, Debug)]
pub struct WordLattice<'a> {
    /// See the module.
    pub edges: &'a [u32],
    /// How many characters it has.
    pub characters: usize,
    /// How often the word occurs.
    pub count: u64,
}

/// A place where a token stands.
#[derive(Clone, Copy, Debug)]
pub struct Home<'a> {
    /// The token.
    pub id: usize,
    /// The edges from where it begins up to the end of the word.
    pub edges: &'a [u32],
    /// How many characters it has.
    pub length: usize,
}

impl<'a> Block<'a> {
    /// The lattices of its words.
    pub fn words(&self) -> impl Iterator<Item = WordLattice<'a>> + use<'a> {
        let Self {
            edges: all,
            mut start,
            words,
        } = *self;
        words.iter().map(move |word| {
            let edges = &all[start..word.end];
            start = word.end;
            WordLattice {
                edges,
                characters: word.characters as usize,
                count: word.count,
            }
        })
    }
}

impl Shard {
    /// The lattices of its words.
    pub fn words(&self) -> impl Iterator<Item = WordLattice<'_>> {
        let all = Block {
            edges: &self.edges,
            start: 0,
            words: &self.words,
        };
        all.words()
    }

    /// Its words in blocks, each with as many as it takes to have [`BLOCK`] edges.
    fn blocks(&self) -> impl Iterator<Item = Block<'_>> {
        let (mut start, mut left) = (0, &self.words[..]);
        std::iter::from_fn(move || {
            let enough = left.partition_point(|word| word.end < start + BLOCK);
            let (words, rest) = left.split_at((enough + 1).min(left.len()));
            let block = Block {
                edges: &self.edges,
                start,
                words,
            };
            start = words.last()?.end;
            left = rest;
            Some(block)
        })
    }

    fn add(&mut self, word: &[u8], count: u64, trie: &Trie, packing: Packing, unknown: u32) {
        let mut start = 0;
        let mut places = 0;
        while start < word.len() {
            let single = start + character_len(word, start);
            let begin = self.edges.len();
            self.edges.push(packing.pack(unknown, 1));
            let (mut at, mut length) = (single, 1);
            trie.prefixes(word, start, |end, id| {
                if end == single {
                    self.edges[begin] = packing.pack(id, 1);
                    return;
                }
                while at < end {
                    at += character_len(word, at);
                    length += 1;
                }
                self.edges.push(packing.pack(id, length));
            });
            start = single;
            places += 1;
        }
        self.words.push(Word {
            end: self.edges.len(),
            characters: places,
            count,
        });
    }

    /// Gives tokens their new ids and drops the edges of those that are gone.
    fn rename(&mut self, new_ids: &[u32], unknown: u32, packing: Packing) {
        let (mut read, mut written) = (0, 0);
        for word in &mut self.words {
            while read < word.end {
                let edge = self.edges[read];
                read += 1;
                let length = packing.length(edge);
                let id = match new_ids.get(packing.id(edge)) {
                    Some(&id) if id != GONE => id,
                    _ if length == 1 => unknown,
                    _ => continue,
                };
                let home = if id == unknown { 0 } else { edge & HOME };
                self.edges[written] = home | packing.pack(id, length);
                written += 1;
            }
            word.end = written;
        }
        self.edges.truncate(written);
    }
}

/// The lattices of all words, in shards of consecutive words.
#[derive(Debug)]
pub struct Lattices {
    shards: Vec<Shard>,
    packing: Packing,
}

impl Lattices {
    /// Finds the tokens in all words.
    ///
    /// # Errors
    /// When there are too many tokens for their length, they have too many bytes, or there is no memory left.
    pub fn new<T: Real>(words: &Words, pieces: &ScoredPieces<T>, threads: usize) -> Result<Self> {
        let mut keys: Vec<(&[u8], u32)> = (0..pieces.len())
            .map(|id| (pieces.get(id), id as u32))
            .collect();
        if !keys.is_sorted() {
            keys.sort_unstable();
        }
        let longest = keys.iter().map(|(key, _)| characters(key).count()).max();
        let packing = Packing::new(longest.unwrap_or(1), keys.len())?;
        let trie = Trie::new(&keys)?;
        drop(keys);
        let unknown = pieces.len() as u32;
        let count = (words.total_bytes() / SHARD).clamp(1, MOST_SHARDS);
        let find = |(): &mut (), number| {
            let mut shard = Shard::default();
            for place in words.range(number, count) {
                let (word, occurrences) = words.get(place);
                shard.add(word, occurrences, &trie, packing, unknown);
                reserve::check()?;
            }
            shard.edges.shrink_to_fit();
            Ok::<_, Error>(shard)
        };
        let (shards, _) = threads::map_with(0..count, threads, |_| (), find, drop)?;
        let mut lattices = Self { shards, packing };
        lattices.find_homes(pieces.len());
        Ok(lattices)
    }

    fn find_homes(&mut self, tokens: usize) {
        let mut is_found = vec![false; tokens + 1];
        is_found[tokens] = true;
        for edge in self.shards.iter_mut().flat_map(|shard| &mut shard.edges) {
            let id = self.packing.id(*edge);
            if !is_found[id] {
                is_found[id] = true;
                *edge |= HOME;
            }
        }
    }

    /// How edges are written.
    pub fn packing(&self) -> Packing {
        self.packing
    }

    /// The shards, in order of the words. How many there are does not depend on the threads.
    pub fn shards(&self) -> &[Shard] {
        &self.shards
    }

    /// The words in order, in blocks that threads take one after the other.
    pub fn blocks(&self) -> Vec<Block<'_>> {
        self.shards.iter().flat_map(Shard::blocks).collect()
    }

    /// Gives tokens their new ids, [`GONE`] for those that are dropped; `tokens` are left.
    pub fn rename(&mut self, new_ids: &[u32], tokens: usize, threads: usize) {
        let packing = self.packing;
        threads::map(self.shards.iter_mut(), threads, |shard| {
            shard.rename(new_ids, tokens as u32, packing);
        });
    }

    /// The lattices of all words.
    #[cfg(test)]
    pub fn words(&self) -> impl Iterator<Item = WordLattice<'_>> {
        self.shards.iter().flat_map(Shard::words)
    }

    /// Calls `each` with the home of each token in a shard.
    pub fn homes<'a>(&self, shard: &'a Shard, mut each: impl FnMut(Home<'a>)) {
        let packing = self.packing;
        for word in shard.words() {
            let mut place = 0;
            for (number, &edge) in word.edges.iter().enumerate() {
                let length = packing.length(edge);
                if length == 1 {
                    place = number;
                }
                if edge & HOME != 0 {
                    each(Home {
                        id: packing.id(edge),
                        edges: &word.edges[place..],
                        length,
                    });
                }
            }
        }
    }
}
