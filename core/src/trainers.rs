//! From counts to a model.

mod alphabet;
pub mod bpe;
pub mod frequent;
mod heap;
pub mod joining;
mod joints;
pub mod letters;
pub mod likelihood;
pub mod ngrams;
mod ranking;
mod score;
pub mod scored_pairs;
pub mod top_down;
pub mod unigram;
pub mod valid_piece;
