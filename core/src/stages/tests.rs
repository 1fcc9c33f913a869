//! Where stages allow no cut; that they are right where they do is held by `tests/boundaries.rs`.

use super::*;
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
        (
            llama.safe_cut(text),
            llama
                .answers()
                .safe_cut_for(Some(Border::Before('▁')), false, text)
        ),
        (0, 7)
    );
}
