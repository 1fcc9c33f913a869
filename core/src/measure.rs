//! What a tokenizer makes of a corpus, counted while it encodes: how often each id occurs, how many
//! words it splits, what it falls back on, which documents do not come back; and how sure a
//! difference between two tokenizers is.
//!
//! Everything is a sum over documents, so that neither blocks nor threads change it.

mod encoding;
mod frequencies;
mod resampling;
mod round_trips;
mod tables;
mod tally;
mod units;
mod words;

pub use frequencies::Frequencies;
pub use resampling::{bootstrap_interval, sign_flip};
pub use round_trips::{Joined, Reader, failures};
pub use tables::{Kind, Tables};
pub use tally::{Block, Tally, Tokens};
pub use units::Units;
