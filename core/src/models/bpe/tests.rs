//! The textbook procedure as the oracle for both merge loops and both queues, and for characters that
//! begin as more than their bytes.

use proptest::prelude::*;

use super::*;
use crate::models::merging::merge_long;
use crate::models::merging::queue::{BucketQueue, HeapQueue};
use crate::models::merging::short::MAX_SYMBOLS;
use crate::models::merging::table::Merges;
use crate::written::Tables;

pub(super) fn table(tokens: &[Vec<u8>]) -> TokenTable<'static> {
    TokenTable::of(tokens).unwrap()
}

/// Lowest number first, leftmost of equals, one merge at a time.
fn by_the_book(
    piece: &[u8],
    number: impl Fn(&[u8], &[u8]) -> Option<u32>,
    whole: impl Fn(&[u8]) -> bool,
) -> Vec<Vec<u8>> {
    if whole(piece) {
        return vec![piece.to_vec()];
    }
    let mut parts: Vec<Vec<u8>> = piece.iter().map(|&byte| vec![byte]).collect();
    loop {
        let candidates =
            (1..parts.len()).filter_map(|at| Some((number(&parts[at - 1], &parts[at])?, at)));
        let Some((_, at)) = candidates.min() else {
            return parts;
        };
        let right = parts.remove(at);
        parts[at - 1].extend(right);
    }
}

pub(super) fn bytes_of(model: &Bpe, ids: &[u32]) -> Vec<Vec<u8>> {
    ids.iter()
        .map(|&id| model.tokens().get(id).to_vec())
        .collect()
}

/// Before the merges that can happen and those of ASCII are found, and after it, which must be the same.
pub(super) fn encode(model: &Bpe, piece: &[u8]) -> Vec<Vec<u8>> {
    let model = model.clone();
    let once = || {
        let mut ids = Vec::new();
        let done = model.encode_piece(piece, &mut BpeScratch::default(), &mut ids);
        done.unwrap();
        ids
    };
    let early = once();
    model.narrow();
    assert_eq!(once(), early);
    model.find_ascii();
    assert_eq!(once(), early);
    bytes_of(&model, &early)
}

/// A piece, repeated past the length from which the linked list is used.
fn lengthened(piece: &[u8]) -> Vec<u8> {
    piece.repeat(MAX_SYMBOLS / piece.len().max(1) + 1)
}

/// Single letters, then distinct strings over them: any order, not only what training makes; or the short ones
/// first, which makes ranks monotone.
fn vocabulary() -> impl Strategy<Value = Vec<Vec<u8>>> {
    (
        proptest::collection::vec("[abc]{2,5}", 0..40),
        any::<bool>(),
    )
        .prop_map(|(words, sorted)| {
            let mut tokens: Vec<Vec<u8>> = vec![b"a".to_vec(), b"b".to_vec(), b"c".to_vec()];
            for word in words.into_iter().map(String::into_bytes) {
                if !tokens.contains(&word) {
                    tokens.push(word);
                }
            }
            if sorted {
                tokens.sort_by_key(Vec::len);
            }
            tokens
        })
}

/// Bytes that make characters of one to three bytes, and parts of them, in every way.
const BYTES: [u8; 7] = [b' ', b'a', 0xC3, 0xE4, 0xE5, 0xA9, 0xB8];

fn some_bytes(length: std::ops::Range<usize>) -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(proptest::sample::select(&BYTES[..]), length)
}

/// Single bytes, then strings of them; the short ones first, if asked for, which makes ranks monotone.
fn vocabulary_of_bytes() -> impl Strategy<Value = Vec<Vec<u8>>> {
    (
        proptest::collection::vec(some_bytes(2..5), 0..60),
        any::<bool>(),
    )
        .prop_map(|(words, sorted)| {
            let mut tokens: Vec<Vec<u8>> = BYTES.map(|byte| vec![byte]).to_vec();
            for word in words {
                if !tokens.contains(&word) {
                    tokens.push(word);
                }
            }
            if sorted {
                tokens.sort_by_key(Vec::len);
            }
            tokens
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn ranks_are_merged_by_the_book(tokens in vocabulary(), piece in "[abc]{1,30}") {
        let model = Bpe::from_ranks(table(&tokens)).unwrap();
        let rank = |l: &[u8], r: &[u8]| tokens.iter().position(|t| *t == [l, r].concat()).map(|n| n as u32);
        for piece in [piece.as_bytes().to_vec(), lengthened(piece.as_bytes())] {
            let expected = by_the_book(&piece, rank, |piece| tokens.iter().any(|t| t == piece));
            prop_assert_eq!(encode(&model, &piece), expected);
        }
    }

    #[test]
    fn characters_are_merged_by_the_book(tokens in vocabulary_of_bytes(), piece in some_bytes(1..24)) {
        let model = Bpe::from_ranks(table(&tokens)).unwrap();
        let rank = |l: &[u8], r: &[u8]| tokens.iter().position(|t| *t == [l, r].concat()).map(|n| n as u32);
        for piece in [piece.clone(), lengthened(&piece)] {
            let expected = by_the_book(&piece, rank, |piece| tokens.iter().any(|t| t == piece));
            prop_assert_eq!(encode(&model, &piece), expected);
        }
    }

    #[test]
    fn characters_of_merges_are_merged_by_the_book(
        tokens in vocabulary_of_bytes(), pieces in proptest::collection::vec(some_bytes(1..24), 1..30), whole: bool
    ) {
        let id = |bytes: &[u8]| tokens.iter().position(|t| t == bytes).map(|n| n as u32);
        let mut merges = Vec::new();
        for (product, token) in tokens.iter().enumerate().rev() {
            // One way or two, the last token first: numbers are not ids, and products not in their order.
            let ways = (1..token.len()).filter_map(|at| Some((id(&token[..at])?, id(&token[at..])?)));
            merges.extend(ways.take(1 + product % 2).map(|(left, right)| [left, right, product as u32]));
        }
        merges.sort_by_key(|merge| tokens[merge[2] as usize].len());
        let model = Bpe::from_merges(table(&tokens), &merges, whole).unwrap();
        let number = |l: &[u8], r: &[u8]| {
            merges.iter().position(|m| Some(m[0]) == id(l) && Some(m[1]) == id(r)).map(|n| n as u32)
        };
        // One scratch for all: halfway the model learns which whole pieces it must look up.
        let (mut scratch, mut ids) = (BpeScratch::default(), Vec::new());
        for piece in pieces.iter().chain(&tokens) {
            ids.clear();
            model.encode_piece(piece, &mut scratch, &mut ids).unwrap();
            let expected = by_the_book(piece, number, |piece| whole && id(piece).is_some());
            prop_assert_eq!(bytes_of(&model, &ids), expected);
        }
        prop_assert!(!whole || model.unreached.get().is_some());
    }

    #[test]
    fn merges_are_merged_by_the_book(
        tokens in vocabulary(), order in any::<u64>(), whole: bool, piece in "[abc]{1,30}"
    ) {
        // Every split of every token, shuffled, some left out: most such lists no trainer would make.
        let mut merges = Vec::new();
        let id = |bytes: &[u8]| tokens.iter().position(|t| t == bytes).map(|n| n as u32);
        for (product, token) in tokens.iter().enumerate() {
            for middle in 1..token.len() {
                if let (Some(left), Some(right)) = (id(&token[..middle]), id(&token[middle..])) {
                    merges.push([left, right, product as u32]);
                }
            }
        }
        let shuffle = |merge: &[u32; 3]| {
            let mixed = order ^ u64::from(merge[0]) << 40 ^ u64::from(merge[1]) << 20 ^ u64::from(merge[2]);
            mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(17)
        };
        merges.sort_by_key(shuffle);
        merges.truncate(merges.len() * 3 / 4 + 1);
        let model = Bpe::from_merges(table(&tokens), &merges, whole).unwrap();
        let number = |l: &[u8], r: &[u8]| {
            merges.iter().position(|m| Some(m[0]) == id(l) && Some(m[1]) == id(r)).map(|n| n as u32)
        };
        for piece in [piece.as_bytes().to_vec(), lengthened(piece.as_bytes())] {
            let expected = by_the_book(&piece, number, |piece| whole && id(piece).is_some());
            prop_assert_eq!(encode(&model, &piece), expected);
        }
    }

    #[test]
    fn both_queues_agree_where_the_model_is_monotone(piece in "[abc]{60,200}") {
        let words = ["a", "b", "c", "aa", "ab", "aab", "cb", "aaa", "aabcb", "aaaa", "bc", "abc"];
        let tokens: Vec<Vec<u8>> = words.iter().map(|word| word.as_bytes().to_vec()).collect();
        let model = Bpe::from_ranks(table(&tokens)).unwrap();
        let (mut heap, mut buckets) = (Vec::<u32>::new(), Vec::<u32>::new());
        let mut chain = Chain::default();
        prop_assume!(model.merges.monotone());
        let byte = |offset| model.id_of_byte(piece.as_bytes(), offset);
        merge_long(&model.merges, piece.len(), byte, HeapQueue::default(), &mut chain, &mut heap).unwrap();
        merge_long(&model.merges, piece.len(), byte, BucketQueue::default(), &mut chain, &mut buckets).unwrap();
        prop_assert_eq!(heap, buckets);
    }
}

#[test]
fn a_token_may_be_reachable_only_as_a_whole_piece() {
    let tokens: Vec<Vec<u8>> = [&b"a"[..], b"b", b"c", b"abc"].map(<[u8]>::to_vec).to_vec();
    let model = Bpe::from_ranks(table(&tokens)).unwrap();
    assert_eq!(encode(&model, b"abc"), [b"abc"]);
    assert_eq!(encode(&model, b"abcb"), [b"a", b"b", b"c", b"b"]);
    let by_merges = Bpe::from_merges(table(&tokens), &[], false).unwrap();
    assert_eq!(encode(&by_merges, b"abc"), [b"a", b"b", b"c"]);
}

#[test]
fn of_several_ways_to_a_token_one_is_kept_at_most() {
    // All ways to "abc", "bcd" and "cab"; and "abd", of which no way can happen, since "ab" comes before "bd".
    let words = [
        "a", "b", "c", "d", "bc", "ab", "abc", "bcd", "ca", "cab", "bd", "abd",
    ];
    let tokens: Vec<Vec<u8>> = words.iter().map(|word| word.as_bytes().to_vec()).collect();
    let merges = [
        [1, 2, 4],
        [0, 1, 5],
        [0, 4, 6],
        [5, 2, 6],
        [4, 3, 7],
        [2, 0, 8],
        [2, 5, 9],
        [8, 1, 9],
        [1, 3, 10],
        [0, 10, 11],
    ];
    let model = Bpe::from_merges(table(&tokens), &merges, false).unwrap();
    model.narrow();
    let narrowed = model.narrowed.get().unwrap().as_ref().unwrap();
    let mut ranks: Vec<u32> = narrowed
        .merges
        .pairs()
        .entries()
        .map(|entry| entry.2)
        .collect();
    ranks.sort_unstable();
    // "abd" keeps its only way: nobody looks at a token that has no other.
    assert_eq!(ranks, [0, 1, 2, 4, 5, 6, 8, 9]);
    let trained = Bpe::from_merges(table(&tokens), &merges[..2], false).unwrap();
    trained.narrow();
    assert!(trained.narrowed.get().unwrap().is_none());
}

#[test]
fn a_missing_byte_is_named() {
    let model = Bpe::from_ranks(table(&[b"a".to_vec()])).unwrap();
    for length in [1, 100] {
        let piece = [vec![b'a'; length], vec![b'x']].concat();
        let error = model
            .encode_piece(&piece, &mut BpeScratch::default(), &mut Vec::new())
            .unwrap_err();
        assert_eq!(
            error,
            Error::MissingByte {
                byte: b'x',
                offset: length
            }
        );
    }
}

#[test]
fn contradictions_are_named() {
    let tokens = table(&[b"a".to_vec(), b"b".to_vec(), b"ab".to_vec()]);
    let error = Bpe::from_merges(tokens.clone(), &[[0, 1, 2], [1, 0, 2]], false).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("merge 1 joins ids 1 and 0 to 2"),
        "{error}"
    );
    let error = Bpe::from_merges(tokens, &[[0, 9, 2]], false).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("merge 0 joins ids 0 and 9 to 2"),
        "{error}"
    );
    let error = Bpe::from_ranks(table(&[vec![b'x'; 2000]])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "token 0 has 2000 bytes; at most 1024 are handled"
    );
}

proptest! {
    /// What a document was read into is trusted; the same tables from elsewhere are checked.
    #[test]
    fn a_written_model_is_the_one_of_its_tables(
        joins in prop::collection::vec((0..64_usize, 0..64_usize), 0..40),
        gap in any::<bool>(),
        whole in any::<bool>(),
        pieces in prop::collection::vec(prop::collection::vec(b'a'..b'e', 0..30), 1..8),
    ) {
        let mut tokens: Vec<Vec<u8>> = (b'a'..b'e').map(|byte| vec![byte]).collect();
        tokens.extend(gap.then(Vec::new));
        let mut triples = Vec::new();
        for (left, right) in joins {
            let [left, right] = [left, right].map(|part| part % tokens.len());
            let both = [&tokens[left][..], &tokens[right]].concat();
            if !tokens[left].is_empty() && !tokens[right].is_empty() && !tokens.contains(&both) && both.len() < 40 {
                triples.push([left as u32, right as u32, tokens.len() as u32]);
                tokens.push(both);
            }
        }
        let table = table(&tokens);
        let tables = Tables { blob: table.blob().to_vec(), ends: table.ends().to_vec(), triples };
        let checked = Bpe::from_merges(table, &tables.triples, whole).unwrap();
        let trusted = Bpe::from_written(&tables, whole).unwrap();
        for piece in pieces {
            prop_assert_eq!(encode(&trusted, &piece), encode(&checked, &piece));
        }
    }
}
