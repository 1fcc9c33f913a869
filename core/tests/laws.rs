//! Threads, blocks, caches and budgets change no id and no count.
//!
//! Texts are long enough that threads share a single one of them (256 KiB and more), and made of few parts,
//! so that caches have something to remember.
//!
//! What threads share is behind locks: the tasks that are left (`src/threads.rs`), and the places of their ids
//! (`src/encode/gather.rs`). `make test-schedules` tries these under shuttle, but not that the system refuses a thread.

use bpe_core::count::Counts;
use bpe_core::encode::{Encoder, Staged};
use bpe_core::memory::budget::Budget;
use bpe_core::{Documents, Error, Scanner, Tokenizer};
use proptest::prelude::*;

#[path = "support/pipelines.rs"]
mod pipelines;

const SCANNERS: [&str; 4] = [
    "null",
    r#"{"words": "spaced", "contractions": "exact", "digits": 0, "tail": "", "newlines": false}"#,
    r#"{"words": "prefixed", "contractions": "folded", "digits": 3, "tail": "\r\n", "newlines": true}"#,
    r#"{"words": "cased", "contractions": "suffix", "digits": 3, "tail": "\r\n/", "newlines": true}"#,
];
const LONG: usize = 600_000;

fn scanner(number: usize) -> Scanner {
    Scanner::from_json(SCANNERS[number % SCANNERS.len()]).unwrap()
}

/// A long text: parts in turn, and now and then a number that no other place has.
fn text(parts: &[String]) -> Vec<u8> {
    let mut text = Vec::with_capacity(LONG + 100);
    for number in 0_usize.. {
        text.extend_from_slice(parts[number * number % parts.len()].as_bytes());
        if number % 50 == 0 {
            text.extend_from_slice(format!(" {number} ").as_bytes());
        }
        if text.len() >= LONG {
            break;
        }
    }
    text
}

fn parts() -> impl Strategy<Value = Vec<String>> {
    let part = prop_oneof![
        4 => "[ab]{1,9} ?",
        2 => "[ \n.,'A-Ca-c0-9]{1,12}",
        1 => "[▁é好🙂\u{301} ]{1,6}",
    ];
    // A text without letters and spaces is one word, and takes long.
    prop::collection::vec(part, 1..20).prop_map(|mut parts| {
        parts.push(" a b".to_owned());
        parts
    })
}

/// Where documents end in a text, by thousandths of it.
fn ends(text: &[u8], cuts: &[usize]) -> Vec<u64> {
    let mut ends: Vec<u64> = cuts
        .iter()
        .map(|cut| (text.len() * cut / 1000) as u64)
        .collect();
    ends.sort_unstable();
    ends.push(text.len() as u64);
    ends
}

fn documents<'a>(text: &'a [u8], ends: &[u64]) -> Vec<&'a [u8]> {
    let mut start = 0;
    let cut = |&end: &u64| &text[std::mem::replace(&mut start, end as usize)..end as usize];
    ends.iter().map(cut).collect()
}

fn encode(
    pipeline: &Encoder<Staged>,
    text: &[u8],
    ends: &[u64],
    threads: usize,
    continued: bool,
) -> Vec<Vec<u32>> {
    let block = Documents {
        text,
        ends,
        continued,
    };
    let encoded = pipeline.encode(&block, None, threads).unwrap();
    let counted = pipeline.count(&block, None, threads).unwrap();
    let mut start = 0;
    let ids = |&end: &u64| {
        encoded.ids[std::mem::replace(&mut start, end as usize)..end as usize].to_vec()
    };
    let ids: Vec<Vec<u32>> = encoded.ends.iter().map(ids).collect();
    assert!(ids.iter().map(|ids| ids.len() as u64).eq(counted));
    ids
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn a_tokenizer_of_bytes_obeys(
        parts in parts(), cuts in prop::collection::vec(0..=1000_usize, 0..6), which in 1..4_usize,
        bytes in 0..2_000_000_usize,
    ) {
        let text = text(&parts);
        let ends = ends(&text, &cuts);
        let documents = documents(&text, &ends);
        let make = || Tokenizer::train([&text[..2000]], 300, scanner(which)).unwrap();
        let expected: Vec<Vec<u32>> = documents.iter().map(|one| make().encode(one).unwrap()).collect();
        let mut tokenizer = make();
        for budget in [Budget::default(), Budget { bytes }] {
            tokenizer.set_budget(budget);
            for threads in [1, 2, 7] {
                let batch = tokenizer.encode_batch(&documents, threads).unwrap();
                prop_assert!(batch == expected, "{} threads", threads);
            }
        }
        tokenizer.clear_cache();
        prop_assert!(tokenizer.encode_batch(&documents, 2).unwrap() == expected, "caches cleared");
        for (document, ids) in documents.iter().zip(&expected) {
            prop_assert_eq!(tokenizer.count(document).unwrap(), ids.len() as u64);
            prop_assert_eq!(&tokenizer.decode(ids).unwrap(), document);
        }
        // Blocks: what stands before a safe cut is encoded without what stands behind it.
        let cut = scanner(which).safe_cut(&text);
        let apart = [&text[..cut], &text[cut..]].map(|part| tokenizer.encode(part).unwrap());
        prop_assert!(apart.concat() == make().encode(&text).unwrap(), "cut at {}", cut);
    }

    #[test]
    fn a_tokenizer_with_stages_obeys(
        parts in parts(), cuts in prop::collection::vec(0..=1000_usize, 0..6), which in 0..pipelines::all().len(),
        bytes in 0..2_000_000_usize,
    ) {
        let text = text(&parts);
        let ends = ends(&text, &cuts);
        let make = || pipelines::all().swap_remove(which);
        let mut pipeline = make();
        let expected: Vec<Vec<u32>> = documents(&text, &ends)
            .into_iter()
            .flat_map(|one| encode(&make(), one, &[one.len() as u64], 1, false))
            .collect();
        for budget in [Budget::default(), Budget { bytes }] {
            pipeline.set_budget(budget);
            for threads in [1, 2, 7] {
                let ids = encode(&pipeline, &text, &ends, threads, false);
                prop_assert!(ids == expected, "{} threads", threads);
            }
        }
        pipeline.clear_cache();
        prop_assert!(encode(&pipeline, &text, &ends, 2, false) == expected, "caches cleared");
        let cut = pipeline.safe_cut(&text);
        if cut > 0 {
            let (early, late) = text.split_at(cut);
            let apart = [(early, false), (late, true)]
                .map(|(part, continued)| encode(&pipeline, part, &[part.len() as u64], 2, continued).concat());
            let whole = encode(&make(), &text, &[text.len() as u64], 1, false);
            prop_assert!(apart.concat() == whole.concat(), "cut at {}", cut);
        }
    }

    #[test]
    fn counts_obey(
        parts in parts(), cuts in prop::collection::vec(0..=1000_usize, 0..6), which in 1..4_usize,
        budget in 0..100_000_usize,
    ) {
        let text = text(&parts);
        let ends = ends(&text, &cuts);
        let count = |max_bytes: usize, threads: usize| {
            let mut counts = Counts::new(max_bytes);
            let block = Documents { text: &text, ends: &ends, continued: false };
            counts.add_block(&scanner(which), None, false, &block, threads)?;
            Ok(counts)
        };
        let expected = count(usize::MAX, 1).unwrap();
        for threads in [2, 7] {
            prop_assert!(count(usize::MAX, threads).unwrap().iter().eq(expected.iter()));
        }
        match count(budget, 2) {
            Ok(counts) => prop_assert!(counts.iter().eq(expected.iter())),
            Err(error) => prop_assert!(matches!(error, Error::Bound(_)), "{}", error),
        }
        let mut by_blocks = Counts::new(usize::MAX);
        for document in documents(&text, &ends) {
            let block = Documents { text: document, ends: &[document.len() as u64], continued: false };
            by_blocks.add_block(&scanner(which), None, false, &block, 2).unwrap();
        }
        prop_assert!(by_blocks.iter().eq(expected.iter()));
    }
}
