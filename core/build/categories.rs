//! Writes the sets of characters that the normalizers ask for, as sorted ranges.
//!
//! The components of the normalizer were defined by libraries whose tables are of older Unicode
//! versions than the scanners'. A vocabulary was trained on what those tables made of its text, so the
//! sets here are of those versions: a character that came later is none of theirs.

use std::fmt::Write as _;
use std::path::Path;

use super::unicode::ranges;

/// Name, what it is, and the class that defines it.
const SETS: [(&str, &str, &str); 5] = [
    (
        "NONSPACING_MARKS",
        "Accents as `BertNormalizer` strips them: Mn of Unicode 8.0, but for what changed since.",
        r"[[\p{Mn}\x{1734}\x{1171E}--[\x{1885}\x{1886}\x{A9BD}\x{111C9}]]&&\p{age=8.0}]",
    ),
    (
        "CONTROLS",
        "What `BertNormalizer` leaves out: Cc, Cf and Co of Unicode 8.0 but for three blanks.",
        r"[[\p{Cc}\p{Cf}\p{Co}--[\t\n\r]]&&\p{age=8.0}]",
    ),
    (
        "COMBINING_MARKS",
        "Marks as `StripAccents` strips them: M of Unicode 9.0, but for what changed since.",
        r"[[\p{M}\x{1CF2}\x{1CF3}--\x{111C9}]&&\p{age=9.0}]",
    ),
    ("UNICODE_9", "Characters of Unicode 9.0.", r"\p{age=9.0}"),
    ("UNICODE_16", "Characters of Unicode 16.0.", r"\p{age=16.0}"),
];

/// Write `character_sets.rs` into a folder.
///
/// # Panics
/// When the file cannot be written.
pub fn write_tables(out_dir: &Path) {
    let mut out = String::new();
    for (name, meaning, class) in SETS {
        writeln!(
            out,
            "/// {meaning}\npub(super) static {name}: Set = Set(&{:?});",
            ranges(class)
        )
        .expect("a String takes any text");
    }
    let path = out_dir.join("character_sets.rs");
    std::fs::write(&path, out)
        .unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
}
