//! Lays Unicode classes and scripts down for the crate to include, and with the feature `embedded`
//! OpenAI's rank tables.

mod categories;
#[cfg(feature = "embedded")]
mod ranks;
mod scripts;
mod unicode;

// The tables are the crate's own: what is written here is what the crate reads.
#[cfg(feature = "embedded")]
#[path = "../src/error.rs"]
#[expect(dead_code, reason = "most errors are not the tables'")]
mod error;
#[cfg(feature = "embedded")]
#[path = "../src/tables/mod.rs"]
#[expect(dead_code, unused_imports, reason = "nothing is looked up here")]
mod tables;

use std::path::PathBuf;

fn main() {
    println!("cargo::rerun-if-changed=build");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    unicode::write_tables(&out);
    scripts::write_tables(&out);
    categories::write_tables(&out);
    #[cfg(feature = "embedded")]
    ranks::write_tables(&out);
}
