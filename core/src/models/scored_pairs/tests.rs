//! Merging by windows, held to the textbook procedure over the whole piece.

use proptest::prelude::*;

use super::*;
use crate::models::model::tests::tokens_of;

fn model(tokens: &[(String, f64, u8)], byte_fallback: bool) -> ScoredPairs {
    let bytes = (0..=255).map(|byte| (format!("<0x{byte:02X}>"), 0.0, kind::BYTE));
    let all: Vec<_> = [("<unk>".to_owned(), 0.0, 2)]
        .into_iter()
        .chain(bytes.filter(|_| byte_fallback))
        .chain(tokens.iter().cloned())
        .collect();
    let tables = Tables {
        tokens: TokenTable::of(all.iter().map(|token| &token.0)).unwrap(),
        scores: all.iter().map(|token| token.1).collect(),
        kinds: all.iter().map(|token| token.2).collect(),
        ..Tables::default()
    };
    ScoredPairs::new(tables, 0, byte_fallback).unwrap()
}

fn encode(model: &ScoredPairs, piece: &[u8]) -> Vec<u32> {
    let out = tokens_of(model, piece);
    out.iter().map(|found| found.id).collect()
}

/// Joins, again and again, the neighbours whose text has the highest score, the leftmost of equals.
fn by_the_book(model: &ScoredPairs, tokens: &[(String, f64, u8)], piece: &[u8]) -> Vec<u32> {
    let own = |id: u32| model.kinds.get(id as usize) == Some(&kind::USER_DEFINED);
    let spelt = model.spell(piece);
    let mut parts: Vec<(Vec<u8>, bool)> = spelt
        .map(|symbol| {
            (
                piece[symbol.start as usize..symbol.end as usize].to_vec(),
                own(symbol.id),
            )
        })
        .collect();
    let score = |left: &(Vec<u8>, bool), right: &(Vec<u8>, bool)| {
        let text = [&left.0[..], &right.0].concat();
        let token = tokens
            .iter()
            .find(|token| token.0.as_bytes() == text && token.2 == kind::NORMAL)?;
        (!left.1 && !right.1).then_some(token.1)
    };
    loop {
        let mut best: Option<(f64, usize)> = None;
        for (at, pair) in parts.windows(2).enumerate() {
            if let Some(score) = score(&pair[0], &pair[1])
                && best.is_none_or(|best| score > best.0)
            {
                best = Some((score, at));
            }
        }
        let Some((_, at)) = best else { break };
        let (right, _) = parts.remove(at + 1);
        parts[at].0.extend(right);
    }
    let mut ids = Vec::new();
    let mut unknown = false;
    for (text, _) in parts {
        let known = model
            .tokens
            .iter()
            .find(|&(id, token)| token == text && id > 256 * u32::from(model.byte_ids.is_some()));
        match (known, &model.byte_ids) {
            (Some((id, _)), _) => ids.push(id),
            (None, Some(bytes)) => ids.extend(text.iter().map(|&byte| bytes[usize::from(byte)])),
            (None, None) if unknown => {}
            (None, None) => ids.push(0),
        }
        unknown = known.is_none();
    }
    ids
}

/// Words with scores in the order of their lengths, as training gives them, or in any; now and then two have the
/// same score, or a word is one of a user's own.
fn vocabulary() -> impl Strategy<Value = Vec<(String, f64, u8)>> {
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
        tokens
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn windows_change_nothing(
        tokens in vocabulary(), unit in "[abéx]{1,90}", times in 1..5_usize, bytes: bool, stray: bool
    ) {
        let model = model(&tokens, bytes);
        let mut piece = unit.as_bytes().repeat(times);
        if stray {
            piece.push(0xC3);
            piece.extend_from_slice(unit.as_bytes());
        }
        prop_assert_eq!(encode(&model, &piece), by_the_book(&model, &tokens, &piece));
    }
}

/// All runs of one letter at one score, as the runs of blanks in llama's vocabulary: the leftmost grows first, past any window.
#[test]
fn runs_of_equal_scores_grow_from_the_left() {
    let runs = (2..=100).map(|length| ("a".repeat(length), -1e9, kind::NORMAL));
    let mut tokens: Vec<_> = runs.collect();
    tokens.push(("a".to_owned(), 0.0, kind::NORMAL));
    let model = model(&tokens, false);
    let token = |length: usize| if length == 1 { 100 } else { length as u32 - 1 };
    for length in [1, 2, 63, 64, 65, 100, 101, 250, 40_000] {
        let mut expected = vec![token(100); length / 100];
        expected.extend((length % 100 > 0).then(|| token(length % 100)));
        assert_eq!(encode(&model, "a".repeat(length).as_bytes()), expected);
    }
}
