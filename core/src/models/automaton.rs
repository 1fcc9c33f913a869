//! A trie of words over characters in which every node knows its longest proper suffix that is a node
//! too, so that one pass over a text finds, at each character, all words that end there.
//!
//! Aho and Corasick, "Efficient String Matching", Communications of the ACM 18(6), 1975. Over
//! characters and not bytes: a word must never match inside a character. A byte that is no part of
//! UTF-8 is a character of its own, above all of Unicode's.
//!
//! No crate serves here: of a match the nodes are wanted, and the way down their links; symbols are not
//! only characters; and daachorse, which goes by characters, reads UTF-8 alone. Where bytes are looked for
//! (`special`), the crate aho-corasick does it.
//!
//! Complexity: linear in the words to build; to step through a text, linear in the text.

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use crate::text::read_char;

/// A node of the trie.
pub type Node = u32;

/// The node of the empty word.
pub const ROOT: Node = 0;

const NO_TOKEN: u32 = u32::MAX;
/// Stands before the stray bytes in the numbers of characters.
const STRAY: u32 = 0x11_0000;

/// Gives the number of the character at an offset, and its length in bytes.
#[inline]
pub fn read_symbol(text: &[u8], at: usize) -> (u32, usize) {
    match read_char(text, at) {
        (Some(character), length) => (u32::from(character), length),
        (None, length) => (STRAY + u32::from(text[at]), length),
    }
}

/// Gives the numbers of all characters.
pub fn symbols_of(text: &[u8]) -> Vec<u32> {
    let mut symbols = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let (symbol, length) = read_symbol(text, at);
        symbols.push(symbol);
        at += length;
    }
    symbols
}

fn edge(node: Node, symbol: u32) -> u64 {
    u64::from(node) << 32 | u64::from(symbol)
}

/// The trie with its links.
#[derive(Debug)]
pub struct Automaton {
    /// Its seed is random for each process; no result depends on it.
    edges: HashMap<u64, Node, RandomState>,
    failures: Vec<Node>,
    depths: Vec<u32>,
    tokens: Vec<u32>,
    /// The longest suffix that is a word: a node, or the root if there is none.
    longest: Vec<Node>,
}

impl Automaton {
    /// Builds the automaton of words with their ids; of equal words the first one counts. The words
    /// hold less than 2^32 characters together.
    pub fn new(words: impl Iterator<Item = (u32, Vec<u32>)>) -> Self {
        let mut automaton = Self {
            edges: HashMap::default(),
            failures: Vec::new(),
            depths: vec![0],
            tokens: vec![NO_TOKEN],
            longest: Vec::new(),
        };
        // How each node is reached, for the links below.
        let mut arrivals = vec![(ROOT, 0)];
        for (id, word) in words {
            let mut node = ROOT;
            for symbol in word {
                let fresh = automaton.tokens.len() as Node;
                let next = *automaton.edges.entry(edge(node, symbol)).or_insert(fresh);
                if next == fresh {
                    arrivals.push((node, symbol));
                    automaton.depths.push(automaton.depths[node as usize] + 1);
                    automaton.tokens.push(NO_TOKEN);
                }
                node = next;
            }
            if automaton.tokens[node as usize] == NO_TOKEN {
                automaton.tokens[node as usize] = id;
            }
        }
        automaton.link(&arrivals);
        automaton
    }

    fn link(&mut self, arrivals: &[(Node, u32)]) {
        self.failures = vec![ROOT; arrivals.len()];
        self.longest = vec![ROOT; arrivals.len()];
        for node in self.by_depth() {
            let (parent, symbol) = arrivals[node as usize];
            let failure = match parent {
                ROOT => ROOT,
                _ => self.step(self.failures[parent as usize], symbol),
            };
            self.failures[node as usize] = failure;
            self.longest[node as usize] = match self.tokens[node as usize] {
                NO_TOKEN => self.longest[failure as usize],
                _ => node,
            };
        }
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> usize {
        self.depths.len()
    }

    /// All nodes but the root, shorter words first: links lead to those.
    pub fn by_depth(&self) -> Vec<Node> {
        let mut order: Vec<Node> = (1..self.nodes() as Node).collect();
        order.sort_by_key(|&node| self.depths[node as usize]);
        order
    }

    /// Gives the node of the longest suffix of (this node's word + the character) that is a node.
    #[inline]
    pub fn step(&self, mut node: Node, symbol: u32) -> Node {
        loop {
            if let Some(&next) = self.edges.get(&edge(node, symbol)) {
                return next;
            }
            if node == ROOT {
                return ROOT;
            }
            node = self.failures[node as usize];
        }
    }

    /// The longest proper suffix of a node's word that is a node.
    #[inline]
    pub fn failure(&self, node: Node) -> Node {
        self.failures[node as usize]
    }

    /// The longest suffix of a node's word, or all of it, that is a word; the root if there is none.
    #[inline]
    pub fn longest_word(&self, node: Node) -> Node {
        self.longest[node as usize]
    }

    /// How many characters a node's word has.
    #[inline]
    pub fn depth(&self, node: Node) -> usize {
        self.depths[node as usize] as usize
    }

    /// The id of a node's word, if that is one.
    #[inline]
    pub fn token(&self, node: Node) -> Option<u32> {
        let id = self.tokens[node as usize];
        (id != NO_TOKEN).then_some(id)
    }
}
