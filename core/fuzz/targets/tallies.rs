//! A tally that was saved is loaded as it was, or refused.
#![no_main]

use std::sync::Arc;

use bpe_core::measure::{Tables, Tally};
use bpe_core::tables::TokenTable;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let tokens = TokenTable::of(["a", "b", "ab"]).expect("three tokens");
    let tables = Arc::new(Tables::new(tokens, [], &[], &[]).expect("no special tokens"));
    if let Ok(tally) = Tally::load(tables.clone(), bytes) {
        let saved = tally.dump();
        let again = Tally::load(tables, &saved).expect("it was saved");
        assert_eq!(again.dump(), saved);
    }
});
