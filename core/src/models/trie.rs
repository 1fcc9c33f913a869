//! Finds the tokens that a text goes on with at a place: a double-array trie (Aoe 1989) over bytes.
//!
//! A node is a place in one array. The child of a node by a byte is at `base(node) ^ byte`, if that
//! place names the node as its parent: one look at memory for each byte.
//!
//! `normalize/double_array.rs` is another one, whose layout a file format fixes: there a key has no NUL, and a value
//! less than 32 bits, which tokens of any bytes do not keep to.

use crate::error::{Error, Result, ensure};
use crate::memory::asking::room_for;

/// A place that no node has.
const FREE: u32 = u32::MAX;
/// The bit of a base that says that a key ends at the node.
const ENDS: u32 = 1 << 31;
/// How many free places are tried for a node with several children before room is added: building
/// stays linear.
const TRIES: usize = 128;
const BLOCK: usize = 256;

#[derive(Clone, Copy, Debug)]
struct Node {
    base: u32,
    parent: u32,
}

/// Keys and their values.
#[derive(Debug)]
pub struct Trie {
    nodes: Vec<Node>,
    /// By node; read where the base says so.
    values: Vec<u32>,
}

impl Trie {
    /// Builds from keys in ascending order, none empty, none twice.
    ///
    /// # Errors
    /// When the keys have too many bytes together.
    pub fn new(keys: &[(&[u8], u32)]) -> Result<Self> {
        Builder::new().build(keys)
    }

    /// Calls `found` for each key that the text goes on with at a place, shortest first: where the key
    /// ends in the text, and its value. Returns how many bytes were looked at.
    #[inline]
    pub fn prefixes(&self, text: &[u8], from: usize, mut found: impl FnMut(usize, u32)) -> usize {
        let mut node = 0u32;
        let mut base = self.nodes[0].base;
        for (offset, &byte) in text[from..].iter().enumerate() {
            let child = (base & !ENDS) ^ u32::from(byte);
            match self.nodes.get(child as usize) {
                Some(next) if next.parent == node => {
                    node = child;
                    base = next.base;
                }
                _ => return offset + 1,
            }
            if base & ENDS != 0 {
                found(from + offset + 1, self.values[node as usize]);
            }
        }
        text.len() - from
    }

    /// Gives the longest key that the text goes on with at a place, as where it ends and its value, and how many bytes were
    /// looked at.
    #[inline]
    pub fn longest(&self, text: &[u8], from: usize) -> (Option<(usize, u32)>, usize) {
        let mut longest = None;
        let looked_at = self.prefixes(text, from, |end, value| longest = Some((end, value)));
        (longest, looked_at)
    }

    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &[u8]) -> Option<u32> {
        let mut value = None;
        self.prefixes(key, 0, |end, found| {
            if end == key.len() {
                value = Some(found);
            }
        });
        value
    }
}

/// A trie that is being built. Free places form a ring through place 0, oldest first.
struct Builder {
    nodes: Vec<Node>,
    values: Vec<u32>,
    next: Vec<u32>,
    previous: Vec<u32>,
}

impl Builder {
    fn new() -> Self {
        let mut builder = Self {
            nodes: Vec::new(),
            values: Vec::new(),
            next: vec![0],
            previous: vec![0],
        };
        builder.nodes.push(Node { base: 0, parent: 0 });
        builder.values.push(0);
        for place in 1..BLOCK {
            builder.add_free(place as u32);
        }
        // The root is its own parent; no child may stand in its place.
        builder.nodes[0].parent = FREE - 1;
        builder
    }

    fn add_free(&mut self, place: u32) {
        self.nodes.push(Node {
            base: 0,
            parent: FREE,
        });
        self.values.push(0);
        let last = self.previous[0];
        self.next.push(0);
        self.previous.push(last);
        self.next[last as usize] = place;
        self.previous[0] = place;
    }

    fn add_block(&mut self) -> Result<u32> {
        let first = self.nodes.len();
        ensure!(
            first + BLOCK < ENDS as usize,
            "the tokens have too many bytes together"
        );
        // All four lists grow at once.
        let has_room = room_for(&mut self.nodes, BLOCK)
            && room_for(&mut self.values, BLOCK)
            && room_for(&mut self.next, BLOCK)
            && room_for(&mut self.previous, BLOCK);
        if !has_room {
            return Err(Error::Memory(
                "there is no memory for the tokens".to_owned(),
            ));
        }
        for place in first..first + BLOCK {
            self.add_free(place as u32);
        }
        Ok(first as u32)
    }

    fn take(&mut self, place: u32, parent: u32) {
        let (next, previous) = (self.next[place as usize], self.previous[place as usize]);
        self.next[previous as usize] = next;
        self.previous[next as usize] = previous;
        self.nodes[place as usize].parent = parent;
    }

    /// Finds a base at which all children have free places.
    fn find_base(&mut self, labels: &[u8]) -> Result<u32> {
        let first = u32::from(labels[0]);
        if labels.len() == 1 {
            let oldest = match self.next[0] {
                0 => self.add_block()?,
                place => place,
            };
            return Ok(oldest ^ first);
        }
        // The newest places have the most room around them.
        let mut place = self.previous[0];
        for _ in 0..TRIES {
            if place == 0 {
                break;
            }
            let base = place ^ first;
            let is_free =
                |&label: &u8| self.nodes[(base ^ u32::from(label)) as usize].parent == FREE;
            if labels[1..].iter().all(is_free) {
                return Ok(base);
            }
            place = self.previous[place as usize];
        }
        self.add_block()
    }

    fn build(mut self, keys: &[(&[u8], u32)]) -> Result<Trie> {
        let mut labels = Vec::new();
        let mut waiting = vec![(0u32, 0usize, keys.len(), 0usize)];
        while let Some((node, mut start, end, depth)) = waiting.pop() {
            if let Some(&(key, value)) = keys[start..end].first()
                && key.len() == depth
                && depth > 0
            {
                self.nodes[node as usize].base |= ENDS;
                self.values[node as usize] = value;
                start += 1;
            }
            if start == end {
                continue;
            }
            labels.clear();
            let label = |number: usize| keys[number].0[depth];
            for number in start..end {
                if labels.last() != Some(&label(number)) {
                    labels.push(label(number));
                }
            }
            let base = self.find_base(&labels)?;
            self.nodes[node as usize].base |= base;
            for &byte in &labels {
                let child = base ^ u32::from(byte);
                self.take(child, node);
                let stop = start + keys[start..end].partition_point(|(key, _)| key[depth] <= byte);
                waiting.push((child, start, stop, depth + 1));
                start = stop;
            }
        }
        Ok(Trie {
            nodes: self.nodes,
            values: self.values,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn prefixes(trie: &Trie, text: &[u8], from: usize) -> Vec<(usize, u32)> {
        let mut found = Vec::new();
        trie.prefixes(text, from, |end, value| found.push((end, value)));
        found
    }

    #[test]
    fn finds_what_a_text_goes_on_with() {
        let trie = Trie::new(&[(b"a", 5), (b"abc", 6), (b"b", 7)]).unwrap();
        assert_eq!(prefixes(&trie, b"xabcd", 1), [(2, 5), (4, 6)]);
        assert_eq!(prefixes(&trie, b"xabcd", 0), []);
        assert_eq!((trie.get(b"ab"), trie.get(b"abc")), (None, Some(6)));
        assert_eq!(
            prefixes(&Trie::new(&[]).unwrap(), b"\0\xff", 0),
            [],
            "an empty one finds nothing"
        );
    }

    proptest! {
        #[test]
        fn holds_exactly_its_keys(
            keys in proptest::collection::btree_map(
                proptest::collection::vec(prop_oneof![any::<u8>(), 97u8..100], 1..6), any::<u32>(), 0..400),
            text in proptest::collection::vec(97u8..100, 0..12),
        ) {
            let keys: BTreeMap<Vec<u8>, u32> = keys;
            let list: Vec<(&[u8], u32)> = keys.iter().map(|(key, &value)| (&key[..], value)).collect();
            let trie = Trie::new(&list).unwrap();
            for (key, &value) in &keys {
                prop_assert_eq!(trie.get(key), Some(value));
            }
            for from in 0..text.len() {
                let expected: Vec<_> = (from + 1..=text.len())
                    .filter_map(|end| keys.get(&text[from..end]).map(|&value| (end, value)))
                    .collect();
                prop_assert_eq!(prefixes(&trie, &text, from), expected.clone());
                let (found, looked_at) = trie.longest(&text, from);
                prop_assert_eq!(found, expected.last().copied());
                prop_assert!(looked_at >= found.map_or(0, |(end, _)| end - from));
            }
        }
    }
}
