//! The border: everything of Python, and nothing but conversion.
//!
//! Bulk calls borrow read-only buffers and release the GIL. The Python side of it, with shapes,
//! units and errors, is documented in `bpe_cli/_core.pyi`.

mod arrays;
mod counts;
mod decoder;
mod embedded;
mod encoder;
mod measure;
mod normalize;
mod numbers;
mod resampling;
mod round_trips;
mod split;
mod stages;
mod train;
mod train_max_match;
mod train_scored_pairs;
mod train_unigram;
mod train_word_piece;
mod written;

use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;

use crate::error::Error;

/// The one conversion of the core's errors. Where an error has a place in the data, that is the
/// exception's second argument.
fn to_python(error: Error) -> PyErr {
    let sentence = error.to_string();
    match error {
        Error::Memory(_) => PyMemoryError::new_err(sentence),
        Error::MissingByte { offset: place, .. } | Error::MissingId { place, .. } => {
            PyValueError::new_err((sentence, place))
        }
        Error::Invalid(_) | Error::Stopped => PyValueError::new_err(sentence),
    }
}

/// The compiled part of bpe_cli: splitting, counting, training, encoding, decoding.
#[pymodule]
mod _core {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::arrays::{U32Array, U64Array};
    #[pymodule_export]
    use super::counts::Counts;
    #[pymodule_export]
    use super::decoder::Decoder;
    #[pymodule_export]
    use super::embedded::{embedded_among, embedded_tables, embedded_tokens, recover_merges};
    #[pymodule_export]
    use super::encoder::Encoder;
    #[pymodule_export]
    use super::measure::Tally;
    #[pymodule_export]
    use super::normalize::charsmap;
    #[pymodule_export]
    use super::numbers::{
        pack_numbers, widen_numbers, without_line_ends, write_counts, write_rows,
    };
    #[pymodule_export]
    use super::resampling::{Units, bootstrap_interval, sign_flip};
    #[pymodule_export]
    use super::round_trips::{chain_failures, joined_failures};
    #[pymodule_export]
    use super::split::{Codebook, SpecialMatcher, Splitter};
    #[pymodule_export]
    use super::stages::Stages;
    #[pymodule_export]
    use super::train::{BpeTraining, resume_bpe, train_bpe};
    #[pymodule_export]
    use super::train_max_match::{MaxMatchTraining, count_ngrams, train_max_match};
    #[pymodule_export]
    use super::train_scored_pairs::{
        character_counts, most_frequent, most_frequent_words, train_scored_pairs,
    };
    #[pymodule_export]
    use super::train_unigram::{UnigramTraining, train_unigram};
    #[pymodule_export]
    use super::train_word_piece::{train_by_likelihood, train_top_down};
    #[pymodule_export]
    use super::written::WrittenMerges;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        // The core prints nothing; a panic reaches Python as an exception that says the same.
        std::panic::set_hook(Box::new(|_| {}));
        module.add("UNICODE_VERSION", crate::split::UNICODE_VERSION)?;
        module.add("MAX_TOKENS", crate::tables::MAX_TOKENS)
    }
}
