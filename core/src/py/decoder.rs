//! From ids to text.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyList};

use super::arguments::{TablesArg, special_table};
use super::arrays::BufferArg;
use super::bytes::{bytes_of, bytes_of_length};
use super::objects::str_of;
use crate::decode::{self, Chain, Reading, SpecialTable, Strings, Texts};
use crate::memory::asking::need_room;
use crate::models::found;
use crate::tables::TokenTable;

/// Gives the bytes of ids, one token after the other.
pub fn decode_bytes<'py>(
    py: Python<'py>,
    ids: &[u32],
    tokens: &TokenTable<'_>,
    special: SpecialTable<'_>,
) -> PyResult<Bound<'py, PyBytes>> {
    let length = py.detach(|| decode::decoded_len(ids, tokens, special))?;
    bytes_of_length(py, length, |out| {
        decode::decode_into(ids, tokens, special, out)
    })
}

/// How many ids are decoded before strings are made of them: then their bytes are still near.
const TOGETHER: usize = 1 << 18;

/// Gives the text of each list of ids, or its bytes if they are no UTF-8.
pub fn decode_lists<'py>(
    lists: &Bound<'py, PyList>,
    tokens: &TokenTable<'_>,
    special: SpecialTable<'_>,
    threads: usize,
) -> PyResult<Bound<'py, PyList>> {
    let py = lists.py();
    let texts = PyList::empty(py);
    let (mut ids, mut ends) = (Vec::new(), Vec::new());
    let flush = |ids: &mut Vec<u32>, ends: &mut Vec<usize>| {
        let decoded = py.detach(|| decode::decode_several(ids, ends, tokens, special, threads))?;
        for bytes in decoded.iter().flat_map(Texts::iter) {
            match std::str::from_utf8(bytes) {
                Ok(text) => texts.append(str_of(py, text)?)?,
                Err(_) => texts.append(bytes_of(py, bytes)?)?,
            }
        }
        ids.clear();
        ends.clear();
        PyResult::Ok(())
    };
    for list in lists.iter() {
        let list = list.cast_exact::<PyList>()?;
        found::reserve(&mut ids, list.len())?;
        for id in list.iter() {
            ids.push(id.cast_exact::<PyInt>()?.extract()?);
        }
        need_room(&mut ends, 1, "texts")?;
        ends.push(ids.len());
        if ids.len() >= TOGETHER {
            flush(&mut ids, &mut ends)?;
        }
    }
    flush(&mut ids, &mut ends)?;
    Ok(texts)
}

/// A compiled chain of decoders: immutable, shared by threads.
#[pyclass(frozen, module = "bpe_cli._core")]
pub struct Decoder(decode::Decoder);

impl Decoder {
    /// The chain, with the tokens that it reads.
    pub(super) fn chain<'a>(&'a self, tables: &'a TablesArg) -> Chain<'a> {
        let ((blob, ends), special, skip_special) = tables;
        Chain {
            decoder: &self.0,
            tokens: Strings { blob, ends },
            special: special_table(special),
            reading: Reading(skip_special.as_deref().unwrap_or_default()),
        }
    }
}

#[pymethods]
impl Decoder {
    #[new]
    fn new(spec: &str) -> PyResult<Self> {
        Ok(Self(decode::Decoder::from_json(spec)?))
    }

    fn decode<'py>(
        &self,
        py: Python<'py>,
        ids: BufferArg<u32>,
        tables: TablesArg,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let chain = self.chain(&tables);
        let bytes = py.detach(|| chain.decode(&ids))?;
        bytes_of(py, &bytes)
    }

    fn last_cut(&self, py: Python<'_>, ids: BufferArg<u32>, tables: TablesArg) -> usize {
        let chain = self.chain(&tables);
        py.detach(|| chain.last_cut(&ids))
    }
}
