//! The specification of a model, as it crosses the border.

use serde::Deserialize;

use super::{character_pairs, events, fewest_tokens, longest_match, unigram};

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
    CharacterPairs(character_pairs::Settings),
    /// BPE by a list of merges and splits (PickyBPE's), which stands in place of merges.
    Events(events::Settings),
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
    LongestMatch(longest_match::Settings),
    /// The fewest tokens of a word, where tokens have marks.
    FewestTokens(fewest_tokens::Settings),
    /// Forward maximum matching with a dictionary; what it lacks is a character by itself.
    MaxMatch {
        unk_id: Option<u32>,
    },
    /// Tokens laid over a piece in the order of their ids; what they leave is characters by themselves.
    GreedyCover {
        unk_id: Option<u32>,
    },
    /// Overlapping n-grams of characters.
    NGram {
        n: usize,
        unk_id: Option<u32>,
    },
}
