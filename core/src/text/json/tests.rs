use super::Reader;
use proptest::prelude::*;

/// The oracle: the same by `serde_json`.
fn by_serde(text: &str) -> Option<String> {
    serde_json::from_str(text).ok()
}

fn string(text: &str) -> Option<String> {
    let mut reader = Reader::new(text.as_bytes());
    let found = reader.string(&mut Vec::new())?.to_vec();
    (reader.peek().is_none()).then(|| String::from_utf8(found).unwrap())
}

#[test]
fn strings_are_those_of_serde() {
    for text in [
        r#""""#,
        r#""a""#,
        r#""eight by""#,
        r#""longer than eight bytes""#,
        r#" "a\"b" "#,
        r#""\u0120t""#,
        r#""\ud83d\ude00""#,
        r#""\ud83d""#,
        r#""\ud83d\u0041""#,
        r#""\ude00""#,
        r#""\x""#,
        r#""\u12"#,
        r#"""#,
        r#""a\"#,
        "\"a\nb\"",
        "\"a\u{7f}é東😀\"",
        r#""\b\f\n\r\t\/\\""#,
        r#""1234567\"9""#,
        r#""12345678\u00e9""#,
    ] {
        assert_eq!(string(text), by_serde(text), "{text}");
    }
}

#[test]
fn numbers_are_whole_and_small() {
    for (text, number) in [
        ("0", Some(0)),
        (" 17,", Some(17)),
        ("999999999]", Some(999_999_999)),
        ("1000000000", None),
        ("01", None),
        ("-1", None),
        ("1.0", None),
        ("1e3", None),
        ("", None),
        ("x", None),
    ] {
        assert_eq!(Reader::new(text.as_bytes()).number(), number, "{text}");
    }
}

proptest! {
    #[test]
    fn any_string_is_that_of_serde(inner in r#"([a-z" \\nué東]|\\["\\/bfnrt]|\\u[0-9a-fD-E]{4}|\\ud83d\\ude0[0-9]|[\x00-\x1f]){0,12}"#) {
        let text = format!("\"{inner}\"");
        prop_assert_eq!(string(&text), by_serde(&text));
    }

    #[test]
    fn a_string_is_put_behind_others(inner in r#"([a-z" \\nué東]|\\["n]|\\u[0-9a-f]{4}){0,12}"#) {
        let text = format!("\"{inner}\"");
        let mut reader = Reader::new(text.as_bytes());
        let mut out = b"before".to_vec();
        let found = reader.append_string(&mut out).filter(|()| reader.peek().is_none());
        let expected = by_serde(&text).map(|text| format!("before{text}").into_bytes());
        prop_assert_eq!(found.map(|()| out), expected);
    }

    #[test]
    fn a_value_that_is_taken_is_one(text in r#"([\[\]{}",:\\ 1a]|-|\.|[eE+]|0|9|true|null|false|"a":){0,14}"#) {
        let mut reader = Reader::new(text.as_bytes());
        let taken = reader.value(20).is_some() && reader.peek().is_none();
        let read = serde_json::from_str::<serde_json::Value>(&text);
        prop_assert_eq!(taken, read.is_ok(), "{:?}", read);
    }

    #[test]
    fn a_value_is_gone_past(text in r#"[\[\]{}",:\\ 1a]{0,24}"#) {
        let mut values = serde_json::Deserializer::from_str(&text).into_iter::<serde_json::Value>();
        if let Some(Ok(value)) = values.next() {
            // A number or word ends where something else begins, so one more byte tells.
            let end = values.byte_offset();
            let whole = format!("{} ", &text[..end]);
            let mut reader = Reader::new(whole.as_bytes());
            prop_assert_eq!(reader.skip(), Some(()), "{:?}", value);
            prop_assert_eq!(reader.place(), end);
        }
        let _ = Reader::new(text.as_bytes()).skip();
    }
}
