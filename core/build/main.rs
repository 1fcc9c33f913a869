//! Lays Unicode classes, scripts and rank tables down for the crate to include.

mod categories;
mod ranks;
mod scripts;
mod unicode;

use std::path::PathBuf;

fn main() {
    println!("cargo::rerun-if-changed=build");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    unicode::write_tables(&out);
    scripts::write_tables(&out);
    categories::write_tables(&out);
    ranks::write_tables(&out);
}
