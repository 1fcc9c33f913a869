//! What a model that merges by scores works out of its tables when it is made.

use hashbrown::HashSet;

use crate::error::{Result, ensure, invalid};
use crate::models::bpe::LONGEST_TOKEN;
use crate::models::merging::characters::byte_tokens;
use crate::models::model::kind;
use crate::tables::{MAX_TOKENS, NONE, PieceTable, TokenTable};
use crate::text::characters as characters_of;

/// Whether text can become a piece of this type by its characters.
pub(super) fn matches_text(kind: u8) -> bool {
    matches!(kind, kind::NORMAL | kind::USER_DEFINED | kind::UNUSED)
}

pub(super) fn check(tokens: &TokenTable<'_>, scores: &[f64], kinds: &[u8]) -> Result<()> {
    let ids = tokens.len();
    ensure!(
        scores.len() == ids,
        "{ids} ids have {} scores",
        scores.len()
    );
    ensure!(
        kinds.is_empty() || kinds.len() == ids,
        "{ids} ids have {} types",
        kinds.len()
    );
    if let Some(id) = scores.iter().position(|score| score.is_nan()) {
        return Err(invalid!("the score of id {id} is not a number"));
    }
    if let Some(id) = kinds.iter().position(|kind| !(1..=6).contains(kind)) {
        return Err(invalid!(
            "id {id} is of type {}; types are 1 to 6",
            kinds[id]
        ));
    }
    for (id, text) in tokens.iter() {
        ensure!(
            text.len() <= LONGEST_TOKEN,
            "token {id} has {} bytes; at most {LONGEST_TOKEN} are handled",
            text.len()
        );
    }
    Ok(())
}

/// The pieces that text can become, each at its id, and the characters that are only parts of them.
pub(super) fn symbols(
    tokens: &TokenTable<'_>,
    kind_of: impl Fn(u32) -> u8,
) -> Result<TokenTable<'static>> {
    let mut all: Vec<&[u8]> = Vec::new();
    let mut characters: HashSet<&[u8], foldhash::fast::FixedState> = HashSet::default();
    for id in 0..tokens.len() as u32 {
        all.push(match matches_text(kind_of(id)) {
            true => tokens.get(id),
            false => &[],
        });
    }
    let texts = || tokens.iter().filter(|&(id, _)| matches_text(kind_of(id)));
    for (_, text) in texts() {
        if characters_of(text).nth(1).is_none() {
            characters.insert(text);
        }
    }
    for (_, text) in texts() {
        for (_, character) in characters_of(text) {
            if characters.insert(character) {
                all.push(character);
            }
        }
    }
    // One more number stands for all other characters.
    ensure!(
        all.len() < MAX_TOKENS,
        "{} ids and characters are more than fit below {MAX_TOKENS}",
        all.len()
    );
    TokenTable::of(all)
}

pub(super) fn all_byte_tokens(
    tokens: &TokenTable<'_>,
    kind_of: impl Fn(u32) -> u8,
) -> Result<Box<[u32; 256]>> {
    // Texts of other types may equal each other, so bytes are looked up among themselves.
    let text = |id| match kind_of(id) {
        kind::BYTE => tokens.get(id),
        _ => &[],
    };
    let bytes = TokenTable::of((0..tokens.len() as u32).map(text))?;
    let ids = byte_tokens(&PieceTable::build(&bytes)?, &bytes);
    match ids.iter().position(|&id| id == NONE) {
        Some(byte) => Err(invalid!(
            "unknown characters become bytes, but <0x{byte:02X}> has no token"
        )),
        None => Ok(ids),
    }
}
