//! Long runs of spaces of which a few are as good as all: what goes through the stages is short then.

/// So many spaces are as good as more: one for each side, where the stages may see it together with its neighbour,
/// and one between.
const FEW_SPACES: usize = 3;
/// A run of fewer is not worth looking for. Tests have short texts.
const LONG_RUN: usize = if cfg!(test) { 4 } else { 512 };

/// A text with few spaces in the place of each long run of them; None if no run is very long. Whether that is right, the plan
/// says.
pub(super) fn shrink(text: &[u8]) -> Option<Vec<u8>> {
    // A run of two blocks holds one whole, wherever it begins.
    let (blocks, _) = text.as_chunks();
    if !blocks.contains(&[b' '; LONG_RUN]) {
        return None;
    }
    let mut shorter = Vec::new();
    for run in text.chunk_by(|left, right| (*left == b' ') == (*right == b' ')) {
        let is_long = run[0] == b' ' && run.len() >= LONG_RUN;
        shorter.extend_from_slice(if is_long { &run[..FEW_SPACES] } else { run });
    }
    Some(shorter)
}
