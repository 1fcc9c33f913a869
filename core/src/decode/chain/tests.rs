use super::*;

fn decode(json: &str, tokens: &[&str]) -> String {
    let mut texts = TokenTexts::default();
    for token in tokens {
        let kind = match *token {
            "<unk>" => Kind::Unknown,
            _ => Kind::Text,
        };
        texts.push(token.as_bytes(), kind);
    }
    let bytes = Decoder::from_json(json).unwrap().decode(texts).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn joins_without_components() {
    assert_eq!(decode("[]", &["a", " b"]), "a b");
}

#[test]
fn strips_no_more_than_there_is() {
    let json = r#"[{"type": "Strip", "content": "a", "start": 1, "stop": 3}]"#;
    assert_eq!(
        decode(json, &["a", "|", "aa", "|", "aab", "baaaa"]),
        "||abba"
    );
}

#[test]
fn reads_space_marks_at_the_beginning() {
    let chain = |dummy: bool, extra: bool| {
        format!(
            r#"[{{"type": "SpaceMarks", "add_dummy_prefix": {dummy}, "remove_extra_whitespaces": {extra},
            "treat_whitespace_as_suffix": false, "unk_surface": " ? "}}]"#
        )
    };
    let (all, one, none) = (chain(true, true), chain(true, false), chain(false, false));
    assert_eq!(decode(&all, &["▁", "▁", "a", "▁"]), "a ");
    assert_eq!(decode(&one, &["▁", "▁", "a", "▁"]), " a ");
    assert_eq!(decode(&none, &["▁", "▁", "a", "▁"]), "  a ");
    assert_eq!(decode(&all, &["<unk>", "▁a"]), " ?  a");
    assert_eq!(decode(&all, &["<0xE2>", "<0x96>", "<0x81>", "▁a"]), "▁ a");
    assert_eq!(decode(&all, &["▁", "<0x20>", "▁"]), "  ");
}

#[test]
fn refuses_to_make_far_more_than_there_is() {
    let many = "x".repeat(999);
    let replace =
        format!(r#"{{"type": "Replace", "pattern": {{"String": "x"}}, "content": "{many}"}}"#);
    for steps in [2, 3] {
        let json = format!("[{}]", vec![replace.as_str(); steps].join(", "));
        let mut tokens = TokenTexts::default();
        tokens.push(&[b'x'; 10], Kind::Text);
        let decoded = Decoder::from_json(&json).unwrap().decode(tokens);
        if steps == 2 {
            assert_eq!(
                decoded.unwrap().len(),
                10 * 999 * 999,
                "16 MiB are allowed in any case"
            );
        } else {
            let sentence = decoded.unwrap_err().to_string();
            assert!(
                sentence.contains("longer than 16777216 bytes"),
                "{sentence}"
            );
        }
    }
}

#[test]
fn says_what_is_wrong() {
    let error = Decoder::from_json(r#"[{"type": "Nothing"}]"#).unwrap_err();
    assert!(error.to_string().starts_with("not the decoders"));
    let broken = r#"[{"type": "Replace", "pattern": {"Regex": "("}, "content": ""}]"#;
    assert!(Decoder::from_json(broken).is_err());
}
