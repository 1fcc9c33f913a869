//! An expression as a machine that is in several states at once, in the order in which they are tried.

use std::collections::HashMap;

use super::reduce::ends_run;
use super::tree::{Beside, Kind, Repeat, Set, Tree};
use crate::error::{Error, Result, ensure, invalid};

/// The most nodes.
const MOST_NODES: usize = 20_000;
/// The most different sets, and the most different questions about the character before a place.
const MOST_SETS: usize = 1000;
const MOST_BEFORE: usize = 32;

/// A place in the program.
pub(super) type Node = u32;

/// What is done at a place.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// Takes a character of a set.
    Take { set: u32, next: Node },
    /// Goes on at several places, in this order.
    Fork(Vec<Node>),
    /// Goes on if the answer to a question about the next character is yes.
    IfBehind { question: u32, next: Node },
    /// The same about the character before.
    IfBefore { question: u32, next: Node },
    /// All is matched.
    Match,
}

/// A question: [`Beside`] with the number of its set.
#[derive(Clone, Debug)]
pub(super) struct Question {
    pub set: u32,
    pub edge: bool,
    pub last_newline: Option<bool>,
}

/// A program.
#[derive(Debug)]
pub(super) struct Program {
    pub steps: Vec<Step>,
    pub start: Node,
    pub sets: Vec<Set>,
    pub behind: Vec<Question>,
    pub before: Vec<Question>,
    numbers: HashMap<Vec<(char, char)>, u32>,
}

fn too_large() -> Error {
    invalid!("an expression is too large for an automaton")
}

impl Program {
    /// Writes the program of a reduced expression.
    ///
    /// # Errors
    /// When it would be too large, or the expression matches nothing.
    pub fn new(tree: &Tree) -> Result<Self> {
        ensure!(
            !tree.may_be_empty(),
            "an expression matches texts without characters"
        );
        let mut program = Self {
            steps: vec![Step::Match],
            start: 0,
            sets: Vec::new(),
            behind: Vec::new(),
            before: Vec::new(),
            numbers: HashMap::new(),
        };
        program.start = program.write(tree, 0)?;
        Ok(program)
    }

    /// Whether a line feed that ends the text is asked for.
    pub fn asks_for_last_newline(&self) -> bool {
        self.behind
            .iter()
            .any(|question| question.last_newline.is_some())
    }

    fn push(&mut self, step: Step) -> Result<Node> {
        let node = self.steps.len();
        if node >= MOST_NODES {
            return Err(too_large());
        }
        self.steps.push(step);
        Ok(node as Node)
    }

    fn set(&mut self, set: &Set) -> Result<u32> {
        let key = set
            .ranges()
            .iter()
            .map(|range| (range.start(), range.end()))
            .collect();
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

    /// Writes a part behind which the program goes on, and gives where it begins.
    fn write(&mut self, tree: &Tree, next: Node) -> Result<Node> {
        match tree {
            Tree::One(set) => {
                let set = self.set(set)?;
                self.push(Step::Take { set, next })
            }
            Tree::Beside(beside) => self.ask(beside, next),
            Tree::Sequence(parts) => parts
                .iter()
                .rev()
                .try_fold(next, |next, part| self.write(part, next)),
            Tree::Choice(parts) => {
                let begins = parts.iter().map(|part| self.write(part, next));
                let begins = begins.collect::<Result<_>>()?;
                self.push(Step::Fork(begins))
            }
            Tree::Repeat(repeat) => self.repeat(repeat, next),
            Tree::Atomic(_) | Tree::Around { .. } => Err(invalid!("an expression was not reduced")),
        }
    }

    fn ask(&mut self, beside: &Beside, next: Node) -> Result<Node> {
        let question = Question {
            set: self.set(&beside.set)?,
            edge: beside.edge,
            last_newline: beside.last_newline,
        };
        let list = if beside.ahead {
            &mut self.behind
        } else {
            &mut self.before
        };
        list.push(question);
        let question = (list.len() - 1) as u32;
        ensure!(
            self.before.len() <= MOST_BEFORE,
            "an expression looks back in more than {MOST_BEFORE} places"
        );
        self.push(match beside.ahead {
            true => Step::IfBehind { question, next },
            false => Step::IfBefore { question, next },
        })
    }

    fn repeat(&mut self, repeat: &Repeat, next: Node) -> Result<Node> {
        let Repeat {
            body,
            least,
            most,
            kind,
        } = repeat;
        let stop = match kind {
            Kind::Possessive if most.is_none_or(|most| most > *least) => {
                self.ask(&ends_run(body)?, next)?
            }
            _ => next,
        };
        let in_order = |again, stop| match kind {
            Kind::Greedy | Kind::Possessive => vec![again, stop],
            Kind::Lazy => vec![stop, again],
        };
        let mut begin = next;
        match most {
            None => {
                let choice = self.push(Step::Fork(Vec::new()))?;
                let again = self.write(body, choice)?;
                self.steps[choice as usize] = Step::Fork(in_order(again, stop));
                begin = choice;
            }
            Some(most) => {
                for _ in *least..*most {
                    let again = self.write(body, begin)?;
                    begin = self.push(Step::Fork(in_order(again, stop)))?;
                }
            }
        }
        (0..*least).try_fold(begin, |next, _| self.write(body, next))
    }
}
