//! Sets of characters; `build/categories.rs` says what is in them and why.

/// A set of characters, as ascending ranges.
#[derive(Debug)]
pub(super) struct Set(&'static [(char, char)]);

impl Set {
    /// Whether a character is in it. Complexity: logarithmic.
    pub(super) fn contains(&self, character: char) -> bool {
        let after = self.0.partition_point(|&(first, _)| first <= character);
        after > 0 && character <= self.0[after - 1].1
    }
}

include!(concat!(env!("OUT_DIR"), "/character_sets.rs"));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_what_its_unicode_version_had() {
        assert!(NONSPACING_MARKS.contains('\u{301}') && NONSPACING_MARKS.contains('\u{1734}'));
        assert!(!NONSPACING_MARKS.contains('\u{903}') && COMBINING_MARKS.contains('\u{903}'));
        assert!(CONTROLS.contains('\0') && CONTROLS.contains('\u{E000}'));
        assert!(!CONTROLS.contains('\n') && !CONTROLS.contains('\u{8E2}')); // U+08E2 is of 9.0
        assert!(UNICODE_9.contains('a') && !UNICODE_9.contains('\u{32FF}')); // U+32FF is of 12.1
        assert!(UNICODE_16.contains('\u{1C89}') && !UNICODE_16.contains('\u{A7F1}'));
        assert!(UNICODE_16.contains('\u{10FFFF}') == UNICODE_9.contains('\u{10FFFF}'));
    }
}
