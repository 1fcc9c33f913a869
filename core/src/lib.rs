//! The hot loops of `bpe`: splitting, counting, training, encoding, decoding.
//!
//! Bulk calls that take slices and give vectors. Nothing in here opens a file, prints, reads the
//! environment, or knows a format or a model by name. All of Python is in `py`.
#![deny(unsafe_op_in_unsafe_fn)]

mod chunks;
pub mod codebook;
pub mod count;
mod cutting;
pub mod decode;
pub mod draw;
pub mod embedded;
pub mod engine;
pub mod error;
pub mod lines;
pub mod measure;
pub mod models;
pub mod normalize;
pub mod numbers;
mod pages;
mod parallel;
pub mod parts;
pub mod pipeline;
mod prefetch;
mod prefixes;
#[cfg(feature = "python")]
mod py;
pub mod room;
pub mod special;
pub mod split;
pub mod stages;
mod stretches;
pub mod text;
mod threads;
mod token_set;
pub mod trainers;
pub mod written;
