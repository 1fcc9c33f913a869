//! Where stages allow no cut; that they are right where they do is held by `tests/boundaries.rs`.

use super::*;
use crate::boundaries::pairs::{Between, Left};
use crate::boundaries::seams::Border;

fn stages(normalizers: &[&str], pre_tokenizers: &[&str]) -> Stages {
    let list = |specs: &[&str]| specs.join(",");
    let (normalizers, pre_tokenizers) = (list(normalizers), list(pre_tokenizers));
    let json = format!(r#"{{"normalizers":[{normalizers}],"pre_tokenizers":[{pre_tokenizers}]}}"#);
    Stages::from_json(&json).unwrap()
}

const SPACE_TO_UNDERSCORE: &str = r#"{"type":"Replace","pattern":{"String":" "},"content":"_"}"#;
const LETTER_TO_SPACE: &str = r#"{"type":"Replace","pattern":{"String":"b"},"content":" "}"#;
const STRIP: &str = r#"{"type":"Strip","strip_left":true,"strip_right":true}"#;
const METASPACE: &str =
    r#"{"type":"Metaspace","replacement":"▁","prepend_scheme":"always","split":true}"#;

/// One of each kind, and of those whose answer depends on more, several.
const KINDS: [&[&str]; 2] = [
    &[
        r#"{"type":"NFC"}"#,
        r#"{"type":"Nmt"}"#,
        r#"{"type":"Lowercase"}"#,
        r#"{"type":"StripAccents"}"#,
        STRIP,
        r#"{"type":"Prepend","prepend":"x"}"#,
        r#"{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,"strip_accents":null,"lowercase":true}"#,
        r#"{"type":"ByteLevel"}"#,
        r#"{"type":"Replace","pattern":{"Regex":"\\s+"},"content":" "}"#,
        r#"{"type":"SpaceMarks","add_dummy_prefix":true,"remove_extra_whitespaces":true,"escape_whitespaces":true,"treat_whitespace_as_suffix":false}"#,
    ],
    &[
        METASPACE,
        r#"{"type":"WhitespaceSplit"}"#,
        r#"{"type":"BertPreTokenizer"}"#,
        r#"{"type":"Whitespace"}"#,
        r#"{"type":"ByteLevel"}"#,
        r#"{"type":"PrefixSpace"}"#,
        r#"{"type":"Split","pattern":{"String":" "},"behavior":"Removed","invert":false}"#,
        r#"{"type":"Split","pattern":{"Regex":"\\s+"},"behavior":"Removed","invert":false}"#,
        r#"{"type":"Split","pattern":{"Regex":"\\s+"},"behavior":"Isolated","invert":false}"#,
        r#"{"type":"Split","pattern":{"Regex":"\\s+"},"behavior":"MergedWithNext","invert":false}"#,
        r#"{"type":"Split","pattern":{"Regex":"(\\s)\\1"},"behavior":"Isolated","invert":false}"#,
        r#"{"type":"Punctuation","behavior":"Isolated"}"#,
        r#"{"type":"Punctuation","behavior":"Removed"}"#,
        r#"{"type":"Digits","individual_digits":true}"#,
        r#"{"type":"UnicodeScripts"}"#,
        r#"{"type":"FixedLength","length":3}"#,
    ],
];

#[test]
fn who_says_so_tells_of_some_characters_and_nobody_else_of_any() {
    let pairs = || {
        let all = ('\0'..='\u{7f}').chain(['é', 'я', '好', '\u{301}']);
        let both = all.clone().flat_map(move |left| {
            let left = [Left::Character(left), Left::Visible];
            all.clone()
                .flat_map(move |right| left.map(|left| (left, right)))
        });
        both.collect::<Vec<_>>()
    };
    for normalizer in KINDS[0] {
        let it = &stages(&[normalizer], &[]).normalizers[0];
        let told = pairs().iter().any(|&(l, r)| it.between(l, r).is_some());
        assert_eq!(it.tells_between(), told, "{normalizer}");
    }
    for pre_tokenizer in KINDS[1] {
        let it = &stages(&[], &[pre_tokenizer]).pre_tokenizers[0];
        let told = (pairs().iter()).any(|&(l, r)| it.between(l, r) != Between::Unknown);
        assert_eq!(it.tells_between(), told, "{pre_tokenizer}");
    }
}

#[test]
fn where_the_space_is_gone_nothing_is_cut() {
    let text = b"aaa bbb ccc";
    let split = r#"{"type":"WhitespaceSplit"}"#;
    assert_eq!(stages(&[], &[split]).safe_cut(text), 8);
    for normalizers in [
        &[SPACE_TO_UNDERSCORE][..],
        &[r#"{"type":"ByteLevel"}"#],
        &[LETTER_TO_SPACE, STRIP],
    ] {
        assert_eq!(stages(normalizers, &[split]).safe_cut(text), 0);
        assert_eq!(stages(normalizers, &[METASPACE]).safe_cut(text), 0);
    }
    // A model that goes on across no mark can be given the parts.
    let marks = r#"{"type":"Replace","pattern":{"String":" "},"content":"▁"}"#;
    let llama = stages(&[r#"{"type":"Prepend","prepend":"▁"}"#, marks], &[]);
    assert_eq!(
        (
            llama.safe_cut(text),
            llama
                .answers()
                .safe_cut_for(Some(Border::Before('▁')), false, text)
        ),
        (0, 7)
    );
}

const CLIP: [&str; 3] = [
    r#"{"type":"NFC"}"#,
    r#"{"type":"Replace","pattern":{"Regex":"\\s+"},"content":" "}"#,
    r#"{"type":"Lowercase"}"#,
];
const MATCHES: &str = r#"{"type":"Split","pattern":{"Regex":"<\\|aaa\\|>|'a|\\p{L}+|\\p{N}|[^\\s\\p{L}\\p{N}]+"},"behavior":"Removed","invert":true}"#;
const PUNCTUATION: &str = r#"{"type":"Punctuation","behavior":"Contiguous"}"#;

/// A text with a bar at each place where it can be cut between two bytes; None where no place is known.
fn with_bars(stages: &Stages, text: &str) -> Option<String> {
    let ends = stages.places()?.ends(text.as_bytes(), 0);
    let characters = text.char_indices().map(|(at, character)| {
        let last = at + character.len_utf8() - 1;
        let bar = if ends >> last & 1 != 0 { "|" } else { "" };
        format!("{character}{bar}")
    });
    Some(characters.collect())
}

#[test]
fn between_bytes_a_text_is_cut_where_all_stages_allow_it() {
    let bars = |normalizers: &[&str], pre_tokenizers: &[&str], text: &str| {
        with_bars(&stages(normalizers, pre_tokenizers), text)
    };
    let clip = |text: &str| bars(&CLIP, &[MATCHES], text).expect("places");
    assert_eq!(clip("A b,c  d 12\ne"), "A| b|,|c|  d| 1|2|\ne");
    // An apostrophe and a may be one piece, and so may what a mark follows become another character.
    assert_eq!(clip("b'b 'a bar"), "b|'|b| 'a| bar");
    assert_eq!(clip("b<x b<\u{338} b <"), "b|<|x| b<\u{338}| b| <");
    assert_eq!(
        clip("где, это\u{A0} я\u{3000} 好 e\u{301} "),
        "где,| это\u{A0} я\u{3000} 好| e\u{301}| "
    );
    let falcon = [
        PUNCTUATION,
        r#"{"type":"Digits","individual_digits":false}"#,
    ];
    let cut = bars(&[], &falcon, "a, b.5 ((c 12").expect("places");
    assert_eq!(cut, "a|,| b|.|5| |((|c |12");
    // Nothing is said where a stage says nothing.
    assert_eq!(bars(&[STRIP], &[MATCHES], "a b, c"), None);
    assert_eq!(
        bars(&[], &[r#"{"type":"PrefixSpace"}"#, MATCHES], "a b, c"),
        None
    );
}

#[test]
fn between_characters_a_text_is_cut_near_its_end() {
    let clip = stages(&CLIP, &[MATCHES]);
    let cut = |text: &'static str| &text[clip.safe_cut(text.as_bytes())..];
    assert_eq!(cut("Привет, мир. Да"), " Да");
    assert_eq!(cut("文，文字。文字"), "文字");
    // A mark that follows may change a character, and so may one that is not there yet.
    assert_eq!(cut("a.e\u{301}"), ".e\u{301}");
    assert_eq!(cut("a.и"), ".и");
    assert_eq!(cut("a.иб"), "иб");
    assert_eq!(cut("a.\u{1100}\u{1161}"), ".\u{1100}\u{1161}");
    // An upper-case letter that becomes two characters is not looked at.
    assert_eq!(cut("a.İб"), "a.İб");
    let falcon = stages(&[], &[PUNCTUATION]);
    assert_eq!(falcon.safe_cut("a.и".as_bytes()), 2);
    // Far from the end, only a space between two letters is looked for.
    let far = "б".repeat(5000);
    assert_eq!(clip.safe_cut(format!("a. {far}").as_bytes()), 0);
    assert_eq!(clip.safe_cut(format!("a a{far}").as_bytes()), 1);
    // Unknown neighbours become one token across pieces.
    assert_eq!(clip.safe_cut_for(None, true, "a. б б".as_bytes()), 0);
    assert_eq!(clip.safe_cut_for(None, false, "a. б б".as_bytes()), 5);
}

#[test]
fn bert_is_cut_at_any_white_space_sign_or_chinese_character() {
    let lower = r#"{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,"strip_accents":null,"lowercase":true}"#;
    let bert = stages(&[lower], &[r#"{"type":"BertPreTokenizer"}"#]);
    let cut = |text: &'static str| &text[bert.safe_cut(text.as_bytes())..];
    assert_eq!(cut("Привет, мир"), "мир");
    assert_eq!(cut("汉字汉字"), "汉字");
    assert_eq!(cut("это"), "это");
    // The letter after the sign may be followed by a mark, and a syllable falls into letters.
    assert_eq!(cut("б.и"), ".и");
    assert_eq!(cut("б.각각"), "б.각각");
}

#[test]
fn spaces_that_become_marks_are_cut_before_behind_any_letter() {
    let marks = r#"{"type":"Replace","pattern":{"String":" "},"content":"▁"}"#;
    let llama = stages(&[r#"{"type":"Prepend","prepend":"▁"}"#, marks], &[]);
    let cut = |text: &'static str| {
        &text[llama.safe_cut_for(Some(Border::Before('▁')), false, text.as_bytes())..]
    };
    assert_eq!(cut("это просто текст"), " текст");
    assert_eq!(
        cut("это  просто\u{3000} текст"),
        "это  просто\u{3000} текст"
    );
    assert_eq!(cut("文 ▁字 "), "文 ▁字 ");
    assert_eq!(cut(" a"), " a");
}

/// What is removed does not part a character from the mark behind it.
#[test]
fn what_a_normalizer_removes_keeps_nothing_steady() {
    let clean = r#"{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":false,"strip_accents":false,"lowercase":false}"#;
    let composed = stages(
        &[clean, r#"{"type":"NFC"}"#],
        &[r#"{"type":"BertPreTokenizer"}"#],
    );
    let text = "ab<\u{7}\u{338}";
    assert_eq!(composed.safe_cut(text.as_bytes()), 0);
    assert_eq!(composed.safe_cut("ab<c".as_bytes()), 2);
    assert_eq!(with_bars(&composed, text).as_deref(), Some(text));
    assert_eq!(
        with_bars(&composed, "ab<c d").as_deref(),
        Some("ab|<|c| |d")
    );
}
