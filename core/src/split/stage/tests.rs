//! Stages by themselves: what is said of a context and of cuts, and what is refused.

use super::*;
use crate::boundaries::stages::allow_cuts;
use crate::text::Text;

fn stages(json: &str) -> Vec<PreTokenizer> {
    let specs: Vec<Spec> = serde_json::from_str(json).unwrap();
    specs
        .into_iter()
        .map(|spec| PreTokenizer::new(spec).unwrap())
        .collect()
}

fn run(json: &str, text: &str, context: Context) -> Vec<(String, u32, u32)> {
    let mut pieces = Pieces {
        text: Text::new(text.as_bytes(), true),
        ranges: std::iter::once(0..text.len()).collect(),
        ..Pieces::default()
    };
    for stage in stages(json) {
        stage.split(&mut pieces, context).unwrap();
    }
    let piece = |range: &Range<usize>| {
        let origin = pieces.text.origin(range.clone()).unwrap();
        let bytes = pieces.text.bytes()[range.clone()].to_vec();
        (String::from_utf8(bytes).unwrap(), origin.start, origin.end)
    };
    pieces.ranges.iter().map(piece).collect()
}

const BEGINS: Context = Context {
    continued: false,
    first: true,
};
const CONTINUES: Context = Context {
    continued: true,
    first: false,
};
const WORDS: &str = r#"{"type": "WhitespaceSplit"}"#;

fn marks(scheme: &str, split: bool) -> String {
    format!(
        r#"{{"type": "Metaspace", "replacement": "▁", "prepend_scheme": "{scheme}", "split": {split}}}"#
    )
}

#[test]
fn marks_stand_for_what_is_behind_them() {
    let json = format!("[{}]", marks("always", true));
    let found = run(&json, "éa  b", BEGINS);
    let expected = [("▁éa", 0, 3), ("▁", 3, 4), ("▁b", 4, 6)];
    assert_eq!(
        found,
        expected.map(|(piece, start, end)| (piece.to_owned(), start, end))
    );
}

#[test]
fn nothing_is_put_before_text_that_goes_on() {
    let pieces = |json: &str, context| -> Vec<String> {
        run(json, "a b", context)
            .into_iter()
            .map(|(piece, ..)| piece)
            .collect()
    };
    let always = format!("[{}]", marks("always", true));
    assert_eq!(pieces(&always, BEGINS), ["▁a", "▁b"]);
    assert_eq!(pieces(&always, CONTINUES), ["a", "▁b"]);
    let first = format!("[{WORDS}, {}]", marks("first", true));
    assert_eq!(pieces(&first, BEGINS), ["▁a", "b"]);
    assert_eq!(pieces(&first, Context::default()), ["a", "b"]);
    let space = r#"[{"type": "PrefixSpace"}]"#;
    assert_eq!(pieces(space, BEGINS), [" a b"]);
    assert_eq!(pieces(space, CONTINUES), ["a b"]);
    let words = format!("[{WORDS}, {{\"type\": \"PrefixSpace\"}}]");
    assert_eq!(pieces(&words, CONTINUES), ["a", " b"]);
}

#[test]
fn cuts_are_allowed_where_a_stage_cuts_anyway() {
    let literal = |literal: &str, behavior: &str, invert: bool| {
        format!(
            r#"{{"type": "Split", "pattern": {{"String": "{literal}"}}, "behavior": "{behavior}", "invert": {invert}}}"#
        )
    };
    let digits = r#"{"type": "Digits", "individual_digits": true}"#;
    let expression =
        r#"{"type": "Split", "pattern": {"Regex": "b"}, "behavior": "Isolated", "invert": false}"#;
    let space = r#"{"type": "PrefixSpace"}"#;
    let bytes = r#"{"type": "ByteLevel"}"#;
    for (list, allowed) in [
        (vec![], false),
        (vec![WORDS], true),
        (vec![digits], false),
        (vec![digits, WORDS, expression], true),
        (vec![expression, WORDS], false),
        (vec![space, WORDS, bytes], true),
        (vec![WORDS, space, bytes], true),
        // The later part would begin with another character than a space.
        (vec![WORDS, bytes, space], false),
        (vec![bytes, WORDS], false),
        (vec![&marks("always", true)], true),
        (vec![&marks("always", true), space], false),
        (vec![&marks("always", false), WORDS], false),
        (vec![&literal(" ", "Removed", false)], true),
        (vec![&literal(" ", "MergedWithNext", false)], true),
        (vec![&literal(" ", "MergedWithNext", true)], false),
        (vec![&literal(" ", "MergedWithPrevious", false)], false),
        (vec![&literal(" ", "MergedWithPrevious", true)], true),
        (
            vec![&literal("-", "MergedWithPrevious", false), WORDS],
            true,
        ),
        (vec![&literal("a b", "Removed", false), WORDS], false),
        (
            vec![r#"{"type": "CharDelimiterSplit", "delimiter": " "}"#],
            true,
        ),
        (
            vec![r#"{"type": "CharDelimiterSplit", "delimiter": "-"}"#],
            false,
        ),
        (vec![r#"{"type": "UnicodeScripts"}"#, WORDS], false),
        (
            vec![r#"{"type": "FixedLength", "length": 5}"#, WORDS],
            false,
        ),
        (vec![r#"{"type": "FixedLength", "length": 1}"#], true),
    ] {
        let json = format!("[{}]", list.join(","));
        let cuttings: Vec<_> = stages(&json).iter().map(PreTokenizer::cutting).collect();
        assert_eq!(allow_cuts(&cuttings), allowed, "{json}");
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let refused = |json: &str| {
        PreTokenizer::new(serde_json::from_str(json).unwrap())
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        refused(r#"{"type": "FixedLength", "length": 0}"#),
        "FixedLength needs a length of at least 1"
    );
    let error = refused(
        r#"{"type": "Split", "pattern": {"Regex": "("}, "behavior": "Isolated", "invert": false}"#,
    );
    assert!(
        error.starts_with(r#"the pattern "(" does not compile: "#),
        "{error}"
    );
}
