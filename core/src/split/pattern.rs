//! Split patterns of any kind: most are compiled to an automaton that reads a text once, the others are backtracked.
//!
//! `parse` reads an expression in the dialect of Python's `regex` module, `reduce` rewrites what asks for more than
//! one character ahead where that says the same, `program` writes what is left as a machine of many states at once,
//! and `automaton` makes a table of it, whose columns are the characters that the `alphabet` tells apart. `run` cuts
//! by the table, and `safe` reads off it where a text can be cut. What none of this fits is run by `backtrack`, from
//! the expression as it was read. `docs/internals/patterns.md` has the proofs.

mod alphabet;
mod automaton;
mod backtrack;
#[cfg(test)]
mod oracle;
mod parse;
mod program;
mod reduce;
mod run;
mod safe;
mod sets;
mod table;
#[cfg(test)]
mod tests;
mod tree;

use crate::error::{Result, ensure};
use backtrack::{Backtracker, Tried};
use run::DeadEnds;
use table::Table;

/// The longest expression, in bytes.
const LONGEST: usize = 1 << 13;

/// A compiled expression.
#[derive(Debug)]
pub(super) struct Pattern(Way);

#[derive(Debug)]
enum Way {
    /// An automaton runs it.
    Table(Table),
    /// Its ways to match are tried one after the other.
    Backtracker(Backtracker),
}

/// What is known of a text that is being cut: what was tried in vain.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    dead_ends: DeadEnds,
    tried: Tried,
}

impl Pattern {
    /// Compiles an expression in the dialect of Python's `regex` module.
    ///
    /// # Errors
    /// When it is none, when its meaning is not certain, or when it is too large.
    pub fn new(pattern: &str) -> Result<Self> {
        ensure!(
            pattern.len() <= LONGEST,
            "an expression has more than {LONGEST} bytes"
        );
        let tree = parse::parse(pattern)?;
        Ok(Self(match Table::new(tree.clone()) {
            Ok(table) => Way::Table(table),
            Err(_) => Way::Backtracker(Backtracker::new(&tree)?),
        }))
    }

    /// Writes the ends of the next pieces from `at` on, where a piece begins, and gives their number: as many as
    /// there is room for, or as the text has left. A match is a piece, and so is what lies between two.
    #[inline]
    pub fn fill(&self, text: &[u8], at: usize, room: &mut [usize], known: &mut Known) -> usize {
        match &self.0 {
            Way::Table(table) => table.fill(text, at, room, &mut known.dead_ends),
            Way::Backtracker(engine) => engine.fill(text, at, room, &mut known.tried),
        }
    }

    /// Gives the last offset inside a text at which it can be cut, whatever stands before or after it; 0 for none.
    pub fn safe_cut(&self, text: &[u8]) -> usize {
        match &self.0 {
            Way::Table(table) => table.safe_cut(text),
            Way::Backtracker(_) => 0,
        }
    }

    /// Whether there are such offsets in any text.
    pub fn knows_cuts(&self) -> bool {
        match &self.0 {
            Way::Table(table) => table.safe.any,
            Way::Backtracker(_) => false,
        }
    }

    /// Whether a text can be cut between any ASCII letter and a space.
    pub fn ends_at_spaces(&self) -> bool {
        match &self.0 {
            Way::Table(table) => table.ends_at_spaces(),
            Way::Backtracker(_) => false,
        }
    }

    /// How many cells the table has, or how much as large the code is.
    pub fn cells(&self) -> usize {
        match &self.0 {
            Way::Table(table) => table.automaton.cells.len(),
            Way::Backtracker(engine) => engine.size(),
        }
    }
}
