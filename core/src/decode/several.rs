//! Several lists of ids at once, on several threads.

use std::ops::Range;

use super::SpecialTable;
use super::joined::{decode_into, decoded_len};
use crate::error::{Result, invalid};
use crate::memory::asking::need_exact_room;
use crate::memory::room;
use crate::tables::TokenTable;
use crate::threads;

/// Ids that a thread takes at least.
const TOGETHER: usize = 1 << 14;

/// What lists of ids stand for, one behind the other.
#[derive(Debug)]
pub struct Texts {
    bytes: Vec<u8>,
    /// Where each ends.
    ends: Vec<usize>,
}

impl Texts {
    /// The bytes of each list.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let mut start = 0;
        self.ends
            .iter()
            .map(move |&end| &self.bytes[std::mem::replace(&mut start, end)..end])
    }
}

/// Decodes lists of ids that lie one behind the other; `ends` says where each ends. What comes out is in order.
///
/// # Errors
/// [`crate::Error::MissingId`] for an id that no token has, with its place among those that a thread took;
/// [`crate::Error::Invalid`] for ends that contradict the ids.
pub fn decode_several(
    ids: &[u32],
    ends: &[usize],
    tokens: &TokenTable<'_>,
    special: SpecialTable<'_>,
    threads: usize,
) -> Result<Vec<Texts>> {
    let work = |(): &mut (), lists: Range<usize>| {
        let mut start = lists.start.checked_sub(1).map_or(0, |before| ends[before]);
        let first = start;
        let mut length = 0;
        let mut text_ends = Vec::new();
        need_exact_room(&mut text_ends, lists.len(), "texts")?;
        for &end in &ends[lists] {
            let own = ids.get(start..end);
            let own = own.ok_or_else(|| invalid!("the ends contradict the ids"))?;
            length += decoded_len(own, tokens, special)?;
            text_ends.push(length);
            start = end;
        }
        let all = &ids[first..start];
        let bytes = room::list_of_length(length, |out| decode_into(all, tokens, special, out))?;
        Ok(Texts {
            bytes,
            ends: text_ends,
        })
    };
    let (texts, _) = threads::map_with(shares(ends).into_iter(), threads, |_| (), work, |()| ())?;
    Ok(texts)
}

/// Says which lists a thread takes at a time.
fn shares(ends: &[usize]) -> Vec<Range<usize>> {
    let (mut shares, mut first, mut begun) = (Vec::new(), 0, 0);
    for (number, &end) in ends.iter().enumerate() {
        if end.saturating_sub(begun) >= TOGETHER || number + 1 == ends.len() {
            shares.push(first..number + 1);
            (first, begun) = (number + 1, end);
        }
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::super::decode;
    use super::*;

    #[test]
    fn each_list_is_decoded_as_if_alone() {
        let tokens = TokenTable::new(b"abcde"[..].into(), vec![1, 3, 3, 5].into()).unwrap();
        let special = SpecialTable {
            ids: &[2],
            blob: b"<s>",
            ends: &[3],
        };
        let lists: Vec<Vec<u32>> = (0..9000_u32)
            .map(|number| {
                (0..number % 11)
                    .map(|place| (number * 7 + place) % 4)
                    .collect()
            })
            .collect();
        let mut reached = 0;
        let ends: Vec<usize> = lists
            .iter()
            .map(|list| {
                reached += list.len();
                reached
            })
            .collect();
        let ids = lists.concat();
        assert!(shares(&ends).len() > 2);
        for threads in [1, 2, 5] {
            let found = decode_several(&ids, &ends, &tokens, special, threads).unwrap();
            let found: Vec<&[u8]> = found.iter().flat_map(Texts::iter).collect();
            assert_eq!(found.len(), lists.len());
            for (found, list) in found.iter().zip(&lists) {
                assert_eq!(*found, decode(list, &tokens, special).unwrap());
            }
        }
        let none = decode_several(&[], &[], &tokens, special, 2).unwrap();
        assert!(none.is_empty());
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let tokens = TokenTable::new(b"ab"[..].into(), vec![1, 2].into()).unwrap();
        let special = SpecialTable::default();
        for (ids, ends) in [(&[0, 7][..], &[2][..]), (&[0], &[2]), (&[0, 1], &[2, 1])] {
            assert!(decode_several(ids, ends, &tokens, special, 2).is_err());
        }
    }
}
