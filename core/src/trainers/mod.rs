//! From counts to a model.

pub mod bpe;
mod heap;
