//! Lists of merges and splits, replayed.

use pyo3::prelude::*;

use super::arguments::{TokensArg, token_table, triples};
use super::arrays::{BufferArg, U32Array};
use super::working::working;
use crate::models::events::{Events, Settings};

/// Gives what a list of events says that is not written in it.
#[pyfunction]
#[pyo3(signature = (tokens, events, *, byte_level))]
pub fn replay_events(
    py: Python<'_>,
    tokens: TokensArg,
    events: BufferArg<u32>,
    byte_level: bool,
) -> PyResult<(U32Array, U32Array, U32Array)> {
    let tokens = token_table(&tokens)?;
    let events = triples(&events)?;
    let settings = Settings {
        byte_level,
        ..Settings::default()
    };
    let model = working(py, || Events::new(tokens, events, settings))?;
    let (parts, ends) = model.parts();
    Ok((
        parts.to_vec().into(),
        ends.to_vec().into(),
        model.removed().into(),
    ))
}
