//! Any expression is refused or cuts any text: its pieces join to the text, found at once or one by one, and where the
//! text may be cut, they are those of its parts.
//!
//! The first byte says how long the expression is; the rest is text.
#![no_main]

use bpe_core::Scanner;
use libfuzzer_sys::fuzz_target;

/// Far look-arounds take quadratic time.
const LONGEST_TEXT: usize = 1000;

fuzz_target!(|data: &[u8]| {
    let Some((&length, rest)) = data.split_first() else {
        return;
    };
    let (expression, text) = rest.split_at(rest.len().min(usize::from(length)));
    let Ok(expression) = std::str::from_utf8(expression) else {
        return;
    };
    let spec = serde_json::json!([{"type": "Pattern", "pattern": expression}]);
    let Ok(scanner) = Scanner::from_json(&spec.to_string()) else {
        return;
    };
    let text = &text[..text.len().min(LONGEST_TEXT)];
    let ends = scanner.split(text);
    assert_eq!(ends.last().copied().unwrap_or(0), text.len() as u64);
    assert!(ends.first() != Some(&0) && ends.is_sorted_by(|one, next| one < next));
    let pieces = scanner.pieces(text).map(|(_, end)| end as u64);
    assert!(pieces.eq(ends.iter().copied()), "some at a time, or one by one");
    let cut = scanner.safe_cut(text);
    if cut > 0 {
        let (before, behind) = text.split_at(cut);
        let behind = scanner.split(behind).into_iter().map(|end| cut as u64 + end);
        let parts: Vec<u64> = scanner.split(before).into_iter().chain(behind).collect();
        assert_eq!(parts, ends, "cut at {cut}");
    }
});
