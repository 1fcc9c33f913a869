//! A trie in a double array, in the layout of darts-clone: each unit is one u32.
//!
//! Source: Aoe, "An Efficient Digital Search Algorithm by Using a Double-Array Structure", IEEE
//! Transactions on Software Engineering 15(9), 1989; darts-clone moves by XOR instead of a sum.
//!
//! A state lies at a base; the unit at `base ^ byte` leads on if it bears that byte as its label, and
//! says by which offset, XORed with its own place, the next base is found. If it has a leaf, the unit
//! at the next base itself holds a value, below bit 31.
//!
//! The bytes of this layout stand in files, so they stay what they are: a crate that builds the same layout places
//! units otherwise, and takes what it reads for sound. `models/trie.rs` is free of it and holds any bytes.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use crate::error::{Result, invalid};

/// Marks a unit that holds a value; no byte is its label.
const VALUE: u32 = 1 << 31;
/// Marks a unit behind which an entry ends.
const LEAF: u32 = 1 << 8;
/// What fills the array up: a value that nothing leads to.
const UNUSED: u32 = VALUE;
/// Units are laid out in blocks, within which XOR with a byte stays.
const BLOCK: usize = 256;
/// How many blocks are searched for room. What is left free before them is given up.
const OPEN_BLOCKS: usize = 16;
/// Longer entries are never found: a bound on what one look-up costs, also in an array that leads
/// round in circles.
const LONGEST: usize = 256;

fn label(unit: u32) -> u32 {
    unit & (VALUE | 0xFF)
}

fn offset(unit: u32) -> usize {
    ((unit >> 10) << ((unit & (1 << 9)) >> 6)) as usize
}

/// A trie from bytes to numbers, from anywhere: nothing is taken for granted.
#[derive(Debug)]
pub(super) struct DoubleArray(Vec<u32>);

impl DoubleArray {
    /// Reads units, little end first. What is left over behind the last whole one is not looked at.
    pub(super) fn read(bytes: &[u8]) -> Self {
        let (units, _) = bytes.as_chunks();
        Self(units.iter().map(|unit| u32::from_le_bytes(*unit)).collect())
    }

    /// Writes units.
    pub(super) fn write(&self) -> Vec<u8> {
        self.0.iter().flat_map(|unit| unit.to_le_bytes()).collect()
    }

    /// Goes through the entries that a text begins with, the shortest first: (length, value).
    pub(super) fn prefixes(&self, text: &[u8]) -> impl Iterator<Item = (usize, usize)> {
        let mut base = self.0.first().map(|&root| offset(root));
        let mut bytes = text.iter().take(LONGEST).enumerate();
        std::iter::from_fn(move || {
            loop {
                let (at, &byte) = bytes.next()?;
                // An entry holds no NUL: the unit there, if any, is a value.
                let (next, leaf) = self.step(base?, byte).filter(|_| byte != 0)?;
                base = Some(next);
                if let Some(&unit) = self.0.get(next).filter(|_| leaf) {
                    return Some((at + 1, (unit & !VALUE) as usize));
                }
            }
        })
    }

    /// Whether an entry begins with a byte.
    pub(super) fn begins(&self, byte: u8) -> bool {
        let root = self.0.first().map(|&root| offset(root));
        byte != 0 && root.is_some_and(|base| self.step(base, byte).is_some())
    }

    /// Tells of each byte whether an entry may hold it anywhere but at its beginning. An array of more
    /// than a million units is not searched: it may.
    pub(super) fn inside(&self) -> [bool; 256] {
        let mut inside = [false; 256];
        if self.0.len() > 1 << 20 {
            return [true; 256];
        }
        let Some(root) = self.0.first().map(|&root| offset(root)) else {
            return inside;
        };
        // Each unit can be reached from one base only, its own place without its label.
        let mut by_base: HashMap<usize, Vec<usize>, RandomState> = HashMap::default();
        for (place, &unit) in self.0.iter().enumerate() {
            if label(unit) & VALUE == 0 && label(unit) != 0 {
                let base = place ^ label(unit) as usize;
                by_base.entry(base).or_default().push(place);
            }
        }
        let beginnings = by_base.remove(&root).unwrap_or_default();
        let next = |place: usize| place ^ offset(self.0[place]);
        let mut open: Vec<usize> = beginnings.iter().copied().map(next).collect();
        while let Some(base) = open.pop() {
            // An array may lead round in circles, back to its beginning too.
            let places = match base == root {
                true => beginnings.clone(),
                false => by_base.remove(&base).unwrap_or_default(),
            };
            for place in places {
                inside[place ^ base] = true;
                if base != root {
                    open.push(next(place));
                }
            }
        }
        inside
    }

    /// The values of all entries that begin with a byte; None if there are too many to go through.
    pub(super) fn values_behind(&self, byte: u8) -> Option<Vec<usize>> {
        const MOST: usize = 1 << 12;
        let mut values = Vec::new();
        let mut open: Vec<(usize, bool)> = Vec::new();
        let root = self.0.first().map(|&root| offset(root));
        open.extend(root.and_then(|base| self.step(base, byte)));
        let mut seen = 0;
        while let Some((base, leaf)) = open.pop() {
            seen += 1;
            if seen > MOST {
                return None; // also where an array leads round in circles
            }
            if let Some(&unit) = self.0.get(base).filter(|_| leaf) {
                values.push((unit & !VALUE) as usize);
            }
            open.extend((1..=u8::MAX).filter_map(|byte| self.step(base, byte)));
        }
        Some(values)
    }

    /// Whether an entry begins with a byte and another one behind it.
    pub(super) fn goes_on(&self, byte: u8, next: u8) -> bool {
        let root = self.0.first().map(|&root| offset(root));
        let behind = root.and_then(|base| self.step(base, byte));
        next != 0 && behind.is_some_and(|(base, _)| self.step(base, next).is_some())
    }

    /// The base behind a byte, and whether an entry ends there.
    fn step(&self, base: usize, byte: u8) -> Option<(usize, bool)> {
        let place = base ^ usize::from(byte);
        let unit = *self.0.get(place)?;
        (label(unit) == u32::from(byte)).then(|| (place ^ offset(unit), unit & LEAF != 0))
    }

    /// Builds a trie.
    ///
    /// Args: entries (key, value), ascending by key, none twice; keys without NUL.
    ///
    /// # Errors
    /// When there is more than the layout can address.
    pub(super) fn build(entries: &[(&[u8], u32)]) -> Result<Self> {
        let mut graph = Graph::default();
        let root = graph.add(entries, 0);
        let mut layout = Layout::default();
        layout.place(&graph, root)?;
        Ok(Self(layout.units))
    }
}

/// The states of a minimal automaton: equal ends of entries are held once, which keeps tables small.
#[derive(Debug, Default)]
struct Graph {
    states: Vec<State>,
    numbers: HashMap<State, usize, RandomState>,
}

/// What can follow: the value of an entry that ends here, and the states behind bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct State {
    value: Option<u32>,
    next: Vec<(u8, usize)>,
}

impl Graph {
    /// Adds the state behind `depth` bytes that all entries share. Its depth is that of the longest key.
    fn add(&mut self, entries: &[(&[u8], u32)], depth: usize) -> usize {
        let mut state = State::default();
        let mut rest = entries;
        if let Some(&(key, value)) = rest.first()
            && key.len() == depth
        {
            state.value = Some(value);
            rest = &rest[1..];
        }
        while let Some(&(key, _)) = rest.first() {
            let byte = key[depth];
            let same = rest.partition_point(|(key, _)| key[depth] == byte);
            let number = self.add(&rest[..same], depth + 1);
            state.next.push((byte, number));
            rest = &rest[same..];
        }
        *self.numbers.entry(state).or_insert_with_key(|state| {
            self.states.push(state.clone());
            self.states.len() - 1
        })
    }
}

/// Units, as far as they are laid out.
#[derive(Debug, Default)]
struct Layout {
    units: Vec<u32>,
    taken: Vec<bool>,
    /// Bases that a state lies at: no two may share one, or each would lead on to the other's.
    bases: Vec<bool>,
}

impl Layout {
    fn place(&mut self, graph: &Graph, root: usize) -> Result<()> {
        self.grow();
        self.taken[0] = true; // of the root's own unit
        self.bases[0] = true;
        let mut base_of: Vec<Option<usize>> = vec![None; graph.states.len()];
        let base = self.base_for(&graph.states[root]);
        base_of[root] = Some(base);
        self.units[0] = unit_to(base, 0, 0, false)?;
        let mut open = vec![root];
        while let Some(number) = open.pop() {
            let state = &graph.states[number];
            let Some(base) = base_of[number] else {
                continue;
            };
            if let Some(value) = state.value {
                self.units[base] = VALUE | value;
            }
            for &(byte, next) in &state.next {
                let target = match base_of[next] {
                    Some(target) => target,
                    None => {
                        let target = self.base_for(&graph.states[next]);
                        base_of[next] = Some(target);
                        open.push(next);
                        target
                    }
                };
                let place = base ^ usize::from(byte);
                let leaf = graph.states[next].value.is_some();
                self.units[place] = unit_to(target, place, byte, leaf)?;
            }
        }
        Ok(())
    }

    /// Finds a base around which there is room for a state, and takes the room.
    fn base_for(&mut self, state: &State) -> usize {
        let own = state.value.map(|_| 0);
        let labels: Vec<usize> = own
            .into_iter()
            .chain(state.next.iter().map(|&(byte, _)| usize::from(byte)))
            .collect();
        loop {
            let first_open = self.units.len().saturating_sub(OPEN_BLOCKS * BLOCK);
            let found = (first_open..self.units.len())
                .filter(|&place| !self.taken[place])
                .map(|place| place ^ labels.first().copied().unwrap_or(0))
                .find(|&base| {
                    !self.bases[base] && labels.iter().all(|label| !self.taken[base ^ label])
                });
            if let Some(base) = found {
                self.bases[base] = true;
                for label in &labels {
                    self.taken[base ^ label] = true;
                }
                return base;
            }
            self.grow();
        }
    }

    fn grow(&mut self) {
        let length = self.units.len() + BLOCK;
        self.units.resize(length, UNUSED);
        self.taken.resize(length, false);
        self.bases.resize(length, false);
    }
}

/// Makes the unit at a place that leads to a base.
fn unit_to(base: usize, place: usize, byte: u8, leaf: bool) -> Result<u32> {
    let offset = (base ^ place) as u32;
    let spelt = match offset {
        0..0x20_0000 => offset << 10,
        // Longer ways are in steps of a block.
        0x20_0000..0x2000_0000 if offset & 0xFF == 0 => (offset >> 8) << 10 | 1 << 9,
        _ => return Err(invalid!("the table has too many entries")),
    };
    Ok(spelt | if leaf { LEAF } else { 0 } | u32::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn build(entries: &[(&[u8], u32)]) -> DoubleArray {
        let array = DoubleArray::build(entries).unwrap();
        DoubleArray::read(&array.write())
    }

    #[test]
    fn finds_the_entries_that_a_text_begins_with() {
        let array = build(&[(b"a", 7), (b"ab", 0), (b"abcd", 9), (b"b", 7)]);
        let found = |text: &[u8]| array.prefixes(text).collect::<Vec<_>>();
        assert_eq!(found(b"abcde"), [(1, 7), (2, 0), (4, 9)]);
        assert_eq!(found(b"abc"), [(1, 7), (2, 0)]);
        assert_eq!(found(b"b\0"), [(1, 7)]);
        assert_eq!(found(b"c"), []);
        assert!(array.begins(b'a') && !array.begins(b'c') && !array.begins(0));
        let inside = array.inside();
        assert!(inside[usize::from(b'd')] && !inside[usize::from(b'a')]);
    }

    proptest! {
        #[test]
        fn holds_what_a_map_holds(
            map in prop::collection::btree_map("[ab\u{E9}\u{597D}]{1,5}", 0u32..9, 0..60),
            text in "[ab\u{E9}\u{597D}c]{0,8}",
        ) {
            let entries: Vec<_> = map.iter().map(|(key, &value)| (key.as_bytes(), value)).collect();
            let array = build(&entries);
            let wanted: Vec<_> = (1..=text.len())
                .filter(|&end| text.is_char_boundary(end))
                .filter_map(|end| map.get(&text[..end]).map(|&value| (end, value as usize)))
                .collect();
            prop_assert_eq!(array.prefixes(text.as_bytes()).collect::<Vec<_>>(), wanted);
        }

        #[test]
        fn survives_any_units(
            units in prop::collection::vec(prop::num::u32::ANY, 0..300),
            text in prop::collection::vec(prop::num::u8::ANY, 0..20),
        ) {
            let array = DoubleArray(units);
            prop_assert!(array.prefixes(&text).count() <= text.len());
            array.inside();
        }
    }

    #[test]
    fn ends_in_an_array_that_leads_round_in_circles() {
        // The unit at 'a' leads back to base 0 and always has a leaf.
        let mut units = vec![0; 256];
        units[97] = unit_to(0, 97, b'a', true).unwrap();
        let array = DoubleArray(units);
        assert_eq!(array.prefixes(&[b'a'; 1000]).count(), LONGEST);
        array.inside();
    }
}
