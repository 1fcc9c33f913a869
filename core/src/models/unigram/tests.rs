use proptest::prelude::*;

use super::*;
use crate::models::model::tests::tokens_of;
use crate::models::model::{Model as _, Tables};
use crate::models::scratch::Scratch;
use crate::text::characters;

fn table(tokens: &[&[u8]]) -> TokenTable<'static> {
    TokenTable::of(tokens).unwrap()
}

pub(super) const SETTINGS: Settings = Settings {
    unk_id: Some(0),
    byte_fallback: false,
    fuse_unk: true,
    single_precision: false,
    fixed_point: false,
};

/// With sums that do not round.
const EXACT: Settings = Settings {
    fixed_point: true,
    ..SETTINGS
};

pub(super) fn model(settings: Settings, tokens: &[(&[u8], f64, u8)]) -> Unigram {
    let texts: Vec<&[u8]> = tokens.iter().map(|token| token.0).collect();
    let tables = Tables {
        tokens: table(&texts),
        scores: tokens.iter().map(|token| token.1).collect(),
        kinds: tokens.iter().map(|token| token.2).collect(),
        ..Tables::default()
    };
    Unigram::new(settings, tables).unwrap()
}

/// "<unk>", then tokens with their scores.
pub(super) fn simple(tokens: &[(&str, f64)]) -> Unigram {
    simple_by(SETTINGS, tokens)
}

fn simple_by(settings: Settings, tokens: &[(&str, f64)]) -> Unigram {
    let mut all: Vec<(&[u8], f64, u8)> = vec![(b"", 0.0, 2)];
    all.extend(
        tokens
            .iter()
            .map(|&(text, score)| (text.as_bytes(), score, 1)),
    );
    model(settings, &all)
}

pub(super) fn ids(found: &[Found]) -> Vec<u32> {
    found.iter().map(|found| found.id).collect()
}

fn encode(model: &Unigram, text: &[u8]) -> Vec<u32> {
    let out = tokens_of(model, text);
    let mut at = 0;
    for found in &out {
        assert_eq!(found.start, at, "tokens cover the text");
        at = found.end;
    }
    assert_eq!(at as usize, text.len());
    ids(&out)
}

/// All segmentations with their scores, unknown characters where nothing covers one.
pub(super) fn all(model: &Unigram, text: &[u8]) -> Vec<(Vec<u32>, f64)> {
    let Some((_, first)) = characters(text).next() else {
        return vec![(Vec::new(), 0.0)];
    };
    let mut heads: Vec<(usize, u32, f64)> = Vec::new();
    for end in 1..=text.len() {
        if let Some(id) = model.trie.get(&text[..end]) {
            heads.push((end, id, model.scores[id as usize].lattice));
        }
    }
    if !heads.iter().any(|&(end, _, _)| end == first.len()) {
        heads.push((first.len(), UNKNOWN, model.unknown));
    }
    let mut found = Vec::new();
    for (end, id, score) in heads {
        for (rest, rest_score) in all(model, &text[end..]) {
            found.push(([vec![id], rest].concat(), score + rest_score));
        }
    }
    found
}

/// Which order of equal tokens wins hangs on the rounding of sums that an unknown character began.
#[test]
fn the_score_of_an_unknown_character_is_not_read_but_worked_out() {
    let model = simple(&[
        ("_", -2.501_186_301_914_992),
        ("0", -5.097_231_988_043_741),
        ("00", -6.041_192_272_736_682),
        ("rare", -10.107_786_309_274_696),
    ]);
    assert_eq!(model.unknown, -10.107_786_309_274_696 - 10.0);
    assert_eq!(encode(&model, b"_x000"), [1, 0, 3, 2]);
}

#[test]
fn takes_the_best() {
    let model = simple(&[("a", -1.0), ("b", -1.0), ("ab", -1.5), ("abc", -9.0)]);
    assert_eq!(encode(&model, b"ab"), [3]);
    assert_eq!(encode(&model, b"aab"), [1, 3]);
    assert_eq!(encode(&model, b"abc"), [4]);
    // Unknown characters fuse; a stray byte is one.
    assert_eq!(encode(&model, b"axx\xffb"), [1, 0, 2]);
    let loose = Settings {
        fuse_unk: false,
        ..SETTINGS
    };
    let tokens: [(&[u8], f64, u8); 2] = [(b"", 0.0, 2), (b"a", -1.0, 1)];
    assert_eq!(
        encode(&super::tests::model(loose, &tokens), b"xya"),
        [0, 0, 1]
    );
    let none = Settings {
        unk_id: None,
        ..SETTINGS
    };
    let error = super::tests::model(none, &tokens).encode_piece(
        b"axa",
        &mut Scratch::default(),
        &mut Vec::new(),
    );
    assert_eq!(
        error,
        Err(Error::MissingByte {
            byte: b'x',
            offset: 1
        })
    );
}

#[test]
fn among_equals_the_last_token_begins_first() {
    let model = simple(&[("g", -1.0), ("gg", -2.0), ("ggg", -3.0)]);
    assert_eq!(encode(&model, b"ggg"), [3]);
    assert_eq!(encode(&model, b"gggg"), [1, 3]);
}

#[test]
fn knows_types() {
    let tokens: [(&[u8], f64, u8); 7] = [
        (b"", 0.0, 2),
        (b"a", -3.0, 1),
        (b"b", -3.0, 1),
        (b"ab", 0.0, 4),
        (b"aa", -1.0, 5),
        (b"<s>", 0.0, 3),
        (b"abb", -0.05, 1),
    ];
    let model = model(SETTINGS, &tokens);
    // A user-defined token scores 0.1 for each byte but the first: a token that goes on past it can win.
    assert_eq!(encode(&model, b"ab"), [3]);
    assert_eq!(encode(&model, b"abb"), [6]);
    assert_eq!(
        encode(&model, b"aa"),
        [1, 1],
        "an unused token is not chosen"
    );
    assert_eq!(encode(&model, b"<s>"), [0], "a control token is not text");
    assert_eq!(model.unknown, -13.0);
}

#[test]
fn spells_unknown_characters_in_bytes() {
    let names: Vec<String> = (0..256).map(|byte| format!("<0x{byte:02X}>")).collect();
    let mut tokens: Vec<(&[u8], f64, u8)> = vec![(b"", 0.0, 2), (b"a", -1.0, 1)];
    tokens.extend(names.iter().map(|name| (name.as_bytes(), 0.0, 6)));
    let settings = Settings {
        byte_fallback: true,
        ..SETTINGS
    };
    let whole = model(settings, &tokens);
    assert_eq!(
        encode(&whole, "aé\u{ff}".as_bytes()),
        [1, 2 + 0xC3, 2 + 0xA9, 2 + 0xC3, 2 + 0xBF]
    );
    tokens.pop();
    assert_eq!(encode(&model(settings, &tokens), "aé".as_bytes()), [1, 0]);
}

#[test]
fn knows_where_texts_can_be_cut() {
    let mark = "▁";
    let border = |tokens: &[&str]| {
        let tokens: Vec<_> = tokens.iter().map(|&text| (text, -1.0)).collect();
        let rounds = simple(&tokens);
        let exact = simple_by(EXACT, &tokens);
        assert_eq!(rounds.border, None, "sums in f64 round");
        assert_eq!(rounds.seams().border, exact.border, "they are carried on");
        exact.border
    };
    assert_eq!(border(&[mark, "▁a", "▁▁", "b"]), Some(Border::Before('▁')));
    assert_eq!(border(&[mark, "a▁", "b"]), Some(Border::After('▁')));
    assert_eq!(border(&[mark, "a▁", "▁b"]), None);
    assert_eq!(border(&["▁a"]), None);
    let single = Settings {
        single_precision: true,
        ..SETTINGS
    };
    assert_eq!(
        model(single, &[(b"", 0.0, 2), (mark.as_bytes(), -1.0, 1)]).border,
        None
    );
}

#[test]
fn refuses_contradictions() {
    let build = |scores: Vec<f64>, kinds: Vec<u8>, unk_id| {
        let tokens = table(&[b"a", b"b"]);
        let settings = Settings { unk_id, ..SETTINGS };
        let tables = Tables {
            tokens,
            scores,
            kinds,
            ..Tables::default()
        };
        Unigram::new(settings, tables)
            .map(drop)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(build(vec![0.0], vec![], None), "2 tokens have 1 scores");
    assert_eq!(build(vec![0.0; 2], vec![1], None), "2 tokens have 1 types");
    assert_eq!(
        build(vec![0.0, f64::NAN], vec![], None),
        "the score of token 1 is not a finite number"
    );
    assert_eq!(
        build(vec![0.0; 2], vec![], Some(2)),
        "the unknown token 2 is not in the vocabulary of 2"
    );
}

#[test]
fn a_long_run_of_one_letter_takes_linear_time() {
    let model = simple(&[("a", -1.0), ("aa", -1.5), ("aaaaaaaa", -2.0)]);
    assert_eq!(encode(&model, &[b'a'; 1 << 18]).len(), (1 << 18) / 8);
}

fn vocabulary() -> impl Strategy<Value = Vec<(String, f64)>> {
    proptest::collection::btree_map("[abé▁]{1,3}", -90i32..-1, 1..12).prop_map(|tokens| {
        tokens
            .into_iter()
            .map(|(text, score)| (text, f64::from(score) / 7.0))
            .collect()
    })
}

#[test]
fn segmentations_that_would_take_gigabytes_are_refused() {
    let model = simple(&[("a", -1.0), ("aa", -1.5), ("aaa", -1.6)]);
    let text = vec![b'a'; 100_000];
    let error = model.nbest_piece(&text, 1_000_000).unwrap_err().to_string();
    assert_eq!(
        error,
        "the 1000000 best segmentations of a piece of 100000 bytes are too many to find"
    );
    assert_eq!(model.nbest_piece(&text[..60], 3).unwrap().len(), 3);
    // There are fewer than are asked for.
    assert_eq!(model.nbest_piece(b"aaa", 1 << 40).unwrap().len(), 4);
}

proptest! {
    #[test]
    fn agrees_with_all_segmentations(tokens in vocabulary(), text in "[abcé▁]{1,7}", n in 1usize..9) {
        let tokens: Vec<(&str, f64)> = tokens.iter().map(|(t, s)| (&t[..], *s)).collect();
        let model = simple(&tokens);
        let mut expected = all(&model, text.as_bytes());
        expected.sort_by(|a, b| b.1.total_cmp(&a.1));
        let mut scratch = SearchScratch::default();
        let score = model.encode(text.as_bytes(), &mut scratch, &mut Vec::<u32>::new()).unwrap();
        prop_assert!((score - expected[0].1).abs() < 1e-9);
        let found = model.nbest_piece(text.as_bytes(), n).unwrap();
        prop_assert_eq!(found.len(), n.min(expected.len()));
        for ((_, score), (_, wanted)) in found.iter().zip(&expected) {
            prop_assert!((score - wanted).abs() < 1e-9);
        }
        if found.len() > 1 && expected[0].1 - expected[1].1 > 1e-9 {
            prop_assert_eq!(ids(&found[0].0), encode(&model, text.as_bytes()));
        }
    }

    /// What is settled bit by bit is what is found when all is kept: the same sum to the last bit, and the same tokens,
    /// also where unknown characters become one across what is settled at once.
    #[test]
    fn stretches_change_nothing(
        tokens in vocabulary(), text in "[abcé▁]{1,60}", stretch in 1usize..40, sum in -1e6..0.0
    ) {
        let tokens: Vec<(&str, f64)> = tokens.iter().map(|(t, s)| (&t[..], *s)).collect();
        let model = simple(&tokens);
        let search = |stretch: usize, single: bool| {
            let (mut steps, mut path, mut whole) = (Vec::new(), Vec::new(), Vec::new());
            let (mut found, mut after_unknown): (Vec<Found>, _) = (Vec::new(), false);
            let take = |settled: &[_]| {
                whole.extend_from_slice(settled);
                model.emit(text.as_bytes(), settled.iter().copied(), &mut after_unknown, &mut found)
            };
            let (piece, sum) = (text.as_bytes(), if single { f64::from(sum as f32) } else { sum });
            let sum = match single {
                true => model.forward_by::<f32>(stretch, piece, sum, &mut steps, &mut path, take),
                false => model.forward_by::<f64>(stretch, piece, sum, &mut steps, &mut path, take),
            };
            let (sum, taken_off) = sum.unwrap();
            ([sum, taken_off].map(f64::to_bits), whole, found)
        };
        for single in [false, true] {
            prop_assert_eq!(search(stretch, single), search(text.len(), single));
        }
    }

    #[test]
    fn nothing_goes_on_across_a_border(tokens in vocabulary(), text in "[abc▁]{1,9}") {
        let mut tokens: Vec<(&str, f64)> = tokens.iter().map(|(t, s)| (&t[..], *s)).collect();
        if !tokens.iter().any(|(text, _)| *text == "▁") {
            tokens.push(("▁", -2.0));
        }
        let model = simple_by(EXACT, &tokens);
        let bytes = text.as_bytes();
        let is_mark = |at: usize| bytes[at..].starts_with("▁".as_bytes());
        let score = |part: &[u8]| {
            let mut ids: Vec<u32> = Vec::new();
            model.encode(part, &mut SearchScratch::default(), &mut ids).unwrap()
        };
        for (at, character) in characters(bytes).skip(1) {
            let _ = character;
            let before = (0..at).rev().find(|&at| bytes[at] & 0xC0 != 0x80).is_some_and(is_mark);
            let cuts = match model.border {
                Some(Border::Before(_)) => is_mark(at) && !before,
                Some(Border::After(_)) => !is_mark(at) && before,
                None => false,
            };
            if cuts {
                let parts = score(&bytes[..at]) + score(&bytes[at..]);
                prop_assert!((parts - score(bytes)).abs() < 1e-9);
            }
        }
    }
}
