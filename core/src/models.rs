//! What a piece becomes: encoding only, training is in `trainers`.

pub mod automaton;
pub mod bpe;
pub mod chain;
pub mod character_pairs;
pub mod characters;
pub mod dropout;
pub mod longest_match;
pub mod max_match;
pub mod merging;
pub mod model;
pub mod ngram;
pub mod queue;
pub mod scored_pairs;
pub mod seams;
mod short;
pub mod trie;
pub mod unigram;
mod windows;
pub mod word_level;
pub mod word_piece;
