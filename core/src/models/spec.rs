//! The specification of a model, as it crosses the border.

use serde::Deserialize;

use super::unigram;

/// The specification of a model.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "type", deny_unknown_fields)]
#[expect(
    missing_docs,
    reason = "the names are the field's; the Python specs document each"
)]
pub enum ModelSpec {
    /// Byte-level BPE by merges, or by the rank of the concatenation when `ranks`.
    BytePairs {
        ranks: bool,
        whole_pieces: bool,
    },
    /// BPE over characters (Sennrich's, Hugging Face's `BPE`).
    CharacterPairs {
        unk_id: Option<u32>,
        fuse_unk: bool,
        byte_fallback: bool,
        ignore_merges: bool,
        continuing_subword_prefix: String,
        end_of_word_suffix: String,
        /// The suffix is a symbol of its own until a merge takes it (subword-nmt 0.1).
        separate_suffix: bool,
        /// A character of which a piece of nothing else is taken as it is, if it is a token.
        #[serde(default)]
        whole_runs_of: String,
        /// Each step takes a merge at all of its places (subword-nmt).
        #[serde(default)]
        by_steps: bool,
    },
    /// BPE by the score of the concatenation (SentencePiece's).
    ScoredPairs {
        unk_id: u32,
        byte_fallback: bool,
    },
    WordPiece {
        unk_id: u32,
        continuing_subword_prefix: String,
        max_input_chars_per_word: usize,
    },
    WordLevel {
        unk_id: Option<u32>,
        /// Whether neighbouring unknown pieces become one token.
        fuse_unk: bool,
    },
    Unigram(unigram::Settings),
    /// Cut at the longest tokens first, or at the longest token from the left (the seeds' two).
    LongestMatch {
        unk_id: Option<u32>,
        left_to_right: bool,
        end_of_word_suffix: String,
        /// Whether the suffix is a symbol of its own.
        separate_suffix: bool,
        continuing_subword_prefix: String,
    },
    /// Forward maximum matching with a dictionary; what it lacks is a character by itself.
    MaxMatch {
        unk_id: Option<u32>,
    },
    /// Overlapping n-grams of characters.
    NGram {
        n: usize,
        unk_id: Option<u32>,
    },
}
