//! The automaton of a program: what the next character makes of all that may still match.
//!
//! A state is the list of the places that a program has reached, in the order in which they are tried, without what
//! stands behind a sure match. Questions about the next character are answered when it is read: so a match is found
//! one character late, and the text's end is one more character.

use std::collections::HashMap;

use super::program::{Node, Program, Question, Step};
use crate::error::{Result, ensure};

/// The most cells of the table, and the most places that may be looked at to make it.
const MOST_CELLS: usize = 1 << 17;
const MOST_WORK: usize = 1 << 21;

/// A match ends before the character.
pub(super) const MATCHES: u32 = 1 << 31;
/// It is the last one, and the character begins the next piece: that is in the cell already.
pub(super) const CUTS: u32 = 1 << 30;
/// Nothing goes on with the character.
pub(super) const FAILS: u32 = 1 << 29;
/// What of a cell is the next state.
pub(super) const STATE: u32 = FAILS - 1;

/// A table: for each state, a row of cells by characters.
#[derive(Debug)]
pub(super) struct Automaton {
    pub cells: Vec<u32>,
    /// How far rows are apart; a state is the place of its row.
    pub stride: usize,
    /// The states at the beginning of a match, by the answers to all questions about the character before.
    pub starts: HashMap<u32, u32>,
    /// The state at the beginning of a match, if there is only one.
    pub only_start: Option<u32>,
    /// The answers, by the character before; the last ones are those where a text begins.
    pub answers: Vec<u32>,
    /// The number of a line feed that ends the text, if it has one of its own.
    pub last_newline: Option<u8>,
    /// The number of the text's end.
    pub end: u8,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    places: Vec<Node>,
    /// The answers to all questions about the character before.
    answers: u32,
}

struct Maker<'p> {
    program: &'p Program,
    holds: &'p [Vec<bool>],
    /// How many characters the alphabet has; a last line feed and the text's end have the next numbers.
    size: usize,
    newline: usize,
    work: usize,
    seen: Vec<u32>,
    round: u32,
}

impl Automaton {
    /// Makes the table. `holds` says for each set which characters are in it, and `newline` is a line feed.
    ///
    /// # Errors
    /// When it would be too large.
    pub fn new(program: &Program, holds: &[Vec<bool>], newline: u8) -> Result<Self> {
        let size = holds.first().map_or(1, Vec::len);
        let last_newline = program.asks_for_last_newline().then_some(size as u8);
        let end = size + usize::from(last_newline.is_some());
        let mut maker = Maker {
            program,
            holds,
            size,
            newline: usize::from(newline),
            work: 0,
            seen: vec![0; program.steps.len()],
            round: 0,
        };
        let answers: Vec<u32> = (0..end)
            .map(Some)
            .chain([None])
            .map(|symbol| maker.answers(symbol))
            .collect();
        let mut automaton = Self {
            cells: Vec::new(),
            stride: (end + 1).next_power_of_two(),
            starts: HashMap::new(),
            only_start: None,
            answers,
            last_newline,
            end: end as u8,
        };
        automaton.fill(&mut maker)?;
        Ok(automaton)
    }

    fn fill(&mut self, maker: &mut Maker<'_>) -> Result<()> {
        let (mut numbers, mut states) = (HashMap::new(), Vec::new());
        let mut number_of = |state: State, states: &mut Vec<State>| {
            let next = states.len();
            let number = *numbers.entry(state.clone()).or_insert(next);
            if number == next {
                states.push(state);
            }
            number
        };
        for &answers in &self.answers {
            let state = maker.begin(answers);
            let number = number_of(state, &mut states);
            self.starts.insert(answers, (number * self.stride) as u32);
        }
        self.only_start = (self.starts.len() == 1).then_some(0);
        let mut done = 0;
        while done < states.len() {
            ensure!(
                (done + 1) * self.stride <= MOST_CELLS && maker.work <= MOST_WORK,
                "an expression needs too large an automaton"
            );
            let state = states[done].clone();
            for symbol in 0..=usize::from(self.end) {
                let (matches, next) = maker.read(&state, symbol, self);
                let cell = match next {
                    Some(next) => (number_of(next, &mut states) * self.stride) as u32,
                    None => FAILS,
                };
                self.cells.push(cell | if matches { MATCHES } else { 0 });
            }
            self.cells.resize((done + 1) * self.stride, FAILS);
            done += 1;
        }
        self.cut_and_go_on(&states);
        Ok(())
    }

    /// Where a match ends and nothing goes on, puts what the character makes of the next beginning into the cell.
    fn cut_and_go_on(&mut self, states: &[State]) {
        for (number, state) in states.iter().enumerate() {
            let start = self.starts[&state.answers] as usize;
            for symbol in 0..usize::from(self.end) {
                let begun = self.cells[start + symbol];
                let cell = &mut self.cells[number * self.stride + symbol];
                // Cells of beginnings never match, so that none of these was changed before.
                if *cell == MATCHES | FAILS && begun & FAILS == 0 {
                    *cell = MATCHES | CUTS | (begun & STATE);
                }
            }
        }
    }
}

impl Maker<'_> {
    fn answer(&self, question: &Question, symbol: Option<usize>) -> bool {
        match symbol {
            None => question.edge,
            Some(symbol) if symbol < self.size => self.holds[question.set as usize][symbol],
            Some(_) => question
                .last_newline
                .unwrap_or(self.holds[question.set as usize][self.newline]),
        }
    }

    /// The answers to all questions about the character before a place; None where the text begins.
    fn answers(&self, symbol: Option<usize>) -> u32 {
        let bit = |(number, question)| u32::from(self.answer(question, symbol)) << number;
        self.program.before.iter().enumerate().map(bit).sum()
    }

    /// Tells whether a place is reached for the first time in this round.
    fn is_new(&mut self, node: Node) -> bool {
        self.work += 1;
        std::mem::replace(&mut self.seen[node as usize], self.round) != self.round
    }

    fn begin(&mut self, answers: u32) -> State {
        self.state(vec![self.program.start], answers)
    }

    /// The state of what goes on at some places.
    fn state(&mut self, begins: Vec<Node>, answers: u32) -> State {
        self.round += 1;
        let mut places = Vec::new();
        let mut waiting = begins;
        waiting.reverse();
        while let Some(node) = waiting.pop() {
            if !self.is_new(node) {
                continue;
            }
            match &self.program.steps[node as usize] {
                Step::Fork(nodes) => waiting.extend(nodes.iter().rev()),
                &Step::IfBefore { question, next } => {
                    if answers >> question & 1 == 1 {
                        waiting.push(next);
                    }
                }
                Step::Take { .. } | Step::IfBehind { .. } => places.push(node),
                Step::Match => {
                    places.push(node);
                    break;
                }
            }
        }
        State { places, answers }
    }

    /// Whether a match ends before a character, and the state behind it, if there is any.
    fn read(&mut self, state: &State, symbol: usize, table: &Automaton) -> (bool, Option<State>) {
        self.round += 1;
        let at_end = symbol == usize::from(table.end);
        let read = (!at_end).then_some(symbol);
        let set_symbol = if symbol < self.size {
            symbol
        } else {
            self.newline
        };
        let mut begins = Vec::new();
        let mut matches = false;
        let mut waiting: Vec<Node> = state.places.iter().rev().copied().collect();
        while let Some(node) = waiting.pop() {
            if !self.is_new(node) {
                continue;
            }
            match &self.program.steps[node as usize] {
                Step::Fork(nodes) => waiting.extend(nodes.iter().rev()),
                &Step::IfBefore { question, next } => {
                    if state.answers >> question & 1 == 1 {
                        waiting.push(next);
                    }
                }
                &Step::IfBehind { question, next } => {
                    if self.answer(&self.program.behind[question as usize], read) {
                        waiting.push(next);
                    }
                }
                &Step::Take { set, next } => {
                    if !at_end && self.holds[set as usize][set_symbol] {
                        begins.push(next);
                    }
                }
                Step::Match => {
                    matches = true;
                    break;
                }
            }
        }
        let next = (!begins.is_empty()).then(|| self.state(begins, table.answers[symbol]));
        (matches, next.filter(|next| !next.places.is_empty()))
    }
}
