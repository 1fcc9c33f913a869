//! Merging by windows, held to the queue over the whole piece.

use proptest::prelude::*;

use super::*;

fn model(tokens: &[(String, f64, u8)], byte_fallback: bool) -> ScoredPairs {
    let bytes = (0..=255).map(|byte| (format!("<0x{byte:02X}>"), 0.0, kind::BYTE));
    let all: Vec<_> = [("<unk>".to_owned(), 0.0, 2)]
        .into_iter()
        .chain(bytes.filter(|_| byte_fallback))
        .chain(tokens.iter().cloned())
        .collect();
    let ends = all.iter().scan(0, |end, token| {
        *end += token.0.len() as u32;
        Some(*end)
    });
    let ends: Vec<u32> = ends.collect();
    let blob: String = all.iter().map(|token| &token.0[..]).collect();
    let tables = Tables {
        tokens: TokenTable::new(blob.into_bytes().into(), ends.into()).unwrap(),
        scores: all.iter().map(|token| token.1).collect(),
        kinds: all.iter().map(|token| token.2).collect(),
        ..Tables::default()
    };
    ScoredPairs::new(tables, 0, byte_fallback).unwrap()
}

fn encode(model: &ScoredPairs, piece: &[u8]) -> Vec<Found> {
    let mut out = Vec::new();
    model
        .encode_piece(piece, &mut Scratch::default(), &mut out)
        .unwrap();
    out
}

/// Words with scores in the order of their lengths, as training gives them, or in any; now and then two have the
/// same score, or a word is one of a user's own.
fn vocabulary() -> impl Strategy<Value = (Vec<(String, f64, u8)>, bool)> {
    let words = proptest::collection::btree_map("[abé]{2,6}", (0..40_i32, 0..20), 0..40);
    (words, any::<bool>()).prop_map(|(words, sorted)| {
        let mut tokens: Vec<_> = (words.into_iter())
            .map(|(word, (score, own))| match own {
                0 => (word, -f64::from(score), kind::USER_DEFINED),
                _ => (word, -f64::from(score), kind::NORMAL),
            })
            .collect();
        if sorted {
            tokens.sort_by_key(|token| token.0.chars().count());
            for (place, token) in tokens.iter_mut().enumerate() {
                token.1 = -(place as f64);
            }
        }
        tokens.push(("a".to_owned(), -100.0, kind::NORMAL));
        tokens.push(("b".to_owned(), -101.0, kind::NORMAL));
        (tokens, sorted)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn windows_change_nothing(
        (tokens, sorted) in vocabulary(), unit in "[abéx]{1,90}", times in 1..40_usize, bytes: bool, stray: bool
    ) {
        let (plain, learned) = (model(&tokens, bytes), model(&tokens, bytes));
        let found = learned.happening.learn(|| learned.find_happening());
        prop_assert!(found || !sorted, "what is made of shorter ones is monotone");
        let mut piece = unit.as_bytes().repeat(times);
        if stray {
            piece.push(0xC3);
            piece.extend_from_slice(unit.as_bytes());
        }
        prop_assert_eq!(encode(&learned, &piece), encode(&plain, &piece));
    }
}

/// "abc" has the highest score but is never left as two parts before "bc" comes up, which makes it: a list that is not
/// monotone, so there are no windows.
#[test]
fn merges_that_happen_may_not_be_monotone() {
    let token = |text: &str, score| (text.to_owned(), score, kind::NORMAL);
    let tokens = [token("a", -9.0), token("b", -9.0), token("c", -9.0)];
    let tokens = [&tokens[..], &[token("abc", -1.0), token("bc", -2.0)]].concat();
    let model = model(&tokens, false);
    assert!(!model.happening.learn(|| model.find_happening()));
    assert_eq!(encode(&model, b"abc").len(), 1);
}

/// Other ways to put a token together than the one that happens do not matter.
#[test]
fn merges_that_never_happen_do_not_count() {
    let token = |text: &str, score| (text.to_owned(), score, kind::NORMAL);
    let tokens = [token("a", -9.0), token("b", -9.0), token("c", -9.0)];
    let more = [token("ab", -1.0), token("abc", -2.0), token("bc", -3.0)];
    let model = model(&[&tokens[..], &more].concat(), false);
    assert!(model.happening.learn(|| model.find_happening()));
}
