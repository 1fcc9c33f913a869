//! Characters by themselves and those that stand together, held to pieces that are merged as a whole.

use super::super::tests::table;
use super::*;
use crate::random::Draw;
use crate::random::tests::{begin, below};

/// Ideographs that share their first bytes, or their last ones; kana, punctuation, and a full-width form.
const CHARACTERS: [&str; 8] = ["中", "丁", "一", "人", "。", "で", "，", "鿿"];

fn every_byte() -> Vec<Vec<u8>> {
    (0..=u8::MAX).map(|byte| vec![byte]).collect()
}

/// A model whose merges make parts of characters, characters, and what stands side by side, whole or in part.
fn drawn(draw: &mut Draw) -> Bpe {
    let mut tokens = every_byte();
    let mut merges: Vec<[u32; 3]> = Vec::new();
    let text = some_text(draw, 40);
    for _ in 0..below(draw, 60) {
        // Two tokens that stand side by side somewhere, so that most merges can happen.
        let at = 1 + below(draw, text.len() - 1);
        let ends = |token: &Vec<u8>| text[..at].ends_with(token);
        let begins = |token: &Vec<u8>| text[at..].starts_with(token);
        let longest = |is_one: &dyn Fn(&Vec<u8>) -> bool| {
            let found = (0..tokens.len()).filter(|&id| is_one(&tokens[id]));
            found.max_by_key(|&id| tokens[id].len()).unwrap()
        };
        let (left, right) = (longest(&ends), longest(&begins));
        let both = [&tokens[left][..], &tokens[right]].concat();
        if both.len() > 12 || tokens.contains(&both) {
            continue;
        }
        merges.push([left as u32, right as u32, tokens.len() as u32]);
        tokens.push(both);
    }
    Bpe::from_merges(table(&tokens), &merges, false).unwrap()
}

fn some_text(draw: &mut Draw, characters: usize) -> Vec<u8> {
    let each = (0..characters).flat_map(|_| CHARACTERS[below(draw, CHARACTERS.len())].bytes());
    each.collect()
}

fn merged(model: &Bpe, text: &[u8]) -> Vec<u32> {
    let mut ids = Vec::new();
    let done = model.merge_piece(text, &mut BpeScratch::default(), &mut ids);
    done.unwrap();
    ids
}

#[test]
fn what_stands_apart_becomes_what_it_becomes_alone() {
    let draw = &mut begin(3);
    let (mut apart, mut together) = (0, 0);
    for _ in 0..400 {
        let model = drawn(draw);
        let ideographs = model.ideographs();
        for _ in 0..10 {
            let characters = 1 + below(draw, MOST);
            let text = some_text(draw, characters);
            let mut values = [Value::NONE; MOST];
            let (known, joined) = ideographs.look_up(&text, &mut values);
            assert_eq!(known, characters);
            assert_eq!(joined >> (characters - 1), 0, "the last has no next one");
            let mut ids = Vec::new();
            let mut start = 0;
            for end in 1..=characters {
                if joined >> (end - 1) & 1 != 0 {
                    continue;
                }
                if end - start == 1 {
                    let count = values[start].count().unwrap();
                    ids.extend_from_slice(&values[start].ids()[..count]);
                    apart += 1;
                } else {
                    ids.extend(merged(&model, &text[BYTES * start..BYTES * end]));
                    together += end - start;
                }
                start = end;
            }
            assert_eq!(
                ids,
                merged(&model, &text),
                "{}",
                String::from_utf8_lossy(&text)
            );
        }
    }
    assert!(apart > 20_000 && together > 20_000, "{apart}, {together}");
}

#[test]
fn tokens_that_begin_or_end_inside_a_character_stand_for_all_it_may_be() {
    let mut tokens = every_byte();
    tokens.push(b"\xad\xe4".to_vec());
    let model = Bpe::from_merges(table(&tokens), &[[0xad, 0xe4, 256]], false).unwrap();
    let joined = |text: &str| {
        let mut values = [Value::NONE; MOST];
        model.ideographs().look_up(text.as_bytes(), &mut values).1
    };
    // The last byte of 中 and of 歭 is AD; the first one of 中 and of 丁 is E4, that of 人 too, but not that of 歭.
    assert_eq!(joined("中丁"), 1);
    assert_eq!(joined("歭人。"), 1);
    assert_eq!(joined("丁中"), 0);
    assert_eq!(joined("中歭"), 0);
    assert_eq!(joined("丁中中丁"), 0b110);
}

#[test]
fn what_is_no_such_character_is_not_looked_up() {
    let mut tokens = every_byte();
    tokens.remove(0xBA);
    let model = Bpe::from_merges(table(&tokens), &[], false).unwrap();
    let mut values = [Value::NONE; MOST];
    // A byte without a token in 人, Hangul, characters cut short, ASCII, an overlong form, a surrogate.
    let others = [
        "人".as_bytes(),
        "한".as_bytes(),
        b"\xe4\xb8a",
        b"\xe4a\xad",
        b"abc",
        b"\xe0\x80\x80",
        b"\xed\xa0\x80",
    ];
    for other in others {
        let text = ["中丁".as_bytes(), other, "中".as_bytes()].concat();
        assert_eq!(
            model.ideographs().look_up(&text, &mut values),
            (2, 0),
            "{other:?}"
        );
        assert_eq!(values[1].count(), Some(3));
        assert_eq!(model.ideographs().look_up(other, &mut values), (0, 0));
    }
    let many = "中".repeat(MOST + 1);
    assert_eq!(
        model.ideographs().look_up(many.as_bytes(), &mut values),
        (MOST, 0)
    );
    assert_eq!(model.ideographs().look_up(b"", &mut values), (0, 0));
}

/// A character that is a token as a whole, and that merging leaves in parts, is another thing alone than among others.
#[test]
fn characters_that_are_something_else_alone_are_not_looked_up() {
    let mut tokens = every_byte();
    tokens.extend(["中", "丁"].map(|character| character.as_bytes().to_vec()));
    let merges = [[0xe4, 0xb8, 258], [258, 0x81, 257]];
    tokens.push(b"\xe4\xb8".to_vec());
    let found = |whole_pieces, text: &str| {
        let model = Bpe::from_merges(table(&tokens), &merges, whole_pieces).unwrap();
        let mut values = [Value::NONE; MOST];
        model.ideographs().look_up(text.as_bytes(), &mut values).0
    };
    assert_eq!((found(true, "中丁"), found(true, "丁中")), (0, 1));
    assert_eq!((found(false, "中丁"), found(false, "丁中")), (2, 2));
}

#[test]
fn pieces_that_begin_with_other_characters_are_not_asked_for() {
    let is_likely = |text: &str| Ideographs::may_be(text.as_bytes(), 0, text.len());
    assert!(["中", "鿿丁", "。", "，中"].into_iter().all(is_likely));
    assert!(
        !["で中", "a中bc", "한", "。\n", "中a", ""]
            .into_iter()
            .any(is_likely)
    );
}
