//! Where a text can be cut without changing any piece, whatever stands before or after it.
//!
//! Two characters decide, `a` before the cut and `b` behind it. The cut is safe if, in every state behind `a` that the
//! automaton can be in, (1) nothing goes on with `b`, and (2) a match ends before `b` just if one ends there where the text
//! ends; if (3) `a` by itself is a match before `b`, whatever stands before it; and if (4) what begins at `b` does not look
//! back.
//!
//! By (1) no search that begins before the cut reads beyond `b`, and by (2) it ends at the same place when the text ends at
//! the cut. So the pieces before the cut are the same. One of them ends at the cut: of two pieces that follow each other one
//! begins where the other ends, so the last one that begins before the cut would have to go beyond it. A match does not, by
//! (1). What lies between two matches does not either: by (3) a match begins at `a` at the latest, and ends at the cut. By
//! (4) what begins at `b` is as at a text's beginning.

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
        let matches = |state: usize, symbol: usize| cell(state, symbol) & MATCHES != 0;
        let stops = |state: usize, symbol: usize| cell(state, symbol) & (CUTS | FAILS) != 0;
        let mut pairs = vec![vec![true; size]; size];
        for state in (0..table.cells.len()).step_by(table.stride) {
            for (before, row) in pairs.iter_mut().enumerate() {
                let here = cell(state, before);
                // What begins anew with the character is looked at where it begins.
                if here & (CUTS | FAILS) != 0 {
                    continue;
                }
                let next = (here & STATE) as usize;
                let ends = matches(next, end);
                for (behind, safe) in row.iter_mut().enumerate() {
                    *safe &= stops(next, behind) && matches(next, behind) == ends;
                }
            }
        }
        let starts: Vec<usize> = table.starts.values().map(|&start| start as usize).collect();
        let at_begin = table.starts[&table.answers[end]];
        for (before, row) in pairs.iter_mut().enumerate() {
            let looks_back = table.starts[&table.answers[before]] != at_begin;
            for (behind, safe) in row.iter_mut().enumerate() {
                let is_match = starts.iter().all(|&start| {
                    let here = cell(start, before);
                    here & FAILS == 0 && matches((here & STATE) as usize, behind)
                });
                *safe &= is_match && !looks_back;
            }
        }
        if let Some(last_newline) = table.last_newline {
            let newline = usize::from(newline);
            // A line feed may be the last one of a text that was cut, and not of the whole.
            pairs[newline].fill(false);
            for (before, row) in pairs.iter_mut().enumerate() {
                let safe = (0..table.cells.len()).step_by(table.stride).all(|state| {
                    let here = cell(state, before);
                    let (next, symbol) = ((here & STATE) as usize, usize::from(last_newline));
                    // Behind the cut, the text's end takes its place.
                    let is_as_end = matches(next, symbol) && matches(next, end);
                    here & (CUTS | FAILS) != 0 || is_as_end && stops(next, symbol)
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

    /// Whether a text can be cut before a space behind any character but white space.
    pub fn end_behind_visible(&self, alphabet: &Alphabet) -> bool {
        let space = usize::from(alphabet.of_byte(b' '));
        let visible = alphabet.visible();
        let mut numbers = self.pairs.iter().zip(visible);
        numbers.all(|(behind, is_visible)| !is_visible || behind[space])
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
