//! What a piece becomes: encoding only, training is in `trainers`.

pub mod automaton;
pub mod bpe;
pub mod cache;
pub mod max_match;
pub mod ngram;
pub mod queue;
pub mod staged;
