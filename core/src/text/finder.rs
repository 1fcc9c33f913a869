//! Automata that find given texts in others.

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, AhoCorasickKind, BuildError, MatchKind};

/// So many bytes of texts may become a table with a row for each: it is the fastest, and for texts that repeat a letter it is
/// made in the square of their length.
const FEW_BYTES: usize = 1 << 12;

/// Compiles what finds texts, of several at a place the one that `kind` says.
///
/// # Errors
/// If there are too many, or they are too long.
pub fn finder<T: AsRef<[u8]>>(texts: &[T], kind: MatchKind) -> Result<AhoCorasick, BuildError> {
    let bytes: usize = texts.iter().map(|text| text.as_ref().len()).sum();
    AhoCorasickBuilder::new()
        .match_kind(kind)
        .kind((bytes > FEW_BYTES).then_some(AhoCorasickKind::ContiguousNFA))
        .build(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_found_does_not_depend_on_how_long_all_are() {
        for kind in [MatchKind::LeftmostFirst, MatchKind::LeftmostLongest] {
            let few = ["ab", "abc", "b", "cab"].map(String::from).to_vec();
            let more = [few.clone(), vec!["x".repeat(FEW_BYTES)]].concat();
            let text = "abcabxxabbcab".repeat(20);
            let [few, more] = [few, more].map(|texts| {
                let finder = finder(&texts, kind).unwrap();
                let found = finder.find_iter(&text);
                found
                    .map(|each| (each.pattern(), each.range()))
                    .collect::<Vec<_>>()
            });
            assert!(few.len() > 60);
            assert_eq!(few, more);
        }
    }
}
