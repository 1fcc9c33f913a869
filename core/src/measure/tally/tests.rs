use crate::tables::TokenTable;
use proptest::prelude::*;

use super::*;
use crate::error::Error;

fn tables() -> Arc<Tables> {
    let blob = b"abc ab\xe3\x80\x81";
    let tokens = TokenTable::new(blob[..].into(), vec![1, 2, 3, 4, 6, 7, 8, 9].into()).unwrap();
    let special = [(20, b"<s>".to_vec())];
    Arc::new(Tables::new(tokens, special, &[9], &[5, 6, 7]).unwrap())
}

const IDEOGRAPHIC_COMMA: [u32; 3] = [5, 6, 7];

fn plain(text: &[u8], ends: &[u64], ids: &[u32], id_ends: &[u64]) -> Tally {
    let mut tally = Tally::new(tables());
    let documents = Documents {
        text,
        ends,
        continued: false,
    };
    let block = Block {
        documents,
        unfinished: false,
    };
    tally
        .add(block, Tokens::Plain(ids, false), id_ends)
        .unwrap();
    tally
}

#[test]
fn by_hand() {
    let text = "ab c\u{3001} a<s>".as_bytes();
    let [x, y, z] = IDEOGRAPHIC_COMMA;
    let mut tally = plain(text, &[2, 12], &[4, 3, 2, x, y, z, 3, 0, 20], &[1, 9]);
    let sums = *tally.sums();
    // "ab" is whole; of "c、" and "a<s>" several tokens have a part.
    assert_eq!((sums.words, sums.split_words), (3, 2));
    assert_eq!((sums.checked, sums.failed), (2, 0));
    assert_eq!(sums.unknown_bytes, 0);
    assert_eq!(tally.tokens_of(Kind::Byte), 3);
    assert_eq!(sums.with_tokens, 2);
    assert!((sums.sum_of_ratios - (2.0 + 10.0 / 8.0)).abs() < 1e-12);
    assert_eq!(tally.frequencies().used(), 8);
    assert_eq!(tally.take_ended(), [1, 8]);
    assert_eq!(tally.take_ended(), [0; 0]);
}

#[test]
fn what_does_not_come_back_is_seen() {
    for (ids, failed) in [
        (&[4, 2][..], 0),
        (&[4][..], 1),
        (&[4, 1], 1),
        (&[4, 2, 2], 1),
        (&[0, 1, 2], 0),
        (&[9], 1),
        (&[77, 4, 2], 0),
    ] {
        let tally = plain(b"abc", &[3], ids, &[ids.len() as u64]);
        assert_eq!(tally.sums().failed, failed, "{ids:?}");
        assert_eq!(tally.sums().checked, 1);
    }
}

#[test]
fn a_space_put_before_stands_for_nothing() {
    for (ids, split) in [(&[3, 4, 2][..], 1), (&[3, 3, 4], 0)] {
        let mut tally = Tally::new(tables());
        let text = if split == 1 { &b"abc"[..] } else { b" ab" };
        let documents = Documents {
            text,
            ends: &[3],
            continued: false,
        };
        let block = Block {
            documents,
            unfinished: false,
        };
        let (ids, comes_back) = match split {
            1 => (ids, false),
            _ => (&ids[1..], true),
        };
        let ends = [ids.len() as u64];
        tally.add(block, Tokens::Plain(ids, true), &ends).unwrap();
        let sums = tally.sums();
        assert_eq!((sums.words, sums.split_words), (1, split));
        assert_eq!((sums.checked, sums.failed), (1, u64::from(!comes_back)));
    }
}

#[test]
fn ends_that_lie_are_refused() {
    let documents = Documents {
        text: b"ab",
        ends: &[1, 2],
        continued: false,
    };
    for ends in [&[1][..], &[1, 1], &[2, 1], &[1, 3]] {
        let block = Block {
            documents,
            unfinished: false,
        };
        let refused = Tally::new(tables()).add(block, Tokens::Plain(&[0, 1], false), ends);
        assert!(matches!(refused, Err(Error::Invalid(_))), "{ends:?}");
    }
}

#[test]
fn spans_count_shared_bytes_once() {
    let span = |id, start, end| Span { id, start, end };
    let spans = [
        span(9, 0, 3),
        span(9, 0, 3),
        span(7, 0, 3),
        span(9, 4, 6),
        span(0, 9, 99),
    ];
    let text = "\u{3001} de".as_bytes();
    let mut tally = Tally::new(tables());
    let documents = Documents {
        text,
        ends: &[6],
        continued: false,
    };
    let block = Block {
        documents,
        unfinished: false,
    };
    tally.add(block, Tokens::Spans(&spans), &[5]).unwrap();
    let sums = tally.sums();
    assert_eq!(sums.unknown_bytes, 5);
    assert_eq!((sums.words, sums.split_words, sums.checked), (2, 1, 0));
}

proptest! {
    #[test]
    fn cuts_between_tokens_change_nothing(
        documents in proptest::collection::vec(proptest::collection::vec(0u32..5, 0..12), 1..5),
        cuts in proptest::collection::vec(any::<bool>(), 64),
    ) {
        let tables = tables();
        let spell = |ids: &[u32]| ids.iter().flat_map(|&id| tables.bytes(id).to_vec()).collect::<Vec<u8>>();
        let mut whole = Tally::new(Arc::clone(&tables));
        let mut in_parts = Tally::new(Arc::clone(&tables));
        let mut cut = cuts.iter();
        for ids in &documents {
            let add = |tally: &mut Tally, ids: &[u32], continued, unfinished| {
                let text = spell(ids);
                let ends = [text.len() as u64];
                let documents = Documents { text: &text, ends: &ends, continued };
                tally.add(Block { documents, unfinished }, Tokens::Plain(ids, false), &[ids.len() as u64]).unwrap();
            };
            add(&mut whole, ids, false, false);
            let mut start = 0;
            for end in 0..=ids.len() {
                let last = end == ids.len();
                if last || *cut.next().unwrap_or(&false) {
                    add(&mut in_parts, &ids[start..end], start > 0, !last);
                    if end == 0 && !last {
                        continue; // an empty beginning: the next part begins again
                    }
                    start = end;
                }
            }
        }
        prop_assert_eq!(whole.sums(), in_parts.sums());
        prop_assert_eq!(whole.frequencies(), in_parts.frequencies());
        prop_assert_eq!(whole.take_ended(), in_parts.take_ended());
        let text: Vec<u8> = documents.iter().flat_map(|ids| [spell(ids), vec![b' ']].concat()).collect();
        let words = String::from_utf8(text).unwrap().split_whitespace().count();
        prop_assert_eq!(whole.sums().words, words as u64);
    }

    #[test]
    fn what_was_counted_comes_back(
        documents in proptest::collection::vec(proptest::collection::vec((0u32..12).prop_map(|id| if id < 11 { id } else { u32::MAX }), 0..12), 0..5),
        cut in any::<prop::sample::Index>(),
        flipped in any::<prop::sample::Index>(),
    ) {
        let mut tally = Tally::new(tables());
        for ids in &documents {
            let text = b"ab c";
            let documents = Documents { text, ends: &[4], continued: false };
            let block = Block { documents, unfinished: false };
            tally.add(block, Tokens::Plain(ids, false), &[ids.len() as u64]).unwrap();
        }
        let bytes = tally.dump();
        let back = Tally::load(tables(), &bytes).unwrap();
        prop_assert_eq!(back.sums(), tally.sums());
        prop_assert_eq!(back.frequencies(), tally.frequencies());
        prop_assert_eq!(back.dump(), bytes.clone());
        // What is damaged is refused, or is what another tally would have written.
        let mut damaged = bytes[..cut.index(bytes.len() + 1)].to_vec();
        if !damaged.is_empty() {
            let place = flipped.index(damaged.len());
            damaged[place] ^= 1 << (place % 8);
        }
        if let Ok(other) = Tally::load(tables(), &damaged) {
            let again = Tally::load(tables(), &other.dump()).unwrap();
            prop_assert_eq!(again.frequencies(), other.frequencies());
        }
    }
}

#[test]
fn damaged_tallies_are_refused() {
    let mut tally = Tally::new(tables());
    let bytes = tally.dump();
    assert_eq!(bytes.len(), 8 + 6);
    for end in 0..bytes.len() {
        assert!(Tally::load(tables(), &bytes[..end]).is_err(), "{end}");
    }
    let with = |more: &[u8]| Tally::load(tables(), &[&bytes, more].concat());
    assert_eq!(with(&[0, 1, 2, 3]).unwrap().frequencies().total(), 4);
    for more in [
        &[5][..],
        &[5, 0],
        &[5, 1, 0, 1],
        &[0xFF, 0xFF, 0xFF, 0xFF, 0x1F, 1],
    ] {
        assert!(with(more).is_err(), "{more:?}");
    }
    let mut not_a_number = bytes.clone();
    not_a_number[..8].copy_from_slice(&f64::NAN.to_le_bytes());
    assert!(Tally::load(tables(), &not_a_number).is_err());
    tally.frequencies.add_many(0, u64::MAX);
    let most = tally.dump();
    assert!(Tally::load(tables(), &most).is_ok());
    assert!(Tally::load(tables(), &[&most[..], &[1, 1]].concat()).is_err());
}
