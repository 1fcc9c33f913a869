//! What calls take besides buffers and numbers.

use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use serde::de::DeserializeOwned;

use super::arrays::BufferArg;
use crate::decode::SpecialTable;
use crate::documents::Documents;
use crate::error::Result;
use crate::measure::Block;
use crate::tables::TokenTable;

/// The documents of a block: what has the attributes of `support.blocks.Block`.
pub struct BlockArg {
    data: BufferArg<u8>,
    ends: BufferArg<u64>,
    continued: bool,
    unfinished: bool,
}

impl<'py> FromPyObject<'_, 'py> for BlockArg {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let py = object.py();
        Ok(Self {
            data: object.getattr(intern!(py, "data"))?.extract()?,
            ends: object.getattr(intern!(py, "ends"))?.extract()?,
            continued: object.getattr(intern!(py, "continued"))?.extract()?,
            unfinished: object.getattr(intern!(py, "unfinished"))?.extract()?,
        })
    }
}

impl BlockArg {
    /// The documents, for what does not ask whether the last one ends.
    pub fn documents(&self) -> Documents<'_> {
        Documents {
            text: &self.data,
            ends: &self.ends,
            continued: self.continued,
        }
    }

    /// The block.
    pub fn get(&self) -> Block<'_> {
        Block {
            documents: self.documents(),
            unfinished: self.unfinished,
        }
    }
}

/// Tokens: their bytes, and where each ends.
pub type TokensArg = (BufferArg<u8>, BufferArg<u32>);

/// Copies a table of tokens.
pub fn token_table((blob, ends): &TokensArg) -> Result<TokenTable<'static>> {
    TokenTable::new(blob.to_vec().into(), ends.to_vec().into())
}

/// Special tokens for decoding: their ids, ascending; their bytes, and where each ends.
pub type SpecialsArg = (BufferArg<u32>, BufferArg<u8>, BufferArg<u32>);

/// The special tokens that a caller lent.
pub fn special_table((ids, blob, ends): &SpecialsArg) -> SpecialTable<'_> {
    SpecialTable { ids, blob, ends }
}

/// What a chain of decoders reads by: the tokens, the special tokens, and how those read.
pub type TablesArg = (TokensArg, SpecialsArg, Option<BufferArg<u8>>);

/// Copies merges: (left, right, product) each.
pub fn triples(merges: &BufferArg<u32>) -> PyResult<Vec<[u32; 3]>> {
    match merges.as_chunks() {
        (triples, []) => Ok(triples.to_vec()),
        _ => Err(PyValueError::new_err(
            "merges come in threes: left, right, product",
        )),
    }
}

/// Options, which cross as one JSON object: read and checked. An option that is unknown, missing or of another kind is refused by name.
pub struct Options<T>(pub T);

impl<'py, T: DeserializeOwned> FromPyObject<'_, 'py> for Options<T> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let mut reader = serde_json::Deserializer::from_slice(object.extract()?);
        serde_path_to_error::deserialize(&mut reader)
            .map(Self)
            .map_err(|error| {
                let place = error.path().to_string();
                let reason = error.into_inner();
                PyValueError::new_err(match &place[..] {
                    "." | "?" => format!("the options cannot be read: {reason}"),
                    name => format!("the option {name} cannot be read: {reason}"),
                })
            })
    }
}
