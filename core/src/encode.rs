//! From documents to ids: one [`Encoder`], and three ways through it.

mod apart;
mod by_text;
mod driver;
pub(crate) mod encoded;
pub(crate) mod gather;
mod plain;
mod staged;
mod workers;

pub use by_text::ByText;
pub use driver::Encoder;
pub(crate) use driver::{Encode, Job};
pub use plain::Plain;
pub use staged::{Span, Staged, Variation};
