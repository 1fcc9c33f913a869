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
