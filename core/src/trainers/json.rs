//! Options as JSON, which has no bytes: they are written in base64.

#[cfg(test)]
mod tests;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::{Deserialize, Deserializer, Error};

/// Reads bytes.
pub fn bytes<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
    decode(&String::deserialize(from)?)
}

/// Reads a list of bytes.
pub fn all_bytes<'de, D, C>(from: D) -> Result<C, D::Error>
where
    D: Deserializer<'de>,
    C: FromIterator<Vec<u8>>,
{
    let texts = Vec::<String>::deserialize(from)?;
    texts.iter().map(|text| decode(text)).collect()
}

fn decode<E: Error>(text: &str) -> Result<Vec<u8>, E> {
    STANDARD
        .decode(text)
        .map_err(|error| E::custom(format!("{text:?} is not base64: {error}")))
}
