//! Merges without those that never happen.
//!
//! A list of merges may have several for one token, such as all ways to divide it in two. One of them happens at most: as
//! long as no merge has crossed the edges of the token's bytes, these are in a state that they also reach on their own,
//! and of those one has two parts. Without the others the table of pairs is smaller, fewer neighbours are candidates,
//! and more characters can begin as what they become. Merges that are left out at random make other states, so that
//! [`Bpe::sample_piece`] has all of them.

use super::Bpe;
use crate::models::merging::short::MAX_SYMBOLS;
use crate::models::merging::table::{MergeTable, Merges};
use crate::tables::{CharacterTable, Edges, NONE};

/// The merges that can happen, and what characters begin as under them.
#[derive(Clone, Debug)]
pub(super) struct Narrowed {
    pub merges: MergeTable,
    pub characters: CharacterTable<'static>,
}

impl Narrowed {
    /// Lays out (left, right, rank) entries among which are all merges of a model that can happen.
    pub fn new(model: &Bpe, entries: &[(u32, u32, u32)]) -> Option<Self> {
        // What is in the table of all of them can be in this one.
        let merges = model.merges.only(entries, model.tokens.len()).ok()?;
        let edges = Edges::new(&model.tokens, entries.iter().copied());
        let characters = merges.characters(edges, &model.byte_ids);
        Some(Self { merges, characters })
    }

    /// Finds the merges that can happen; None if no token has several.
    #[cold]
    pub fn of(model: &Bpe) -> Option<Self> {
        let mut entries: Vec<_> = model.merges.pairs().entries().collect();
        let product = |rank| model.merges.product(rank);
        let mut ways = vec![0_u32; model.tokens.len()];
        for &(_, _, rank) in &entries {
            ways[product(rank) as usize] += 1;
        }
        if ways.iter().all(|&ways| ways <= 1) {
            return None;
        }
        const UNKNOWN: (u32, u32) = (NONE, NONE);
        let mut happens = vec![UNKNOWN; model.tokens.len()];
        for (id, bytes) in model.tokens.iter() {
            if ways[id as usize] > 1 && bytes.len() <= MAX_SYMBOLS {
                happens[id as usize] = last_two(model, bytes).unwrap_or((id, id));
            }
        }
        entries.retain(|&(left, right, rank)| {
            let pair = happens[product(rank) as usize];
            pair == UNKNOWN || pair == (left, right)
        });
        Self::new(model, &entries)
    }
}

/// The last two parts that a token's bytes become on their own, if they ever are two.
///
/// Complexity: a pass over the parts for each merge; so long tokens keep all their merges.
fn last_two(model: &Bpe, bytes: &[u8]) -> Option<(u32, u32)> {
    let rank = |pair: &[u32]| model.merges.rank(pair[0], pair[1]);
    let id = |&byte: &u8| model.byte_ids[usize::from(byte)];
    let mut parts: Vec<u32> = bytes.iter().map(id).collect();
    if parts.contains(&NONE) {
        return None;
    }
    let mut ranks: Vec<u32> = parts.windows(2).map(rank).collect();
    while parts.len() > 2 {
        // The leftmost of equals.
        let (at, &best) = ranks.iter().enumerate().min_by_key(|&(_, &rank)| rank)?;
        if best == NONE {
            return None;
        }
        parts[at] = model.merges.product(best);
        parts.remove(at + 1);
        ranks.remove(at);
        for first in at.saturating_sub(1)..(at + 1).min(ranks.len()) {
            ranks[first] = rank(&parts[first..first + 2]);
        }
    }
    Some((parts[0], *parts.get(1)?))
}
