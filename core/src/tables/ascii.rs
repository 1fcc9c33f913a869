//! Two bytes of ASCII: the rank of their merge, and what could take one of them before it.

use std::borrow::Cow;

use crate::tables::{NONE, TokenTable};

const PAIRS: usize = 1 << 14;

/// What is known of each two bytes of ASCII, in one number each: what is read together lies together.
#[derive(Clone, Debug)]
pub struct AsciiTable<'a> {
    pairs: Cow<'a, [u64]>,
}

/// What is known of two bytes: 32 bits of their rank, 16 of [`AsciiPair::before`], 16 of [`AsciiPair::after`].
#[derive(Clone, Copy, Debug)]
pub struct AsciiPair(u64);

const BEFORE: u32 = 32;
const AFTER: u32 = 48;

impl AsciiPair {
    /// Stands for what is not there: no merge, and nothing that is taken.
    pub const ALONE: Self = Self(u64::MAX);

    fn with(self, other: u64, shift: u32) -> Self {
        Self(self.0 & !(0xffff << shift) | other << shift)
    }

    /// The rank of the merge of both, or [`NONE`].
    #[inline]
    #[must_use]
    pub fn rank(self) -> u32 {
        self.0 as u32
    }

    /// The lowest rank at which the second byte joins a token that ends with the first; 65,535 if it is not lower.
    #[inline]
    fn before(self) -> u32 {
        (self.0 >> BEFORE) as u32 & 0xffff
    }

    /// The lowest rank at which the first byte joins a token that begins with the second; 65,535 likewise.
    #[inline]
    fn after(self) -> u32 {
        (self.0 >> AFTER) as u32
    }

    /// Whether both become one whatever stands around them, given the pairs of the first byte with the one before it
    /// and of the second with the one after it. It is never true of two pairs that share a byte: each would
    /// have the lower rank. A rank of 65,535 or more is never sure: such a pair waits for its turn like any other.
    #[inline]
    #[must_use]
    pub fn is_sure(self, last: Self, next: Self) -> bool {
        let rank = self.rank();
        (rank < last.before()) & (rank < next.after())
    }
}

#[inline]
fn index(first: u8, second: u8) -> usize {
    usize::from(first & 127) << 7 | usize::from(second & 127)
}

impl<'a> AsciiTable<'a> {
    /// Reads the ranks out of all merges (left, right, rank).
    #[must_use]
    pub fn build(
        entries: impl Iterator<Item = (u32, u32, u32)>,
        tokens: &TokenTable<'_>,
        byte_ids: &[u32; 256],
    ) -> Self {
        let mut pairs = vec![AsciiPair::ALONE; PAIRS];
        // The byte of an id, or one that is not ASCII: entries are many, and ids of bytes are low in most vocabularies.
        let mut bytes = Vec::new();
        for (byte, &id) in byte_ids[..128]
            .iter()
            .enumerate()
            .filter(|(_, id)| **id != NONE)
        {
            bytes.resize(bytes.len().max(id as usize + 1), u8::MAX);
            bytes[id as usize] = byte as u8;
        }
        let byte = |id: u32| bytes.get(id as usize).copied().filter(u8::is_ascii);
        let ascii = |byte: Option<&u8>| byte.copied().filter(u8::is_ascii);
        for (left, right, rank) in entries {
            let (first, second) = (byte(left), byte(right));
            if let (Some(first), Some(second)) = (first, second) {
                let pair = &mut pairs[index(first, second)];
                *pair = AsciiPair(pair.0 >> 32 << 32 | u64::from(rank));
            }
            if let (Some(first), Some(next)) = (first, ascii(tokens.get(right).first())) {
                let pair = &mut pairs[index(first, next)];
                *pair = pair.with(rank.min(pair.after()).into(), AFTER);
            }
            if let (Some(second), Some(last)) = (second, ascii(tokens.get(left).last())) {
                let pair = &mut pairs[index(last, second)];
                *pair = pair.with(rank.min(pair.before()).into(), BEFORE);
            }
        }
        Self {
            pairs: pairs.iter().map(|pair| pair.0).collect(),
        }
    }

    /// Trusts an array that [`AsciiTable::pairs`] gave.
    #[must_use]
    pub const fn from_static(pairs: &'a [u64]) -> Self {
        Self {
            pairs: Cow::Borrowed(pairs),
        }
    }

    /// The array itself, for a build script to write down.
    #[must_use]
    pub fn pairs(&self) -> &[u64] {
        &self.pairs
    }

    /// The same ranks, but no two bytes become one whatever stands around them, unless they are alone.
    #[must_use]
    pub fn with_ranks_only(&self) -> AsciiTable<'static> {
        let pairs = self.pairs.iter().map(|pair| pair & u64::from(u32::MAX));
        AsciiTable {
            pairs: pairs.collect(),
        }
    }

    /// The ranks of all pairs that have one.
    pub fn ranks(&self) -> impl Iterator<Item = u32> {
        let ranks = self.pairs.iter().map(|&pair| AsciiPair(pair).rank());
        ranks.filter(|&rank| rank != NONE)
    }

    /// What is known of two bytes of ASCII.
    #[inline]
    #[must_use]
    pub fn pair(&self, first: u8, second: u8) -> AsciiPair {
        AsciiPair(self.pairs[index(first, second)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::MAX_TOKENS;

    fn table(entries: &[(u32, u32, u32)], tokens: &[&str]) -> AsciiTable<'static> {
        let tokens = TokenTable::of(tokens).unwrap();
        let mut byte_ids = [NONE; 256];
        for (id, bytes) in tokens.iter() {
            if let [byte] = *bytes {
                byte_ids[usize::from(byte)] = id;
            }
        }
        AsciiTable::build(entries.iter().copied(), &tokens, &byte_ids)
    }

    #[test]
    fn two_bytes_become_one_where_nothing_takes_one_of_them_before() {
        // "ab" at 3, "bc" at 4, "c" + "ab" at 5, "é" beside "a" at 1.
        let entries = [(0, 1, 3), (1, 2, 4), (2, 3, 5), (5, 0, 1)];
        let table = table(&entries, &["a", "b", "c", "ab", "bc", "é"]);
        let [ab, bc, ca] = [*b"ab", *b"bc", *b"ca"].map(|[one, two]| table.pair(one, two));
        assert_eq!([ab, bc, ca].map(AsciiPair::rank), [3, 4, NONE]);
        let alone = AsciiPair::ALONE;
        assert!(ab.is_sure(alone, alone) && ab.is_sure(alone, bc) && ab.is_sure(ca, bc));
        assert!(bc.is_sure(alone, ca), "what joins \"c\" comes later");
        assert!(!bc.is_sure(ab, alone), "\"ab\" comes first");
        assert!(!ca.is_sure(alone, alone) && !alone.is_sure(alone, alone));
        assert_eq!(table.ranks().collect::<Vec<_>>(), [3, 4]);
    }

    #[test]
    fn what_two_bytes_become_may_be_uncertain() {
        let table = table(&[(0, 1, 3), (1, 2, 4)], &["a", "b", "c"]).with_ranks_only();
        let [ab, bc] = [table.pair(b'a', b'b'), table.pair(b'b', b'c')];
        assert_eq!([ab, bc].map(AsciiPair::rank), [3, 4]);
        assert!(!ab.is_sure(AsciiPair::ALONE, bc) && !bc.is_sure(ab, AsciiPair::ALONE));
        assert!(
            ab.is_sure(AsciiPair::ALONE, AsciiPair::ALONE),
            "there is nothing else"
        );
    }

    #[test]
    fn high_ranks_are_exact_and_never_sure() {
        let late = MAX_TOKENS as u32 - 1;
        for rank in [65_533, 65_534, 65_535, 65_536, 100_000, late - 1] {
            let table = table(&[(0, 1, rank), (1, 2, late)], &["a", "b", "c"]);
            let [ab, bc] = [table.pair(b'a', b'b'), table.pair(b'b', b'c')];
            assert_eq!([ab, bc].map(AsciiPair::rank), [rank, late]);
            assert_eq!(ab.is_sure(AsciiPair::ALONE, bc), rank < 65_535);
            assert!(!bc.is_sure(ab, AsciiPair::ALONE));
        }
    }
}
