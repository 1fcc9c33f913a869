//! The bytes of ids, one token after the other, at the speed of copying.
//!
//! Two passes: the first adds up the tokens' lengths and finds the first id that no token has; the second
//! copies. Nearly every token has 1 to [`AT_ONCE`] bytes, so the second pass copies that many whatever the
//! length, and goes on behind the token's own: a copy of fixed length is one load and one store, with no
//! call and no branch on the length. What that does not suit (longer tokens, special ones, the ends of
//! both arrays) is one branch that is hardly ever taken. Everything is bounds-checked: no pass trusts
//! what the other one saw. The plain loop that both are held to is in the tests.

use super::SpecialTable;
use crate::error::{Error, Result, ensure};
use crate::memory::asking::need_exact_room;
use crate::memory::room::{self, Room};
use crate::tables::TokenTable;

/// How many bytes are copied for a token that has no more.
const AT_ONCE: usize = 16;

/// Adds up the lengths of what ids stand for.
///
/// # Errors
/// [`Error::MissingId`] names the first id that no token has.
pub fn decoded_len(
    ids: &[u32],
    tokens: &TokenTable<'_>,
    special: SpecialTable<'_>,
) -> Result<usize> {
    let ends = tokens.ends();
    let mut length = 0;
    for (place, &id) in ids.iter().enumerate() {
        let (start, end) = range(ends, id);
        length += if start < end {
            end - start
        } else {
            special.get(id).ok_or(Error::MissingId { id, place })?.len()
        };
    }
    Ok(length)
}

/// Fills `out` with the bytes of ids.
///
/// # Errors
/// [`Error::MissingId`] names the first id that no token has; [`Error::Invalid`] says that `out` has less
/// room than the [`decoded_len`] of the ids.
pub fn decode_into<'a>(
    ids: &[u32],
    tokens: &TokenTable<'_>,
    special: SpecialTable<'_>,
    mut out: Room<'a>,
) -> Result<Room<'a>> {
    let (blob, ends) = (tokens.blob(), tokens.ends());
    for (place, &id) in ids.iter().enumerate() {
        let (start, end) = range(ends, id);
        let length = end.wrapping_sub(start);
        // An empty range, which no token has, wraps to more than AT_ONCE too.
        if length.wrapping_sub(1) < AT_ONCE
            && let Some(from) = blob.get(start..).and_then(<[u8]>::first_chunk::<AT_ONCE>)
            && out.append_first(length, from)
        {
            continue;
        }
        let token = if start < end {
            &blob[start..end]
        } else {
            special.get(id).ok_or(Error::MissingId { id, place })?
        };
        ensure!(
            out.append(token),
            "there is no room for what the ids stand for"
        );
    }
    Ok(out)
}

/// Says where the bytes of each token begin and end in a text that ids were made of. A special token's own bytes count,
/// even if its id is a token as well; what has no token has no bytes.
///
/// # Errors
/// [`Error::Memory`].
pub fn places(
    ids: &[u32],
    tokens: &TokenTable<'_>,
    special: SpecialTable<'_>,
) -> Result<(Vec<u64>, Vec<u64>)> {
    let mut reached = 0;
    let (mut starts, mut ends) = (Vec::new(), Vec::new());
    for list in [&mut starts, &mut ends] {
        need_exact_room(list, ids.len(), "tokens")?;
    }
    for &id in ids {
        starts.push(reached);
        let token = special.get(id).unwrap_or_else(|| tokens.get(id));
        reached += token.len() as u64;
        ends.push(reached);
    }
    Ok((starts, ends))
}

/// Where a token's bytes begin and end; an empty range for an id that no token has.
#[inline]
fn range(ends: &[u32], id: u32) -> (usize, usize) {
    let id = id as usize;
    let Some(&end) = ends.get(id) else {
        return (0, 0);
    };
    let start = ends.get(id.wrapping_sub(1)).copied().unwrap_or(0);
    (start as usize, end as usize)
}

/// Gives the bytes of ids, one token after the other.
///
/// # Errors
/// [`Error::MissingId`] names the first id that no token has.
pub fn decode(ids: &[u32], tokens: &TokenTable<'_>, special: SpecialTable<'_>) -> Result<Vec<u8>> {
    let length = decoded_len(ids, tokens, special)?;
    room::list_of_length(length, |room| decode_into(ids, tokens, special, room))
}

#[cfg(test)]
mod tests {
    use std::mem::MaybeUninit;

    use super::*;
    use proptest::prelude::*;

    /// The plain loop: what the fast one is held to.
    fn plain(ids: &[u32], tokens: &TokenTable<'_>, special: SpecialTable<'_>) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        for (place, &id) in ids.iter().enumerate() {
            let token = match tokens.get(id) {
                [] => special.get(id).ok_or(Error::MissingId { id, place })?,
                token => token,
            };
            bytes.extend_from_slice(token);
        }
        Ok(bytes)
    }

    fn table(tokens: &[Vec<u8>]) -> TokenTable<'static> {
        TokenTable::of(tokens).unwrap()
    }

    const SPECIAL: SpecialTable<'_> = SpecialTable {
        ids: &[2, 9, 4_000_000_000],
        blob: b"<s><e><a long one of more than sixteen bytes>",
        ends: &[3, 6, 45],
    };

    #[test]
    fn joins_tokens_and_names_what_is_missing() {
        let tokens = TokenTable::new(b"abab"[..].into(), vec![1, 2, 2, 4].into()).unwrap();
        let ids = [2, 3, 0, 9, 4_000_000_000];
        let expected = b"<s>aba<e><a long one of more than sixteen bytes>";
        assert_eq!(decode(&ids, &tokens, SPECIAL).unwrap(), expected);
        let missing = decode(&[0, 5, 6], &tokens, SPECIAL).unwrap_err();
        assert_eq!(missing, Error::MissingId { id: 5, place: 1 });
        assert_eq!(
            decode(&[2], &tokens, SpecialTable::default()),
            Err(Error::MissingId { id: 2, place: 0 })
        );
        assert_eq!(decode(&[], &TokenTable::default(), SPECIAL), Ok(Vec::new()));
        assert!(decode(&[u32::MAX], &tokens, SPECIAL).is_err());
    }

    #[test]
    fn every_token_alone_and_among_others() {
        let lengths = (0..40).chain([100, 1000, 15, 16, 17, 1]);
        let tokens: Vec<Vec<u8>> = lengths
            .enumerate()
            .map(|(id, length)| (0..length).map(|at| (7 * id + at) as u8).collect())
            .collect();
        let table = table(&tokens);
        for id in 1..tokens.len() as u32 {
            for ids in [vec![id], vec![id, 1], vec![1, id, 20, id], vec![id; 50]] {
                assert_eq!(
                    decode(&ids, &table, SPECIAL),
                    plain(&ids, &table, SPECIAL),
                    "{ids:?}"
                );
            }
        }
    }

    #[test]
    fn tokens_lie_one_behind_the_other() {
        let tokens = TokenTable::new(b"abab"[..].into(), vec![1, 2, 2, 4].into()).unwrap();
        let found = places(&[2, 3, 0, 77, 9], &tokens, SPECIAL).unwrap();
        assert_eq!(found, (vec![0, 3, 5, 6, 6], vec![3, 5, 6, 6, 9]));
        let found = places(&[], &tokens, SPECIAL).unwrap();
        assert_eq!(found, (vec![], vec![]));
    }

    #[test]
    fn says_when_there_is_no_room() {
        let table = table(&[b"abc".to_vec(), vec![7; 40]]);
        for ids in [&[0, 0][..], &[1], &[0, 1]] {
            let length = decoded_len(ids, &table, SPECIAL).unwrap();
            let mut room = vec![MaybeUninit::uninit(); length - 1];
            assert!(decode_into(ids, &table, SPECIAL, Room::new(&mut room)).is_err());
            let mut room = vec![MaybeUninit::uninit(); length + 99];
            let filled = decode_into(ids, &table, SPECIAL, Room::new(&mut room)).unwrap();
            assert_eq!(filled.filled().len(), length);
        }
    }

    proptest! {
        #[test]
        fn is_the_plain_loop(
            tokens in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..24), 0..40),
            ids in prop::collection::vec(0_u32..42, 0..200),
        ) {
            let table = table(&tokens);
            prop_assert_eq!(decode(&ids, &table, SPECIAL), plain(&ids, &table, SPECIAL));
            let known: Vec<u32> = ids.into_iter().filter(|&id| plain(&[id], &table, SPECIAL).is_ok()).collect();
            prop_assert_eq!(decode(&known, &table, SPECIAL), plain(&known, &table, SPECIAL));
        }
    }
}
