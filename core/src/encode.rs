//! From documents to ids: one [`Encoder`], and two ways through it.

mod apart;
mod driver;
pub(crate) mod encoded;
pub(crate) mod gather;
mod plain;
mod staged;
mod workers;

pub use driver::Encoder;
pub(crate) use driver::{Encode, Job};
pub use plain::Plain;
pub use staged::{Span, Staged, Variation};
