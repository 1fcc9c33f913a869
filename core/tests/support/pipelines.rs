//! Small tokenizers with all kinds of stages, for the laws and the fuzz targets.

use std::sync::Arc;

use bpe_core::encode::staged::Pipeline;
use bpe_core::models::{build::build, model::Tables};
use bpe_core::stages::Stages;
use bpe_core::tables::TokenTable;

const STAGES: [&str; 5] = [
    r#"{"normalizers": [{"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
        "strip_accents": null, "lowercase": true}], "pre_tokenizers": [{"type": "BertPreTokenizer"}]}"#,
    r#"{"normalizers": [{"type": "NFKC"}, {"type": "Lowercase"}], "pre_tokenizers": [{"type": "WhitespaceSplit"}]}"#,
    r#"{"normalizers": [{"type": "SpaceMarks", "add_dummy_prefix": true, "remove_extra_whitespaces": false,
        "escape_whitespaces": true, "treat_whitespace_as_suffix": false}]}"#,
    r#"{"normalizers": [{"type": "Prepend", "prepend": "▁"},
        {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]}"#,
    r#"{"normalizers": [{"type": "NFD"}, {"type": "StripAccents"}], "pre_tokenizers": [{"type": "Whitespace"}]}"#,
];

const MODELS: [&str; 3] = [
    r###"{"type": "WordPiece", "unk_id": 0, "continuing_subword_prefix": "##", "max_input_chars_per_word": 100}"###,
    r#"{"type": "ScoredPairs", "unk_id": 0, "byte_fallback": false}"#,
    r#"{"type": "CharacterPairs", "unk_id": 0, "fuse_unk": true, "byte_fallback": false, "ignore_merges": false,
        "continuing_subword_prefix": "", "end_of_word_suffix": "", "separate_suffix": false}"#,
];

const TOKENS: [&str; 20] = [
    "<unk>", "▁", "a", "b", "▁a", "aa", "▁▁", "ab", "5", ".", "a.", "好", "é", "e", "##a", "##b",
    "##é", "##5", "\n", "▁aa",
];

/// Every model behind all of the stages.
pub fn all() -> Vec<Pipeline> {
    let all = STAGES
        .iter()
        .flat_map(|stages| MODELS.map(|model| (stages, model)));
    all.map(|(stages, model)| {
        let ends = TOKENS.iter().scan(0, |end, token| {
            *end += token.len() as u32;
            Some(*end)
        });
        let ends: Vec<u32> = ends.collect();
        let id = |text| {
            TOKENS
                .iter()
                .position(|&token| token == text)
                .expect("a token") as u32
        };
        let merges = [
            ["▁", "a", "▁a"],
            ["a", "a", "aa"],
            ["▁", "▁", "▁▁"],
            ["a", "b", "ab"],
            ["▁", "aa", "▁aa"],
        ];
        let tables = Tables {
            tokens: TokenTable::new(TOKENS.concat().into_bytes().into(), ends.into())
                .expect("tokens"),
            merges: merges.map(|merge| merge.map(id)).to_vec(),
            scores: (0..TOKENS.len()).map(|id| -(id as f64)).collect(),
            kinds: (0..TOKENS.len())
                .map(|id| if id == 0 { 2 } else { 1 })
                .collect(),
        };
        let spec = serde_json::from_str(model).expect("a model");
        let stages = Stages::from_json(stages).expect("stages");
        Pipeline::new(Arc::new(stages), build(spec, tables).expect("a model"))
    })
    .collect()
}
