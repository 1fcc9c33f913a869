//! Where text may be cut, it can be cut: its parts, encoded apart, give what the whole gives, whatever follows.
//!
//! The first byte says which tokenizer it is, the second how much of the text is known when the cut is looked for.
#![no_main]

use std::sync::LazyLock;

use bpe_core::encode::{Encoder, Staged};
use bpe_core::{Documents, Scanner};
use libfuzzer_sys::fuzz_target;

#[path = "../../tests/support/pipelines.rs"]
mod pipelines;

const SCANNERS: [&str; 4] = [
    r#"{"words": "spaced", "contractions": "exact", "digits": 0, "tail": "", "newlines": false}"#,
    r#"{"words": "prefixed", "contractions": "folded", "digits": 3, "tail": "\r\n", "newlines": true,
        "final_space": true}"#,
    r#"{"words": "prefixed", "contractions": "folded", "digits": 1, "tail": "\r\n", "newlines": true}"#,
    r#"{"words": "cased", "contractions": "suffix", "digits": 3, "tail": "\r\n/", "newlines": true}"#,
];

static PIPELINES: LazyLock<Vec<Encoder<Staged>>> = LazyLock::new(pipelines::all);

fuzz_target!(|data: &[u8]| {
    let [which, known, text @ ..] = data else {
        return;
    };
    let known = &text[..text.len() * usize::from(*known) / 255];
    let which = usize::from(*which);
    if let Some(json) = SCANNERS.get(which) {
        let scanner = Scanner::from_json(json).expect("a scanner");
        let cut = scanner.safe_cut(known);
        let behind = scanner
            .split(&text[cut..])
            .into_iter()
            .map(|end| end + cut as u64);
        let apart: Vec<u64> = scanner
            .split(&text[..cut])
            .into_iter()
            .chain(behind)
            .collect();
        assert_eq!(scanner.split(text), apart, "cut at {cut}");
        return;
    }
    let pipeline = &PIPELINES[which % PIPELINES.len()];
    let encode = |text: &[u8], continued| {
        let ends = &[text.len() as u64];
        let documents = Documents {
            text,
            ends,
            continued,
        };
        pipeline
            .encode(&documents, None, 1)
            .map(|encoded| encoded.ids)
    };
    let cut = pipeline.safe_cut(known);
    if cut > 0 {
        let apart = [encode(&text[..cut], false), encode(&text[cut..], true)];
        let apart: Result<Vec<_>, _> = apart.into_iter().collect();
        assert_eq!(
            encode(text, false),
            apart.map(|parts| parts.concat()),
            "cut at {cut}"
        );
    }
});
