//! Merging by steps and merging one place at a time, held to the plainest way to write either down.

use super::*;
use crate::models::model::tests::tokens_of;

/// Tokens over two letters: them, and all that two merges can make of them.
struct Language {
    texts: Vec<String>,
}

impl Language {
    fn new() -> Self {
        let mut texts = vec!["a".to_owned(), "b".to_owned()];
        for _ in 0..2 {
            let longer: Vec<_> = texts
                .iter()
                .flat_map(|left| texts.iter().map(move |right| format!("{left}{right}")))
                .collect();
            texts.extend(longer);
            texts.sort_by_key(|text| (text.len(), text.clone()));
            texts.dedup();
        }
        Self { texts }
    }

    fn id(&self, text: &str) -> u32 {
        self.texts.iter().position(|known| known == text).unwrap() as u32
    }

    fn merge(&self, left: &str, right: &str) -> [u32; 3] {
        [left, right, &format!("{left}{right}")].map(|text| self.id(text))
    }

    fn model(&self, merges: &[[u32; 3]], by_steps: bool) -> CharacterPairs {
        let tokens = TokenTable::of(&self.texts).unwrap();
        let settings = Settings {
            by_steps,
            ..Settings::default()
        };
        CharacterPairs::new(tokens, merges, settings).unwrap()
    }
}

fn ids(model: &CharacterPairs, piece: &str) -> Vec<u32> {
    let out = tokens_of(model, piece.as_bytes());
    out.iter().map(|found| found.id).collect()
}

/// Takes the first merge of the list that occurs: at all places, or at the leftmost.
fn plainly(merges: &[[u32; 3]], symbols: &[u32], by_steps: bool) -> Vec<u32> {
    let mut symbols = symbols.to_vec();
    while let Some(&[left, right, product]) = merges
        .iter()
        .find(|merge| symbols.windows(2).any(|pair| *pair == merge[..2]))
    {
        let mut at = 0;
        while at + 1 < symbols.len() {
            if symbols[at..at + 2] == [left, right] {
                symbols.splice(at..at + 2, [product]);
                if !by_steps {
                    break;
                }
            }
            at += 1;
        }
    }
    symbols
}

/// Lists of three merges whose parts are letters or products of two, and words up to 7 letters: of the
/// lists every 17th, of the words all for a monotone list, and every ninth for another.
#[test]
fn both_orders_are_what_they_say_and_one_for_monotone_lists() {
    let language = Language::new();
    let letters =
        |word: &str| -> Vec<u32> { word.chars().map(|c| language.id(&c.to_string())).collect() };
    let parts: Vec<&String> = language
        .texts
        .iter()
        .filter(|text| text.len() <= 2)
        .collect();
    let all: Vec<[u32; 3]> = parts
        .iter()
        .flat_map(|left| parts.iter().map(|right| language.merge(left, right)))
        .collect();
    let mut words = vec![String::new()];
    for place in 0..(1 << 7) - 1 {
        for letter in ["a", "b"] {
            words.push(words[place].clone() + letter);
        }
    }
    let mut lists = Vec::new();
    for first in &all {
        for second in &all {
            lists.extend(all.iter().map(|third| [*first, *second, *third]));
        }
    }
    lists.retain(|[first, second, third]| first != second && first != third && second != third);
    let (mut monotone, mut different) = (0, 0);
    for (number, merges) in lists.iter().enumerate().step_by(17) {
        let [leftmost, steps] = [false, true].map(|by_steps| language.model(merges, by_steps));
        let one_order = steps.merges.monotone();
        monotone += usize::from(one_order);
        let some = if one_order { 1 } else { 9 };
        for word in words.iter().skip(1 + number % some).step_by(some) {
            let expected = plainly(merges, &letters(word), true);
            assert_eq!(ids(&steps, word), expected, "{merges:?} {word}");
            let one_by_one = ids(&leftmost, word);
            assert_eq!(
                one_by_one,
                plainly(merges, &letters(word), false),
                "{merges:?} {word}"
            );
            assert!(one_by_one == expected || !one_order, "{merges:?} {word}");
            different += usize::from(one_by_one != expected);
        }
    }
    assert!(monotone > 200, "{monotone}");
    assert!(different > 200, "{different}");
}

#[test]
fn a_merge_that_comes_earlier_waits_for_the_end_of_a_step() {
    let language = Language::new();
    let merges = [language.merge("ab", "a"), language.merge("a", "b")];
    let texts = |model: &CharacterPairs| -> Vec<String> {
        let texts = ids(model, "abab").into_iter();
        texts
            .map(|id| language.texts[id as usize].clone())
            .collect()
    };
    assert_eq!(texts(&language.model(&merges, true)), ["ab", "ab"]);
    assert_eq!(texts(&language.model(&merges, false)), ["aba", "b"]);
}

#[test]
fn a_run_that_is_a_token_is_taken_as_a_whole_and_nothing_else_is() {
    let language = Language::new();
    let mut model = language.model(&[language.merge("a", "a")], false);
    model.settings.whole_runs_of = "a".to_owned();
    let named = |texts: &[&str]| {
        texts
            .iter()
            .map(|text| language.id(text))
            .collect::<Vec<_>>()
    };
    assert_eq!(ids(&model, "aaa"), named(&["aaa"]));
    assert_eq!(
        ids(&model, "aaaaaa"),
        named(&["aa", "aa", "aa"]),
        "six are no token"
    );
    assert_eq!(ids(&model, "bbb"), named(&["b", "b", "b"]));
    assert_eq!(ids(&model, "aaab"), named(&["aa", "a", "b"]));
}

/// All ways to put each word together, the shortest words first as in the lists of models converted from scores, or in any
/// order: pieces of several windows become what the plainest way to merge makes of them.
#[test]
fn windows_change_nothing() {
    let language = Language::new();
    for number in 0..1_500_u64 {
        let mixed = |salt: u64| {
            let mixed = (number << 8 ^ salt).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            (mixed ^ mixed >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 33
        };
        let mut merges = Vec::new();
        for (place, text) in language.texts.iter().enumerate() {
            if text.len() > 1 && mixed(place as u64) % 3 != 0 {
                merges.extend((1..text.len()).map(|at| language.merge(&text[..at], &text[at..])));
            }
        }
        if number % 2 == 1 {
            merges.sort_by_key(|merge| mixed(u64::from(merge[0] << 8 ^ merge[1] << 4 ^ merge[2])));
        }
        let mut model = language.model(&merges, false);
        // What is unknown has an id of its own, which is in no merge, or is left out.
        let unk_id = (number % 3 != 0).then_some(99);
        model.settings.unk_id = unk_id;
        model.settings.fuse_unk = number % 4 == 0;
        let unit: String = (0..mixed(99) % 90 + 1)
            .map(|at| b"abababababa?"[mixed(100 + at) as usize % 12] as char)
            .collect();
        let piece = unit.repeat(1 + mixed(98) as usize % 4);
        let mut symbols: Vec<u32> = Vec::new();
        for letter in piece.chars() {
            match language
                .texts
                .iter()
                .position(|text| *text == letter.to_string())
            {
                Some(id) => symbols.push(id as u32),
                None if model.settings.fuse_unk && symbols.last() == Some(&99) => {}
                None => symbols.extend(unk_id),
            }
        }
        assert_eq!(
            ids(&model, &piece),
            plainly(&merges, &symbols, false),
            "{piece} {merges:?}"
        );
    }
}
