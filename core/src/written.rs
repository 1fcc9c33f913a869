//! Tokens and merges as documents have them, as text: read into tables in one pass.
//!
//! A document of many megabytes is nearly all tokens and merges. Here they are cut out of it, so
//! that what is left is small, and anything can read it. What is unusual in any way is refused with
//! None: a slow reader, which this one is held to, says what is wrong, or finds that nothing is.

use crate::tables::MAX_TOKENS;
use crate::text::json::Reader;
use foldhash::fast::RandomState;
use hashbrown::{HashSet, HashTable};
use std::hash::BuildHasher;

/// An id that no token has.
const NONE: u32 = u32::MAX;

/// Tokens with their ids, and merges of two of them.
pub struct Written {
    texts: Texts,
    /// For each id the number of its token in the order of the document, or [`NONE`].
    by_id: Vec<u32>,
    ids: Vec<u32>,
    pairs: Vec<[u32; 2]>,
}

/// Tables made of what was written.
#[derive(Debug, PartialEq, Eq)]
pub struct Tables {
    /// The tokens' bytes, one after the other.
    pub blob: Vec<u8>,
    /// Where each ends, by id; an id without a token is an empty range.
    pub ends: Vec<u32>,
    /// Left id, right id and product of each merge.
    pub triples: Vec<u32>,
}

/// Different texts, by number and by content.
struct Texts {
    blob: Vec<u8>,
    ends: Vec<u32>,
    numbers: HashTable<u32>,
    hasher: RandomState,
}

impl Texts {
    /// Makes texts findable; None if two are the same.
    fn new(blob: Vec<u8>, ends: Vec<u32>) -> Option<Self> {
        let mut texts = Self {
            numbers: HashTable::with_capacity(ends.len()),
            hasher: RandomState::default(),
            blob,
            ends,
        };
        for number in 0..texts.ends.len() as u32 {
            let text = texts.get(number);
            let hash = texts.hasher.hash_one(text);
            if texts.find_hashed(hash, text).is_some() {
                return None;
            }
            // The table has room for all, so that no hash is asked for again.
            texts
                .numbers
                .insert_unique(hash, number, |_| unreachable!());
        }
        Some(texts)
    }

    fn get(&self, number: u32) -> &[u8] {
        let start = number
            .checked_sub(1)
            .map_or(0, |before| self.ends[before as usize]);
        &self.blob[start as usize..self.ends[number as usize] as usize]
    }

    fn find(&self, text: &[u8]) -> Option<u32> {
        self.find_hashed(self.hasher.hash_one(text), text)
    }

    fn find_hashed(&self, hash: u64, text: &[u8]) -> Option<u32> {
        let found = self.numbers.find(hash, |&number| self.get(number) == text);
        found.copied()
    }
}

impl Written {
    /// Cuts tokens and merges out of a document, `{OUTER: {TOKENS: {text: id}, MERGES: [...]}}` with
    /// anything else in it; merges are `"a b"` or `["a", "b"]`, and stand behind the tokens.
    ///
    /// Gives them, and the document with null in their places, which nobody has checked. A document
    /// that is not so, or not JSON in what is cut out of it, gives None; so do tokens that are the
    /// same or have the same id, and merges of what is not a token.
    #[must_use]
    pub fn cut(
        document: &[u8],
        outer: &[u8],
        tokens: &[u8],
        merges: &[u8],
    ) -> Option<(Self, Vec<u8>)> {
        let mut reader = Reader::new(document);
        let mut outers = 0;
        let mut found = None;
        let mut pairs = None;
        let mut rest = Vec::new();
        let mut kept = 0;
        reader.members(&mut |reader, key| {
            if key != outer {
                return reader.skip();
            }
            outers += 1;
            if outers > 1 || reader.peek()? != b'{' {
                return None;
            }
            reader.members(&mut |reader, key| {
                if key != tokens && key != merges {
                    return reader.skip();
                }
                reader.peek()?;
                rest.extend_from_slice(&document[kept..reader.place()]);
                rest.extend_from_slice(b"null");
                if key == tokens {
                    if found.is_some() {
                        return None;
                    }
                    found = Some(read_tokens(reader)?);
                } else {
                    if pairs.is_some() {
                        return None;
                    }
                    pairs = Some(read_pairs(reader, &found.as_ref()?.0)?);
                }
                kept = reader.place();
                Some(())
            })
        })?;
        if reader.peek().is_some() {
            return None;
        }
        rest.extend_from_slice(&document[kept..]);
        let (texts, ids, by_id) = found?;
        let written = Self {
            texts,
            by_id,
            ids,
            pairs: pairs?,
        };
        Some((written, rest))
    }

    /// Gives the id of a text.
    #[must_use]
    pub fn id_of(&self, text: &[u8]) -> Option<u32> {
        self.texts
            .find(text)
            .map(|number| self.ids[number as usize])
    }

    /// Gives the text of an id.
    #[must_use]
    pub fn text_of(&self, id: u32) -> Option<&str> {
        let &number = self
            .by_id
            .get(id as usize)
            .filter(|&&number| number != NONE)?;
        std::str::from_utf8(self.texts.get(number)).ok()
    }

    /// Makes tables of them.
    ///
    /// * `prefix`: what the right part of a merge loses in the product.
    /// * `left_out`: ids of tokens that are left out, unless a merge makes or uses them.
    /// * `visible`: whether a character stands for a byte, see [`byte_of`]; a token of one such
    ///   character is never left out.
    ///
    /// None if a product is not a token, a merge stands twice, or a character stands for no byte.
    #[must_use]
    pub fn tables(&self, prefix: &[u8], left_out: &[u32], visible: bool) -> Option<Tables> {
        let triples = self.triples(prefix)?;
        let mut taken = vec![true; self.by_id.len()];
        for &id in left_out {
            let Some(text) = self.text_of(id) else {
                continue;
            };
            let mut characters = text.chars();
            let is_byte =
                characters.next().and_then(byte_of).is_some() && characters.next().is_none();
            taken[id as usize] = visible && is_byte;
        }
        for &id in &triples {
            taken[id as usize] = true;
        }
        let mut blob = Vec::with_capacity(self.texts.blob.len());
        let mut ends = Vec::with_capacity(self.by_id.len());
        let mut size = 0;
        for (&number, taken) in self.by_id.iter().zip(taken) {
            if taken && number != NONE {
                let text = self.texts.get(number);
                if visible {
                    push_bytes(&mut blob, text)?;
                } else {
                    blob.extend_from_slice(text);
                }
                if !text.is_empty() {
                    size = ends.len() + 1;
                }
            }
            ends.push(blob.len() as u32);
        }
        ends.truncate(size);
        Some(Tables {
            blob,
            ends,
            triples,
        })
    }

    fn triples(&self, prefix: &[u8]) -> Option<Vec<u32>> {
        let mut triples = Vec::with_capacity(3 * self.pairs.len());
        let mut made = vec![false; self.texts.ends.len()];
        let mut twice = false;
        let mut product = NONE;
        let mut joined = Vec::new();
        for &[left, right] in &self.pairs {
            let (first, second) = (self.texts.get(left), self.texts.get(right));
            let second = second.strip_prefix(prefix).unwrap_or(second);
            let is = |number: u32| {
                self.texts.ends.len() > number as usize
                    && self.texts.get(number).strip_prefix(first) == Some(second)
            };
            // Merges mostly make one token after the other, and texts differ: no need to look it up.
            product = if is(product.wrapping_add(1)) {
                product.wrapping_add(1)
            } else if is(product) {
                product
            } else {
                joined.clear();
                joined.extend_from_slice(first);
                joined.extend_from_slice(second);
                self.texts.find(&joined)?
            };
            twice |= std::mem::replace(&mut made[product as usize], true);
            triples.extend([left, right, product].map(|number| self.ids[number as usize]));
        }
        if twice {
            let mut seen =
                HashSet::with_capacity_and_hasher(self.pairs.len(), RandomState::default());
            if !self.pairs.iter().all(|pair| seen.insert(pair)) {
                return None;
            }
        }
        Some(triples)
    }
}

/// Reads an object of text -> id: the texts, their ids, and the texts' numbers by id.
fn read_tokens(reader: &mut Reader<'_>) -> Option<(Texts, Vec<u32>, Vec<u32>)> {
    let (mut blob, mut ends) = (Vec::new(), Vec::new());
    let mut ids = Vec::new();
    let mut by_id: Vec<u32> = Vec::new();
    reader.members(&mut |reader, key| {
        std::str::from_utf8(key).ok()?;
        let id = reader.number()?;
        if id as usize >= MAX_TOKENS {
            return None;
        }
        if by_id.len() <= id as usize {
            by_id.resize(id as usize + 1, NONE);
        }
        if std::mem::replace(&mut by_id[id as usize], ids.len() as u32) != NONE {
            return None;
        }
        blob.extend_from_slice(key);
        ends.push(u32::try_from(blob.len()).ok()?);
        ids.push(id);
        Some(())
    })?;
    Some((Texts::new(blob, ends)?, ids, by_id))
}

/// Reads an array of merges as the numbers of their parts. Parts are not empty.
fn read_pairs(reader: &mut Reader<'_>, texts: &Texts) -> Option<Vec<[u32; 2]>> {
    let find = |text: &[u8]| texts.find(text).filter(|_| !text.is_empty());
    let mut scratch = Vec::new();
    let mut pairs = Vec::new();
    let mut more = reader.opens(b'[', b']')?;
    while more {
        let pair = if reader.peek()? == b'[' {
            reader.take(b'[')?;
            let left = find(reader.string(&mut scratch)?)?;
            reader.take(b',')?;
            let right = find(reader.string(&mut scratch)?)?;
            reader.take(b']')?;
            [left, right]
        } else {
            let text = reader.string(&mut scratch)?;
            let mut parts = text.split(|&byte| byte == b' ');
            let pair = [find(parts.next()?)?, find(parts.next()?)?];
            if parts.next().is_some() {
                return None;
            }
            pair
        };
        pairs.push(pair);
        more = reader.goes_on(b']')?;
    }
    (pairs.len() <= MAX_TOKENS).then_some(pairs)
}

/// Gives the byte that a character stands for in the alphabet in which each byte is visible: what
/// Latin-1 prints as ink is itself, the other 68 bytes are U+0100 and so on, in ascending order.
#[must_use]
pub fn byte_of(character: char) -> Option<u8> {
    match u32::from(character) {
        code @ (0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF) => Some(code as u8),
        code @ 0x100..=0x120 => Some((code - 0x100) as u8), // 0x00 to 0x20
        code @ 0x121..=0x142 => Some((code - 0x121 + 0x7F) as u8), // 0x7F to 0xA0
        0x143 => Some(0xAD),
        _ => None,
    }
}

/// Adds the bytes that a text in that alphabet stands for.
fn push_bytes(blob: &mut Vec<u8>, text: &[u8]) -> Option<()> {
    let mut rest = text;
    loop {
        match *rest {
            [] => return Some(()),
            [byte @ 0x21..=0x7E, ..] => {
                blob.push(byte);
                rest = &rest[1..];
            }
            // Two bytes of UTF-8 hold all other characters of the alphabet.
            [first @ 0xC2..=0xC5, second, ..] => {
                let code = u32::from(first & 0x1F) << 6 | u32::from(second & 0x3F);
                blob.push(byte_of(char::from_u32(code)?)?);
                rest = &rest[2..];
            }
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests;
