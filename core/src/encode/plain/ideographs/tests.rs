//! Chinese by its characters is what the model makes of its pieces whole, whenever that begins and ends.

use super::super::tests::{CL100K, check_text, plainly};
use super::*;
use crate::embedded;
use crate::encode::workers::tests::budgets_are_heeded;
use crate::encode::{Encoder, Plain};
use crate::random::Draw;
use crate::random::tests::{begin, below};
use crate::split::Scanner;
use crate::tokenizer::Tokenizer;

/// Clauses of ideographs, some of them often, and some of everything that stands beside them.
fn text(draw: &mut Draw, clauses: usize) -> Vec<u8> {
    let others = [
        "，",
        "。",
        "。\n",
        "：“",
        "AI",
        " the",
        "12",
        "で",
        "カナ",
        "한",
        "　",
        "！",
        "\u{20000}",
        "é",
        "\n",
    ];
    let mut text = Vec::new();
    for _ in 0..clauses {
        for _ in 0..below(draw, 12) * (1 + below(draw, 12) / 11 * 8) {
            let often = below(draw, 40);
            let any = 1 << below(draw, 15);
            let code_point = 0x4E00
                + if below(draw, 3) > 0 {
                    often
                } else {
                    below(draw, any)
                };
            text.extend(
                char::from_u32(code_point as u32)
                    .unwrap()
                    .to_string()
                    .bytes(),
            );
        }
        text.extend_from_slice(others[below(draw, others.len())].as_bytes());
        if below(draw, 60) == 0 {
            text.extend_from_slice(&b"\xe4\xb8"[..1 + below(draw, 2)]);
        }
    }
    text
}

/// Documents that end anywhere, in the middle of a character too.
fn some_ends(draw: &mut Draw, text: &[u8], longest: usize) -> Vec<u64> {
    let mut ends = Vec::new();
    let mut end = 0;
    while end < text.len() {
        end = text.len().min(end + below(draw, longest));
        ends.push(end as u64);
    }
    ends
}

fn state(engine: &Encoder<Plain>) -> State {
    let worker = engine.worker();
    let state = worker.look_up.by_character.state;
    engine.return_worker(worker);
    state
}

fn engines() -> Vec<Encoder<Plain>> {
    let tables = embedded::tables().filter_map(embedded::find);
    let models = tables.map(|table| table.model());
    let scanner = || Scanner::from_json(CL100K).unwrap();
    models
        .map(|model| Encoder::plain(scanner(), model, false))
        .collect()
}

#[test]
fn characters_become_what_their_pieces_do() {
    let draw = &mut begin(11);
    let text = text(draw, 4_000);
    for engine in engines() {
        assert_eq!(state(&engine), State::Waiting);
        check_text(&engine, &text, &[text.len() as u64]);
        assert_eq!(state(&engine), State::Going);
        for longest in [4, 70, 5_000] {
            let ends = some_ends(draw, &text, longest);
            check_text(&engine, &text, &ends);
        }
        assert_eq!(state(&engine), State::Going);
    }
}

#[test]
fn stretches_end_anywhere() {
    let engine = &engines()[0];
    let warm = text(&mut begin(14), 400);
    check_text(engine, &warm, &[warm.len() as u64]);
    assert_eq!(state(engine), State::Going);
    let run = "丁七万丈三上下不与丐".repeat(200);
    for length in (0..2 * MOST).chain([200, 1_000]) {
        let run: String = run.chars().take(length).collect();
        for text in [
            run.clone(),
            format!("，{run}。\n，{run}"),
            format!("{run}a{run}，{run}"),
            format!("，{run}でんわ，{run}"),
        ] {
            check_text(engine, text.as_bytes(), &[text.len() as u64]);
        }
    }
    assert_eq!(state(engine), State::Going);
}

/// When pieces go by their characters, and when they no longer do.
#[test]
fn it_begins_where_many_are_missed_and_ends_where_few_come() {
    let engine = &engines()[0];
    let model = engine.model();
    let clause = "丁七万丈三上下不与丐".as_bytes();
    let mut by_character = ByCharacter::default();
    let miss = |by_character: &mut ByCharacter, pieces: usize| {
        by_character.begin_batch(model);
        (0..pieces).for_each(|_| by_character.missed(clause, 0, clause.len()));
    };
    // Few at a time are no reason, however many they are in the end.
    (0..200).for_each(|_| miss(&mut by_character, 1));
    assert!(!by_character.goes() && by_character.missed > FIND_AFTER);
    (0..3).for_each(|_| miss(&mut by_character, 20));
    assert!(by_character.goes());
    // Pieces that are not of such characters, and those that are found, are no misses.
    let mut other = ByCharacter::default();
    for _ in 0..200 {
        other.begin_batch(model);
        (0..50).for_each(|_| other.missed(b"abc", 0, 3));
    }
    assert_eq!((other.missed, other.lately), (0, 0));
    // As soon as it is known what characters become, many at once are enough.
    (0..20).for_each(|_| other.missed(clause, 0, 3));
    other.begin_batch(model);
    assert!(!other.goes());
    let _ = model.ideographs();
    (0..20).for_each(|_| other.missed(clause, 0, 3));
    other.begin_batch(model);
    assert!(other.goes());
    by_character.state = State::GivenUp;
    (by_character.missed, by_character.lately) = (0, 0);
    let needed = AGAIN_AFTER / clause.len() / 20;
    (0..needed).for_each(|_| miss(&mut by_character, 20));
    assert!(!by_character.goes());
    (0..3).for_each(|_| miss(&mut by_character, 20));
    assert!(by_character.goes());
}

#[test]
fn caches_of_any_size_change_nothing() {
    let draw = &mut begin(12);
    let text = text(draw, 3_000);
    for engine in engines().into_iter().take(1) {
        budgets_are_heeded(&engine, &text, |text| {
            let mut ids = Vec::new();
            plainly(&engine, text, &mut ids);
            ids
        });
    }
}

/// A model that has tokens for all that stands side by side takes pieces as a whole.
#[test]
fn it_is_given_up_where_most_characters_stand_together() {
    let draw = &mut begin(13);
    let clauses: Vec<String> = (0..3_000)
        .map(|_| {
            let from = below(draw, 30);
            let length = 2 + below(draw, 9);
            let each =
                (from..from + length).map(|each| char::from_u32(0x4E00 + each as u32).unwrap());
            each.chain(['。', '\n']).collect()
        })
        .collect();
    let text = clauses.concat().into_bytes();
    let scanner = || Scanner::from_json(CL100K).unwrap();
    let trained = Tokenizer::train([&text[..]], 900, scanner()).unwrap();
    let model =
        Bpe::from_merges(trained.tokens().clone(), trained.merges().unwrap(), false).unwrap();
    let engine = Encoder::plain(scanner(), model, false);
    check_text(&engine, &text, &[text.len() as u64]);
    // Nothing was missed any more before that began: the clauses are few. Other ones are.
    let others = self::text(draw, 500);
    let joined: Vec<u8> = (0..40_000)
        .flat_map(|_| {
            let from = below(draw, 36);
            let each: String = (from..from + 3 + below(draw, 3))
                .map(|each| char::from_u32(0x4E00 + each as u32).unwrap())
                .collect();
            each.into_bytes()
        })
        .collect();
    check_text(&engine, &others, &[others.len() as u64]);
    check_text(&engine, &joined, &some_ends(draw, &joined, 60));
    assert_eq!(state(&engine), State::GivenUp);
    check_text(&engine, &text, &[text.len() as u64]);
}
