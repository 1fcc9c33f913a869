//! The symbols that merges begin with: bytes, or characters.

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use super::bpe::Options;
use crate::error::{Error, Result};

/// A byte that is no symbol.
pub const NO_SYMBOL: u32 = u32::MAX;

/// From the bytes of a piece to symbols.
pub enum Alphabet {
    /// The symbol of each byte.
    Bytes(Box<[u32; 256]>),
    /// The symbol of each UTF-8 character.
    Characters(HashMap<Vec<u8>, u32, RandomState>),
}

impl Alphabet {
    /// Takes the symbols that the options name.
    ///
    /// # Errors
    /// Names a token that is no symbol.
    pub fn new(options: &Options) -> Result<Self> {
        let symbol = |&id: &u32| {
            let token = options.initial.get(id as usize);
            let token = token.filter(|token| {
                if options.by_character {
                    !token.is_empty()
                } else {
                    token.len() == 1
                }
            });
            token
                .ok_or_else(|| Error::Invalid(format!("the initial token {id} is no symbol")))
                .map(|t| (t, id))
        };
        let symbols = options
            .symbols
            .iter()
            .map(symbol)
            .collect::<Result<Vec<_>>>()?;
        if options.by_character {
            return Ok(Self::Characters(
                symbols
                    .into_iter()
                    .map(|(token, id)| (token.clone(), id))
                    .collect(),
            ));
        }
        let mut bytes = Box::new([NO_SYMBOL; 256]);
        for (token, id) in symbols {
            bytes[token[0] as usize] = id;
        }
        Ok(Self::Bytes(bytes))
    }

    /// Calls `each` with the symbols of a piece; what is outside the alphabet is left out.
    pub fn symbols_of(&self, piece: &[u8], mut each: impl FnMut(u32)) {
        match self {
            Self::Bytes(ids) => {
                piece
                    .iter()
                    .map(|&byte| ids[byte as usize])
                    .filter(|&id| id != NO_SYMBOL)
                    .for_each(each);
            }
            Self::Characters(ids) => {
                for chunk in piece.utf8_chunks() {
                    let characters = chunk
                        .valid()
                        .split_inclusive(|_: char| true)
                        .map(str::as_bytes);
                    for symbol in characters.chain(chunk.invalid().chunks(1)) {
                        ids.get(symbol).copied().into_iter().for_each(&mut each);
                    }
                }
            }
        }
    }
}
