//! What a piece becomes: encoding only, training is in `trainers`.

pub mod automaton;
pub mod bpe;
pub mod build;
pub mod character_pairs;
pub mod events;
pub mod fewest_tokens;
pub mod found;
pub mod greedy_cover;
pub mod longest_match;
mod marks;
pub mod max_match;
pub mod merging;
pub mod model;
pub mod ngram;
pub mod scored_pairs;
pub mod scratch;
pub mod spec;
pub mod trie;
pub mod unigram;
pub mod word_level;
pub mod word_piece;
