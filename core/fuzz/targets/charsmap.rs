//! A table of rules, whatever bytes it is of, is refused or rewrites any text; in parts as it does at once.
//!
//! The first two bytes say how long the table is; the rest is text.
#![no_main]

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bpe_core::normalize::Context;
use bpe_core::stages::Stages;
use bpe_core::text::Text;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((length, rest)) = data.split_first_chunk() else {
        return;
    };
    let (table, text) = rest.split_at(rest.len().min(usize::from(u16::from_le_bytes(*length))));
    let table = STANDARD.encode(table);
    for kind in ["Precompiled", "Charsmap"] {
        let spec = format!(
            r#"{{"normalizers": [{{"type": "{kind}", "precompiled_charsmap": "{table}"}}]}}"#
        );
        let Ok(stages) = Stages::from_json(&spec) else {
            continue;
        };
        let context = Context {
            continued: false,
            first: true,
        };
        let [mut with, mut without] = [true, false].map(|origins| Text::new(text, origins));
        let done = [&mut with, &mut without].map(|text| stages.normalize(text, context));
        assert_eq!(done[0], done[1]);
        assert_eq!(with.bytes(), without.bytes(), "origins change no text");
        for at in 0..with.bytes().len() {
            let origin = with.origin(at..at + 1).expect("it keeps them");
            assert!(origin.start <= origin.end && origin.end as usize <= text.len());
        }
    }
});
