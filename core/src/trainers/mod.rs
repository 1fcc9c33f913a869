//! From counts to a model.

mod alphabet;
pub mod bpe;
mod heap;
