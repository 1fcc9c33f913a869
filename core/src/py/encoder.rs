//! Compiled tokenizers.

use std::sync::Arc;

use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::arrays::{Lent, LentDocuments, LentSpecials, U32Array, U64Array, token_table, triples};
use super::decoder::decode_bytes;
use super::split::{SpecialMatcher, Splitter};
use super::stages::Stages;
use super::to_python;
use crate::embedded;
use crate::encode::{self, Plain, Staged, Variation};
use crate::error::{Error, Result};
use crate::models::bpe::Bpe;
use crate::models::build::build;
use crate::models::model::Tables;
use crate::models::spec::ModelSpec;
use crate::random::{Place, Sampling};
use crate::tables::TokenTable;

/// A compiled tokenizer: immutable, shared by threads.
#[pyclass(frozen, module = "bpe_cli._core")]
pub struct Encoder(pub(super) Way);

/// Which way it goes. What needs all stages can't be asked of the plain one.
pub(super) enum Way {
    Plain(Box<encode::Encoder<Plain>>),
    Staged(Box<encode::Encoder<Staged>>),
}

/// Does the same with an encoder, whichever way it goes.
macro_rules! either {
    ($encoder:expr, $way:ident => $work:expr) => {
        match &$encoder.0 {
            $crate::py::encoder::Way::Plain($way) => $work,
            $crate::py::encoder::Way::Staged($way) => $work,
        }
    };
}
pub(super) use either;

impl Encoder {
    fn of_bytes(splitter: &Splitter, model: Bpe, prefix_space: bool) -> Self {
        let plain = encode::Encoder::plain(splitter.0.clone(), model, prefix_space);
        Self(Way::Plain(Box::new(plain)))
    }

    /// The bytes that ids are decoded to.
    pub(super) fn tokens(&self) -> &TokenTable<'static> {
        match &self.0 {
            Way::Plain(plain) => plain.model().tokens(),
            Way::Staged(staged) => staged.model().contributions(),
        }
    }

    fn staged(&self) -> Result<&encode::Encoder<Staged>> {
        match &self.0 {
            Way::Staged(staged) => Ok(staged),
            Way::Plain(_) => Err(Error::Invalid("this takes an encoder with stages".into())),
        }
    }
}

#[pymethods]
impl Encoder {
    #[new]
    #[pyo3(signature = (stages, model, *, blob, ends, merges=None, scores=None, kinds=None))]
    #[expect(clippy::too_many_arguments, reason = "a bulk call names all it takes")]
    fn new(
        py: Python<'_>,
        stages: &Stages,
        model: &str,
        blob: Lent<u8>,
        ends: Lent<u32>,
        merges: Option<Lent<u32>>,
        scores: Option<Lent<f64>>,
        kinds: Option<Lent<u8>>,
    ) -> PyResult<Self> {
        let spec: ModelSpec = serde_json::from_str(model)
            .map_err(|error| PyValueError::new_err(format!("not a model: {error}")))?;
        let tokens = token_table(py, &blob, &ends)?;
        let merges = merges.map(|merges| triples(py, &merges)).transpose()?;
        let scores = scores.as_ref().map(|scores| scores.items(py)).transpose()?;
        let kinds = kinds.as_ref().map(|kinds| kinds.items(py)).transpose()?;
        let tables = Tables {
            tokens,
            merges: merges.unwrap_or_default(),
            scores: scores.map(|scores| scores.into_owned()).unwrap_or_default(),
            kinds: kinds.map(|kinds| kinds.into_owned()).unwrap_or_default(),
        };
        let stages = Arc::clone(&stages.0);
        let model = py.detach(|| build(spec, tables)).map_err(to_python)?;
        let staged = encode::Encoder::staged(stages, model);
        Ok(Self(Way::Staged(Box::new(staged))))
    }

    #[staticmethod]
    #[pyo3(signature = (splitter, *, prefix_space, blob, ends, merges, whole_pieces))]
    fn plain(
        py: Python<'_>,
        splitter: &Splitter,
        prefix_space: bool,
        blob: Lent<u8>,
        ends: Lent<u32>,
        merges: Option<Lent<u32>>,
        whole_pieces: bool,
    ) -> PyResult<Self> {
        let tokens = token_table(py, &blob, &ends)?;
        let merges = merges.map(|merges| triples(py, &merges)).transpose()?;
        let model = py.detach(|| match &merges {
            None if !whole_pieces => Err(Error::Invalid(
                "ranks without whole pieces are no known model".into(),
            )),
            None => Bpe::from_ranks(tokens),
            Some(merges) => Bpe::from_merges(tokens, merges, whole_pieces),
        });
        let model = model.map_err(to_python)?;
        Ok(Self::of_bytes(splitter, model, prefix_space))
    }

    #[staticmethod]
    fn embedded(sha256: &str, splitter: &Splitter, prefix_space: bool) -> PyResult<Self> {
        let table = embedded::find(sha256).ok_or_else(|| PyKeyError::new_err(sha256.to_owned()))?;
        Ok(Self::of_bytes(splitter, table.model(), prefix_space))
    }

    fn safe_cut(&self, py: Python<'_>, data: Lent<u8>) -> PyResult<usize> {
        let text = data.items(py)?;
        Ok(py.detach(|| either!(self, way => way.safe_cut(&text))))
    }

    #[pyo3(signature = (data, ends, matcher, threads, continued=false, sampling=None, place=(0, 0, 0)))]
    #[expect(clippy::too_many_arguments, reason = "a bulk call names all it takes")]
    fn encode(
        &self,
        py: Python<'_>,
        data: Lent<u8>,
        ends: Lent<u64>,
        matcher: Option<&SpecialMatcher>,
        threads: usize,
        continued: bool,
        sampling: Option<(String, f64, usize)>,
        place: (u64, u64, u64),
    ) -> PyResult<(U32Array, U64Array)> {
        let documents = LentDocuments::new(py, &data, &ends, continued)?;
        let matcher = matcher.map(|matcher| &matcher.0);
        let encoded = py.detach(|| match sampling {
            None => either!(self, way => way.encode(&documents.get(), matcher, threads)),
            Some(sampling) => {
                let variation = variation(sampling, place)?;
                let staged = self.staged()?;
                staged.sample(&documents.get(), matcher, threads, variation)
            }
        });
        let encoded = encoded.map_err(to_python)?;
        Ok((encoded.ids.into(), encoded.ends.into()))
    }

    fn encode_pieces(&self, py: Python<'_>, data: Lent<u8>, ends: Lent<u64>) -> PyResult<U32Array> {
        let (text, ends) = (data.items(py)?, ends.items(py)?);
        let ids = py.detach(|| match &self.0 {
            Way::Plain(plain) => plain.encode_pieces(&text, &ends),
            Way::Staged(_) => Err(Error::Invalid(
                "this takes an encoder without stages".into(),
            )),
        });
        ids.map(Into::into).map_err(to_python)
    }

    #[pyo3(signature = (data, ends, matcher, threads, continued=false))]
    fn count(
        &self,
        py: Python<'_>,
        data: Lent<u8>,
        ends: Lent<u64>,
        matcher: Option<&SpecialMatcher>,
        threads: usize,
        continued: bool,
    ) -> PyResult<U64Array> {
        let documents = LentDocuments::new(py, &data, &ends, continued)?;
        let matcher = matcher.map(|matcher| &matcher.0);
        py.detach(|| either!(self, way => way.count(&documents.get(), matcher, threads)))
            .map(Into::into)
            .map_err(to_python)
    }

    #[pyo3(signature = (data, matcher, continued=false))]
    fn spans(
        &self,
        py: Python<'_>,
        data: Lent<u8>,
        matcher: Option<&SpecialMatcher>,
        continued: bool,
    ) -> PyResult<(U32Array, U64Array, U64Array)> {
        let text = data.items(py)?;
        let matcher = matcher.map(|matcher| &matcher.0);
        let spans = py
            .detach(|| self.staged()?.spans(&text, matcher, continued))
            .map_err(to_python)?;
        Ok((
            spans.iter().map(|span| span.id).collect::<Vec<_>>().into(),
            spans
                .iter()
                .map(|span| span.start)
                .collect::<Vec<_>>()
                .into(),
            spans.iter().map(|span| span.end).collect::<Vec<_>>().into(),
        ))
    }

    fn nbest(&self, py: Python<'_>, piece: Lent<u8>, n: usize) -> PyResult<Vec<(U32Array, f64)>> {
        let piece = piece.items(py)?;
        let found = py
            .detach(|| self.staged()?.model().nbest_piece(&piece, n))
            .map_err(to_python)?;
        Ok(found
            .into_iter()
            .map(|(tokens, score)| {
                let ids: Vec<u32> = tokens.iter().map(|token| token.id).collect();
                (ids.into(), score)
            })
            .collect())
    }

    fn decode<'py>(
        &self,
        py: Python<'py>,
        ids: Lent<u32>,
        special_ids: Lent<u32>,
        special_blob: Lent<u8>,
        special_ends: Lent<u32>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let ids = ids.items(py)?;
        let special = LentSpecials::new(py, &special_ids, &special_blob, &special_ends)?;
        decode_bytes(py, &ids, self.tokens(), special.get())
    }

    fn clear_cache(&self, py: Python<'_>) {
        py.detach(|| either!(self, way => way.clear_cache()));
    }
}

fn variation(
    (way, number, nbest): (String, f64, usize),
    (seed, document, offset): (u64, u64, u64),
) -> Result<Variation> {
    let sampling = match way.as_str() {
        "dropout" => Sampling::Dropout(number),
        "lasting-dropout" => Sampling::LastingDropout(number),
        "segmentation" => Sampling::Segmentation {
            alpha: number,
            nbest,
        },
        other => return Err(Error::Invalid(format!("there is no sampling {other:?}"))),
    };
    let from = Place {
        seed,
        document,
        offset,
    };
    Ok(Variation { sampling, from })
}
