//! What a tally knows of a tokenizer's ids.

use crate::error::{Result, ensure};
use crate::tables::TokenTable;

/// What an id stands for, as far as it is counted apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Anything else.
    Ordinary = 0,
    /// What the vocabulary does not have.
    Unknown = 1,
    /// Less than a character: one of its bytes.
    Byte = 2,
}

/// The bytes of all ids, and which of them are unknown or byte tokens.
#[derive(Debug)]
pub struct Tables {
    tokens: TokenTable<'static>,
    /// Ids that only special tokens have, ascending, with their bytes.
    special: Vec<(u32, Box<[u8]>)>,
    kinds: Vec<Kind>,
    /// Ids of unknown tokens that lie outside the vocabulary, ascending.
    unknown_outside: Vec<u32>,
    has_unknown: bool,
}

impl Tables {
    /// Puts tables together. `special` are the special tokens (id, bytes), of which those without an
    /// ordinary token of the same id count.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) when special ids do not ascend.
    pub fn new(
        tokens: TokenTable<'static>,
        special: impl IntoIterator<Item = (u32, Vec<u8>)>,
        unknown: &[u32],
        bytes: &[u32],
    ) -> Result<Self> {
        let special: Vec<(u32, Box<[u8]>)> = special
            .into_iter()
            .filter(|(id, _)| tokens.get(*id).is_empty())
            .map(|(id, bytes)| (id, bytes.into_boxed_slice()))
            .collect();
        ensure!(
            special.is_sorted_by(|one, other| one.0 < other.0),
            "special ids do not ascend"
        );
        let mut kinds = vec![Kind::Ordinary; tokens.len()];
        let mut unknown_outside = Vec::new();
        for &id in bytes {
            if let Some(kind) = kinds.get_mut(id as usize) {
                *kind = Kind::Byte;
            }
        }
        for &id in unknown {
            match kinds.get_mut(id as usize) {
                Some(kind) => *kind = Kind::Unknown,
                None => unknown_outside.push(id),
            }
        }
        unknown_outside.sort_unstable();
        unknown_outside.dedup();
        Ok(Self {
            tokens,
            special,
            kinds,
            unknown_outside,
            has_unknown: !unknown.is_empty(),
        })
    }

    /// How many ids have a place in the vocabulary; special ones may lie behind them.
    #[must_use]
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Whether any id is an unknown token's.
    #[must_use]
    pub fn has_unknown(&self) -> bool {
        self.has_unknown
    }

    /// Whether the vocabulary has no ids.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// How many ids have a token, special ones and the unknown one included.
    #[must_use]
    pub fn vocab_size(&self) -> usize {
        let special = |id: u32| {
            self.special
                .binary_search_by_key(&id, |entry| entry.0)
                .is_ok()
        };
        let nameless = (0..self.tokens.len() as u32).filter(|&id| {
            self.kind(id) == Kind::Unknown && self.tokens.get(id).is_empty() && !special(id)
        });
        let outside = self.unknown_outside.iter().filter(|&&id| !special(id));
        self.tokens.iter().count() + self.special.len() + nameless.count() + outside.count()
    }

    /// The bytes of an id; empty if no token has it.
    #[inline]
    #[must_use]
    pub fn bytes(&self, id: u32) -> &[u8] {
        let token = self.tokens.get(id);
        if token.is_empty() {
            return self.special_bytes(id);
        }
        token
    }

    #[cold]
    fn special_bytes(&self, id: u32) -> &[u8] {
        match self.special.binary_search_by_key(&id, |entry| entry.0) {
            Ok(place) => &self.special[place].1,
            Err(_) => &[],
        }
    }

    /// How many bytes an id has, and whether a text has them at an offset.
    #[inline]
    #[must_use]
    pub fn stands_at(&self, id: u32, text: &[u8], at: usize) -> (usize, bool) {
        let ends = self.tokens.ends();
        if let Some(&end) = ends.get(id as usize) {
            let start = if id == 0 { 0 } else { ends[id as usize - 1] };
            // Most tokens are short: then eight bytes of both are read at once.
            if let length @ 1..=8 = end - start
                && let Some(token) = eight_bytes(self.tokens.blob(), start as usize)
                && let Some(there) = eight_bytes(text, at)
            {
                return (length as usize, (token ^ there) << (64 - 8 * length) == 0);
            }
        }
        let token = self.bytes(id);
        (token.len(), text.get(at..at + token.len()) == Some(token))
    }

    /// What an id stands for.
    #[inline]
    #[must_use]
    pub fn kind(&self, id: u32) -> Kind {
        match self.kinds.get(id as usize) {
            Some(&kind) => kind,
            None if self.unknown_outside.binary_search(&id).is_ok() => Kind::Unknown,
            None => Kind::Ordinary,
        }
    }
}

#[inline]
fn eight_bytes(bytes: &[u8], at: usize) -> Option<u64> {
    let window = bytes.get(at..at + 8)?;
    Some(u64::from_le_bytes(window.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_ids_that_a_token_has() {
        let tokens = TokenTable::new(b"abab"[..].into(), vec![1, 2, 2, 2, 4].into()).unwrap();
        let special = [
            (1, b"b".to_vec()),
            (2, b"<s>".to_vec()),
            (9, b"<e>".to_vec()),
        ];
        let tables = Tables::new(tokens, special, &[3, 12], &[0, 77]).unwrap();
        assert_eq!(tables.vocab_size(), 3 + 2 + 2);
        assert_eq!(tables.bytes(9), b"<e>");
        assert_eq!(tables.bytes(2), b"<s>");
        assert_eq!(tables.bytes(4), b"ab");
        assert_eq!(tables.bytes(12), b"");
        assert_eq!(tables.stands_at(4, b"xab", 1), (2, true));
        assert_eq!(tables.stands_at(4, b"xax", 1), (2, false));
        assert_eq!(tables.stands_at(0, b"xaxaxaxaxaxax", 3), (1, true));
        assert_eq!(tables.stands_at(9, b"x<e>", 1), (3, true));
        assert_eq!(tables.stands_at(9, b"x<e", 1), (3, false));
        let kinds = [0, 1, 3, 9, 12].map(|id| tables.kind(id));
        let (ordinary, unknown) = (Kind::Ordinary, Kind::Unknown);
        assert_eq!(kinds, [Kind::Byte, ordinary, unknown, ordinary, unknown]);
        let twice = [(9, vec![1]), (9, vec![2])];
        assert!(Tables::new(TokenTable::default(), twice, &[], &[]).is_err());
    }
}
