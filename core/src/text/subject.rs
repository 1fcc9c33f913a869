//! Any bytes as text that an expression can be matched in.

use std::borrow::Cow;

use super::STRAY;

/// A text as an expression sees it: each stray byte is a letter.
#[derive(Clone, Debug)]
pub struct Subject<'a> {
    text: Cow<'a, str>,
    /// Offsets of the stray bytes in the text as it is.
    strays: Vec<usize>,
}

/// How much longer the letter is than the stray byte that it stands for.
const GROWTH: usize = 3;

impl<'a> Subject<'a> {
    /// Reads a text.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        if let Ok(text) = std::str::from_utf8(bytes) {
            return Self {
                text: Cow::Borrowed(text),
                strays: Vec::new(),
            };
        }
        let mut text = String::with_capacity(bytes.len());
        let mut strays = Vec::new();
        for chunk in bytes.utf8_chunks() {
            text.push_str(chunk.valid());
            for &byte in chunk.invalid() {
                strays.push(text.len() - GROWTH * strays.len());
                text.extend(char::from_u32(STRAY + u32::from(byte)));
            }
        }
        Self {
            text: Cow::Owned(text),
            strays,
        }
    }

    /// The text with a letter for each stray byte.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Gives the offset with letters for an offset in the text as it is.
    #[must_use]
    pub fn to_letters(&self, at: usize) -> usize {
        at + GROWTH * self.strays.partition_point(|&stray| stray < at)
    }

    /// Gives the offset in the text as it is for an offset with letters.
    #[must_use]
    pub fn to_bytes(&self, at: usize) -> usize {
        let (mut low, mut high) = (0, self.strays.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.strays[middle] + GROWTH * middle < at {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        at - GROWTH * low
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_told_both_ways() {
        let subject = Subject::new(b"a\xFF\xE4\xB8 \xC3\xA9\x80,\xF0");
        assert_eq!(
            subject.text(),
            "a\u{144FF}\u{144E4}\u{144B8} é\u{14480},\u{144F0}"
        );
        for at in [0, 1, 2, 3, 4, 5, 7, 8, 9, 10] {
            assert_eq!(subject.to_bytes(subject.to_letters(at)), at);
        }
        assert_eq!(Subject::new("é".as_bytes()).text(), "é");
    }
}
