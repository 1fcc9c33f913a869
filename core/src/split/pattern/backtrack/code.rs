//! An expression as steps, each with the one behind it.

use std::collections::HashMap;

use super::super::tree::{Beside, Kind, Repeat, Set, Tree};
use crate::error::{Result, ensure};

/// The most steps and ways together.
const LARGEST: usize = 20_000;
/// The most different sets.
const MOST_SETS: usize = 1000;

/// A place in the code.
pub(super) type Node = u32;

/// Numbers of characters, as bits; the last one stands for the end of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mask([u64; 4]);

/// The number that stands for the end of a text, which no alphabet reaches.
pub(super) const END: u8 = u8::MAX;

impl Mask {
    pub const ALL: Self = Self([u64::MAX; 4]);

    /// The numbers that a set holds.
    pub fn of(holds: &[bool]) -> Self {
        let mut mask = Self::default();
        for (number, _) in holds.iter().enumerate().filter(|(_, holds)| **holds) {
            mask.0[number / 64] |= 1 << (number % 64);
        }
        mask
    }

    #[inline(always)]
    pub fn has(&self, number: u8) -> bool {
        self.0[usize::from(number) / 64] >> (number % 64) & 1 == 1
    }

    pub fn or(self, other: Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] | other.0[at]))
    }
}

/// What is done at a place. `back` says that it goes from the right to the left, as look-behinds do.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// Takes a character of a set.
    Take { set: u32, back: bool, next: Node },
    /// Takes as many characters of a set as there are, at most so many.
    Run {
        set: u32,
        most: usize,
        /// Whether it gives some of them back if what follows fails.
        gives: bool,
        back: bool,
        next: Node,
    },
    /// Goes on in several ways, in this order.
    Fork(Vec<Way>),
    /// Goes on if the answer to a question is yes.
    Ask { question: u32, next: Node },
    /// Matches a body in its first way, and goes on behind it.
    Atomic { body: Node, next: Node },
    /// Goes on in the same place if a body matches, or if it does `not`.
    Around { not: bool, body: Node, next: Node },
    /// The body is matched, or all of it.
    Done,
}

/// One of several ways to go on.
#[derive(Clone, Debug)]
pub(super) struct Way {
    /// What the next character must be at least, for anything to match.
    pub first: Mask,
    pub next: Node,
}

/// A question about the character beside a place: [`Beside`] with the number of its set.
#[derive(Clone, Debug)]
pub(super) struct Question {
    pub ahead: bool,
    pub set: u32,
    pub edge: bool,
    pub last_newline: Option<bool>,
}

/// The steps of an expression.
#[derive(Debug)]
pub(super) struct Code {
    pub steps: Vec<Step>,
    pub start: Node,
    pub questions: Vec<Question>,
    pub sets: Vec<Set>,
    /// For each step, what the next character must be at least.
    pub first: Vec<Mask>,
    /// How many steps and ways there are.
    pub size: usize,
    numbers: HashMap<Vec<(char, char)>, u32>,
}

/// The step with which everything ends.
const DONE: Node = 0;

impl Code {
    /// Writes the code of an expression.
    ///
    /// # Errors
    /// When it would be too large.
    pub fn new(tree: &Tree) -> Result<Self> {
        let mut code = Self {
            steps: vec![Step::Done],
            start: DONE,
            questions: Vec::new(),
            sets: Vec::new(),
            first: Vec::new(),
            size: 1,
            numbers: HashMap::new(),
        };
        code.start = code.write(tree, DONE, false)?;
        Ok(code)
    }

    fn push(&mut self, step: Step) -> Result<Node> {
        self.size += match &step {
            Step::Fork(ways) => 1 + ways.len(),
            _ => 1,
        };
        ensure!(self.size <= LARGEST, "an expression is too large to be run");
        self.steps.push(step);
        Ok((self.steps.len() - 1) as Node)
    }

    fn fork(&mut self, nodes: impl IntoIterator<Item = Node>) -> Result<Node> {
        self.push(Step::Fork(ways(nodes)))
    }

    fn set(&mut self, set: &Set) -> Result<u32> {
        let ranges = set.ranges().iter();
        let key = ranges.map(|range| (range.start(), range.end())).collect();
        let next = self.sets.len() as u32;
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            ensure!(
                self.sets.len() < MOST_SETS,
                "an expression has more than {MOST_SETS} sets"
            );
            self.sets.push(set.clone());
        }
        Ok(number)
    }

    /// Writes a part behind which the code goes on, and gives where it begins.
    fn write(&mut self, tree: &Tree, next: Node, back: bool) -> Result<Node> {
        match tree {
            Tree::One(set) => {
                let set = self.set(set)?;
                self.push(Step::Take { set, back, next })
            }
            Tree::Beside(beside) => self.ask(beside, next),
            Tree::Sequence(parts) => {
                let mut write = |next, part| self.write(part, next, back);
                match back {
                    true => parts.iter().try_fold(next, &mut write),
                    false => parts.iter().rev().try_fold(next, &mut write),
                }
            }
            Tree::Choice(parts) => {
                let begins = parts.iter().map(|part| self.write(part, next, back));
                let begins = begins.collect::<Result<Vec<_>>>()?;
                self.fork(begins)
            }
            Tree::Repeat(repeat) => self.repeat(repeat, next, back),
            Tree::Atomic(body) => {
                let body = self.write(body, DONE, back)?;
                self.push(Step::Atomic { body, next })
            }
            Tree::Around { ahead, not, body } => {
                let body = self.write(body, DONE, !ahead)?;
                self.push(Step::Around {
                    not: *not,
                    body,
                    next,
                })
            }
        }
    }

    fn ask(&mut self, beside: &Beside, next: Node) -> Result<Node> {
        let set = self.set(&beside.set)?;
        self.questions.push(Question {
            ahead: beside.ahead,
            set,
            edge: beside.edge,
            last_newline: beside.last_newline,
        });
        let question = (self.questions.len() - 1) as u32;
        self.push(Step::Ask { question, next })
    }

    fn repeat(&mut self, repeat: &Repeat, next: Node, back: bool) -> Result<Node> {
        let Repeat {
            body,
            least,
            most,
            kind,
        } = repeat;
        let begin = match (body, kind) {
            (Tree::One(set), Kind::Greedy | Kind::Possessive) => {
                let set = self.set(set)?;
                let most = most.map_or(usize::MAX, |most| (most - least) as usize);
                let gives = *kind == Kind::Greedy;
                self.push(Step::Run {
                    set,
                    most,
                    gives,
                    back,
                    next,
                })?
            }
            (_, Kind::Possessive) => {
                let greedy = Repeat {
                    kind: Kind::Greedy,
                    ..repeat.clone()
                };
                let body = self.repeat(&greedy, DONE, back)?;
                return self.push(Step::Atomic { body, next });
            }
            _ => self.more(repeat, next, back)?,
        };
        (0..*least).try_fold(begin, |next, _| self.write(body, next, back))
    }

    /// Writes what of a repetition may be left out.
    fn more(&mut self, repeat: &Repeat, next: Node, back: bool) -> Result<Node> {
        let in_order = |again| match repeat.kind {
            Kind::Lazy => [next, again],
            Kind::Greedy | Kind::Possessive => [again, next],
        };
        let Some(most) = repeat.most else {
            let choice = self.fork([next, next])?;
            let again = self.write(&repeat.body, choice, back)?;
            self.steps[choice as usize] = Step::Fork(ways(in_order(again)));
            return Ok(choice);
        };
        (repeat.least..most).try_fold(next, |begin, _| {
            let again = self.write(&repeat.body, begin, back)?;
            self.fork(in_order(again))
        })
    }

    /// Finds out for each step what the next character must be at least: nothing is left out that could match.
    pub fn look_first(&mut self, sets: &[Mask]) {
        self.first = vec![Mask::default(); self.steps.len()];
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for (node, step) in self.steps.iter().enumerate() {
                let of = |next: Node| self.first[next as usize];
                let found = match step {
                    Step::Take { set, back, .. } => match back {
                        true => Mask::ALL,
                        false => sets[*set as usize],
                    },
                    Step::Run { set, next, .. } => sets[*set as usize].or(of(*next)),
                    Step::Fork(ways) => ways
                        .iter()
                        .map(|way| of(way.next))
                        .fold(Mask::default(), Mask::or),
                    Step::Ask { next, .. } | Step::Around { next, .. } => of(*next),
                    Step::Atomic { body, .. } => of(*body),
                    Step::Done => Mask::ALL,
                };
                changed |= std::mem::replace(&mut self.first[node], found) != found;
            }
        }
        for step in &mut self.steps {
            if let Step::Fork(ways) = step {
                for way in ways {
                    way.first = self.first[way.next as usize];
                }
            }
        }
    }
}

fn ways(nodes: impl IntoIterator<Item = Node>) -> Vec<Way> {
    let way = |next| Way {
        first: Mask::ALL,
        next,
    };
    nodes.into_iter().map(way).collect()
}
