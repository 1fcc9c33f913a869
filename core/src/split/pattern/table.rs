//! An expression as a table: what an automaton reads a text by.

use super::alphabet::Alphabet;
use super::automaton::{Automaton, CUTS, FAILS, MATCHES, STATE};
use super::pairs::Pairs;
use super::program::Program;
use super::reduce;
use super::safe::SafePairs;
use super::tree::Tree;
use crate::error::Result;
use crate::text::byte_pairs::BytePairs;

/// An expression whose automaton is small enough to be laid out.
#[derive(Debug)]
pub(super) struct Table {
    pub alphabet: Alphabet,
    pub automaton: Automaton,
    pub safe: SafePairs,
    /// A match may begin at the first of two such bytes.
    pub hopeful: BytePairs,
    /// The automaton for two ASCII characters at a step, unless it is too large.
    pub pairs: Option<Box<Pairs>>,
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
        let hopeful = hopeful_of(&alphabet, &automaton);
        Ok(Self {
            pairs: Pairs::new(&alphabet, &automaton).map(Box::new),
            alphabet,
            automaton,
            safe,
            hopeful,
        })
    }
}

/// All pairs but those of ASCII characters of which every state where a match may begin reads one or both, and then
/// fails without a match.
fn hopeful_of(alphabet: &Alphabet, automaton: &Automaton) -> BytePairs {
    // The line feed that ends a text may be read as another character.
    let is_itself =
        |byte: u8| byte.is_ascii() && (byte != b'\n' || automaton.last_newline.is_none());
    let read = |state: u32, byte: u8| {
        automaton.cells[state as usize + usize::from(alphabet.of_byte(byte))]
    };
    let fails = |cell: u32| cell & (MATCHES | FAILS) == FAILS;
    BytePairs::of(|first, second| {
        let fails_from = |&start: &u32| {
            let cell = read(start, first);
            fails(cell) || cell & (MATCHES | CUTS) == 0 && fails(read(cell & STATE, second))
        };
        !(is_itself(first) && is_itself(second) && automaton.starts.values().all(fails_from))
    })
}
