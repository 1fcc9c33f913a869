//! From ranks back to merges.
//!
//! A rank file names tokens in order, not how they were merged. For a vocabulary that training made,
//! the merge of a token is what is left when its bytes are merged with all lower ranks: exactly two
//! parts (the observation is minbpe's). If that holds for *every* token, encoding by the recovered
//! merges equals encoding by "lowest rank of the concatenation":
//!
//! By induction over time. While ranks below t are merged, in order, a span of bytes whose edges no
//! merge has crossed is segmented as those bytes would be on their own. So when rank t's turn comes,
//! every such span of its token's bytes is left as the two recovered parts, and becomes the token.
//! Hence no other two neighbours ever concatenate to a token of rank t later on: their span would
//! have become the token already. The recovered pairs are the only ones that ever merge.
//!
//! Some files have tokens that lower ranks leave in more parts than two. Such a token is made *late*, if at all: by the
//! two parts that its bytes become under all ranks. Only these two ever make it: as long as no merge has crossed
//! the edges of its bytes, they are in a state that they also reach on their own, and of those one has two parts. So
//! a token that all ranks leave in more parts is made of no neighbours in any text.

use crate::tables::{NONE, PieceTable, TokenTable};

/// One merge: two neighbouring tokens and the token they become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Merge {
    /// Id of the left token.
    pub left: u32,
    /// Id of the right token.
    pub right: u32,
    /// Id of the token that both become.
    pub product: u32,
}

/// What [`recover_merges`] found.
#[derive(Clone, Debug, Default)]
pub struct Recovered {
    /// The merges, in order of rank.
    pub merges: Vec<Merge>,
    /// Multi-byte tokens that lower ranks do not leave as two parts.
    pub unreachable: Vec<u32>,
    /// The merges of those of them that all ranks leave as two parts, of which one has a higher rank than the token.
    pub late: Vec<Merge>,
}

/// Finds, for each multi-byte token, the two parts that merging with lower ids leaves, or else merging with all ids.
#[must_use]
pub fn recover_merges(tokens: &TokenTable<'_>, pieces: &PieceTable<'_>) -> Recovered {
    let mut recovered = Recovered::default();
    let mut parts = Vec::new();
    for (id, bytes) in tokens.iter().filter(|(_, bytes)| bytes.len() > 1) {
        let mut merge = |limit| {
            merge_below(bytes, limit, tokens, pieces, &mut parts);
            let [0, middle] = parts[..] else { return None };
            Some(Merge {
                left: pieces.get(&bytes[..middle], tokens)?,
                right: pieces.get(&bytes[middle..], tokens)?,
                product: id,
            })
        };
        if let Some(merge) = merge(id) {
            recovered.merges.push(merge);
        } else {
            recovered.unreachable.push(id);
            recovered.late.extend(merge(NONE));
        }
    }
    recovered
}

/// Leaves in `starts` where the parts begin after merging with ids below `limit`.
///
/// Complexity: a few passes over the token's bytes for each merge; a token longer than 1 KiB, which
/// only a hostile file has, is left unmerged (and so reported as unreachable).
fn merge_below(
    bytes: &[u8],
    limit: u32,
    tokens: &TokenTable<'_>,
    pieces: &PieceTable<'_>,
    starts: &mut Vec<usize>,
) {
    starts.clear();
    starts.extend(0..bytes.len());
    if bytes.len() > 1024 {
        return;
    }
    let rank = |from: usize, to: usize| {
        pieces
            .get(&bytes[from..to], tokens)
            .filter(|&rank| rank < limit)
            .unwrap_or(NONE)
    };
    // ranks[i]: rank of part i joined with part i + 1.
    let mut ranks: Vec<u32> = (0..bytes.len() - 1).map(|at| rank(at, at + 2)).collect();
    while starts.len() > 2 {
        let Some((at, &best)) = ranks.iter().enumerate().min_by_key(|&(_, &rank)| rank) else {
            return;
        };
        if best == NONE {
            return;
        }
        starts.remove(at + 1);
        ranks.remove(at);
        let end = |part: usize| starts.get(part).copied().unwrap_or(bytes.len());
        if at + 1 < starts.len() {
            ranks[at] = rank(starts[at], end(at + 2));
        }
        if at > 0 {
            ranks[at - 1] = rank(starts[at - 1], end(at + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(tokens: &[&str]) -> (TokenTable<'static>, PieceTable<'static>) {
        let tokens = TokenTable::of(tokens).unwrap();
        let pieces = PieceTable::build(&tokens).unwrap();
        (tokens, pieces)
    }

    #[test]
    fn recovers_what_training_merged() {
        let (tokens, pieces) = table(&["a", "b", "c", "ab", "abc", "cab"]);
        let recovered = recover_merges(&tokens, &pieces);
        let merge = |left, right, product| Merge {
            left,
            right,
            product,
        };
        assert_eq!(
            recovered.merges,
            [merge(0, 1, 3), merge(3, 2, 4), merge(2, 3, 5)]
        );
        assert!(recovered.unreachable.is_empty());
    }

    #[test]
    fn names_tokens_that_no_merge_reaches() {
        // "abc" is left as a|b|c: neither "ab" nor "bc" is a token. "ac" needs "c", which is missing.
        let (tokens, pieces) = table(&["a", "b", "abc", "ac"]);
        let recovered = recover_merges(&tokens, &pieces);
        assert_eq!(recovered.unreachable, [2, 3]);
        assert!(recovered.late.is_empty());
    }

    #[test]
    fn finds_the_parts_of_tokens_that_are_made_late() {
        // When it is the turn of "abcd", there is no "cd" yet.
        let (tokens, pieces) = table(&["a", "b", "c", "d", "ab", "abcd", "cd"]);
        let recovered = recover_merges(&tokens, &pieces);
        assert_eq!(recovered.unreachable, [5]);
        let late = Merge {
            left: 4,
            right: 6,
            product: 5,
        };
        assert_eq!(recovered.late, [late]);
    }
}
