//! The quadratic loop as the oracle, over vocabularies and prefixes that get in each other's way.

use proptest::prelude::*;

use super::*;

fn table(tokens: &[&[u8]]) -> TokenTable<'static> {
    TokenTable::of(tokens).unwrap()
}

fn encode(tokens: &[&[u8]], prefix: &str, max_characters: usize, word: &[u8]) -> Vec<Found> {
    let model = WordPiece::new(table(tokens), 0, prefix, max_characters).unwrap();
    let mut out = vec![Found {
        id: 9,
        start: 9,
        end: 9,
    }];
    model
        .encode_piece(word, &mut Scratch::default(), &mut out)
        .unwrap();
    assert_eq!(out.remove(0).id, 9, "what stood there before stays");
    out
}

/// The longest token at each place, tried from the longest on.
fn by_the_book(tokens: &[&[u8]], prefix: &str, word: &[u8]) -> Vec<Found> {
    let mut found = Vec::new();
    let mut start = 0;
    while start < word.len() {
        let longest = (start + 1..=word.len()).rev().find_map(|end| {
            let prefix: &[u8] = if start > 0 { prefix.as_bytes() } else { b"" };
            let marked = [prefix, &word[start..end]].concat();
            let id = tokens.iter().rposition(|token| *token == marked)?;
            Some((id as u32, end))
        });
        let Some((id, end)) = longest else {
            return vec![Found {
                id: 0,
                start: 0,
                end: word.len() as u32,
            }];
        };
        found.push(Found {
            id,
            start: start as u32,
            end: end as u32,
        });
        start = end;
    }
    found
}

#[test]
fn takes_the_longest_token_from_the_left() {
    let tokens: Vec<&[u8]> = [
        "?", "a", "abcdx", "##b", "##c", "##cdy", "##dz", "##d", "##x",
    ]
    .into_iter()
    .map(str::as_bytes)
    .collect();
    let ids = |word: &str| -> Vec<u32> {
        encode(&tokens, "##", 100, word.as_bytes())
            .iter()
            .map(|found| found.id)
            .collect()
    };
    assert_eq!(ids("abcdz"), [1, 3, 4, 6], "the paper's example");
    assert_eq!(ids("abcdx"), [2]);
    assert_eq!(ids("abcdy"), [1, 3, 5]);
    assert_eq!(ids("abcz"), [0], "a part that fails makes the word unknown");
    assert_eq!(ids("b"), [0], "only known inside of words");
    assert_eq!(
        ids("##b"),
        [3],
        "a word may look like a token with its prefix"
    );
}

#[test]
fn counts_characters_not_bytes() {
    let tokens: [&[u8]; 3] = [b"?", "ß".as_bytes(), "##ß".as_bytes()];
    assert_eq!(encode(&tokens, "##", 3, "ßßß".as_bytes()).len(), 3);
    let long = encode(&tokens, "##", 3, "ßßßß".as_bytes());
    assert_eq!((long.len(), long[0].id, long[0].end), (1, 0, 8));
    let stray = encode(&tokens, "##", 3, b"\xc3\x9f\xc3");
    assert_eq!(
        (stray.len(), stray[0].id),
        (1, 0),
        "a stray byte is unknown"
    );
}

#[test]
fn refuses_what_is_no_vocabulary() {
    let sentence = |tokens: &[&[u8]], unk| {
        let built = WordPiece::new(table(tokens), unk, "##", 100);
        built.unwrap_err().to_string()
    };
    assert_eq!(sentence(&[b"a", b"\xff"], 0), "token 1 is not UTF-8");
    assert!(sentence(&[b"a"], u32::MAX).contains("4294967295"));
}

#[test]
fn stays_linear_where_the_loop_is_quadratic() {
    // A long token none of whose beginnings is one: the loop would try all of them at each place.
    let long = [vec![b'a'; 1 << 18], b"b".to_vec()].concat();
    let tokens: [&[u8]; 4] = [b"?", b"a", b"##a", &long];
    let found = encode(&tokens, "##", usize::MAX, &[b'a'; 1 << 18]);
    assert_eq!(found.len(), 1 << 18);
    assert_eq!(encode(&tokens, "##", usize::MAX, &long)[0].id, 3);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn equals_the_loop(
        tokens in prop::collection::vec("[ab#é]{0,5}", 1..24),
        prefix in prop::sample::select(vec!["##", "", "#", "a", "é", "ab"]),
        words in prop::collection::vec("[ab#é]{1,14}", 1..8),
    ) {
        let tokens: Vec<&[u8]> = tokens.iter().map(|token| token.as_bytes()).collect();
        for word in &words {
            prop_assert_eq!(
                encode(&tokens, prefix, usize::MAX, word.as_bytes()),
                by_the_book(&tokens, prefix, word.as_bytes())
            );
        }
    }

    #[test]
    fn takes_any_bytes(word in prop::collection::vec(
        prop::sample::select(vec![b'a', b'b', 0xC3, 0xA9, 0xFF]), 1..12,
    )) {
        let tokens = ["?", "a", "b", "é", "##a", "##b", "##é", "ab", "##éa"].map(str::as_bytes);
        prop_assert_eq!(
            encode(&tokens, "##", usize::MAX, &word),
            by_the_book(&tokens, "##", &word)
        );
    }
}
