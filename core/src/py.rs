//! The border: everything of Python, and nothing but conversion.
//!
//! Bulk calls borrow read-only buffers and release the GIL. The Python side of it, with shapes,
//! units and errors, is documented in `bpe_cli/_core.pyi`.

mod arguments;
mod arrays;
mod bytes;
mod counts;
mod cover;
mod decoder;
mod embedded;
mod encoder;
mod events;
mod ids;
mod json_lines;
mod last_words;
mod measure;
mod numbers;
mod objects;
mod one_text;
mod picky;
mod progress;
mod split;
mod stages;
mod streaming;
mod texts;
mod token_texts;
mod tokens;
mod train;
mod working;
mod written;

use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;

use crate::error::Error;

pyo3::create_exception!(
    _core,
    MemoryBoundError,
    PyMemoryError,
    "Memory that a caller has set a bound for, which would be passed."
);

/// The one conversion of the core's errors. Where an error has a place in the data, that is the
/// exception's second argument.
impl From<Error> for PyErr {
    fn from(error: Error) -> Self {
        let sentence = error.to_string();
        match error {
            Error::Memory(_) => PyMemoryError::new_err(sentence),
            Error::Bound(_) => MemoryBoundError::new_err(sentence),
            Error::MissingByte { offset: place, .. } | Error::MissingId { place, .. } => {
                PyValueError::new_err((sentence, place))
            }
            Error::Invalid(_) | Error::Stopped => PyValueError::new_err(sentence),
        }
    }
}

/// The compiled part of bpe_cli: splitting, counting, training, encoding, decoding.
#[pymodule]
mod _core {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::MemoryBoundError;
    #[pymodule_export]
    use super::arrays::{U8Array, U32Array, U64Array};
    #[pymodule_export]
    use super::counts::{
        Counts, NumberedCounts, character_counts, count_ngrams, merge_numbered, most_frequent,
        most_frequent_words,
    };
    #[pymodule_export]
    use super::cover::{GreedTokTraining, train_greedtok};
    #[pymodule_export]
    use super::decoder::Decoder;
    #[pymodule_export]
    use super::embedded::{embedded_among, embedded_tables, embedded_tokens, recover_merges};
    #[pymodule_export]
    use super::encoder::Encoder;
    #[pymodule_export]
    use super::events::replay_events;
    #[pymodule_export]
    use super::json_lines::JsonTexts;
    #[pymodule_export]
    use super::last_words::end_without_memory;
    #[pymodule_export]
    use super::measure::{
        Tally, Units, bootstrap_interval, chain_failures, joined_failures, sign_flip,
    };
    #[pymodule_export]
    use super::numbers::{
        line_ends, pack_numbers, usable_documents, widen_numbers, without_line_ends, write_counts,
        write_rows,
    };
    #[pymodule_export]
    use super::one_text::OneText;
    #[pymodule_export]
    use super::picky::{PickyTraining, train_picky};
    #[pymodule_export]
    use super::split::{Codebook, SpecialMatcher, Splitter, charsmap};
    #[pymodule_export]
    use super::stages::Stages;
    #[pymodule_export]
    use super::streaming::KnownTexts;
    #[pymodule_export]
    use super::train::{
        BpeTraining, MaxMatchTraining, MinGramTraining, UnigramTraining, resume_bpe, train_bpe,
        train_by_likelihood, train_max_match, train_mingram, train_parity, train_scored_pairs,
        train_superwords, train_top_down, train_unigram,
    };
    #[pymodule_export]
    use super::written::{
        WrittenMerges, WrittenTables, counted_texts, is_plain_json, pass_counted,
    };

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        // The core prints nothing; a panic reaches Python as an exception that says the same.
        std::panic::set_hook(Box::new(|_| {}));
        module.add("PARTITIONS", crate::count::PARTITIONS)?;
        module.add("UNICODE_VERSION", crate::split::UNICODE_VERSION)?;
        module.add("MAX_TOKENS", crate::tables::MAX_TOKENS)
    }
}
