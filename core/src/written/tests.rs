use std::collections::{BTreeSet, HashMap};

use proptest::prelude::*;

use super::{Counted, LONG, Tables, Written, byte_of, lay_bytes};

/// Cuts a document, and the same with white space behind it, which makes it one that two threads read.
fn cut(document: &str) -> Option<(Written, String)> {
    let cut = |document: &str| {
        let (written, rest) = Written::cut(document.as_bytes(), b"m", b"v", b"p")?;
        Some((written, String::from_utf8(rest).unwrap()))
    };
    let found = cut(document);
    let long = cut(&(document.to_owned() + &" ".repeat(LONG)));
    assert_eq!(found.is_some(), long.is_some(), "{document}");
    let (found, long) = (found?, long?);
    assert_eq!(found.1.trim_end(), long.1.trim_end());
    for visible in [false, true] {
        for left_out in [&[][..], &[0, 2]] {
            let tables = |written: &Written| written.tables(b"", left_out, visible);
            assert_eq!(tables(&found.0), tables(&long.0), "{document}");
        }
    }
    Some(found)
}

#[test]
fn tokens_and_merges_are_cut_out() {
    let document = r#" {"a": [1, {"m": 2}], "m": {"x": "}", "v": {"a": 0, "b": 2, "ab": 3},
        "p": [["a", "b"]], "y": null}, "z": {}} "#;
    let (written, rest) = cut(document).unwrap();
    let left = r#" {"a": [1, {"m": 2}], "m": {"x": "}", "v": null,
        "p": null, "y": null}, "z": {}} "#;
    assert_eq!(rest, left);
    assert_eq!((written.id_of(b"ab"), written.id_of(b"c")), (Some(3), None));
    assert_eq!(
        (written.text_of(2), written.text_of(1), written.text_of(9)),
        (Some("b"), None, None)
    );
    let tables = Tables {
        blob: b"abab".to_vec(),
        ends: vec![1, 1, 2, 4],
        triples: vec![[0, 2, 3]],
    };
    assert_eq!(written.tables(b"", &[0, 3], true), Some(tables));
}

#[test]
fn what_is_left_out_comes_back_if_a_merge_needs_it_or_it_is_a_byte() {
    let (written, _) =
        cut(r#"{"m": {"v": {"a": 0, "b": 1, "ab": 2, "<s>": 3, "Ġ": 4, "é東": 5}, "p": ["a b"]}}"#)
            .unwrap();
    let tables = written.tables(b"", &[0, 1, 2, 3, 4, 5, 6], true).unwrap();
    assert_eq!(
        (tables.blob.as_slice(), tables.ends),
        (b"abab ".as_slice(), vec![1, 2, 4, 4, 5])
    );
    assert_eq!(written.tables(b"", &[3], true), None); // 東 is not a byte
    let tables = written.tables(b"", &[4], false).unwrap();
    assert_eq!(
        (tables.blob, tables.ends),
        ("abab<s>é東".into(), vec![1, 2, 4, 7, 7, 12])
    );
}

#[test]
fn merges_that_only_seem_to_begin_are_not_taken() {
    let model = r#""m": {"v": {"a": 0, "p": 1, "pa": 2}, "p": ["p a"]}"#;
    let expected = cut(&format!("{{{model}}}")).unwrap().0;
    let expected = expected.tables(b"", &[], false);
    for other in [r#"["a a"]"#, "[1]", r#"["#.repeat(9).as_str(), "[]", "{}"] {
        let before = format!(r#"{{"x": {{"p": {other}}}, {model}}}"#);
        let after = format!(r#"{{{model}, "x": {{"p": {other}}}}}"#);
        for document in [before, after] {
            let found = cut(&document).map(|(written, _)| written.tables(b"", &[], false));
            if other.ends_with("[[") {
                assert!(found.is_none(), "{document}");
            } else {
                assert_eq!(found.as_ref(), Some(&expected), "{document}");
            }
        }
    }
}

#[test]
fn a_prefix_is_lost_in_the_product() {
    let (written, _) =
        cut(r###"{"m": {"v": {"a": 0, "##b": 1, "ab": 2}, "p": ["a ##b"]}}"###).unwrap();
    assert_eq!(
        written.tables(b"##", &[], false).unwrap().triples,
        [[0, 1, 2]]
    );
    assert_eq!(written.tables(b"", &[], false), None);
}

#[test]
fn what_is_unusual_is_refused() {
    for document in [
        "",
        "[]",
        "{}",
        r#"{"m": []}"#,
        r#"{"m": {"v": {}}}"#,
        r#"{"m": {"p": [], "v": {}}}"#,
        r#"{"m": {"v": {}, "p": []}} x"#,
        r#"{"m": {"v": {}, "p": []}, "m": {}}"#.replace("{}}", r#"{"v": {}}}"#).as_str(),
        r#"{"m": {"v": {}, "p": []}, "m": {}}"#,
        r#"{"m": {}, "m": {"v": {}, "p": []}}"#,
        r#"{"m": {"v": {}, "v": {}, "p": []}}"#,
        r#"{"m": {"v": {}, "p": [], "p": []}}"#,
        r#"{"m": {"v": {"a": 0, "a": 1}, "p": []}}"#,
        r#"{"m": {"v": {"a": 0, "b": 0}, "p": []}}"#,
        r#"{"m": {"v": {"a": -1}, "p": []}}"#,
        r#"{"m": {"v": {"a": 2097152}, "p": []}}"#,
        r#"{"m": {"v": {"a": 0,}, "p": []}}"#,
        r#"{"m": {"v": {"a": 0}, "p": [["a", "b"]]}}"#,
        r#"{"m": {"v": {"a": 0}, "p": [["a"]]}}"#,
        r#"{"m": {"v": {"a": 0}, "p": [["a", "a", "a"]]}}"#,
        r#"{"m": {"v": {"a": 0}, "p": ["a"]}}"#,
        r#"{"m": {"v": {"a": 0}, "p": ["a  a"]}}"#,
        r#"{"m": {"v": {"a": 0}, "p": ["a a a"]}}"#,
        r#"{"m": {"v": {"": 0}, "p": [["", ""]]}}"#,
        r#"{"m": {"v": {"a": 0}, "p": [1]}}"#,
    ] {
        assert!(cut(document).is_none(), "{document}");
    }
    let bytes = b"{\"m\": {\"v\": {\"\xff\": 0}, \"p\": []}}";
    assert!(Written::cut(bytes, b"m", b"v", b"p").is_none());
    let (written, _) = cut(r#"{"m": {"v": {"a": 0, "aa": 1}, "p": ["a a", "a a"]}}"#).unwrap();
    assert_eq!(written.tables(b"", &[], false), None);
}

#[test]
fn every_byte_has_one_visible_character() {
    let mut found = [None; 256];
    for character in (0..0x1000).filter_map(char::from_u32) {
        if let Some(byte) = byte_of(character) {
            assert_eq!(found[usize::from(byte)].replace(character), None);
        }
        for around in ["", "a", "abcdefgh", "Ġ"] {
            let text = format!("{around}{character}{around}");
            let mut room = [0; 40];
            let laid = lay_bytes(&mut room, text.as_bytes(), 0..text.len());
            let bytes: Option<Vec<u8>> = text.chars().map(byte_of).collect();
            assert_eq!(laid.map(|size| room[..size].to_vec()), bytes, "{text:?}");
            // What stands around a text does not count.
            let part = around.len()..around.len() + character.len_utf8();
            let laid = lay_bytes(&mut room, text.as_bytes(), part);
            let byte = byte_of(character);
            assert_eq!(laid.map(|size| (size, room[0])), byte.map(|byte| (1, byte)));
        }
    }
    assert!(found.iter().all(Option::is_some));
    assert_eq!(
        (found[0x20], found[0xAD], found[0x0A]),
        (Some('Ġ'), Some('Ń'), Some('Ċ'))
    );
}

#[test]
fn every_layout_gives_the_same() {
    let plain = r#"{"m": {"v": {"a": 0, "é\"": 3, "aa": 1, "": 2, "aé\"": 5}, "p": [["a", "a"], ["a", "é\""]]}}"#;
    let tables = |document: &str| cut(document).map(|(written, _)| written.tables(b"", &[], false));
    let expected = tables(plain);
    assert!(expected.is_some());
    let tokens: Vec<&str> = plain.split(' ').collect();
    for blanks in [
        "",
        " ",
        "  ",
        "\n",
        "\t",
        "\n       ",
        "\n        ",
        "\r\n         ",
        "\n                 \n",
    ] {
        for every in 1..4 {
            let joined = tokens
                .iter()
                .enumerate()
                .map(|(at, part)| match at % every {
                    0 => format!("{blanks}{part}"),
                    _ => format!(" {part}"),
                });
            let document: String = joined.collect();
            assert_eq!(tables(&document), expected, "{document:?}");
            let comma = document.rfind(',').unwrap();
            let without = [&document[..comma], &document[comma + 1..]].concat();
            assert_eq!(tables(&without), None, "{without:?}");
        }
    }
    assert_eq!(
        tables(&plain.replace("[\"a\", \"a\"]", "\"a a\"")),
        expected
    );
}

#[test]
fn tokens_in_any_order_are_laid_by_their_ids() {
    let (written, _) = cut(r#"{"m": {"v": {"b": 3, "ab": 1, "a": 0}, "p": ["a b"]}}"#).unwrap();
    let tables = Tables {
        blob: b"aabb".to_vec(),
        ends: vec![1, 3, 3, 4],
        triples: vec![[0, 3, 1]],
    };
    assert_eq!(written.tables(b"", &[], false), Some(tables));
    assert_eq!((written.id_of(b"b"), written.text_of(2)), (Some(3), None));
    let halves = b"{\"m\": {\"v\": {\"\xC3\": 0, \"\xA9\": 1}, \"p\": []}}";
    assert!(
        Written::cut(halves, b"m", b"v", b"p").is_none(),
        "each is UTF-8"
    );
}

#[test]
fn documents_that_are_cut_short_are_refused() {
    let document = r#"{"a": ["x\"\\", {"b\u00e9": -1.5e3}], "m": {"x": "}\"", "v": {"a\"": 0, "é": 12}, "p": [["é", "a\""], "é é"]}}"#;
    assert!(cut(document).is_some());
    for length in 0..document.len() {
        let bytes = &document.as_bytes()[..length];
        assert!(Written::cut(bytes, b"m", b"v", b"p").is_none(), "{length}");
    }
}

/// Texts behind their lengths.
fn counted(texts: &[&str], is_big_endian: bool) -> Vec<u8> {
    let each = texts.iter().flat_map(|text| {
        let length = text.len() as u64;
        let number = match is_big_endian {
            true => length.to_be_bytes(),
            false => length.to_le_bytes(),
        };
        [&number, text.as_bytes()].concat()
    });
    each.collect()
}

/// Takes counted tokens and merges, in either byte order.
fn listed(tokens: &[&str], merges: &[&str], absent: &[u32]) -> Option<Tables> {
    let found = [false, true].map(|is_big_endian| {
        let bytes = [tokens, merges].map(|texts| counted(texts, is_big_endian));
        let [tokens, merges] = [0, 1].map(|part: usize| Counted::new(&bytes[part], is_big_endian));
        Written::listed(tokens, merges, absent)?.tables(b"", &[], true)
    });
    let [little, big] = found;
    assert_eq!(little, big, "{tokens:?} {merges:?}");
    little
}

#[test]
fn counted_tokens_and_merges_are_taken() {
    let expected = Tables {
        blob: b"abab".to_vec(),
        ends: vec![1, 1, 2, 2, 4],
        triples: vec![[0, 2, 4]],
    };
    let found = listed(&["a", "", "b", "x y", "ab"], &["a b"], &[3]);
    assert_eq!(found, Some(expected));
}

#[test]
fn of_counted_texts_what_is_unusual_is_refused() {
    let tokens = ["a", "b", "ab"];
    assert!(listed(&tokens, &["a b"], &[]).is_some());
    for merge in ["", " ", "a", "a ", " b", "a  b", "a b a", "a c", "b a"] {
        assert_eq!(listed(&tokens, &[merge], &[]), None, "{merge:?}");
    }
    assert_eq!(listed(&tokens, &["a b", "a b"], &[]), None);
    assert_eq!(listed(&["a", "b", "a"], &[], &[]), None);
    for absent in [&[0][..], &[2, 0], &[3], &[0, 0]] {
        assert_eq!(listed(&tokens, &["a b"], absent), None, "{absent:?}");
    }
    let whole = counted(&tokens, false);
    let take = |tokens: &[u8], merges: &[u8]| {
        let [tokens, merges] = [tokens, merges].map(|bytes| Counted::new(bytes, false));
        Written::listed(tokens, merges, &[]).is_some()
    };
    assert!(take(&whole, &[]));
    assert!(!take(&whole[..whole.len() - 1], &[]));
    assert!(!take(&whole, &[0]));
    let apart = [1, 0, 0, 0, 0, 0, 0, 0, 0xC3, 1, 0, 0, 0, 0, 0, 0, 0, 0xA9];
    assert!(!take(&apart, &[]), "half a character each");
}

#[test]
fn many_counted_merges_are_taken_by_two_threads() {
    let letters: Vec<String> = ('a'..='z').map(String::from).collect();
    let (mut tokens, mut merges) = (letters.clone(), Vec::new());
    let mut last = letters.clone();
    while merges.iter().map(String::len).sum::<usize>() < LONG {
        let longer = last
            .iter()
            .flat_map(|left| letters.iter().map(move |right| (left, right)));
        let pairs: Vec<_> = longer
            .map(|(left, right)| format!("{left} {right}"))
            .collect();
        last = pairs.iter().map(|pair| pair.replace(' ', "")).collect();
        tokens.extend(last.iter().cloned());
        merges.extend(pairs);
    }
    let [tokens, merges] = [&tokens, &merges].map(|texts| texts.iter().map(String::as_str));
    let (tokens, merges): (Vec<_>, Vec<_>) = (tokens.collect(), merges.collect());
    let found = listed(&tokens, &merges, &[]).unwrap();
    assert_eq!(found.triples.len(), merges.len());
    for (&[left, right, product], merge) in found.triples.iter().zip(merges) {
        let text = |id: u32| tokens[id as usize];
        assert_eq!(format!("{} {}", text(left), text(right)), merge);
        assert_eq!(merge.replace(' ', ""), text(product));
    }
}

/// Reads tokens and merges one by one.
fn listed_plainly(tokens: &[String], merges: &[String], absent: &[u32]) -> Option<Tables> {
    let mut ids = HashMap::new();
    let (mut blob, mut ends, mut size) = (Vec::new(), Vec::new(), 0);
    for (id, token) in (0..).zip(tokens) {
        if !token.is_empty() && !absent.contains(&id) {
            if ids.insert(token.as_str(), id).is_some() {
                return None;
            }
            blob.extend_from_slice(token.as_bytes());
            size = ends.len() + 1;
        }
        ends.push(blob.len() as u32);
    }
    ends.truncate(size);
    let mut triples = Vec::new();
    for merge in merges {
        let (left, right) = merge.split_once(' ')?;
        let joined = [left, right].concat();
        let triple = [left, right, &joined].map(|text| ids.get(text).copied());
        let triple = [triple[0]?, triple[1]?, triple[2]?];
        if triples.contains(&triple) {
            return None;
        }
        triples.push(triple);
    }
    Some(Tables {
        blob,
        ends,
        triples,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Few letters, so that texts are often the same and merges are often of tokens.
    #[test]
    fn counted_texts_are_taken_as_one_by_one(
        tokens in prop::collection::vec("[ab]{0,3}", 0..9),
        merges in prop::collection::vec("[ab]{0,2} ?[ab]{0,2}", 0..4),
        absent in prop::collection::btree_set(0_u32..9, 0..2),
    ) {
        let distinct: Vec<String> = tokens.iter().collect::<BTreeSet<_>>().into_iter().cloned().collect();
        for tokens in [&tokens, &distinct] {
            let absent: Vec<u32> =
                absent.iter().copied().filter(|&id| (id as usize) < tokens.len()).collect();
            let expected = listed_plainly(tokens, &merges, &absent);
            let [texts, joined] = [tokens, &merges].map(|texts| texts.iter().map(String::as_str));
            let (texts, joined): (Vec<_>, Vec<_>) = (texts.collect(), joined.collect());
            prop_assert_eq!(listed(&texts, &joined, &absent), expected);
        }
    }
}
