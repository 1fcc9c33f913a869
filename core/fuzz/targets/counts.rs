//! Counts that were saved are loaded as they were, or refused.
#![no_main]

use bpe_core::count::Counts;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(counts) = Counts::load(bytes, 1 << 20) {
        let again = Counts::load(&counts.dump(), 1 << 20).expect("it was saved");
        assert!(counts.iter().eq(again.iter()));
        assert_eq!(
            (counts.total(), counts.total_bytes()),
            (again.total(), again.total_bytes())
        );
    }
});
