//! Small vocabularies by hand, runs without a bound, and the rule told plainly on random ones.

use super::*;
use crate::models::model::tests::tokens_of;
use proptest::prelude::*;

const MANY: usize = 10_000;

fn model(tokens: &[&[u8]]) -> GreedyCover {
    GreedyCover::new(TokenTable::of(tokens).unwrap(), None).unwrap()
}

fn pieces<'a>(model: &GreedyCover, text: &'a [u8]) -> Vec<&'a [u8]> {
    let found = tokens_of(model, text);
    found
        .iter()
        .map(|found| &text[found.start as usize..found.end as usize])
        .collect()
}

#[test]
fn lays_tokens_in_order() {
    let model = model(&[
        b"l", b"o", b"w", b"e", b"r", b"d", b"s", b"low", b"lower", b"er",
    ]);
    assert_eq!(pieces(&model, b"lowered"), [&b"lower"[..], b"e", b"d"]);
    assert_eq!(pieces(&model, b"slower"), [&b"s"[..], b"lower"]);
    assert_eq!(
        pieces(&model, b"lowerlow"),
        [&b"lower"[..], b"low"],
        "a token over another"
    );
}

#[test]
fn neighbours_of_one_id_are_not_cut_apart_in_a_stretch() {
    let model = model(&[b"a", b"b", b"x", b"ab", b"abx", b"ba"]);
    assert_eq!(pieces(&model, b"ababx"), [&b"ab"[..], b"ab", b"x"]);
    let model = self::model(&[b"a", b"b", b"x", b"ab", b"abx"]);
    assert_eq!(
        pieces(&model, b"ababx"),
        [&b"ab"[..], b"abx"],
        "two stretches"
    );
}

#[test]
fn characters_are_not_cut() {
    // The first bytes of a character are no beginning of it; of the two tokens, one ends inside a character.
    let model = GreedyCover::new(
        TokenTable::of(["a".as_bytes(), "aé".as_bytes(), b"a\xc3"]).unwrap(),
        Some(9),
    )
    .unwrap();
    let ids = |text: &[u8]| -> Vec<u32> {
        tokens_of(&model, text)
            .iter()
            .map(|found| found.id)
            .collect()
    };
    assert_eq!(ids("aéaèé".as_bytes()), [1, 0, 9, 9]);
    assert_eq!(ids(b"a\xc3a"), [2, 0]);
}

#[test]
fn says_which_byte_has_no_token() {
    let mut out = Vec::new();
    let error = model(&[b"a", b"aa"]).encode_piece(b"aab", &mut Scratch::default(), &mut out);
    let missing = Error::MissingByte {
        byte: b'b',
        offset: 2,
    };
    assert_eq!(error, Err(missing));
}

#[test]
fn long_runs_end() {
    // All beginnings of a run are tokens, the longest first: at each place all of them fit.
    let run = vec![b'a'; 300];
    let nested: Vec<&[u8]> = (1..=run.len()).rev().map(|length| &run[..length]).collect();
    let model = model(&nested);
    let text = vec![b'a'; MANY * 3 + 1];
    let found = tokens_of(&model, &text);
    assert_eq!(found.len(), MANY / 100 + 1);
    // Every second place is closed by a token of its own, and what begins at the others ends there.
    let pair: Vec<u8> = b"xab".iter().copied().cycle().take(300).collect();
    let mut tokens: Vec<&[u8]> = vec![b"a", b"b", b"x", b"ab"];
    tokens.extend((1..100).map(|times| &pair[..3 * times - 1]));
    let model = self::model(&tokens);
    let text: Vec<u8> = b"xab".iter().copied().cycle().take(MANY).collect();
    assert_eq!(tokens_of(&model, &text).len(), MANY / 3 * 2 + 1);
}

/// The rule as it is told: see `bpe_cli/teaching/frontier/greedy_cover.py`.
fn plainly(tokens: &[Vec<u8>], text: &[u8]) -> Vec<u32> {
    let reach = |start: usize| {
        let lengths = (2..=text.len() - start).rev();
        lengths
            .into_iter()
            .find(|length| {
                tokens
                    .iter()
                    .any(|token| token.starts_with(&text[start..start + length]))
            })
            .map_or(start + 1, |length| start + length)
    };
    let mut ids = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let (mut at, mut end) = (start, start + 1);
        while at < end {
            end = end.max(reach(at));
            at += 1;
        }
        let stretch = &text[start..end];
        let mut marks: Vec<Option<usize>> = vec![None; stretch.len()];
        for (id, token) in tokens
            .iter()
            .enumerate()
            .filter(|(_, token)| token.len() > 1)
        {
            for at in 0..stretch.len() {
                let cuts = |place: usize, marks: &[Option<usize>]| {
                    place > 0
                        && place < marks.len()
                        && marks[place].is_some()
                        && marks[place - 1] == marks[place]
                };
                let end = at + token.len();
                if stretch[at..].starts_with(token) && !cuts(at, &marks) && !cuts(end, &marks) {
                    marks[at..end].fill(Some(id));
                }
            }
        }
        let mut at = 0;
        while at < stretch.len() {
            let single = || {
                tokens
                    .iter()
                    .position(|token| token[..] == stretch[at..=at])
            };
            let id = marks[at].or_else(single).unwrap();
            ids.push(id as u32);
            at += tokens[id].len();
        }
        start = end;
    }
    ids
}

proptest! {
    #[test]
    fn is_what_is_told(
        tokens in proptest::collection::vec(proptest::collection::vec(97u8..100, 2..6), 0..24),
        text in proptest::collection::vec(97u8..100, 1..40),
    ) {
        let mut all: Vec<Vec<u8>> = (97u8..100).map(|byte| vec![byte]).collect();
        for token in tokens {
            if !all.contains(&token) {
                all.push(token);
            }
        }
        let model = GreedyCover::new(TokenTable::of(&all).unwrap(), None).unwrap();
        let found: Vec<u32> = tokens_of(&model, &text).iter().map(|found| found.id).collect();
        prop_assert_eq!(found, plainly(&all, &text));
    }
}
