//! Cuts a text by the table of an automaton.
//!
//! The loop in `fill` is the fast path: where the next character ends a match and begins another one, the table says
//! both at once, and `pairs` says it of two ASCII characters at a step. Whatever is not decided by the next character is
//! matched again from where the piece begins.
//!
//! An expression such as `a+b|a` looks far ahead of each piece, in vain. What was found to lead to no match is
//! remembered at some places, so that the next search stops there: all of a text is read about once in each state.

use std::collections::HashSet;
use std::ops::Range;

use super::automaton::{CUTS, FAILS, MATCHES, STATE};
use super::pairs::{AT_ONCE, Search};
use super::table::Table;
use crate::text::byte_pairs::PLACES;

/// So many bytes are read without a match before anything is remembered, and from then on one place in so many.
const FAR: usize = 256;
const APART: usize = 64;

/// The most dead ends that are kept: some tens of megabytes.
const MOST_KEPT: usize = if cfg!(test) { 1 << 10 } else { 1 << 20 };

/// Places and states from which no match is found in a text.
#[derive(Clone, Debug, Default)]
pub(super) struct DeadEnds(HashSet<(usize, usize)>);

impl DeadEnds {
    /// Keeps what a search has passed in vain that began at a place. Beyond a limit, what lies before it is forgotten, and then
    /// the farther half of the rest: nothing comes there but by what is nearer.
    fn add(&mut self, passed: Vec<(usize, usize)>, begin: usize) {
        self.0.extend(passed);
        if self.0.len() <= MOST_KEPT {
            return;
        }
        self.0.retain(|&(place, _)| place > begin);
        if self.0.len() <= MOST_KEPT / 2 {
            return;
        }
        let mut places: Vec<usize> = self.0.iter().map(|&(place, _)| place).collect();
        let (_, &mut farther, _) = places.select_nth_unstable(MOST_KEPT / 2);
        self.0.retain(|&(place, _)| place < farther);
    }
}

impl Table {
    /// Writes the ends of the next pieces from `at` on, where a piece begins, and gives their number: as many as
    /// there is room for, or as the text has left. A match is a piece, and so is what lies between two.
    pub fn fill(
        &self,
        text: &[u8],
        at: usize,
        room: &mut [usize],
        dead_ends: &mut DeadEnds,
    ) -> usize {
        let cells = &self.automaton.cells[..];
        // The line feed that may be read as another character is left to `finish`.
        let end = text.len().min(self.last_newline_of(text).0);
        let mut found = 0;
        let mut begin = at;
        while begin < text.len() && found < room.len() {
            let mut search = self.search_from(text, begin);
            let mut limit = end.min(begin + FAR);
            let mut one_by_one = begin;
            loop {
                if let Some(pairs) = &self.pairs
                    && search.place >= one_by_one
                {
                    found += pairs.pass(text, end, FAR, &mut search, &mut room[found..]);
                    one_by_one = search.place + AT_ONCE;
                    if found == room.len() {
                        return found;
                    }
                }
                let Search { state, place, last } = &mut search;
                if *place >= limit {
                    if *place >= end || *place - *last > FAR {
                        break;
                    }
                    limit = end.min(*place + FAR);
                }
                let (number, length) = self.alphabet.read(text, *place);
                let cell = cells[*state + usize::from(number)];
                if cell & MATCHES != 0 {
                    *last = *place;
                }
                if cell & FAILS != 0 {
                    break;
                }
                room[found] = *place;
                found += usize::from(cell & CUTS != 0);
                if found == room.len() {
                    return found;
                }
                *state = (cell & STATE) as usize;
                *place += length;
            }
            if found > 0 {
                begin = room[found - 1];
            }
            begin = match self.finish(text, search, dead_ends) {
                last if last > begin => last,
                _ => self.next_match(text, begin, dead_ends).start,
            };
            room[found] = begin;
            found += 1;
        }
        found
    }

    /// Gives the matches in a text; none is empty.
    pub fn matches<'t>(&'t self, text: &'t [u8]) -> impl Iterator<Item = Range<usize>> + 't {
        let mut dead_ends = DeadEnds::default();
        let mut at = 0;
        std::iter::from_fn(move || {
            if at == text.len() {
                return None;
            }
            let end = self.finish(text, self.search_from(text, at), &mut dead_ends);
            let found = if end > at {
                at..end
            } else {
                self.next_match(text, at, &mut dead_ends)
            };
            at = found.end;
            (!found.is_empty()).then_some(found)
        })
    }

    /// Goes on with a search to its end, and gives where its last match ends.
    fn finish(&self, text: &[u8], mut search: Search, dead_ends: &mut DeadEnds) -> usize {
        let last_newline = self.last_newline_of(text);
        let begin = search.last;
        let mut passed = Vec::new();
        while search.place < text.len() {
            let (mut number, length) = self.alphabet.read(text, search.place);
            if search.place == last_newline.0 {
                number = last_newline.1;
            }
            let cell = self.automaton.cells[search.state + usize::from(number)];
            if cell & MATCHES != 0 {
                search.last = search.place;
                passed.clear();
            }
            if cell & (FAILS | CUTS) != 0 {
                break;
            }
            let before = search.place;
            search.state = (cell & STATE) as usize;
            search.place += length;
            if search.place - search.last > FAR && before / APART != search.place / APART {
                let here = (search.place, search.state);
                if dead_ends.0.contains(&here) {
                    break;
                }
                if passed.len() < MOST_KEPT {
                    passed.push(here);
                }
            }
        }
        if search.place == text.len()
            && self.automaton.cells[search.state + usize::from(self.automaton.end)] & MATCHES != 0
        {
            return text.len();
        }
        if !passed.is_empty() {
            dead_ends.add(passed, begin);
        }
        search.last
    }

    /// Gives the next match behind a place where none begins; at the text's end an empty one.
    fn next_match(&self, text: &[u8], from: usize, dead_ends: &mut DeadEnds) -> Range<usize> {
        let mut at = from + self.alphabet.read(text, from).1;
        while at < text.len() {
            // Most of what lies between two matches is passed over by two bytes at a time, many together.
            let base = at;
            let mut likely = self.hopeful.likely(text, base);
            if text.len() - base <= PLACES {
                likely |= 1 << (text.len() - base - 1); // the last byte has none behind it
            }
            while likely != 0 {
                at = base + likely.trailing_zeros() as usize;
                let is_hopeful = text[at..]
                    .first_chunk()
                    .is_none_or(|&[one, two]| self.hopeful.has(one, two));
                if !is_hopeful {
                    likely &= likely - 1;
                    continue;
                }
                let end = self.finish(text, self.search_from(text, at), dead_ends);
                if end > at {
                    return at..end;
                }
                at += self.alphabet.read(text, at).1;
                likely &= u64::MAX.checked_shl((at - base) as u32).unwrap_or_default();
            }
            at = at.max(base + PLACES).min(text.len());
        }
        text.len()..text.len()
    }

    fn search_from(&self, text: &[u8], at: usize) -> Search {
        Search {
            state: self.start(text, at),
            place: at,
            last: at,
        }
    }

    /// Where the line feed is that ends a text, and its number, if the expression asks for it; else no place.
    fn last_newline_of(&self, text: &[u8]) -> (usize, u8) {
        match self.automaton.last_newline {
            Some(number) if text.ends_with(b"\n") => (text.len() - 1, number),
            _ => (usize::MAX, 0),
        }
    }

    /// The state where a match may begin.
    fn start(&self, text: &[u8], at: usize) -> usize {
        let table = &self.automaton;
        if let Some(only) = table.only_start {
            return only as usize;
        }
        let before = match at {
            0 => usize::from(table.end),
            _ => {
                let read = self.alphabet.read_before(text, at);
                usize::from(read.unwrap_or_else(|| self.alphabet.of_byte(text[at - 1])))
            }
        };
        table.starts[&table.answers[before]] as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearer_dead_ends_are_kept_if_there_are_too_many() {
        // One for each letter of `(?:a{9})+b|a`: all were forgotten, and each piece read the text anew.
        let mut dead_ends = DeadEnds::default();
        for state in 0..9 {
            let passed = (1..=MOST_KEPT).map(|place| (place, state)).collect();
            dead_ends.add(passed, state);
            assert!(dead_ends.0.len() <= MOST_KEPT);
        }
        for state in 0..9 {
            assert!(dead_ends.0.contains(&(10, state)), "{state}");
        }
        assert!(!dead_ends.0.contains(&(8, 0)), "it is behind");
    }
}
