//! From documents to ids.

pub mod encoded;
pub mod plain;
pub mod staged;
