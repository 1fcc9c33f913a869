//! From the bytes of a token to its id.

use std::borrow::Cow;

use crate::{NONE, TokenTable};

/// An open-addressing table of ids; the bytes stay in the [`TokenTable`].
///
/// The hash is fixed, so that a build script and the module agree. Somebody who writes a vocabulary
/// to collide can make it slow, hence the limit on probes in [`PieceTable::build`].
#[derive(Clone, Debug)]
pub struct PieceTable<'a> {
    slots: Cow<'a, [u32]>,
}

/// More steps than a table at half load ever needs; a vocabulary that does was written to collide.
const MAX_PROBES: usize = 4096;

impl<'a> PieceTable<'a> {
    /// Builds the table of all tokens.
    ///
    /// # Errors
    /// Names two ids with the same bytes, or a vocabulary made to collide.
    pub fn build(tokens: &TokenTable<'_>) -> Result<Self, String> {
        let count = tokens.iter().count();
        let mut slots = vec![NONE; (count * 2).next_power_of_two().max(16)];
        let mask = slots.len() - 1;
        for (id, bytes) in tokens.iter() {
            let mut slot = hash(bytes) as usize & mask;
            let mut probes = 0;
            while slots[slot] != NONE {
                if tokens.get(slots[slot]) == bytes {
                    return Err(format!("ids {} and {id} are the same bytes", slots[slot]));
                }
                slot = (slot + 1) & mask;
                probes += 1;
                if probes > MAX_PROBES {
                    return Err("the vocabulary's tokens collide beyond all chance".to_owned());
                }
            }
            slots[slot] = id;
        }
        Ok(Self {
            slots: Cow::Owned(slots),
        })
    }

    /// Trusts an array that [`PieceTable::slots`] gave.
    #[must_use]
    pub const fn from_static(slots: &'a [u32]) -> Self {
        Self {
            slots: Cow::Borrowed(slots),
        }
    }

    /// The array itself, for a build script to write down.
    #[must_use]
    pub fn slots(&self) -> &[u32] {
        &self.slots
    }

    /// The id of a token, or None.
    #[inline]
    #[must_use]
    pub fn get(&self, bytes: &[u8], tokens: &TokenTable<'_>) -> Option<u32> {
        let mask = self.slots.len() - 1;
        let mut slot = hash(bytes) as usize & mask;
        loop {
            let id = self.slots[slot];
            if id == NONE {
                return None;
            }
            if tokens.get(id) == bytes {
                return Some(id);
            }
            slot = (slot + 1) & mask;
        }
    }
}

/// Hashes bytes eight at a time, multiplying and folding; the length is part of it.
#[inline]
#[must_use]
fn hash(bytes: &[u8]) -> u64 {
    const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut state = bytes.len() as u64;
    let mut chunks = bytes.chunks_exact(8);
    for chunk in &mut chunks {
        let word = u64::from_le_bytes(chunk.try_into().unwrap_or_default());
        state = fold(state ^ word, MULTIPLIER);
    }
    let rest = chunks.remainder();
    let mut word = [0; 8];
    word[..rest.len()].copy_from_slice(rest);
    fold(state ^ u64::from_le_bytes(word), MULTIPLIER)
}

/// The two halves of a 128-bit product, xored.
#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_each_token_and_nothing_else() {
        let tokens: Vec<Vec<u8>> = (0..2000_u32).map(|n| n.to_string().into_bytes()).collect();
        let ends = tokens
            .iter()
            .scan(0, |end, token| {
                *end += token.len() as u32;
                Some(*end)
            })
            .collect::<Vec<u32>>();
        let table = TokenTable::new(tokens.concat().into(), ends.into()).unwrap();
        let pieces = PieceTable::build(&table).unwrap();
        for (id, token) in tokens.iter().enumerate() {
            assert_eq!(pieces.get(token, &table), Some(id as u32));
        }
        for absent in ["", "2000", "x", "00", "123456789012345678901234567890"] {
            assert_eq!(pieces.get(absent.as_bytes(), &table), None);
        }
    }

    #[test]
    fn refuses_the_same_token_twice() {
        let table = TokenTable::new(b"abab"[..].into(), vec![2, 4].into()).unwrap();
        assert_eq!(
            PieceTable::build(&table).unwrap_err(),
            "ids 0 and 1 are the same bytes"
        );
    }
}
