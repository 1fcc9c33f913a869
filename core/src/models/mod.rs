//! What a piece becomes: encoding only, training is in `trainers`.

pub mod bpe;
pub mod cache;
pub mod queue;
pub mod staged;
