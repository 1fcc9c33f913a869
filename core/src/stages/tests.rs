//! Where text may be cut: the parts, each for itself, become what the text becomes.

use proptest::prelude::*;

use super::*;

fn stages(normalizers: &[&str], pre_tokenizers: &[&str]) -> Stages {
    let list = |specs: &[&str]| specs.join(",");
    let (normalizers, pre_tokenizers) = (list(normalizers), list(pre_tokenizers));
    let json = format!(r#"{{"normalizers":[{normalizers}],"pre_tokenizers":[{pre_tokenizers}]}}"#);
    Stages::from_json(&json).unwrap()
}

/// The pieces of a part.
fn pieces(stages: &Stages, part: &[u8], context: Context) -> Vec<Vec<u8>> {
    let mut pieces = Pieces {
        text: Text::new(part, false),
        ..Pieces::default()
    };
    stages.normalize(&mut pieces.text, context).unwrap();
    stages.pre_tokenize(&mut pieces, context).unwrap();
    let text = pieces.text.bytes();
    let ranges = pieces.ranges.iter();
    ranges.map(|range| text[range.clone()].to_vec()).collect()
}

const WHOLE: Context = Context {
    continued: false,
    first: true,
};
const REST: Context = Context {
    continued: true,
    first: false,
};

const SPACE_TO_UNDERSCORE: &str = r#"{"type":"Replace","pattern":{"String":" "},"content":"_"}"#;
const LETTER_TO_SPACE: &str = r#"{"type":"Replace","pattern":{"String":"b"},"content":" "}"#;
const STRIP: &str = r#"{"type":"Strip","strip_left":true,"strip_right":true}"#;
const METASPACE: &str =
    r#"{"type":"Metaspace","replacement":"▁","prepend_scheme":"always","split":true}"#;

const NORMALIZERS: [&str; 16] = [
    SPACE_TO_UNDERSCORE,
    LETTER_TO_SPACE,
    STRIP,
    r#"{"type":"NFC"}"#,
    r#"{"type":"NFKD"}"#,
    r#"{"type":"Nmt"}"#,
    r#"{"type":"Lowercase"}"#,
    r#"{"type":"StripAccents"}"#,
    r#"{"type":"Prepend","prepend":" "}"#,
    r#"{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,"strip_accents":null,"lowercase":true}"#,
    r#"{"type":"ByteLevel"}"#,
    r#"{"type":"Replace","pattern":{"Regex":"\\s+"},"content":" "}"#,
    r#"{"type":"Replace","pattern":{"Regex":" {2,}"},"content":"_"}"#,
    r#"{"type":"Replace","pattern":{"String":". "},"content":"b"}"#,
    r#"{"type":"SpaceMarks","add_dummy_prefix":true,"remove_extra_whitespaces":true,"escape_whitespaces":true,"treat_whitespace_as_suffix":false}"#,
    r#"{"type":"SpaceMarks","add_dummy_prefix":true,"remove_extra_whitespaces":true,"escape_whitespaces":false,"treat_whitespace_as_suffix":false}"#,
];

const PRE_TOKENIZERS: [&str; 10] = [
    METASPACE,
    r#"{"type":"Metaspace","replacement":"▁","prepend_scheme":"first","split":false}"#,
    r#"{"type":"WhitespaceSplit"}"#,
    r#"{"type":"BertPreTokenizer"}"#,
    r#"{"type":"Whitespace"}"#,
    r#"{"type":"ByteLevel"}"#,
    r#"{"type":"PrefixSpace"}"#,
    r#"{"type":"Split","pattern":{"String":" "},"behavior":"MergedWithNext","invert":false}"#,
    r#"{"type":"Split","pattern":{"String":" "},"behavior":"MergedWithPrevious","invert":false}"#,
    r#"{"type":"Punctuation","behavior":"Contiguous"}"#,
];

#[test]
fn where_the_space_is_gone_nothing_is_cut() {
    let text = b"aaa bbb ccc";
    let split = r#"{"type":"WhitespaceSplit"}"#;
    assert_eq!(stages(&[], &[split]).safe_cut(text), 7);
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
        (llama.safe_cut(text), llama.safe_cut_at_marks(text)),
        (0, 7)
    );
}

proptest! {
    #[test]
    fn parts_become_what_the_text_becomes(
        normalizers in prop::collection::vec(0..NORMALIZERS.len(), 0..4),
        pre_tokenizers in prop::collection::vec(0..PRE_TOKENIZERS.len(), 0..3),
        text in "([abB]{1,2} |[abB]{1,2} |[.é \u{301}中_\t\u{2581}1]){2,14}b",
    ) {
        let normalizers: Vec<_> = normalizers.into_iter().map(|at| NORMALIZERS[at]).collect();
        let pre_tokenizers: Vec<_> = pre_tokenizers.into_iter().map(|at| PRE_TOKENIZERS[at]).collect();
        let stages = stages(&normalizers, &pre_tokenizers);
        let cut = stages.safe_cut(text.as_bytes());
        prop_assume!(cut > 0);
        let (before, after) = text.as_bytes().split_at(cut);
        let mut parts = pieces(&stages, before, WHOLE);
        parts.extend(pieces(&stages, after, REST));
        prop_assert_eq!(parts, pieces(&stages, text.as_bytes(), WHOLE));
    }
}
