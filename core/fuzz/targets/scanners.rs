//! Every scanner gives the pieces that its expression gives, run as a regex engine runs it.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| bpe_core::split::hold_to_oracle(text));
