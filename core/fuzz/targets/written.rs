//! The reader that cuts vocabularies out of JSON reads what serde_json reads.
#![no_main]

use bpe_core::written::Written;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|document: &[u8]| {
    let Some((written, rest)) = Written::cut(document, b"m", b"v", b"p") else {
        return;
    };
    for prefix in [&b""[..], b"##"] {
        for visible in [false, true] {
            let _ = written.tables(prefix, &[0, 1], visible);
        }
    }
    // Nobody has checked the rest: that is the caller's, who reads it.
    let (Ok(whole), Ok(mut rest)) = (
        serde_json::from_slice::<Value>(document),
        serde_json::from_slice::<Value>(&rest),
    ) else {
        return;
    };
    let model = &whole["m"];
    let tokens = model["v"].as_object().expect("the reader has cut it out");
    for (text, id) in tokens {
        let id = id.as_u64().expect("the reader has read it") as u32;
        assert_eq!(written.id_of(text.as_bytes()), Some(id));
        assert_eq!(written.text_of(id), Some(text.as_str()));
    }
    rest["m"]["v"] = model["v"].clone();
    rest["m"]["p"] = model["p"].clone();
    assert_eq!(rest, whole);
});
