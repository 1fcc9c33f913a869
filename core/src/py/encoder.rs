//! Compiled tokenizers.
//!
//! Length: all that is asked of one, a method each, most of them a call of the core.

use std::sync::Arc;

use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use super::arguments::{
    BlockArg, Options, SpecialsArg, TokensArg, special_table, token_table, triples,
};
use super::arrays::{BufferArg, U32Array, U64Array, column};
use super::decoder::{decode_bytes, decode_lists};
use super::ids::Ids;
use super::objects::list_of;
use super::split::{SpecialMatcher, Splitter};
use super::stages::Stages;
use super::texts::{SingleText, Texts};
use super::token_texts::TokenTexts;
use super::tokens::{KindArg, PlacedArg, tokens_of};
use super::working::{interruptible, working};
use super::written::WrittenTables;
use crate::decode::places;
use crate::documents::Documents;
use crate::embedded;
use crate::encode::encoded::Part;
use crate::encode::{self, ByText, Plain, Staged, Variation};
use crate::error::{Result, invalid};
use crate::models::bpe::Bpe;
use crate::models::build::build;
use crate::models::model::Tables;
use crate::models::spec::ModelSpec;
use crate::tables::TokenTable;

/// A compiled tokenizer: immutable, shared by threads.
#[pyclass(frozen, module = "bpe_cli._core")]
pub struct Encoder {
    pub(super) way: Way,
    ids: Ids,
    pub(super) texts: TokenTexts,
}

/// Which way it goes. What needs all stages can't be asked of the plain one.
pub(super) enum Way {
    Plain(Box<encode::Encoder<Plain>>),
    Staged(Box<encode::Encoder<Staged>>),
    ByText(Box<encode::Encoder<ByText>>),
}

impl Way {
    fn tokens(&self) -> &TokenTable<'static> {
        match self {
            Self::Plain(plain) => plain.model().tokens(),
            Self::Staged(staged) => staged.model().contributions(),
            Self::ByText(by_text) => by_text.model().tokens(),
        }
    }
}

impl From<Way> for Encoder {
    fn from(way: Way) -> Self {
        let size = way.tokens().len();
        Self {
            way,
            ids: Ids::below(size),
            texts: TokenTexts::below(size),
        }
    }
}

/// Does the same with an encoder, whichever way it goes.
macro_rules! either {
    ($encoder:expr, $way:ident => $work:expr) => {
        match &$encoder.way {
            $crate::py::encoder::Way::Plain($way) => $work,
            $crate::py::encoder::Way::Staged($way) => $work,
            $crate::py::encoder::Way::ByText($way) => $work,
        }
    };
}

impl Encoder {
    /// Bytes that are only split, or do so as far as the stages leave them.
    fn of_bytes(
        splitter: &Splitter,
        model: Bpe,
        prefix_space: bool,
        stages: Option<&Stages>,
    ) -> Self {
        let scanner = splitter.0.clone();
        let way = match stages.map(|stages| Arc::clone(&stages.0)) {
            Some(stages) => Way::ByText(Box::new(encode::Encoder::by_text(
                stages,
                scanner,
                model,
                prefix_space,
            ))),
            None => Way::Plain(Box::new(encode::Encoder::plain(
                scanner,
                model,
                prefix_space,
            ))),
        };
        way.into()
    }

    /// The bytes that ids are decoded to.
    pub(super) fn tokens(&self) -> &TokenTable<'static> {
        self.way.tokens()
    }

    /// Counts the tokens of one text.
    pub(super) fn count_text(
        &self,
        py: Python<'_>,
        text: SingleText<'_>,
        matcher: Option<&SpecialMatcher>,
    ) -> PyResult<u64> {
        let bytes = text.0.bytes()?;
        let matcher = matcher.map(|matcher| &matcher.0);
        if bytes.len() < BRIEF {
            return Ok(either!(self, way => way.brief(bytes, matcher, false, Part::total))?);
        }
        let ends = [bytes.len() as u64];
        let documents = Documents::new(bytes, &ends, false);
        let count = || either!(self, way => way.count(&documents, matcher, 1));
        Ok(interruptible(py, count)?[0])
    }

    fn staged(&self) -> Result<&encode::Encoder<Staged>> {
        match &self.way {
            Way::Staged(staged) => Ok(staged),
            Way::Plain(_) | Way::ByText(_) => {
                Err(invalid!("this takes an encoder of stages and any model"))
            }
        }
    }
}

#[pymethods]
impl Encoder {
    #[new]
    #[pyo3(signature = (stages, model, tokens, *, merges=None, scores=None, kinds=None))]
    fn new(
        py: Python<'_>,
        stages: &Stages,
        model: &str,
        tokens: TokensArg,
        merges: Option<BufferArg<u32>>,
        scores: Option<BufferArg<f64>>,
        kinds: Option<BufferArg<u8>>,
    ) -> PyResult<Self> {
        let spec: ModelSpec = serde_json::from_str(model)
            .map_err(|error| PyValueError::new_err(format!("not a model: {error}")))?;
        let merges = merges.map(|merges| triples(&merges)).transpose()?;
        let tables = Tables {
            tokens: token_table(&tokens)?,
            merges: merges.unwrap_or_default(),
            scores: scores.map_or_else(Vec::new, |scores| scores.to_vec()),
            kinds: kinds.map_or_else(Vec::new, |kinds| kinds.to_vec()),
        };
        let stages = Arc::clone(&stages.0);
        let model = working(py, || build(spec, tables))?;
        let staged = encode::Encoder::staged(stages, model);
        Ok(Way::Staged(Box::new(staged)).into())
    }

    #[staticmethod]
    #[pyo3(signature = (splitter, tokens, *, prefix_space, merges, whole_pieces, stages=None))]
    fn plain(
        py: Python<'_>,
        splitter: &Splitter,
        tokens: TokensArg,
        prefix_space: bool,
        merges: Option<BufferArg<u32>>,
        whole_pieces: bool,
        stages: Option<&Stages>,
    ) -> PyResult<Self> {
        let tokens = token_table(&tokens)?;
        let merges = merges.map(|merges| triples(&merges)).transpose()?;
        let model = working(py, || match &merges {
            None if !whole_pieces => Err(invalid!("ranks without whole pieces are no known model")),
            None => Bpe::from_ranks(tokens),
            Some(merges) => Bpe::from_merges(tokens, merges, whole_pieces),
        })?;
        Ok(Self::of_bytes(splitter, model, prefix_space, stages))
    }

    #[staticmethod]
    #[pyo3(signature = (splitter, tables, *, prefix_space, whole_pieces, stages=None))]
    fn written(
        py: Python<'_>,
        splitter: &Splitter,
        tables: &WrittenTables,
        prefix_space: bool,
        whole_pieces: bool,
        stages: Option<&Stages>,
    ) -> PyResult<Self> {
        let model = working(py, || Bpe::from_written(&tables.0, whole_pieces))?;
        Ok(Self::of_bytes(splitter, model, prefix_space, stages))
    }

    #[staticmethod]
    #[pyo3(signature = (sha256, splitter, prefix_space, stages=None))]
    fn embedded(
        sha256: &str,
        splitter: &Splitter,
        prefix_space: bool,
        stages: Option<&Stages>,
    ) -> PyResult<Self> {
        let table = embedded::find(sha256).ok_or_else(|| PyKeyError::new_err(sha256.to_owned()))?;
        let model = table.model();
        Ok(Self::of_bytes(splitter, model, prefix_space, stages))
    }

    fn safe_cut(&self, py: Python<'_>, data: BufferArg<u8>) -> usize {
        py.detach(|| either!(self, way => way.safe_cut(&data)))
    }

    fn cut_in_piece(&self, py: Python<'_>, data: BufferArg<u8>) -> usize {
        py.detach(|| either!(self, way => way.cut_in_piece(&data)))
    }

    #[pyo3(signature = (data, ends, matcher, threads, continued=false))]
    fn encode(
        &self,
        py: Python<'_>,
        data: BufferArg<u8>,
        ends: BufferArg<u64>,
        matcher: Option<&SpecialMatcher>,
        threads: usize,
        continued: bool,
    ) -> PyResult<(U32Array, U64Array)> {
        let documents = Documents::new(&data, &ends, continued);
        let matcher = matcher.map(|matcher| &matcher.0);
        let encode = || either!(self, way => way.encode(&documents, matcher, threads));
        let encoded = interruptible(py, encode)?;
        Ok((encoded.ids.into(), encoded.ends.into()))
    }

    #[pyo3(signature = (text, matcher=None, threads=1))]
    pub(super) fn encode_text<'py>(
        &self,
        py: Python<'py>,
        text: SingleText<'py>,
        matcher: Option<&SpecialMatcher>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        let bytes = text.0.bytes()?;
        let matcher = matcher.map(|matcher| &matcher.0);
        if bytes.len() < BRIEF {
            let list = |part: &Part| self.ids.list(py, &part.ids);
            return either!(self, way => way.brief(bytes, matcher, true, list))?;
        }
        let ends = [bytes.len() as u64];
        let documents = Documents::new(bytes, &ends, false);
        let encode = || either!(self, way => way.encode(&documents, matcher, threads));
        self.ids.list(py, &interruptible(py, encode)?.ids)
    }

    fn encode_texts(
        &self,
        py: Python<'_>,
        texts: Texts<'_>,
        matcher: Option<&SpecialMatcher>,
        threads: usize,
    ) -> PyResult<(U32Array, U64Array)> {
        let texts = texts.bytes()?;
        let matcher = matcher.map(|matcher| &matcher.0);
        let encode = || either!(self, way => way.encode_apart(&texts, matcher, threads));
        let encoded = interruptible(py, encode)?;
        Ok((encoded.ids.into(), encoded.ends.into()))
    }

    fn sample(
        &self,
        py: Python<'_>,
        block: BlockArg,
        options: Options<Variation>,
        matcher: Option<&SpecialMatcher>,
        threads: usize,
    ) -> PyResult<(U32Array, U64Array)> {
        let matcher = matcher.map(|matcher| &matcher.0);
        let encoded = interruptible(py, || {
            let staged = self.staged()?;
            staged.sample(&block.documents(), matcher, threads, options.0)
        })?;
        Ok((encoded.ids.into(), encoded.ends.into()))
    }

    fn encode_pieces(
        &self,
        py: Python<'_>,
        data: BufferArg<u8>,
        ends: BufferArg<u64>,
    ) -> PyResult<U32Array> {
        let ids = py.detach(|| match &self.way {
            Way::Plain(plain) => plain.encode_pieces(&data, &ends),
            Way::Staged(_) | Way::ByText(_) => {
                Err(invalid!("this takes an encoder without stages"))
            }
        })?;
        Ok(ids.into())
    }

    #[pyo3(signature = (data, ends, matcher, threads, continued=false))]
    fn count(
        &self,
        py: Python<'_>,
        data: BufferArg<u8>,
        ends: BufferArg<u64>,
        matcher: Option<&SpecialMatcher>,
        threads: usize,
        continued: bool,
    ) -> PyResult<U64Array> {
        let documents = Documents::new(&data, &ends, continued);
        let matcher = matcher.map(|matcher| &matcher.0);
        let count = || either!(self, way => way.count(&documents, matcher, threads));
        let counts = interruptible(py, count)?;
        Ok(counts.into())
    }

    fn count_texts(
        &self,
        py: Python<'_>,
        texts: Texts<'_>,
        matcher: Option<&SpecialMatcher>,
        threads: usize,
    ) -> PyResult<U64Array> {
        let texts = texts.bytes()?;
        let matcher = matcher.map(|matcher| &matcher.0);
        let count = || either!(self, way => way.count_apart(&texts, matcher, threads));
        let counts = interruptible(py, count)?;
        Ok(counts.into())
    }

    fn token_places(
        &self,
        py: Python<'_>,
        ids: BufferArg<u32>,
        special: SpecialsArg,
    ) -> PyResult<(U64Array, U64Array)> {
        let (starts, ends) = py.detach(|| places(&ids, self.tokens(), special_table(&special)))?;
        Ok((starts.into(), ends.into()))
    }

    fn token_objects<'py>(
        &self,
        py: Python<'py>,
        placed: PlacedArg<'py>,
        kind: KindArg<'py>,
        text: BufferArg<u8>,
    ) -> PyResult<Bound<'py, PyList>> {
        tokens_of(py, &self.ids, &placed, &kind, &text)
    }

    #[pyo3(signature = (data, matcher, continued=false))]
    fn spans(
        &self,
        py: Python<'_>,
        data: BufferArg<u8>,
        matcher: Option<&SpecialMatcher>,
        continued: bool,
    ) -> PyResult<(U32Array, U64Array, U64Array)> {
        let matcher = matcher.map(|matcher| &matcher.0);
        let spans = interruptible(py, || self.staged()?.spans(&data, matcher, continued))?;
        let ids = column(&spans, |span| span.id)?;
        let starts = column(&spans, |span| span.start)?;
        let ends = column(&spans, |span| span.end)?;
        Ok((ids.into(), starts.into(), ends.into()))
    }

    fn nbest(
        &self,
        py: Python<'_>,
        piece: BufferArg<u8>,
        n: usize,
    ) -> PyResult<Vec<(U32Array, f64)>> {
        let found = py.detach(|| self.staged()?.model().nbest_piece(&piece, n))?;
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
        ids: BufferArg<u32>,
        special: SpecialsArg,
    ) -> PyResult<Bound<'py, PyBytes>> {
        decode_bytes(py, &ids, self.tokens(), special_table(&special))
    }

    fn decode_lists<'py>(
        &self,
        lists: &Bound<'py, PyList>,
        special: SpecialsArg,
        threads: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        decode_lists(lists, self.tokens(), special_table(&special), threads)
    }

    fn decode_each<'py>(
        &self,
        py: Python<'py>,
        ids: BufferArg<u32>,
        ends: BufferArg<u64>,
        special: SpecialsArg,
    ) -> PyResult<Bound<'py, PyList>> {
        let mut start = 0;
        let each = ends.iter().map(|&end| {
            let own = ids.get(std::mem::replace(&mut start, end as usize)..end as usize);
            let own = own.ok_or_else(|| PyValueError::new_err("the ends contradict the ids"))?;
            decode_bytes(py, own, self.tokens(), special_table(&special))
        });
        list_of(py, each)
    }

    fn clear_cache(&self, py: Python<'_>) {
        py.detach(|| either!(self, way => way.clear_cache()));
    }
}

/// A text of fewer bytes is encoded before another thread could have taken over from this one: the GIL is kept.
const BRIEF: usize = 1 << 12;
