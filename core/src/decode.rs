//! From ids back to bytes: the tokens' own, or what a chain of decoders makes of them.

mod bytes;
mod chain;
mod joined;
mod several;
mod texts;
mod words;

use crate::error::{Error, Result, ensure};

pub use chain::{Decoder, Spec};
pub use joined::{decode, decode_into, decoded_len, places};
pub use several::{Texts, decode_several};
pub use texts::{Kind, TokenTexts};

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
    /// The bytes of a token, if it is one of these.
    #[must_use]
    pub fn get(&self, id: u32) -> Option<&'a [u8]> {
        let place = self.ids.binary_search(&id).ok()?;
        Strings {
            blob: self.blob,
            ends: self.ends,
        }
        .get(place)
    }
}

/// A list of byte strings that nobody has checked: a decoder that is called for a few ids of a large
/// vocabulary has no time to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Strings<'a> {
    /// All bytes, one string after the other.
    pub blob: &'a [u8],
    /// Where each string ends.
    pub ends: &'a [u32],
}

impl<'a> Strings<'a> {
    /// The string at a place, if there is one and its ends lie in the bytes.
    #[must_use]
    pub fn get(&self, place: usize) -> Option<&'a [u8]> {
        let start = match place {
            0 => 0,
            _ => *self.ends.get(place - 1)?,
        };
        self.blob
            .get(start as usize..*self.ends.get(place)? as usize)
    }
}

/// Says how special tokens read when a decoder chain decodes them: one byte for each of a
/// [`SpecialTable`], or none at all, which is [`Reading::PLAIN`] for each.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reading<'a>(pub &'a [u8]);

impl Reading<'_> {
    /// The token reads as its bytes.
    pub const PLAIN: u8 = 0;
    /// The token is left out before any decoder sees it.
    pub const LEFT_OUT: u8 = 1;
    /// The token is the unknown token, which a decoder may have a text of its own for.
    pub const UNKNOWN: u8 = 2;
}

/// A chain of decoders, and the tokens that it reads.
#[derive(Clone, Copy, Debug)]
pub struct Chain<'a> {
    /// The decoders.
    pub decoder: &'a Decoder,
    /// The tokens.
    pub tokens: Strings<'a>,
    /// The special ones.
    pub special: SpecialTable<'a>,
    /// How those read.
    pub reading: Reading<'a>,
}

impl Chain<'_> {
    /// Gives the bytes of ids.
    ///
    /// # Errors
    /// [`Error::MissingId`] names the first id that no token has; [`Error::Invalid`] says that there is
    /// not one reading for each special token, or that a decoder fails.
    pub fn decode(&self, ids: &[u32]) -> Result<Vec<u8>> {
        let (special, Reading(reading)) = (self.special, self.reading);
        ensure!(
            reading.is_empty() || reading.len() == special.ids.len(),
            "{} special tokens have {} readings",
            special.ids.len(),
            reading.len()
        );
        let mut texts = TokenTexts::default();
        for (place, &id) in ids.iter().enumerate() {
            let read_as = match reading {
                [] => Reading::PLAIN,
                _ => special
                    .ids
                    .binary_search(&id)
                    .ok()
                    .and_then(|place| reading.get(place).copied())
                    .unwrap_or(Reading::PLAIN),
            };
            let token = match self.tokens.get(id as usize) {
                None | Some([]) => special.get(id).ok_or(Error::MissingId { id, place })?,
                Some(token) => token,
            };
            match read_as {
                Reading::LEFT_OUT => {}
                Reading::UNKNOWN => texts.push(token, Kind::Unknown),
                _ => texts.push(token, Kind::Text),
            }
        }
        self.decoder.decode(texts)
    }

    /// Says whether ids can be cut between two neighbours, where the decoders [are local](Decoder::is_local): both are
    /// ordinary tokens that spell out no byte, and the first reads as something. What is behind the cut then reads behind
    /// the first of them, whose own text is left out, as it does in the whole.
    #[must_use]
    pub fn can_cut(&self, left: u32, right: u32) -> bool {
        let ordinary = |id: u32| {
            let token = self.tokens.get(id as usize).unwrap_or_default();
            !token.is_empty() && !token.starts_with(b"<") && self.special.get(id).is_none()
        };
        ordinary(left) && ordinary(right) && self.decode(&[left]).is_ok_and(|own| !own.is_empty())
    }

    /// Gives the last place where ids can be cut; 0 if there is none.
    #[must_use]
    pub fn last_cut(&self, ids: &[u32]) -> usize {
        if !self.decoder.is_local() {
            return 0;
        }
        let mut places = (1..ids.len()).rev();
        places
            .find(|&place| self.can_cut(ids[place - 1], ids[place]))
            .unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_cut_between_ordinary_tokens() {
        let tokens = Strings {
            blob: "▁ab<0xC3>▁".as_bytes(),
            ends: &[4, 5, 11, 14],
        };
        let special = SpecialTable {
            ids: &[9],
            blob: b"<s>",
            ends: &[3],
        };
        let cut = |chain: &str, ids: &[u32]| {
            let decoder = Decoder::from_json(chain).unwrap();
            let chain = Chain {
                decoder: &decoder,
                tokens,
                special,
                reading: Reading::default(),
            };
            chain.last_cut(ids)
        };
        let marks = r#"[{"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true}]"#;
        for (ids, place) in [
            (&[0, 1, 0][..], 2),
            (&[0, 1, 2, 9], 1),
            (&[0, 9, 1], 0),
            (&[3, 1], 0),
            (&[0, 7], 0),
            (&[0], 0),
            (&[], 0),
        ] {
            assert_eq!(cut(marks, ids), place, "{ids:?}");
        }
        assert_eq!(cut(r#"[{"type": "ByteLevel"}]"#, &[1, 1, 1]), 2);
        let last = r#"[{"type": "BPEDecoder", "suffix": "b"}]"#;
        assert_eq!(cut(last, &[1, 1, 1]), 0);
    }
}
