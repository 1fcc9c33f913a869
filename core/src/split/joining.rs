//! What becomes of the matches of a pattern and of what lies between them.

use std::ops::Range;

use super::pieces::Behavior;

/// Makes pieces of matches and of the stretches between them, told from left to right.
///
/// Empty matches count: they part what lies around them as any match does, but are no pieces.
#[derive(Debug)]
pub(super) struct Joiner<'a> {
    behavior: Behavior,
    invert: bool,
    /// The last piece, to which something may still be added.
    held: Option<Range<usize>>,
    /// Whether what was told last matches.
    matched: bool,
    pieces: &'a mut Vec<Range<usize>>,
}

impl<'a> Joiner<'a> {
    /// Begins a text whose pieces go after others. With `invert`, what is told to match does not, and
    /// the other way round.
    pub fn new(behavior: Behavior, invert: bool, pieces: &'a mut Vec<Range<usize>>) -> Self {
        Self {
            behavior,
            invert,
            held: None,
            matched: false,
            pieces,
        }
    }

    /// Takes the next stretch.
    #[inline]
    fn tell(&mut self, range: Range<usize>, matches: bool) {
        let matches = matches != self.invert;
        let joins = match self.behavior {
            Behavior::Removed | Behavior::Isolated => false,
            Behavior::MergedWithPrevious => matches && !self.matched,
            Behavior::MergedWithNext => !matches && self.matched,
            Behavior::Contiguous => matches == self.matched,
        };
        self.matched = matches;
        match &mut self.held {
            Some(held) if joins => held.end = range.end,
            _ => {
                self.flush();
                let removed = matches && self.behavior == Behavior::Removed;
                self.held = (!removed).then_some(range);
            }
        }
    }

    /// Takes all stretches of a text: the matches and what lies between them.
    pub fn tell_matches<E>(
        &mut self,
        text: Range<usize>,
        matches: impl Iterator<Item = Result<Range<usize>, E>>,
    ) -> Result<(), E> {
        let mut at = text.start;
        for found in matches {
            let found = found?;
            if at < found.start {
                self.tell(at..found.start, false);
            }
            at = found.end;
            self.tell(found, true);
        }
        if at < text.end {
            self.tell(at..text.end, false);
        }
        Ok(())
    }

    /// Ends the text.
    pub fn finish(mut self) {
        self.flush();
    }

    #[inline]
    fn flush(&mut self) {
        self.pieces
            .extend(self.held.take().filter(|held| !held.is_empty()));
    }
}

#[cfg(test)]
mod tests {
    use super::Behavior::{Contiguous, Isolated, MergedWithNext, MergedWithPrevious, Removed};
    use super::*;

    /// Cuts at each hyphen, and where nothing but a place before an `E` matches.
    fn cut(text: &str, behavior: Behavior, invert: bool) -> Vec<&str> {
        let mut pieces = Vec::new();
        let mut joiner = Joiner::new(behavior, invert, &mut pieces);
        let matches = text
            .match_indices(['-', 'E'])
            .map(|(at, found)| Ok::<_, ()>(at..at + usize::from(found == "-")));
        joiner.tell_matches(0..text.len(), matches).unwrap();
        joiner.finish();
        pieces.into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn behaviours() {
        let text = "the-final--countdown";
        assert_eq!(cut(text, Removed, false), ["the", "final", "countdown"]);
        assert_eq!(cut(text, Removed, true), ["-", "-", "-"]);
        for invert in [false, true] {
            assert_eq!(
                cut(text, Isolated, invert),
                ["the", "-", "final", "-", "-", "countdown"]
            );
            assert_eq!(
                cut(text, Contiguous, invert),
                ["the", "-", "final", "--", "countdown"]
            );
        }
        assert_eq!(
            cut(text, MergedWithPrevious, false),
            ["the-", "final-", "-", "countdown"]
        );
        assert_eq!(
            cut(text, MergedWithNext, false),
            ["the", "-final", "-", "-countdown"]
        );
        assert_eq!(
            cut(text, MergedWithPrevious, true),
            ["the", "-final", "-", "-countdown"]
        );
        assert_eq!(
            cut(text, MergedWithNext, true),
            ["the-", "final-", "-", "countdown"]
        );
        assert_eq!(cut("-a-", MergedWithPrevious, false), ["-", "a-"]);
        assert_eq!(cut("-a-", MergedWithNext, false), ["-a", "-"]);
    }

    #[test]
    fn empty_matches_part() {
        for behavior in [
            Removed,
            Isolated,
            MergedWithPrevious,
            MergedWithNext,
            Contiguous,
        ] {
            assert_eq!(cut("xEyy", behavior, false), ["x", "Eyy"], "{behavior:?}");
        }
        assert_eq!(cut("xEyy", Removed, true), [""; 0]);
    }
}
