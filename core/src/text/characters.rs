//! From places in bytes to places in characters.

use crate::text::continues;

/// Turns spans of bytes, ascending but for short steps back, into spans of characters.
#[derive(Debug)]
pub struct Characters<'a> {
    text: &'a [u8],
    is_ascii: bool,
    /// Up to where characters were counted, and how many begin before.
    reached: usize,
    begun: u64,
}

impl<'a> Characters<'a> {
    /// The characters of a text that is UTF-8.
    pub fn new(text: &'a [u8]) -> Self {
        Self {
            text,
            is_ascii: text.is_ascii(),
            reached: 0,
            begun: 0,
        }
    }

    /// The characters that the bytes of a span are of; without bytes, it is between two of them.
    pub fn span(&mut self, start: u64, end: u64) -> (u64, u64) {
        if self.is_ascii {
            return (start, end);
        }
        let begun = self.begun_before(start as usize);
        let first = self.text.get(start as usize);
        let is_inside = start < end && first.is_some_and(|&byte| continues(byte));
        (
            begun - u64::from(is_inside),
            self.begun_before(end as usize),
        )
    }

    /// How many characters begin before an offset.
    fn begun_before(&mut self, offset: usize) -> u64 {
        let offset = offset.min(self.text.len());
        let begun =
            |stretch: &[u8]| stretch.iter().filter(|&&byte| !continues(byte)).count() as u64;
        if offset < self.reached {
            return self.begun - begun(&self.text[offset..self.reached]);
        }
        self.begun += begun(&self.text[self.reached..offset]);
        self.reached = offset;
        self.begun
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_span_is_what_the_text_says() {
        let text = "a\u{e9}\u{4f60}b\u{1f600}\u{301}";
        let chars = |upto: usize| {
            text.as_bytes()[..upto]
                .iter()
                .filter(|&&byte| !continues(byte))
                .count() as u64
        };
        let mut compared = 0;
        for start in 0..=text.len() {
            for end in start..=text.len() {
                let mut characters = Characters::new(text.as_bytes());
                let _ = characters.span(0, text.len() as u64 / 2); // so that some spans are steps back
                let first = chars(start) - u64::from(start < end && !text.is_char_boundary(start));
                assert_eq!(
                    characters.span(start as u64, end as u64),
                    (first, chars(end)),
                    "{start}..{end}"
                );
                compared += 1;
            }
        }
        assert_eq!(compared, (text.len() + 1) * (text.len() + 2) / 2);
    }

    #[test]
    fn of_ascii_they_are_the_bytes() {
        assert_eq!(Characters::new(b"plain").span(1, 3), (1, 3));
    }
}
