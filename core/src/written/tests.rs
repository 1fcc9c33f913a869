use super::{Tables, Written, byte_of, lay_bytes};

fn cut(document: &str) -> Option<(Written, String)> {
    let (written, rest) = Written::cut(document.as_bytes(), b"m", b"v", b"p")?;
    Some((written, String::from_utf8(rest).unwrap()))
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
        let mut room = [0; 4];
        let laid = lay_bytes(&mut room, character.to_string().as_bytes());
        assert_eq!(
            laid.map(|size| (size, room[0])),
            byte_of(character).map(|byte| (1, byte))
        );
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
