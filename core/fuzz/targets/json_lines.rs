//! Lines of JSON: what is read here is what serde_json reads, and where nothing is read there is a reason.
#![no_main]

use bpe_core::text::json_lines::JsonTexts;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

const FIELD: &str = "a.b";

/// The field of a line by another reader.
fn by_serde(line: &[u8]) -> Option<String> {
    let value: Value = serde_json::from_slice(line).ok()?;
    let nested = || value.get("a")?.get("b");
    Some(value.get(FIELD).or_else(nested)?.as_str()?.to_owned())
}

fuzz_target!(|data: &[u8]| {
    let mut texts = JsonTexts::new(FIELD.as_bytes());
    let stop = texts.read(data);
    assert!(stop.place <= data.len());
    let (text, ends) = texts.take(0);
    let mut starts = std::iter::once(0).chain(ends.iter().copied());
    let read = &data[..stop.place];
    let lines = read.split(|&byte| byte == b'\n');
    let rows = lines.filter(|line| !line.iter().all(|byte| b" \t\r".contains(byte)));
    let mut number = 0;
    for row in rows {
        let start = starts.next().expect("a start") as usize;
        let found = &text[start..ends[number] as usize];
        assert_eq!(by_serde(row).expect("JSON").as_bytes(), found);
        number += 1;
    }
    assert_eq!(number, ends.len());
    if stop.place < data.len() {
        let rest = &data[stop.place..];
        let end = rest.iter().position(|&byte| byte == b'\n');
        assert!(!rest[..end.unwrap_or(rest.len())].is_empty());
    }
});
