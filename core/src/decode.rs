//! From ids back to bytes.

use bpe_tables::TokenTable;

use crate::error::{Error, Result};

/// Special tokens for decoding: ids ascending, and the bytes of each.
#[derive(Clone, Copy, Debug, Default)]
pub struct SpecialTable<'a> {
    /// Ids, ascending.
    pub ids: &'a [u32],
    /// All bytes, one token after the other.
    pub blob: &'a [u8],
    /// Where each token ends.
    pub ends: &'a [u32],
}

impl<'a> SpecialTable<'a> {
    fn get(&self, id: u32) -> Option<&'a [u8]> {
        let place = self.ids.binary_search(&id).ok()?;
        let start = if place == 0 {
            0
        } else {
            *self.ends.get(place - 1)?
        };
        self.blob
            .get(start as usize..*self.ends.get(place)? as usize)
    }
}

/// Gives the bytes of ids, one token after the other.
///
/// # Errors
/// [`Error::MissingId`] names the first id that no token has.
pub fn decode(ids: &[u32], tokens: &TokenTable<'_>, special: SpecialTable<'_>) -> Result<Vec<u8>> {
    let token = |(place, &id): (usize, &u32)| {
        let token = tokens.get(id);
        if !token.is_empty() {
            return Ok(token);
        }
        special.get(id).ok_or(Error::MissingId { id, place })
    };
    let mut length = 0;
    for id in ids.iter().enumerate() {
        length += token(id)?.len();
    }
    let mut bytes = Vec::with_capacity(length);
    for id in ids.iter().enumerate() {
        bytes.extend_from_slice(token(id)?);
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joins_tokens_and_names_what_is_missing() {
        let tokens = TokenTable::new(b"abab"[..].into(), vec![1, 2, 2, 4].into()).unwrap();
        let special = SpecialTable {
            ids: &[2, 9],
            blob: b"<s><e>",
            ends: &[3, 6],
        };
        assert_eq!(
            decode(&[2, 3, 0, 9], &tokens, special).unwrap(),
            b"<s>aba<e>"
        );
        let missing = decode(&[0, 5], &tokens, special).unwrap_err();
        assert_eq!(missing, Error::MissingId { id: 5, place: 1 });
        assert_eq!(
            decode(&[2], &tokens, SpecialTable::default()),
            Err(Error::MissingId { id: 2, place: 0 })
        );
    }
}
