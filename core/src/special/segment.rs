//! What special tokens leave of a text, and what they are in it.

/// A stretch of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segment {
    /// Plain text.
    Text {
        /// Where it begins.
        start: usize,
        /// Where it ends.
        end: usize,
    },
    /// A special token.
    Special {
        /// Its id.
        id: u32,
        /// Where it begins.
        start: usize,
        /// Where it ends.
        end: usize,
    },
}

impl Segment {
    /// The same stretch in a text that has `by` bytes more before it.
    #[must_use]
    pub fn moved(self, by: usize) -> Self {
        match self {
            Self::Text { start, end } => Self::Text {
                start: start + by,
                end: end + by,
            },
            Self::Special { id, start, end } => Self::Special {
                id,
                start: start + by,
                end: end + by,
            },
        }
    }
}
