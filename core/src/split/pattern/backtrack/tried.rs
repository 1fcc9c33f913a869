//! What is open while a text is searched, and what was tried in vain.
//!
//! Nothing is remembered as long as a text takes a bounded number of steps a byte. Beyond that, a place and a step from
//! which all ways have failed are remembered, and what an atomic group or a look-around found: neither depends on how
//! they were reached, so that this changes nothing.

use std::collections::HashMap;

use super::code::Node;

/// So many steps a text may take before anything is remembered, and the same again for each of so many bytes.
const STEPS: usize = 1 << 16;
const FOR_BYTES: usize = 1 << 11;
/// The most words of failures, and the most results, that are kept: some tens of megabytes.
const MOST_KEPT: usize = 1 << 20;
/// Places whose failures are kept in a word.
const WORD: usize = u64::BITS as usize;

/// What is done when a way has failed.
#[derive(Clone, Debug)]
pub(super) enum Frame {
    /// Goes on with a way of a fork.
    Way { fork: Node, way: u32, at: usize },
    /// Gives back what a run took: it ends at `at`, or nearer to `nearest`.
    Run {
        run: Node,
        nearest: usize,
        at: usize,
    },
    /// A body has failed that began here.
    Body { opener: Node, at: usize },
    /// All ways of a step have failed in all places between two.
    Failed { node: Node, from: usize, to: usize },
}

/// What is known of a text.
#[derive(Clone, Debug)]
pub(in super::super) struct Tried {
    /// What is still to be tried, the last first.
    pub(super) frames: Vec<Frame>,
    /// Which of these are bodies.
    pub(super) bodies: Vec<usize>,
    /// The next match, if it is known already.
    pub(super) found: Option<(usize, usize)>,
    /// Where the piece begins.
    begin: usize,
    /// How many steps may be taken before anything is remembered, see [`STEPS`].
    patience: usize,
    /// Steps taken in this text, and how many of them may be in all.
    steps: usize,
    allowed: usize,
    /// By step and word of places: where it fails.
    failures: HashMap<(Node, usize), u64>,
    /// By atomic group or look-around and place: where its match ends, if it has one.
    results: HashMap<(Node, usize), Option<usize>>,
    /// For each run without limit, where the last one began and ended.
    runs: HashMap<Node, (usize, usize)>,
    /// Behind all places of which something is known.
    reached: usize,
    remembers: bool,
}

impl Default for Tried {
    fn default() -> Self {
        Self::new(STEPS)
    }
}

impl Tried {
    /// Begins a text; `patience` is [`STEPS`] but in tests.
    pub fn new(patience: usize) -> Self {
        Self {
            frames: Vec::new(),
            bodies: Vec::new(),
            found: None,
            begin: 0,
            patience,
            steps: 0,
            allowed: patience,
            failures: HashMap::new(),
            results: HashMap::new(),
            runs: HashMap::new(),
            reached: 0,
            remembers: false,
        }
    }

    /// Begins a piece: nothing before it is looked for again, and when nothing behind it is known any more, all begins anew. Not
    /// before something was known: where steps ran out at the end of a search, the next one is the first to remember.
    pub fn go_on_from(&mut self, begin: usize) {
        let for_text = begin.saturating_mul(self.patience / FOR_BYTES);
        if self.remembers && self.reached > 0 && begin >= self.reached {
            *self = Self {
                frames: std::mem::take(&mut self.frames),
                bodies: std::mem::take(&mut self.bodies),
                found: self.found.take(),
                steps: for_text,
                ..Self::new(self.patience)
            };
        }
        self.begin = begin;
        self.allowed = for_text.saturating_add(self.patience);
    }

    /// Takes so many steps, and tells whether failures are to be remembered.
    #[inline(always)]
    pub fn step(&mut self, count: usize) -> bool {
        self.steps += count;
        self.remembers |= self.steps > self.allowed;
        self.remembers
    }

    /// Whether a step is known to fail in a place.
    pub fn has_failed(&self, node: Node, at: usize) -> bool {
        let word = self.failures.get(&(node, at / WORD));
        word.is_some_and(|word| word >> (at % WORD) & 1 == 1)
    }

    /// Remembers that a step fails in all places between two, which are given in any order.
    pub fn fail(&mut self, node: Node, from: usize, to: usize) {
        let (first, last) = (from.min(to), from.max(to));
        self.reached = self.reached.max(last + 1);
        for place in first / WORD..=last / WORD {
            let from = first.saturating_sub(place * WORD);
            let to = (last - place * WORD).min(WORD - 1);
            let bits = u64::MAX << from & u64::MAX >> (WORD - 1 - to);
            *self.failures.entry((node, place)).or_default() |= bits;
        }
        if self.failures.len() > MOST_KEPT {
            self.forget_far();
        }
    }

    /// Forgets what is behind, and the farther half of the rest: nothing reaches it but by what is nearer.
    fn forget_far(&mut self) {
        let begin = self.begin / WORD;
        self.failures.retain(|&(_, place), _| place >= begin);
        if self.failures.len() <= MOST_KEPT / 2 {
            return;
        }
        let mut places: Vec<usize> = self.failures.keys().map(|&(_, place)| place).collect();
        let half = places.len() / 2;
        let (_, &mut middle, _) = places.select_nth_unstable(half);
        self.failures.retain(|&(_, place), _| place < middle);
    }

    /// What an atomic group or a look-around found in a place, if it is known.
    pub fn result(&self, opener: Node, at: usize) -> Option<Option<usize>> {
        self.results.get(&(opener, at)).copied()
    }

    /// Remembers it.
    pub fn set_result(&mut self, opener: Node, at: usize, result: Option<usize>) {
        if self.results.len() >= MOST_KEPT {
            self.results.clear();
        }
        self.reached = self.reached.max(at + 1);
        self.results.insert((opener, at), result);
    }

    /// Where a run without limit ends that reaches a place, if it is known.
    pub fn end_of_run(&self, run: Node, at: usize) -> Option<usize> {
        let &(from, to) = self.runs.get(&run)?;
        (from.min(to)..=from.max(to)).contains(&at).then_some(to)
    }

    /// Remembers where it ends.
    pub fn set_end_of_run(&mut self, run: Node, from: usize, to: usize) {
        self.runs.insert(run, (from, to));
    }
}
