//! Small tokenizers with all kinds of stages, for the laws and the fuzz targets.

use std::sync::Arc;

use bpe_core::encode::{Encoder, Staged};
use bpe_core::models::build::build;
use bpe_core::models::model::{Model, Tables};
use bpe_core::stages::Stages;
use bpe_core::tables::TokenTable;

const STAGES: [&str; 6] = [
    r#"{"normalizers": [{"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
        "strip_accents": null, "lowercase": true}], "pre_tokenizers": [{"type": "BertPreTokenizer"}]}"#,
    r#"{"normalizers": [{"type": "NFKC"}, {"type": "Lowercase"}], "pre_tokenizers": [{"type": "WhitespaceSplit"}]}"#,
    r#"{"normalizers": [{"type": "SpaceMarks", "add_dummy_prefix": true, "remove_extra_whitespaces": false,
        "escape_whitespaces": true, "treat_whitespace_as_suffix": false}]}"#,
    r#"{"normalizers": [{"type": "Prepend", "prepend": "▁"},
        {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]}"#,
    r#"{"normalizers": [{"type": "NFD"}, {"type": "StripAccents"}], "pre_tokenizers": [{"type": "Whitespace"}]}"#,
    r#"{"normalizers": [{"type": "ByteLevel"}]}"#,
];

pub const MODELS: [&str; 10] = [
    r###"{"type": "WordPiece", "unk_id": 0, "continuing_subword_prefix": "##", "max_input_chars_per_word": 100}"###,
    r#"{"type": "ScoredPairs", "unk_id": 0, "byte_fallback": false}"#,
    r#"{"type": "CharacterPairs", "unk_id": 0, "fuse_unk": true, "byte_fallback": false, "ignore_merges": false,
        "continuing_subword_prefix": "", "end_of_word_suffix": "", "separate_suffix": false}"#,
    r#"{"type": "WordLevel", "unk_id": 0, "fuse_unk": true}"#,
    r#"{"type": "Unigram", "unk_id": 0, "byte_fallback": false, "fuse_unk": true, "single_precision": true}"#,
    r#"{"type": "Unigram", "unk_id": 0, "byte_fallback": true, "fuse_unk": true, "single_precision": false}"#,
    r#"{"type": "Unigram", "unk_id": 0, "byte_fallback": false, "fuse_unk": false, "single_precision": false,
        "fixed_point": true}"#,
    r#"{"type": "ScoredPairs", "unk_id": 0, "byte_fallback": true}"#,
    r#"{"type": "Events", "unk_id": 0, "fuse_unk": true, "byte_level": false, "ignore_merges": true}"#,
    r#"{"type": "MaxMatch", "unk_id": 0}"#,
];

const TOKENS: [&str; 22] = [
    "<unk>", "▁", "a", "b", "▁a", "aa", "▁▁", "ab", "5", ".", "a.", "好", "é", "e", "##a", "##b",
    "##é", "##5", "\n", "▁aa", "äĦ", "ĠaĠ",
];

/// Every model behind all of the stages.
pub fn all() -> Vec<Encoder<Staged>> {
    let models = 0..MODELS.len();
    let all = STAGES
        .iter()
        .flat_map(|stages| models.clone().map(move |which| (stages, which)));
    all.map(|(stages, which)| {
        let stages = Stages::from_json(stages).expect("stages");
        Encoder::staged(Arc::new(stages), model(which))
    })
    .collect()
}

/// A model of [`MODELS`]: its tokens are those above, and one for each byte.
pub fn model(which: usize) -> Box<dyn Model> {
    let bytes = (0..=255).map(|byte| format!("<0x{byte:02X}>"));
    let tokens: Vec<String> = TOKENS.map(str::to_owned).into_iter().chain(bytes).collect();
    let id = |text| {
        let place = TOKENS.iter().position(|&token| token == text);
        place.expect("a token") as u32
    };
    let merges = [
        ["▁", "a", "▁a"],
        ["a", "a", "aa"],
        ["▁", "▁", "▁▁"],
        ["a", "b", "ab"],
        ["▁", "aa", "▁aa"],
    ];
    let kind = |id| match id {
        0 => 2,
        _ if id < TOKENS.len() => 1,
        _ => 6,
    };
    let mut merges = merges.map(|merge| merge.map(id)).to_vec();
    if MODELS[which].contains("Events") {
        merges.push([id("aa"), u32::MAX, u32::MAX]);
    }
    let tables = Tables {
        tokens: TokenTable::of(&tokens).expect("tokens"),
        merges,
        scores: (0..tokens.len()).map(|id| -(id as f64)).collect(),
        kinds: (0..tokens.len()).map(kind).collect(),
    };
    build(
        serde_json::from_str(MODELS[which]).expect("a model"),
        tables,
    )
    .expect("a model")
}
