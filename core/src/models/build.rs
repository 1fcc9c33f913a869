//! How a model is made of its specification: the one place that knows all of them.

use super::bpe::Bpe;
use super::character_pairs::{self, CharacterPairs};
use super::longest_match::{self, LongestMatch};
use super::max_match::MaxMatch;
use super::model::{Model, Tables};
use super::ngram::NGram;
use super::scored_pairs::ScoredPairs;
use super::spec::ModelSpec;
use super::unigram::Unigram;
use super::word_level::WordLevel;
use super::word_piece::WordPiece;
use crate::error::Result;

/// Makes a model.
///
/// # Errors
/// Says what of the tables and the specification does not fit together.
pub fn build(spec: ModelSpec, tables: Tables) -> Result<Box<dyn Model>> {
    Ok(match spec {
        ModelSpec::BytePairs { ranks: true, .. } => Box::new(Bpe::from_ranks(tables.tokens)?),
        ModelSpec::BytePairs {
            ranks: false,
            whole_pieces,
        } => Box::new(Bpe::from_merges(
            tables.tokens,
            &tables.merges,
            whole_pieces,
        )?),
        ModelSpec::MaxMatch { unk_id } => Box::new(MaxMatch::new(tables.tokens, unk_id)?),
        ModelSpec::NGram { n, unk_id } => Box::new(NGram::new(tables.tokens, n, unk_id)?),
        ModelSpec::CharacterPairs {
            unk_id,
            fuse_unk,
            byte_fallback,
            ignore_merges,
            continuing_subword_prefix,
            end_of_word_suffix,
            separate_suffix,
            whole_runs_of,
            by_steps,
        } => {
            let settings = character_pairs::Settings {
                unk_id,
                fuse_unk,
                byte_fallback,
                ignore_merges,
                prefix: continuing_subword_prefix.into_bytes(),
                suffix: end_of_word_suffix.into_bytes(),
                separate_suffix,
                whole_runs_of: whole_runs_of.into_bytes(),
                by_steps,
            };
            Box::new(CharacterPairs::new(
                tables.tokens,
                &tables.merges,
                settings,
            )?)
        }
        ModelSpec::ScoredPairs {
            unk_id,
            byte_fallback,
        } => Box::new(ScoredPairs::new(tables, unk_id, byte_fallback)?),
        ModelSpec::LongestMatch {
            unk_id,
            left_to_right,
            end_of_word_suffix,
            separate_suffix,
            continuing_subword_prefix,
        } => {
            let marks = longest_match::Marks {
                suffix: end_of_word_suffix.into_bytes(),
                separate: separate_suffix,
                prefix: continuing_subword_prefix.into_bytes(),
            };
            Box::new(LongestMatch::new(
                tables.tokens,
                &tables.scores,
                unk_id,
                left_to_right,
                marks,
            )?)
        }
        ModelSpec::WordPiece {
            unk_id,
            continuing_subword_prefix,
            max_input_chars_per_word,
        } => Box::new(WordPiece::new(
            tables.tokens,
            unk_id,
            &continuing_subword_prefix,
            max_input_chars_per_word,
        )?),
        ModelSpec::WordLevel { unk_id, fuse_unk } => {
            Box::new(WordLevel::new(tables.tokens, unk_id, fuse_unk)?)
        }
        ModelSpec::Unigram(settings) => Box::new(Unigram::new(settings, tables)?),
    })
}
