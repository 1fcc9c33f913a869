//! Which texts an expression leaves whole, by the characters that they are of.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

use super::automaton::{CUTS, FAILS, MATCHES, STATE};
use super::table::Table;
use super::tree::{Set, set_of};

/// A set that has more characters is not asked about: it would take milliseconds.
const MOST_CHARACTERS: usize = 1 << 17;

impl Table {
    /// Gives the most of a set's characters of which any text, of one or more, is one piece: a match, or without any.
    pub fn tame(&self, set: &Set) -> Set {
        let mut tame = set_of([]);
        let mut numbers = Vec::new();
        for (number, characters) in self.by_number(set).unwrap_or_default() {
            numbers.push(number);
            if self.is_one_match(&numbers) || self.has_no_match(&numbers) {
                tame.union(&characters);
            } else {
                numbers.pop();
            }
        }
        tame
    }

    /// Sorts a set's characters by their numbers, most first. None if they are too many, or the last one of a text may have
    /// another number.
    fn by_number(&self, set: &Set) -> Option<Vec<(u8, Set)>> {
        let newline = u32::from('\n');
        let mut ranges: BTreeMap<u8, Vec<(char, char)>> = BTreeMap::new();
        let mut counts = [0; 256];
        let mut count = 0;
        for range in set.ranges() {
            let code_points = u32::from(range.start())..=u32::from(range.end());
            count += code_points.clone().count();
            if count > MOST_CHARACTERS
                || self.automaton.last_newline.is_some() && code_points.contains(&newline)
            {
                return None;
            }
            for character in range.start()..=range.end() {
                let number = self.alphabet.of(u32::from(character));
                counts[usize::from(number)] += 1;
                let ranges = ranges.entry(number).or_default();
                match ranges.last_mut() {
                    Some((_, last)) if u32::from(*last) + 1 == u32::from(character) => {
                        *last = character;
                    }
                    _ => ranges.push((character, character)),
                }
            }
        }
        let mut sorted: Vec<_> = ranges.into_iter().collect();
        sorted.sort_by_key(|(number, _)| Reverse(counts[usize::from(*number)]));
        let sets = sorted.into_iter();
        Some(
            sets.map(|(number, ranges)| (number, set_of(ranges)))
                .collect(),
        )
    }

    /// Whether nothing ends the match that begins a text, until the text ends.
    fn is_one_match(&self, numbers: &[u8]) -> bool {
        let edge = self.automaton.answers.last();
        let Some(&begin) = edge.and_then(|answers| self.automaton.starts.get(answers)) else {
            return false;
        };
        self.all(vec![begin], numbers, |cell, at_end| {
            cell & (CUTS | FAILS) == 0 && at_end & MATCHES != 0
        })
    }

    /// Whether no match begins anywhere.
    fn has_no_match(&self, numbers: &[u8]) -> bool {
        let starts = self.automaton.starts.values().copied().collect();
        self.all(starts, numbers, |cell, at_end| {
            cell & (MATCHES | CUTS) == 0 && at_end & MATCHES == 0
        })
    }

    /// Whether all cells are right that some states lead to by the characters; what is asked gets each, and what the text's
    /// end makes of it.
    fn all(&self, mut open: Vec<u32>, numbers: &[u8], is_right: impl Fn(u32, u32) -> bool) -> bool {
        let read =
            |state: u32, number: u8| self.automaton.cells[state as usize + usize::from(number)];
        let mut reached = HashSet::new();
        while let Some(state) = open.pop() {
            for &number in numbers {
                let cell = read(state, number);
                let next = cell & STATE;
                let at_end = match cell & FAILS {
                    0 => read(next, self.automaton.end),
                    _ => 0,
                };
                if !is_right(cell, at_end) {
                    return false;
                }
                if cell & FAILS == 0 && reached.insert(next) {
                    open.push(next);
                }
            }
        }
        true
    }
}
