//! Special tokens in text: leftmost, and among those that begin there the longest.

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, MatchKind};

use crate::error::{Error, Result};

/// Finds special tokens.
#[derive(Debug)]
pub struct SpecialMatcher {
    automaton: AhoCorasick,
    contents: Vec<Vec<u8>>,
    ids: Vec<u32>,
}

impl SpecialMatcher {
    /// Compiles the contents to look for; `ids` has the id of each.
    ///
    /// # Errors
    /// Says that a content is empty, or that the lists differ in length.
    pub fn new(contents: Vec<Vec<u8>>, ids: Vec<u32>) -> Result<Self> {
        if contents.len() != ids.len() {
            let sentence = format!("{} special tokens have {} ids", contents.len(), ids.len());
            return Err(Error::Invalid(sentence));
        }
        if contents.iter().any(Vec::is_empty) {
            return Err(Error::Invalid("a special token is empty".to_owned()));
        }
        let automaton = AhoCorasickBuilder::new()
            .match_kind(MatchKind::LeftmostLongest)
            .build(&contents)
            .map_err(|error| {
                Error::Invalid(format!("special tokens cannot be searched for: {error}"))
            })?;
        Ok(Self {
            automaton,
            contents,
            ids,
        })
    }

    /// Gives (start, end, id) of the first occurrence at or after `at`.
    #[must_use]
    pub fn find_at(&self, text: &[u8], at: usize) -> Option<(usize, usize, u32)> {
        let found = self
            .automaton
            .find(aho_corasick::Input::new(text).range(at..))?;
        Some((
            found.start(),
            found.end(),
            self.ids[found.pattern().as_usize()],
        ))
    }

    /// Whether some tokens are looked for in normalized text.
    #[must_use]
    pub fn looks_in_normalized(&self) -> bool {
        false
    }

    /// The same as [`SpecialMatcher::find_at`] for the tokens that are looked for in normalized text.
    #[must_use]
    pub fn find_normalized_at(&self, _text: &[u8], _at: usize) -> Option<(usize, usize, u32)> {
        None
    }

    /// Tells whether an occurrence that begins before the offset `cut` may reach it, also one that goes
    /// on past the end of `text`. One that ends at the cut counts: what follows a special token is the
    /// beginning of a text, which matters where a space is put before that.
    #[must_use]
    pub fn reaches_cut(&self, text: &[u8], cut: usize) -> bool {
        self.contents.iter().any(|content| {
            (1..=content.len().min(cut)).any(|before| {
                let seen = &text[cut - before..text.len().min(cut - before + content.len())];
                content.starts_with(seen)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matcher(contents: &[&str]) -> SpecialMatcher {
        let contents: Vec<Vec<u8>> = contents.iter().map(|c| c.as_bytes().to_vec()).collect();
        let ids = (0..contents.len() as u32).collect();
        SpecialMatcher::new(contents, ids).unwrap()
    }

    #[test]
    fn takes_the_leftmost_then_the_longest() {
        let matcher = matcher(&["<a>", "<a><b>", "b>"]);
        assert_eq!(matcher.find_at(b"x<a><b>", 0), Some((1, 7, 1)));
        assert_eq!(matcher.find_at(b"x<a><c>", 0), Some((1, 4, 0)));
        assert_eq!(matcher.find_at(b"x<a><b>", 2), Some((5, 7, 2)));
        assert_eq!(matcher.find_at(b"xyz", 0), None);
    }

    #[test]
    fn sees_an_occurrence_at_a_cut() {
        let matcher = matcher(&["<| |>"]);
        assert!(matcher.reaches_cut(b"a<| |>b", 3));
        assert!(
            matcher.reaches_cut(b"a<| ", 3),
            "what follows may complete it"
        );
        assert!(matcher.reaches_cut(b"a<|", 3), "also from the very end");
        assert!(!matcher.reaches_cut(b"a<|x|>b", 3));
        assert!(!matcher.reaches_cut(b"a<| |>b", 1));
        assert!(matcher.reaches_cut(b"a<| |>b", 6), "it ends there");
        assert!(!matcher.reaches_cut(b"a<| |>b", 7));
        assert!(!matcher.reaches_cut(b"a", 0));
    }
}
