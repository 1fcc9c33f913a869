//! Split patterns of any kind: most are compiled to an automaton that reads a text once, the others are backtracked.
//!
//! `parse` reads an expression in the dialect of Python's `regex` module, `reduce` rewrites what asks for more than
//! one character ahead where that says the same, `program` writes what is left as a machine of many states at once,
//! and `automaton` makes a table of it, whose columns are the characters that the `alphabet` tells apart. `run` cuts
//! by the table, `pairs` at two characters a step; `safe` reads off it where a text can be cut, and `whole` what is not.
//! `runs` does without a table. What none of this fits is run by `backtrack`, from the expression as it was read.
//! `docs/internals/patterns.md` has the proofs.

mod alphabet;
mod automaton;
mod backtrack;
#[cfg(test)]
mod oracle;
mod pairs;
mod parse;
mod program;
mod reduce;
mod run;
mod runs;
mod safe;
mod sets;
mod table;
#[cfg(test)]
mod tests;
mod tree;
mod whole;

use std::ops::Range;

use crate::error::{Result, ensure};
use alphabet::Alphabet;
use backtrack::{Backtracker, Tried};
use run::DeadEnds;
pub(super) use runs::{Groups, Runs};
use safe::SafePairs;
use table::Table;
use tree::Set;

/// The longest expression, in bytes.
const LONGEST: usize = 1 << 13;

/// A compiled expression.
#[derive(Debug)]
pub(super) struct Pattern {
    way: Way,
    is_common: bool,
}

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
    /// Made when it is needed: there are patterns that are asked about many short texts.
    tried: Option<Box<Tried>>,
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
        let parsed = parse::parse(pattern)?;
        Ok(match Table::new(parsed.tree.clone()) {
            Ok(table) => Self {
                way: Way::Table(table),
                is_common: !parsed.folds_its_way,
            },
            Err(_) => Self {
                way: Way::Backtracker(Backtracker::new(&parsed.tree)?),
                is_common: false,
            },
        })
    }

    /// Writes the ends of the next pieces from `at` on, where a piece begins, and gives their number: as many as
    /// there is room for, or as the text has left. A match is a piece, and so is what lies between two.
    #[inline]
    pub fn fill(&self, text: &[u8], at: usize, room: &mut [usize], known: &mut Known) -> usize {
        match &self.way {
            Way::Table(table) => table.fill(text, at, room, &mut known.dead_ends),
            Way::Backtracker(engine) => {
                engine.fill(text, at, room, known.tried.get_or_insert_default())
            }
        }
    }

    /// Gives the matches in a text, if an automaton finds them; none is empty.
    pub fn matches<'t>(&'t self, text: &'t [u8]) -> impl Iterator<Item = Range<usize>> + 't {
        let table = match &self.way {
            Way::Table(table) => Some(table),
            Way::Backtracker(_) => None,
        };
        table.into_iter().flat_map(|table| table.matches(text))
    }

    /// Gives the most of a set's characters of which any text, of one or more, is one piece, if an automaton tells.
    pub fn tame(&self, set: &Set) -> Option<Set> {
        match &self.way {
            Way::Table(table) => Some(table.tame(set)),
            Way::Backtracker(_) => None,
        }
    }

    /// Gives the last offset inside a text at which it can be cut, whatever stands before or after it; 0 for none.
    pub fn safe_cut(&self, text: &[u8]) -> usize {
        let (safe, alphabet) = self.cuts();
        safe.last_cut(alphabet, text)
    }

    /// Whether there are such offsets in any text.
    pub fn knows_cuts(&self) -> bool {
        self.cuts().0.any
    }

    /// Whether a text can be cut between any ASCII letter and a space.
    pub fn ends_at_spaces(&self) -> bool {
        let (safe, alphabet) = self.cuts();
        safe.end_at_spaces(alphabet)
    }

    /// Whether a text can be cut before a space behind any character but white space.
    pub fn ends_behind_visible(&self) -> bool {
        let (safe, alphabet) = self.cuts();
        safe.end_behind_visible(alphabet)
    }

    fn cuts(&self) -> (&SafePairs, &Alphabet) {
        match &self.way {
            Way::Table(table) => (&table.safe, &table.alphabet),
            Way::Backtracker(engine) => (&engine.safe, &engine.alphabet),
        }
    }

    /// Whether it is of what all engines of the field do alike: an automaton, with letters that they fold alike.
    pub fn is_common(&self) -> bool {
        self.is_common
    }

    /// How many cells the table has, or how much as large the code is.
    pub fn cells(&self) -> usize {
        match &self.way {
            Way::Table(table) => table.automaton.cells.len(),
            Way::Backtracker(engine) => engine.size(),
        }
    }
}
