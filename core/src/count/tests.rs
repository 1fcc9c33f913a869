//! Counting by blocks and threads against counting by hand.

use proptest::prelude::*;

use super::*;

const LLAMA3: &str = r#"{"words": "prefixed", "contractions": "folded", "digits": 3, "tail": "\r\n",
    "newlines": true, "final_space": false}"#;

fn items(counts: &Counts) -> Vec<(Vec<u8>, u64)> {
    counts
        .iter()
        .map(|(piece, count)| (piece.to_vec(), count))
        .collect()
}

fn by_hand(scanner: &Scanner, documents: &[Vec<u8>]) -> Vec<(Vec<u8>, u64)> {
    let mut found: Vec<(Vec<u8>, u64)> = Vec::new();
    for document in documents {
        scanner.for_each_piece(document, |from, to| {
            match found
                .iter_mut()
                .find(|(piece, _)| piece == &document[from..to])
            {
                Some((_, count)) => *count += 1,
                None => found.push((document[from..to].to_vec(), 1)),
            }
        });
    }
    found
}

fn ends_of(documents: &[Vec<u8>]) -> Vec<u64> {
    let mut end = 0;
    documents
        .iter()
        .map(|document| {
            end += document.len() as u64;
            end
        })
        .collect()
}

#[test]
fn threads_change_nothing() {
    let scanner = Scanner::from_json(LLAMA3).unwrap();
    let line = |n: u32| {
        format!(
            "line {n}: {} and {} {}word{}\n",
            n.wrapping_mul(2_654_435_761),
            n % 97,
            ["a", "averyveryverylong"][n as usize % 2],
            char::from(b'a' + (n % 23) as u8)
        )
    };
    let long: Vec<u8> = (0..60_000).flat_map(|n| line(n).into_bytes()).collect();
    let documents = vec![long.clone(), b"short".to_vec(), Vec::new(), long];
    let text = documents.concat();
    let ends = ends_of(&documents);
    let block = Documents {
        text: &text,
        ends: &ends,
        continued: false,
    };
    for prefix_space in [false, true] {
        let count = |threads| {
            let mut counts = Counts::new(1 << 30);
            counts
                .add_block(&scanner, None, prefix_space, &block, threads)
                .unwrap();
            items(&counts)
        };
        let one = count(1);
        assert!(one.len() > 100);
        if !prefix_space {
            let mut plain = Counts::new(1 << 30);
            for document in &documents {
                scanner.for_each_piece(document, |from, to| {
                    plain.add(&document[from..to], 1).unwrap();
                });
            }
            assert_eq!(one, items(&plain));
        }
        assert_eq!(one, count(2));
        assert_eq!(one, count(7));
    }
}

proptest! {
    #[test]
    fn counts_are_exact_and_in_order(
        documents in proptest::collection::vec("[ab 1\n]{0,20}", 0..12), cut in 0..12_usize
    ) {
        let scanner = Scanner::from_json(LLAMA3).unwrap();
        let documents: Vec<Vec<u8>> = documents.into_iter().map(String::into_bytes).collect();
        let expected = by_hand(&scanner, &documents);
        let add = |documents: &[Vec<u8>]| {
            let mut counts = Counts::new(1 << 30);
            let (text, ends) = (documents.concat(), ends_of(documents));
            let block = Documents { text: &text, ends: &ends, continued: false };
            counts.add_block(&scanner, None, false, &block, 2).unwrap();
            counts
        };
        prop_assert_eq!(items(&add(&documents)), expected.clone());

        let (early, late) = documents.split_at(cut.min(documents.len()));
        let mut merged = add(early);
        merged.merge(&add(late)).unwrap();
        prop_assert_eq!(items(&merged), expected.clone());

        let loaded = Counts::load(&merged.dump(), 1 << 30).unwrap();
        prop_assert_eq!(items(&loaded), expected);
        prop_assert_eq!((loaded.total(), loaded.total_bytes()), (merged.total(), merged.total_bytes()));
    }

    #[test]
    fn broken_dumps_are_refused(bytes in proptest::collection::vec(any::<u8>(), 1..40)) {
        if let Ok(counts) = Counts::load(&bytes, 1 << 20) {
            prop_assert_eq!(items(&Counts::load(&counts.dump(), 1 << 20).unwrap()), items(&counts));
        }
    }
}

#[test]
fn pieces_that_take_each_other_s_slots_are_counted() {
    let scanner = Scanner::from_json(LLAMA3).unwrap();
    let letters = |n: u32| [0, 5, 10, 15].map(|shift| char::from(b'a' + (n >> shift) as u8 % 26));
    let word = |n: u32| std::iter::once(' ').chain(letters(n)).collect::<String>();
    let draws = (0..150_000_u32).map(|n| n.wrapping_mul(2_654_435_761) >> (12 + n % 4 * 4));
    let text: String = draws.map(word).collect();
    let ends = [text.len() as u64];
    let block = Documents {
        text: text.as_bytes(),
        ends: &ends,
        continued: false,
    };
    let mut counts = Counts::new(1 << 30);
    counts.add_block(&scanner, None, false, &block, 1).unwrap();
    let mut plain = Counts::new(1 << 30);
    for (from, to) in scanner.pieces(text.as_bytes()) {
        plain.add(&text.as_bytes()[from..to], 1).unwrap();
    }
    assert!(plain.unique() > 40_000, "{}", plain.unique());
    assert_eq!(items(&counts), items(&plain));
    let totals = |counts: &Counts| (counts.total(), counts.total_bytes());
    assert_eq!(totals(&counts), totals(&plain));
}

#[test]
fn the_bound_on_memory_holds() {
    let mut counts = Counts::new(1000);
    let mut error = None;
    for number in 0..1000_u32 {
        if let Err(problem) = counts.add(format!("piece {number}").as_bytes(), 1) {
            error = Some(problem);
            break;
        }
    }
    assert!(matches!(error, Some(Error::Bound(_))), "{error:?}");
    assert!(counts.unique() < 40);
    counts.add(b"piece 0", 5).unwrap(); // a known piece still counts
}

#[test]
fn a_length_that_lies_is_named() {
    let error = Counts::load(&[0xFF, 0xFF, 0xFF, 0xFF, 0x0F, 1, b'a'], 1 << 20).unwrap_err();
    assert_eq!(error.to_string(), "a length lies at byte 0 of the counts");
    let error = Counts::load(&[1, 1, b'a', 1, 1, b'a'], 1 << 20).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a piece stands for the second time at byte 3 of the counts"
    );
    let error = Counts::load(&[0x80], 1 << 20).unwrap_err();
    assert_eq!(error.to_string(), "a length is cut at byte 0 of the counts");
}

/// However threads take tasks: pieces, counts and their order are those of one thread.
#[cfg(shuttle)]
fn shared_counts_are_those_of_one_thread() {
    let scanner = Scanner::from_json(LLAMA3).unwrap();
    let text = b"one two three two four one five three six two one seven";
    let ends = [8, 13, 21, 30, 41, 45, text.len() as u64];
    let documents = Documents {
        text,
        ends: &ends,
        continued: false,
    };
    let mut start = 0;
    let tasks = ends.iter().enumerate().map(|(document, &end)| {
        let task = Task {
            start,
            end: end as usize,
            document,
            continued: false,
            closed_documents: 1,
        };
        start = task.end;
        task
    });
    let tasks: Vec<Task> = tasks.collect();
    let cutter = ByScanner {
        documents: &documents,
        scanner: &scanner,
        matcher: None,
        prefix_space: false,
    };
    let counted = |threads| {
        let mut counts = Counts::new(1 << 20);
        counts.add_tasks(&tasks, &cutter, threads).unwrap();
        items(&counts)
    };
    assert_eq!(counted(3), counted(1));
}

#[cfg(shuttle)]
#[test]
fn schedules_of_shared_counts() {
    shuttle::check_random(
        shared_counts_are_those_of_one_thread,
        threads::schedules::SCHEDULES,
    );
}
