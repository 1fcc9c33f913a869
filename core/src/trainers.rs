//! From counts to a model.

pub mod bpe;
pub mod frequent;
pub mod greedtok;
mod heap;
pub mod joining;
mod json;
pub mod letters;
pub mod likelihood;
pub mod mingram;
pub mod ngrams;
pub mod picky;
mod score;
pub mod scored_pairs;
pub mod top_down;
pub mod unigram;
pub mod valid_piece;
mod word_cuts;
