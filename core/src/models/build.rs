//! How a model is made of its specification: the one place that knows all of them.

use super::bpe::Bpe;
use super::character_pairs::CharacterPairs;
use super::events::Events;
use super::fewest_tokens::FewestTokens;
use super::greedy_cover::GreedyCover;
use super::longest_match::LongestMatch;
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
        ModelSpec::GreedyCover { unk_id } => Box::new(GreedyCover::new(tables.tokens, unk_id)?),
        ModelSpec::NGram { n, unk_id } => Box::new(NGram::new(tables.tokens, n, unk_id)?),
        ModelSpec::CharacterPairs(settings) => Box::new(CharacterPairs::new(
            tables.tokens,
            &tables.merges,
            settings,
        )?),
        ModelSpec::Events(settings) => {
            Box::new(Events::new(tables.tokens, tables.merges, settings)?)
        }
        ModelSpec::ScoredPairs {
            unk_id,
            byte_fallback,
        } => Box::new(ScoredPairs::new(tables, unk_id, byte_fallback)?),
        ModelSpec::LongestMatch(settings) => {
            Box::new(LongestMatch::new(tables.tokens, &tables.scores, settings)?)
        }
        ModelSpec::FewestTokens(settings) => Box::new(FewestTokens::new(tables.tokens, settings)?),
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
