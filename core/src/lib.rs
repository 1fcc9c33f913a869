#![doc = include_str!("../README.md")]
#![deny(unsafe_op_in_unsafe_fn)]

#[cfg(not(target_pointer_width = "64"))]
compile_error!("bpe needs a 64-bit machine: texts and tables may have more than 4 GiB");

pub mod boundaries;
pub mod count;
pub mod decode;
mod documents;
#[doc(hidden)]
pub mod embedded;
pub mod encode;
mod error;
mod leb128;
pub mod measure;
pub mod memory;
pub mod models;
pub mod normalize;
#[doc(hidden)]
pub mod numbers;
#[cfg(feature = "python")]
mod py;
pub mod random;
pub mod special;
pub mod split;
pub mod stages;
pub mod tables;
pub mod text;
mod threads;
mod tokenizer;
pub mod trainers;
#[doc(hidden)]
pub mod written;

pub use documents::Documents;
pub use encode::encoded::Encoded;
pub use error::{Error, Result};
pub use special::Segment;
pub use split::{Contractions, Scanner, ScannerSpec, Tail, WordRule};
pub use tokenizer::Tokenizer;
