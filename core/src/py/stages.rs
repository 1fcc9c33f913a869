//! The stages before the model, by themselves.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::arrays::{BufferArg, U32Array, U64Array};
use super::bytes::bytes_of;
use crate::error::{Result, invalid};
use crate::normalize::Context;
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
        Ok(Self(Arc::new(stages::Stages::from_json(spec)?)))
    }

    #[pyo3(signature = (data, *, continued=false, first=true))]
    fn normalize<'py>(
        &self,
        py: Python<'py>,
        data: BufferArg<u8>,
        continued: bool,
        first: bool,
    ) -> PyResult<(Bound<'py, PyBytes>, U32Array, U32Array)> {
        let text = py.detach(|| {
            let mut text = begin(&data)?;
            self.0.normalize(&mut text, Context { continued, first })?;
            Result::Ok(text)
        })?;
        let (starts, ends) = origins(&text);
        Ok((bytes_of(py, text.bytes())?, starts, ends))
    }

    #[pyo3(signature = (data, *, continued=false, first=true))]
    fn pre_tokenize<'py>(
        &self,
        py: Python<'py>,
        data: BufferArg<u8>,
        continued: bool,
        first: bool,
    ) -> PyResult<(Bound<'py, PyBytes>, U64Array, U64Array, U64Array, U64Array)> {
        let pieces = py.detach(|| {
            let context = Context { continued, first };
            let mut pieces = Pieces {
                text: begin(&data)?,
                ..Pieces::default()
            };
            self.0.normalize(&mut pieces.text, context)?;
            self.0.pre_tokenize(&mut pieces, context)?;
            Result::Ok(pieces)
        })?;
        let column = |value: &dyn Fn(&std::ops::Range<usize>) -> u64| -> U64Array {
            pieces.ranges.iter().map(value).collect::<Vec<u64>>().into()
        };
        let origin =
            |range: &std::ops::Range<usize>| pieces.text.origin(range.clone()).unwrap_or_default();
        Ok((
            bytes_of(py, pieces.text.bytes())?,
            column(&|range| range.start as u64),
            column(&|range| range.end as u64),
            column(&|range| u64::from(origin(range).start)),
            column(&|range| u64::from(origin(range).end)),
        ))
    }

    fn safe_cut(&self, py: Python<'_>, data: BufferArg<u8>) -> usize {
        py.detach(|| self.0.safe_cut(&data))
    }
}

fn begin(bytes: &[u8]) -> Result<Text> {
    match u32::try_from(bytes.len()) {
        Ok(_) => Ok(Text::new(bytes, true)),
        Err(_) => Err(invalid!("the text is longer than 4 GiB")),
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
