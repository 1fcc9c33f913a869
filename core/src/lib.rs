#![doc = include_str!("../README.md")]
#![deny(unsafe_op_in_unsafe_fn)]

mod chunks;
#[doc(hidden)]
pub mod codebook;
pub mod count;
mod cutting;
pub mod decode;
pub mod draw;
#[doc(hidden)]
pub mod embedded;
pub mod engine;
mod error;
#[doc(hidden)]
pub mod lines;
pub mod measure;
pub mod models;
pub mod normalize;
#[doc(hidden)]
pub mod numbers;
mod pages;
mod parallel;
mod parts;
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
pub mod tables;
pub mod text;
mod threads;
mod token_set;
mod tokenizer;
pub mod trainers;
#[doc(hidden)]
pub mod written;

pub use error::{Error, Result};
pub use parallel::{Documents, Segment};
pub use parts::Encoded;
pub use split::{Contractions, Scanner, ScannerSpec, Tail, WordRule};
pub use tokenizer::Tokenizer;
