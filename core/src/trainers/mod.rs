//! From counts to a model.

mod alphabet;
pub mod bpe;
mod heap;
pub mod joining;
pub mod ngrams;
pub mod scored_pairs;
pub mod valid_piece;
