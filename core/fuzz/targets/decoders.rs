//! A chain of decoders, whatever it is, is refused or decodes any ids.
//!
//! The first line is the chain, as JSON; what follows are the ids.
#![no_main]

use bpe_core::decode::{Chain, Decoder, Reading, SpecialTable, Strings};
use libfuzzer_sys::fuzz_target;

const TOKENS: [&str; 12] = [
    "▁", "a", "##b", "<0xE5>", "<0x0A>", "Ġc", "</w>", "好", "é", " ", "▁▁d.", "|",
];

fuzz_target!(|data: &[u8]| {
    let mut parts = data.splitn(2, |&byte| byte == b'\n');
    let chain = parts.next().and_then(|json| std::str::from_utf8(json).ok());
    let Some(Ok(decoder)) = chain.map(Decoder::from_json) else {
        return;
    };
    let ids = parts.next().unwrap_or_default().iter();
    let ids: Vec<u32> = ids.map(|&byte| u32::from(byte) % 13).collect();
    let blob = TOKENS.concat();
    let ends = TOKENS.iter().scan(0, |end, token| {
        *end += token.len() as u32;
        Some(*end)
    });
    let ends: Vec<u32> = ends.collect();
    let tokens = Strings {
        blob: blob.as_bytes(),
        ends: &ends,
    };
    let special = SpecialTable {
        ids: &[12],
        blob: b"<s>",
        ends: &[3],
    };
    for reading in [Reading(&[Reading::LEFT_OUT]), Reading::default()] {
        let chain = Chain {
            decoder: &decoder,
            tokens,
            special,
            reading,
        };
        let _ = chain.decode(&ids);
        let _ = chain.last_cut(&ids);
    }
});
