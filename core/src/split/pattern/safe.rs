//! Where a text can be cut without changing any piece, whatever stands before or after it.
//!
//! Two characters decide, `a` before the cut and `b` behind it. The cut is safe if, in every state behind `a` that the
//! automaton can be in, (1) a match ends before `b` and nothing goes on with it, (2) a match ends where the text ends;
//! if (3) a match can begin with `a` whatever stands before it; and if (4) what begins at `b` does not look back.
//!
//! By (3) and (1), a piece ends at the cut: whatever the automaton does with the text before, at last it begins at `a`
//! or before, and reads `a`. By (1) nothing that begins before the cut reads beyond `b`, and by (2) it ends at the same
//! place when the text ends there. By (4) what begins at `b` is as at a text's beginning.

use super::alphabet::Alphabet;
use super::automaton::{Automaton, CUTS, FAILS, MATCHES, STATE};
use crate::text::{continues, length_from};

/// Which pairs of characters a text can be cut between.
#[derive(Debug)]
pub(super) struct SafePairs {
    /// By the number of the character before the cut: by the one behind it.
    pairs: Vec<Vec<bool>>,
    /// Whether there is any.
    pub any: bool,
}

impl SafePairs {
    /// Reads the pairs off a table; `newline` is the number of a line feed.
    pub fn new(table: &Automaton, newline: u8) -> Self {
        let size = usize::from(table.last_newline.unwrap_or(table.end));
        let end = usize::from(table.end);
        let cell = |state: usize, symbol: usize| table.cells[state + symbol];
        let cuts_before = |state: usize, symbol: usize| {
            let cell = cell(state, symbol);
            cell & MATCHES != 0 && cell & (CUTS | FAILS) != 0
        };
        let mut pairs = vec![vec![true; size]; size];
        for state in (0..table.cells.len()).step_by(table.stride) {
            for (before, row) in pairs.iter_mut().enumerate() {
                let here = cell(state, before);
                // What begins anew with the character is looked at where it begins.
                if here & (CUTS | FAILS) != 0 {
                    continue;
                }
                let next = (here & STATE) as usize;
                let ends = cell(next, end) & MATCHES != 0;
                for (behind, safe) in row.iter_mut().enumerate() {
                    *safe &= ends && cuts_before(next, behind);
                }
            }
        }
        let starts: Vec<usize> = table.starts.values().map(|&start| start as usize).collect();
        let at_begin = table.starts[&table.answers[end]];
        for (before, row) in pairs.iter_mut().enumerate() {
            let begins = starts.iter().all(|&start| cell(start, before) & FAILS == 0);
            let looks_back = table.starts[&table.answers[before]] != at_begin;
            if !begins || looks_back {
                row.fill(false);
            }
        }
        if let Some(last_newline) = table.last_newline {
            let newline = usize::from(newline);
            // A line feed may be the last one of a text that was cut, and not of the whole.
            pairs[newline].fill(false);
            for (before, row) in pairs.iter_mut().enumerate() {
                let safe = (0..table.cells.len()).step_by(table.stride).all(|state| {
                    let here = cell(state, before);
                    here & (CUTS | FAILS) != 0
                        || cuts_before((here & STATE) as usize, usize::from(last_newline))
                });
                row[newline] &= safe;
            }
        }
        Self::of(pairs)
    }

    /// The pairs, by the number of the character before the cut and that of the one behind it.
    pub fn of(pairs: Vec<Vec<bool>>) -> Self {
        let any = pairs.iter().flatten().any(|&safe| safe);
        Self { pairs, any }
    }
}

impl SafePairs {
    /// Gives the last offset inside a text at which it can be cut, whatever stands before or after it; 0 for none.
    pub fn last_cut(&self, alphabet: &Alphabet, text: &[u8]) -> usize {
        if !self.any {
            return 0;
        }
        let mut at = text.len();
        while at > 1 {
            at -= 1;
            if self.is_safe(alphabet, text, at) {
                return at;
            }
            // Where the same byte stands again and again, all cuts are as this one.
            let byte = text[at];
            if byte.is_ascii() && text[at - 1] == byte {
                let other = text[..at].iter().rposition(|&other| other != byte);
                at = other.map_or(0, |last| last + 2);
            }
        }
        0
    }

    /// Whether a text can be cut between any ASCII letter and a space.
    pub fn end_at_spaces(&self, alphabet: &Alphabet) -> bool {
        let space = usize::from(alphabet.of_byte(b' '));
        let mut letters = (b'A'..=b'Z').chain(b'a'..=b'z');
        letters.all(|letter| self.pairs[usize::from(alphabet.of_byte(letter))][space])
    }

    fn is_safe(&self, alphabet: &Alphabet, text: &[u8], at: usize) -> bool {
        // A character that is not complete is no ground to cut: its other bytes may be beyond the text.
        if continues(text[at]) || at + length_from(text[at]) > text.len() {
            return false;
        }
        let Some(before) = alphabet.read_before(text, at) else {
            return false;
        };
        let behind = alphabet.read(text, at).0;
        self.pairs[usize::from(before)][usize::from(behind)]
    }
}
