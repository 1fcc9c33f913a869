//! Token bytes by id.

use std::borrow::Cow;

use crate::error::{Result, ensure, invalid};
use crate::tables::MAX_TOKENS;

/// Holds the bytes of every token: token `i` is `blob[ends[i - 1]..ends[i]]`, an empty range means
/// that no token has the id.
#[derive(Clone, Debug, Default)]
pub struct TokenTable<'a> {
    blob: Cow<'a, [u8]>,
    ends: Cow<'a, [u32]>,
}

impl<'a> TokenTable<'a> {
    /// Builds a table from arrays of unknown origin.
    ///
    /// # Errors
    /// A sentence when ends descend, do not close with the blob, or are too many.
    pub fn new(blob: Cow<'a, [u8]>, ends: Cow<'a, [u32]>) -> Result<Self> {
        ensure!(
            ends.len() <= MAX_TOKENS,
            "{} ids are more than the {MAX_TOKENS} that fit",
            ends.len()
        );
        let mut last = 0;
        for (id, &end) in ends.iter().enumerate() {
            ensure!(
                end >= last,
                "token {id} ends at {end}, before it begins at {last}"
            );
            last = end;
        }
        ensure!(
            last as usize == blob.len(),
            "the last token ends at {last}, the bytes at {}",
            blob.len()
        );
        Ok(Self { blob, ends })
    }

    /// Lays tokens down, in the order of their ids.
    ///
    /// # Errors
    /// When they are too many, or longer than 4 GiB together.
    pub fn of(tokens: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Result<TokenTable<'static>> {
        let (mut blob, mut ends) = (Vec::new(), Vec::new());
        for token in tokens {
            blob.extend_from_slice(token.as_ref());
            let end = u32::try_from(blob.len());
            ends.push(end.map_err(|_| invalid!("tokens have more than 4 GiB together"))?);
        }
        TokenTable::new(blob.into(), ends.into())
    }

    /// Trusts arrays that a build script wrote from a valid table.
    #[must_use]
    pub const fn from_static(blob: &'a [u8], ends: &'a [u32]) -> Self {
        Self {
            blob: Cow::Borrowed(blob),
            ends: Cow::Borrowed(ends),
        }
    }

    /// The bytes of a token; empty for an id that no token has.
    #[inline]
    #[must_use]
    pub fn get(&self, id: u32) -> &[u8] {
        let id = id as usize;
        let Some(&end) = self.ends.get(id) else {
            return &[];
        };
        let start = if id == 0 { 0 } else { self.ends[id - 1] };
        &self.blob[start as usize..end as usize]
    }

    /// The highest id plus one.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no ids at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All bytes, one token after the other.
    #[must_use]
    pub fn blob(&self) -> &[u8] {
        &self.blob
    }

    /// Where each token ends.
    #[must_use]
    pub fn ends(&self) -> &[u32] {
        &self.ends
    }

    /// (id, bytes) in order of id, without unused ids.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &[u8])> + Clone {
        (0..self.len() as u32)
            .map(|id| (id, self.get(id)))
            .filter(|(_, bytes)| !bytes.is_empty())
    }
}
