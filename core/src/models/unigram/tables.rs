//! What a unigram model works out of its tables when it is made.

use super::Settings;
use super::lattice::UNKNOWN;
use crate::error::{Result, ensure, invalid};
use crate::models::model::kind;
use crate::tables::TokenTable;

/// Checks that the tables have the same length and the numbers are numbers.
pub(super) fn check(
    settings: &Settings,
    tokens: &TokenTable<'_>,
    scores: &[f64],
    kinds: &[u8],
) -> Result<()> {
    let ids = tokens.len();
    ensure!(
        scores.len() == ids,
        "{ids} tokens have {} scores",
        scores.len()
    );
    ensure!(
        kinds.is_empty() || kinds.len() == ids,
        "{ids} tokens have {} types",
        kinds.len()
    );
    ensure!(
        !settings.single_precision || !settings.fixed_point,
        "scores are added in f32 or in fixed point, not in both"
    );
    if let Some(id) = scores.iter().position(|score| !score.is_finite()) {
        return Err(invalid!("the score of token {id} is not a finite number"));
    }
    if let Some(unk_id) = settings.unk_id.filter(|&unk_id| unk_id as usize >= ids) {
        return Err(invalid!(
            "the unknown token {unk_id} is not in the vocabulary of {ids}"
        ));
    }
    Ok(())
}

/// The tokens that are looked for in text, sorted; of equal ones the last counts.
pub(super) fn sorted_keys<'a>(
    tokens: &'a TokenTable<'_>,
    matches: impl Fn(u32) -> bool,
) -> Vec<(&'a [u8], u32)> {
    let mut keys: Vec<(&[u8], u32)> = tokens
        .iter()
        .filter(|&(id, _)| matches(id))
        .map(|(id, token)| (token, id))
        .collect();
    keys.sort_unstable_by(|a, b| a.0.cmp(b.0).then(b.1.cmp(&a.1)));
    keys.dedup_by_key(|key| key.0);
    keys
}

/// The ids of `<0x00>` to `<0xFF>`, if all are there: of the type for bytes, if there are types.
pub(super) fn byte_tokens(tokens: &TokenTable<'_>, kinds: &[u8]) -> Option<Box<[u32; 256]>> {
    let mut ids = Box::new([UNKNOWN; 256]);
    for (id, token) in tokens.iter() {
        let is_typed = kinds.get(id as usize).is_none_or(|&it| it == kind::BYTE);
        let byte = std::str::from_utf8(token)
            .ok()
            .and_then(|text| text.strip_prefix("<0x")?.strip_suffix('>'))
            .filter(|digits| digits.len() == 2 && !digits.contains(|c: char| c.is_lowercase()))
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        if let (true, Some(byte)) = (is_typed, byte) {
            ids[byte as usize] = id;
        }
    }
    (!ids.contains(&UNKNOWN)).then_some(ids)
}
