//! The queue of events held to the plainest way to apply them: each to the whole piece, in the order of the list.

use super::*;
use crate::models::model::tests::tokens_of;
use crate::random::tests::{begin, below};

const LONGEST: usize = 6;

/// Tokens over two letters: them, and all texts up to a length.
struct Language {
    texts: Vec<String>,
}

impl Language {
    fn new() -> Self {
        let mut texts: Vec<String> = vec![String::new()];
        let mut at = 0;
        while texts[at].len() < LONGEST {
            for letter in ["a", "b"] {
                texts.push(texts[at].clone() + letter);
            }
            at += 1;
        }
        texts.remove(0);
        Self { texts }
    }

    fn id(&self, text: &str) -> u32 {
        self.texts.iter().position(|known| known == text).unwrap() as u32
    }

    fn merge(&self, left: &str, right: &str) -> [u32; 3] {
        [left, right, &format!("{left}{right}")].map(|text| self.id(text))
    }

    fn split(&self, text: &str) -> [u32; 3] {
        [self.id(text), SPLIT, SPLIT]
    }

    fn model(&self, events: &[[u32; 3]], settings: Settings) -> Result<Events> {
        let tokens = TokenTable::of(&self.texts)?;
        Events::new(tokens, events.to_vec(), settings)
    }

    fn refusal(&self, events: &[[u32; 3]]) -> String {
        let model = self.model(events, Settings::default());
        model.unwrap_err().to_string()
    }

    /// A list that can be: merges of what is there, and splits of what merges made.
    fn draw(&self, draw: &mut Draw) -> Vec<[u32; 3]> {
        let mut there = vec!["a".to_owned(), "b".to_owned()];
        let mut events = Vec::new();
        for _ in 0..below(draw, 40) {
            let pick = there[below(draw, there.len())].clone();
            if pick.len() > 1 && below(draw, 3) == 0 {
                events.push(self.split(&pick));
                there.retain(|text| *text != pick);
                continue;
            }
            let other = &there[below(draw, there.len())];
            let whole = pick.clone() + other;
            if whole.len() <= LONGEST {
                events.push(self.merge(&pick, other));
                if !there.contains(&whole) {
                    there.push(whole);
                }
            }
        }
        events
    }
}

fn ids(model: &Events, piece: &[u8]) -> Vec<u32> {
    let out = tokens_of(model, piece);
    out.iter().map(|found| found.id).collect()
}

/// What a token is taken apart into, if only some tokens are there: its first merge's parts, or theirs.
fn parts_of(events: &[[u32; 3]], there: &[u32], token: u32) -> Vec<u32> {
    if there.contains(&token) {
        return vec![token];
    }
    let first = events
        .iter()
        .find(|event| event[1] != SPLIT && event[2] == token);
    let [left, right, _] = first.unwrap();
    [left, right]
        .into_iter()
        .flat_map(|&part| parts_of(events, there, part))
        .collect()
}

/// Applies every event to all of the symbols, and gives the tokens that are there in the end, too.
fn plainly(events: &[[u32; 3]], symbols: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let mut symbols = symbols.to_vec();
    let mut there = vec![0, 1];
    for &[left, right, product] in events {
        if right == SPLIT {
            there.retain(|&token| token != left);
            let parts = parts_of(events, &there, left);
            let each = symbols.iter().flat_map(|&symbol| match symbol == left {
                true => parts.clone(),
                false => vec![symbol],
            });
            symbols = each.collect();
            continue;
        }
        there.push(product);
        let mut at = 0;
        while at + 1 < symbols.len() {
            if symbols[at..at + 2] == [left, right] {
                symbols.splice(at..at + 2, [product]);
            }
            at += 1;
        }
    }
    (symbols, there)
}

#[test]
fn any_list_does_what_it_does_one_event_after_the_other() {
    let language = Language::new();
    let draw = &mut begin(7);
    let unk_id = language.texts.len() as u32;
    let (mut splits, mut whole, mut otherwise) = (0, 0, 0);
    for number in 0..3_000 {
        let events = language.draw(draw);
        let settings = Settings {
            unk_id: Some(unk_id),
            fuse_unk: number % 2 == 0,
            byte_level: number % 3 == 0,
            ignore_merges: number % 5 != 0,
        };
        let model = language.model(&events, settings.clone()).unwrap();
        splits += events.iter().filter(|event| event[1] == SPLIT).count();
        let merges: Vec<_> = events.iter().copied().filter(|e| e[1] != SPLIT).collect();
        for _ in 0..6 {
            let length = 1 + below(draw, [4, 12, 60][number % 3]);
            let piece: Vec<u8> = (0..length)
                .map(|_| b"abababababababa?"[below(draw, 16)])
                .collect();
            let mut symbols: Vec<u32> = Vec::new();
            for byte in &piece {
                match byte {
                    b'?' if settings.fuse_unk && symbols.last() == Some(&unk_id) => {}
                    b'?' => symbols.push(unk_id),
                    letter => symbols.push(u32::from(letter - b'a')),
                }
            }
            let (mut expected, there) = plainly(&events, &symbols);
            otherwise += usize::from(plainly(&merges, &symbols).0 != expected);
            let text = String::from_utf8(piece.clone()).unwrap();
            let known = language.texts.iter().position(|known| *known == text);
            if let Some(id) = known.filter(|_| settings.ignore_merges) {
                let never_made = !events.iter().any(|event| event[2] == id as u32);
                if never_made || there.contains(&(id as u32)) {
                    whole += usize::from(expected.len() > 1);
                    expected = vec![id as u32];
                }
            }
            assert_eq!(ids(&model, &piece), expected, "{text} {events:?}");
        }
    }
    assert!(splits > 5_000, "{splits}");
    assert!(whole > 5, "{whole}");
    assert!(otherwise > 2_000, "{otherwise}");
}

#[test]
fn tokens_say_where_they_stand() {
    let texts = ["é", "b", "éb", "bb"];
    let events = vec![[0, 1, 2], [1, 1, 3], [2, SPLIT, SPLIT]];
    let settings = Settings {
        unk_id: Some(9),
        fuse_unk: true,
        ..Settings::default()
    };
    let model = Events::new(TokenTable::of(texts).unwrap(), events, settings).unwrap();
    let found = tokens_of(&model, "ébb好xéb".as_bytes());
    let found: Vec<_> = found
        .iter()
        .map(|each| (each.id, each.start, each.end))
        .collect();
    assert_eq!(
        found,
        [
            (0, 0, 2),
            (1, 2, 3),
            (1, 3, 4),
            (9, 4, 8),
            (0, 8, 10),
            (1, 10, 11)
        ]
    );
}

#[test]
fn a_byte_without_a_token_is_an_error_and_a_character_is_left_out() {
    let language = Language::new();
    let events = [language.merge("a", "b")];
    let [characters, bytes] = [false, true].map(|byte_level| {
        let settings = Settings {
            byte_level,
            ..Settings::default()
        };
        language.model(&events, settings).unwrap()
    });
    assert_eq!(ids(&characters, b"a?ba"), [language.id("ab"), 0]);
    let mut out = Vec::new();
    let missing = bytes.encode_ids(b"a?ba", &mut Scratch::default(), &mut out);
    let (byte, offset) = (b'?', 1);
    assert_eq!(missing, Err(Error::MissingByte { byte, offset }));
}

#[test]
fn a_list_that_contradicts_itself_is_refused() {
    let language = Language::new();
    let [ab, aba] = [language.merge("a", "b"), language.merge("ab", "a")];
    let split = language.split("ab");
    assert_eq!(
        language.refusal(&[ab, aba, split, aba]),
        format!(
            "event 4 merges id {}, which is not there at that time",
            ab[2]
        )
    );
    assert_eq!(
        language.refusal(&[ab, split, split]),
        format!(
            "event 3 takes id {} apart, which is not there at that time",
            ab[2]
        )
    );
    assert_eq!(
        language.refusal(&[language.split("a")]),
        "event 1 takes id 0 apart, which no event has made"
    );
    assert_eq!(
        language.refusal(&[ab, [999, SPLIT, SPLIT]]),
        "event 2 names id 999, which no token has"
    );
    assert_eq!(
        language.refusal(&[[0, 0, ab[2]]]),
        format!(
            "event 1 joins ids 0 and 0 to {}, whose text is not theirs joined",
            ab[2]
        )
    );
    assert_eq!(
        language.refusal(&[ab, [ab[2], SPLIT, 7]]),
        format!("event 2 takes id {} apart and names a product, 7", ab[2])
    );
    let often: Vec<_> = [ab, split].into_iter().cycle().take(2 * 64).collect();
    language.model(&often, Settings::default()).unwrap();
    assert_eq!(
        language.refusal(&[&often[..], &[ab]].concat()),
        "65 events merge ids 0 and 1, and 64 may"
    );
    let halves = TokenTable::of([&b"\xc3"[..], b"\xa9", b"\xc3\xa9"]).unwrap();
    let error = Events::new(halves, vec![[0, 1, 2]], Settings::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "event 1 joins ids 0 and 1, which are parts of a character"
    );
}

/// A list written to keep a short piece busy: its pairs are merged and taken apart by turns.
#[test]
fn a_piece_that_is_taken_apart_again_and_again_is_an_error() {
    let language = Language::new();
    let [ab, ba] = [language.merge("a", "b"), language.merge("b", "a")];
    let turns = |event: [u32; 3], times: usize| {
        let both = [event, [event[2], SPLIT, SPLIT]];
        both.into_iter().cycle().take(2 * times)
    };
    // Three symbols may have 3 * 64 parts, two of each split.
    let model = |times| {
        let events: Vec<_> = turns(ab, 48).chain(turns(ba, times)).collect();
        language.model(&events, Settings::default()).unwrap()
    };
    assert_eq!(ids(&model(48), b"aba"), [0, 1, 0]);
    let mut out = Vec::new();
    let scratch = &mut Scratch::default();
    let busy = model(49);
    let error = busy.encode_ids(b"aba", scratch, &mut out).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the tokenizer's events take a piece of 3 symbols apart into more than 192 parts"
    );
    busy.encode_ids(b"bb", scratch, &mut out).unwrap();
    assert_eq!(out, [1, 1], "what is left of the error harms nothing");
}
