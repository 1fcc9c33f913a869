//! Documents in parts: what the normalizers leave, and what they do not.

use pyo3::prelude::*;

use super::arrays::BufferArg;
use super::split::SpecialMatcher;
use super::stages::Stages;
use crate::stages::parts;

#[pyfunction]
pub fn parts_by_stages(
    py: Python<'_>,
    stages: &Stages,
    data: BufferArg<u8>,
    ends: BufferArg<u64>,
    matcher: Option<&SpecialMatcher>,
) -> (Vec<u64>, Vec<bool>) {
    let moves = |text: &[u8], cut| matcher.and_then(|matcher| matcher.0.moves_cut(text, cut));
    let parts = py.detach(|| parts::parts(&stages.0, &data, &ends, moves));
    let parts = parts.into_iter().map(|(end, leaves)| (end as u64, leaves));
    parts.unzip()
}
