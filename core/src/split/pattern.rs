//! Split patterns of any kind, each compiled to an automaton that reads a text once, a character at a time.
//!
//! `parse` reads an expression in the dialect of Python's `regex` module, `reduce` rewrites what asks for more than
//! one character ahead where that says the same, `program` writes what is left as a machine of many states at once,
//! and `automaton` makes a table of it, whose columns are the characters that the `alphabet` tells apart. `run` cuts
//! by the table, and `safe` reads off it where a text can be cut. `docs/internals/patterns.md` has the proofs.

mod alphabet;
mod automaton;
#[cfg(test)]
mod oracle;
mod parse;
mod program;
mod reduce;
mod run;
mod safe;
mod sets;
#[cfg(test)]
mod tests;
mod tree;

use crate::error::{Result, ensure};
use alphabet::Alphabet;
use automaton::Automaton;
use program::Program;
pub(super) use run::DeadEnds;
use safe::SafePairs;

/// The longest expression, in bytes.
const LONGEST: usize = 1 << 13;

/// A compiled expression.
#[derive(Debug)]
pub(super) struct Pattern {
    alphabet: Alphabet,
    automaton: Automaton,
    safe: SafePairs,
}

impl Pattern {
    /// Compiles an expression in the dialect of Python's `regex` module.
    ///
    /// # Errors
    /// When it is none, when its meaning is not certain, or when only backtracking or too large an automaton
    /// would match it.
    pub fn new(pattern: &str) -> Result<Self> {
        ensure!(
            pattern.len() <= LONGEST,
            "an expression has more than {LONGEST} bytes"
        );
        let program = Program::new(&reduce::reduce(parse::parse(pattern)?)?)?;
        let (alphabet, holds) = Alphabet::new(&program.sets)?;
        let automaton = Automaton::new(&program, &holds, alphabet.of(u32::from('\n')))?;
        let safe = SafePairs::new(&automaton, alphabet.of(u32::from('\n')));
        Ok(Self {
            alphabet,
            automaton,
            safe,
        })
    }

    /// How many cells the table has.
    pub fn cells(&self) -> usize {
        self.automaton.cells.len()
    }
}
