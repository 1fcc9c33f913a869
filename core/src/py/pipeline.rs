//! Tokenizers with all of their stages.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::arrays::{Lent, LentDocuments, LentSpecials, U32Array, U64Array, token_table, triples};
use super::engine::decode_bytes;
use super::split::SpecialMatcher;
use super::to_python;
use crate::decode::{self, Reading, Strings};
use crate::encode::staged::{self, Variation};
use crate::error::{Error, Result};
use crate::models::build::build;
use crate::models::model::Tables;
use crate::models::spec::ModelSpec;
use crate::normalize::Context;
use crate::random::{Place, Sampling};
use crate::split::stage::Pieces;
use crate::stages;
use crate::text::Text;

/// The compiled stages before the model: normalizers, then pre-tokenizers.
#[pyclass(frozen, module = "bpe_cli._core")]
pub struct Stages(pub(super) Arc<stages::Stages>);

#[pymethods]
impl Stages {
    #[new]
    fn new(spec: &str) -> PyResult<Self> {
        let stages = stages::Stages::from_json(spec).map_err(to_python)?;
        Ok(Self(Arc::new(stages)))
    }

    #[pyo3(signature = (data, *, continued=false, first=true))]
    fn normalize<'py>(
        &self,
        py: Python<'py>,
        data: Lent<u8>,
        continued: bool,
        first: bool,
    ) -> PyResult<(Bound<'py, PyBytes>, U32Array, U32Array)> {
        let bytes = data.items(py)?;
        let text = py
            .detach(|| {
                let mut text = begin(&bytes)?;
                self.0.normalize(&mut text, Context { continued, first })?;
                Ok(text)
            })
            .map_err(to_python)?;
        let (starts, ends) = origins(&text);
        Ok((PyBytes::new(py, text.bytes()), starts, ends))
    }

    #[pyo3(signature = (data, *, continued=false, first=true))]
    fn pre_tokenize<'py>(
        &self,
        py: Python<'py>,
        data: Lent<u8>,
        continued: bool,
        first: bool,
    ) -> PyResult<(Bound<'py, PyBytes>, U64Array, U64Array, U64Array, U64Array)> {
        let bytes = data.items(py)?;
        let pieces = py
            .detach(|| {
                let context = Context { continued, first };
                let mut pieces = Pieces {
                    text: begin(&bytes)?,
                    ..Pieces::default()
                };
                self.0.normalize(&mut pieces.text, context)?;
                self.0.pre_tokenize(&mut pieces, context)?;
                Ok(pieces)
            })
            .map_err(to_python)?;
        let column = |value: &dyn Fn(&std::ops::Range<usize>) -> u64| -> U64Array {
            pieces.ranges.iter().map(value).collect::<Vec<u64>>().into()
        };
        let origin =
            |range: &std::ops::Range<usize>| pieces.text.origin(range.clone()).unwrap_or_default();
        Ok((
            PyBytes::new(py, pieces.text.bytes()),
            column(&|range| range.start as u64),
            column(&|range| range.end as u64),
            column(&|range| u64::from(origin(range).start)),
            column(&|range| u64::from(origin(range).end)),
        ))
    }

    fn safe_cut(&self, py: Python<'_>, data: Lent<u8>) -> PyResult<usize> {
        let text = data.items(py)?;
        Ok(py.detach(|| self.0.safe_cut(&text)))
    }
}

fn begin(bytes: &[u8]) -> Result<Text> {
    match u32::try_from(bytes.len()) {
        Ok(_) => Ok(Text::new(bytes, true)),
        Err(_) => Err(Error::Invalid("the text is longer than 4 GiB".to_owned())),
    }
}

/// The origin of each byte.
fn origins(text: &Text) -> (U32Array, U32Array) {
    let list: Vec<_> = (0..text.bytes().len())
        .map(|at| text.origin(at..at + 1).unwrap_or_default())
        .collect();
    let starts: Vec<u32> = list.iter().map(|origin| origin.start).collect();
    let ends: Vec<u32> = list.iter().map(|origin| origin.end).collect();
    (starts.into(), ends.into())
}

/// A compiled tokenizer with all of its stages: immutable, shared by threads.
#[pyclass(frozen, module = "bpe_cli._core")]
pub struct Pipeline(pub(super) staged::Pipeline);

#[pymethods]
impl Pipeline {
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
        Ok(Self(staged::Pipeline::new(stages, model)))
    }

    fn safe_cut(&self, py: Python<'_>, data: Lent<u8>) -> PyResult<usize> {
        let text = data.items(py)?;
        Ok(py.detach(|| self.0.safe_cut(&text)))
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
        let variation = sampling
            .map(|(way, number, nbest)| -> PyResult<Variation> {
                let sampling = match way.as_str() {
                    "dropout" => Sampling::Dropout(number),
                    "lasting-dropout" => Sampling::LastingDropout(number),
                    "segmentation" => Sampling::Segmentation {
                        alpha: number,
                        nbest,
                    },
                    other => {
                        return Err(PyValueError::new_err(format!(
                            "there is no sampling {other:?}"
                        )));
                    }
                };
                let (seed, document, offset) = place;
                Ok(Variation {
                    sampling,
                    from: Place {
                        seed,
                        document,
                        offset,
                    },
                })
            })
            .transpose()?;
        let encoded = py
            .detach(|| self.0.encode(&documents.get(), matcher, threads, variation))
            .map_err(to_python)?;
        Ok((encoded.ids.into(), encoded.ends.into()))
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
        py.detach(|| self.0.count(&documents.get(), matcher, threads))
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
            .detach(|| self.0.spans(&text, matcher, continued))
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
            .detach(|| self.0.model().nbest_piece(&piece, n))
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
        decode_bytes(py, &ids, self.0.model().contributions(), special.get())
    }
}

/// A compiled chain of decoders: immutable, shared by threads.
#[pyclass(frozen, module = "bpe_cli._core")]
pub struct Decoder(pub(super) decode::Decoder);

#[pymethods]
impl Decoder {
    #[new]
    fn new(spec: &str) -> PyResult<Self> {
        decode::Decoder::from_json(spec)
            .map(Self)
            .map_err(to_python)
    }

    #[pyo3(signature = (ids, blob, ends, special_ids, special_blob, special_ends, skip_special=None))]
    #[expect(clippy::too_many_arguments, reason = "a bulk call names all it takes")]
    fn decode<'py>(
        &self,
        py: Python<'py>,
        ids: Lent<u32>,
        blob: Lent<u8>,
        ends: Lent<u32>,
        special_ids: Lent<u32>,
        special_blob: Lent<u8>,
        special_ends: Lent<u32>,
        skip_special: Option<Lent<u8>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (ids, blob, ends) = (ids.items(py)?, blob.items(py)?, ends.items(py)?);
        let special = LentSpecials::new(py, &special_ids, &special_blob, &special_ends)?;
        let reading = skip_special
            .as_ref()
            .map(|read| read.items(py))
            .transpose()?;
        let reading = reading.unwrap_or_default();
        let bytes = py
            .detach(|| {
                let tokens = Strings {
                    blob: &blob,
                    ends: &ends,
                };
                decode::decode_chain(&self.0, &ids, tokens, special.get(), Reading(&reading))
            })
            .map_err(to_python)?;
        Ok(PyBytes::new(py, &bytes))
    }
}
