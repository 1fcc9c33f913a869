//! Worked examples of special tokens in text.

use super::*;
use crate::special::codebook::Tag;

fn matcher(tokens: &[(&str, u8)]) -> SpecialMatcher {
    let contents = tokens.iter().map(|(c, _)| c.as_bytes().to_vec()).collect();
    let flags: Vec<u8> = tokens.iter().map(|&(_, flags)| flags).collect();
    let ids = (0..tokens.len() as u32).collect();
    SpecialMatcher::new(contents, ids, &flags, None).unwrap()
}

fn found(matcher: &SpecialMatcher, text: &str) -> Vec<(usize, usize, u32)> {
    let mut found = Vec::new();
    matcher
        .segments(text.as_bytes(), |segment| {
            if let Segment::Special { id, start, end } = segment {
                found.push((start, end, id));
            }
            Ok(())
        })
        .unwrap();
    found
}

#[test]
fn takes_the_leftmost_then_the_longest() {
    let matcher = matcher(&[("<a>", 0), ("<a><b>", 0), ("b>", 0)]);
    assert_eq!(found(&matcher, "x<a><b>"), [(1, 7, 1)]);
    assert_eq!(found(&matcher, "x<a><c>b>"), [(1, 4, 0), (7, 9, 2)]);
    assert_eq!(found(&matcher, "xyz"), []);
}

#[test]
fn takes_white_space_along() {
    let matcher = matcher(&[("<l>", LSTRIP), ("<r>", RSTRIP), (" ", 0)]);
    assert_eq!(found(&matcher, "a\u{3000}\n<l>"), [(1, 8, 0)]);
    assert_eq!(found(&matcher, "<r>\t\u{a0}b"), [(0, 6, 1)]);
    // What another token took is not taken again; a token of white space is found all the same.
    assert_eq!(found(&matcher, "<r>\t<l>"), [(0, 4, 1), (4, 7, 0)]);
    assert_eq!(found(&matcher, "<r> b"), [(0, 4, 1), (3, 4, 2)]);
}

#[test]
fn takes_what_is_left_of_white_space() {
    let matcher = matcher(&[("a", RSTRIP), (" ", LSTRIP | RSTRIP)]);
    assert_eq!(found(&matcher, "xa    b"), [(1, 6, 0)]);
    let long = " ".repeat(200_000);
    assert_eq!(found(&matcher, &long), [(0, 200_000, 1)]);
}

#[test]
fn turns_down_what_is_inside_a_word() {
    let matcher = matcher(&[("ab", SINGLE_WORD), ("b", 0), ("<é>", SINGLE_WORD)]);
    // The `b` of the first `ab` was used up; the last one was not part of an occurrence.
    assert_eq!(found(&matcher, "xab ab b"), [(4, 6, 0), (7, 8, 1)]);
    assert_eq!(found(&matcher, "é<é> <é>"), [(7, 11, 2)]);
    assert_eq!(found(&matcher, "_ab-ab-ab٣"), [(4, 6, 0)]);
}

#[test]
fn looks_twice_where_nothing_is_normalized() {
    let matcher = matcher(&[("a b", NORMALIZED), ("b c", 0)]);
    assert_eq!(found(&matcher, "a b c a b"), [(2, 5, 1), (6, 9, 0)]);
    assert!(!matcher.looks_in_normalized());
}

#[test]
fn what_stands_around_a_cut_begins_inside_no_other_token() {
    let stages = r#"{"normalizers": [{"type": "Prepend", "prepend": "x"}], "pre_tokenizers": [{"type": "WhitespaceSplit"}]}"#;
    let stages = Some(Arc::new(Stages::from_json(stages).unwrap()));
    let contents = vec![b"ab ab ab ab".to_vec(), b"a b".to_vec()];
    let matcher = SpecialMatcher::new(contents, vec![1, 2], &[0, NORMALIZED], stages).unwrap();
    // Behind the first token, the text becomes "xa b", in which the second one is found.
    let text = [b"e e e ab ab ab aba b".as_slice(), &b" bb".repeat(40)].concat();
    assert!(matcher.moves_cut(&text, 18).is_some());
    let other = [b"e e e ab ab ab aca b".as_slice(), &b" bb".repeat(40)].concat();
    assert!(matcher.moves_cut(&other, 18).is_none());
}

#[test]
fn sees_an_occurrence_at_a_cut() {
    let plain = matcher(&[("<| |>", 0)]);
    assert!(plain.reaches_cut(b"a<| |>b", 3));
    assert!(
        plain.reaches_cut(b"a<| ", 3),
        "what follows may complete it"
    );
    assert!(plain.reaches_cut(b"a<|", 3), "also from the very end");
    assert!(!plain.reaches_cut(b"a<|x|>b", 3));
    assert!(!plain.reaches_cut(b"a<| |>b", 1));
    assert!(plain.reaches_cut(b"a<| |>b", 6), "it ends there");
    assert!(!plain.reaches_cut(b"a<| |>b", 7));
    assert!(!plain.reaches_cut(b"a", 0));
    let strips = matcher(&[("<s>", LSTRIP)]);
    assert!(strips.reaches_cut(b"a  <s>", 2));
    assert!(!strips.reaches_cut(b"a  <s>", 1));
    let single = matcher(&[(" x", SINGLE_WORD)]);
    assert!(single.reaches_cut(b"a x ", 1), "the letter before decides");
    assert!(!single.reaches_cut(b"a y ", 1));
}

fn normalizing(normalizer: &str, token: &str) -> SpecialMatcher {
    let spec = format!(
        r#"{{"normalizers": [{{"type": "{normalizer}"}}], "pre_tokenizers": [{{"type": "WhitespaceSplit"}}]}}"#
    );
    let stages = Some(Arc::new(Stages::from_json(&spec).unwrap()));
    SpecialMatcher::new(vec![token.into()], vec![0], &[NORMALIZED], stages).unwrap()
}

#[test]
fn sees_an_occurrence_at_a_cut_in_normalized_text() {
    let matcher = normalizing("Lowercase", "<ab>");
    assert!(matcher.looks_in_normalized());
    let text = b"w w w w w w w w <AB> w w w w w w w w";
    for cut in 10..26 {
        let is_there = (17..=20).contains(&cut);
        assert_eq!(matcher.reaches_cut(text, cut), is_there, "{cut}");
    }
    assert!(
        matcher.reaches_cut(text, 4),
        "no other place to cut is known before it"
    );
}

/// A Kelvin sign of three bytes becomes a letter of one: so the stretch beside the cut may get too short for the token.
#[test]
fn does_not_know_what_lies_beside_a_stretch_that_got_short() {
    let matcher = normalizing("NFC", "w wKKKKK");
    let (left, right) = (
        "w w w\u{212a}\u{212a}\u{212a}\u{212a}",
        "\u{212a}x w w w w w w",
    );
    let text = format!("{left}{right}");
    assert!(matcher.reaches_cut(text.as_bytes(), left.len()));
    let (left, right) = ("w w w w w w w", "\u{212a}\u{212a}\u{212a}x w");
    let text = format!("{left}{right}");
    let (second, stages) = (matcher.second.as_ref().unwrap(), matcher.stages.as_ref());
    let around = |cut| matcher.normalized_around(second, stages.unwrap(), text.as_bytes(), cut);
    assert_eq!(around(left.len()), None, "four bytes behind it, of eight");
    let (left, right) = ("w w w w w\u{212a}www", "www w w w w w w");
    let text = format!("{left}{right}");
    assert!(
        !matcher.reaches_cut(text.as_bytes(), left.len()),
        "a place before the nearest one is far enough"
    );
}

/// So the answer takes no longer in a longer text.
#[test]
fn looks_for_other_places_to_cut_so_far_and_no_further() {
    let matcher = normalizing("Lowercase", "<ab>");
    let far = 64 + 4 * 4;
    let is_known = |before: usize, after: usize| {
        let [start, left, right] = [99, before - 2, after].map(|length| "w".repeat(length));
        let text = format!("{start} w{left}{right} w w");
        !matcher.reaches_cut(text.as_bytes(), 99 + before)
    };
    assert!(is_known(far / 2, far / 2));
    // The nearest place before it is behind the space.
    assert!(is_known(far, far - 2), "one on each side");
    assert!(!is_known(far + 1, far - 2), "none before it");
    assert!(!is_known(far - 1, far + 2), "none behind it");
    // The place behind it needs the space alone.
    assert!(is_known(far - 1, far - 1), "the space is the last byte");
    assert!(!is_known(far - 1, far), "the space is too far");
}

#[test]
fn looks_for_words_between_tags_in_what_tokens_leave() {
    let tag = |content: &[u8], id| Tag {
        content: content.to_vec(),
        id,
    };
    let words = [(b"AA".to_vec(), 13)];
    let book = Codebook::new(tag(b"<d>", 10), tag(b"</d>", 11), 12, 2, b'A', words).unwrap();
    let matcher = matcher(&[("<s>", 0), ("x<", 0)]).with_codebook(Arc::new(book));
    let words = [(0, 3, 10), (3, 5, 13), (5, 6, 13), (6, 9, 0)];
    assert_eq!(found(&matcher, "<d>aaa<s>aa</d>"), words);
    assert_eq!(found(&matcher, "x<d>aa"), [(0, 2, 1)]);
    // A cut in a stretch goes back to before it, unless a token or a tag has ended it.
    assert_eq!(matcher.moves_cut(b"a b <d>aa a a", 9), Some(4));
    assert_eq!(matcher.moves_cut(b"a b <d>aa a a", 4), None);
    assert_eq!(matcher.moves_cut(b"a b <d>aa a a", 5), Some(4));
    assert_eq!(matcher.moves_cut(b"a <d>a<s> b c", 11), None);
    assert_eq!(matcher.moves_cut(b"a <d>a</d> b c", 12), None);
    assert_eq!(matcher.moves_cut(b"a <d>a</d> b c", 10), Some(9));
}

#[test]
fn refuses_what_contradicts_itself() {
    let make = |ids: Vec<u32>, flags: &[u8]| {
        SpecialMatcher::new(vec![b"a".to_vec()], ids, flags, None).unwrap_err()
    };
    assert!(make(vec![], &[]).to_string().contains("0 ids"));
    assert!(make(vec![1], &[0, 0]).to_string().contains("2 flags"));
    assert!(make(vec![1], &[16]).to_string().contains("unknown"));
}
