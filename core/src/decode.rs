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

/// Gives the bytes of ids as a chain of decoders reads them.
///
/// # Errors
/// [`Error::MissingId`] names the first id that no token has; [`Error::Invalid`] says that there is
/// not one reading for each special token, or that a decoder fails.
pub fn decode_chain(
    decoder: &Decoder,
    ids: &[u32],
    tokens: Strings<'_>,
    special: SpecialTable<'_>,
    reading: Reading<'_>,
) -> Result<Vec<u8>> {
    let Reading(reading) = reading;
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
        let token = match tokens.get(id as usize) {
            None | Some([]) => special.get(id).ok_or(Error::MissingId { id, place })?,
            Some(token) => token,
        };
        match read_as {
            Reading::LEFT_OUT => {}
            Reading::UNKNOWN => texts.push(token, Kind::Unknown),
            _ => texts.push(token, Kind::Text),
        }
    }
    decoder.decode(texts)
}
