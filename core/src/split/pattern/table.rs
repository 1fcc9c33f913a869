//! An expression as a table: what an automaton reads a text by.

use super::alphabet::Alphabet;
use super::automaton::Automaton;
use super::program::Program;
use super::reduce;
use super::safe::SafePairs;
use super::tree::Tree;
use crate::error::Result;

/// An expression whose automaton is small enough to be laid out.
#[derive(Debug)]
pub(super) struct Table {
    pub alphabet: Alphabet,
    pub automaton: Automaton,
    pub safe: SafePairs,
}

impl Table {
    /// Makes the table.
    ///
    /// # Errors
    /// When only backtracking or too large an automaton would match the expression.
    pub fn new(tree: Tree) -> Result<Self> {
        let program = Program::new(&reduce::reduce(tree)?)?;
        let (alphabet, holds) = Alphabet::new(&program.sets)?;
        let newline = alphabet.of(u32::from('\n'));
        let automaton = Automaton::new(&program, &holds, newline)?;
        let safe = SafePairs::new(&automaton, newline);
        Ok(Self {
            alphabet,
            automaton,
            safe,
        })
    }
}
