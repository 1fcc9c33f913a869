//! A list of byte strings in one stretch of memory: what one decoder hands to the next.

/// What a string is, as far as decoders ask.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Text.
    #[default]
    Text,
    /// The unknown token.
    Unknown,
    /// Bytes that were spelt out one by one: nothing in them is a mark.
    Bytes,
}

/// A list of byte strings, one after the other, each with its kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pieces {
    bytes: Vec<u8>,
    ends: Vec<(usize, Kind)>,
}

impl Pieces {
    /// Adds a string.
    pub fn push(&mut self, piece: &[u8], kind: Kind) {
        self.bytes.extend_from_slice(piece);
        self.close(kind);
    }

    /// Adds bytes to a string that [`Pieces::close`] has yet to end.
    pub fn extend(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Ends the string that [`Pieces::extend`] has made.
    pub fn close(&mut self, kind: Kind) {
        self.ends.push((self.bytes.len(), kind));
    }

    /// The string that [`Pieces::extend`] has made and [`Pieces::close`] has not ended.
    #[must_use]
    pub fn open(&self) -> &[u8] {
        &self.bytes[self.ends.last().map_or(0, |&(end, _)| end)..]
    }

    /// The strings and their kinds.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&[u8], Kind)> {
        let mut start = 0;
        self.ends.iter().map(move |&(end, kind)| {
            let piece = &self.bytes[start..end];
            start = end;
            (piece, kind)
        })
    }

    /// How many strings there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Leaves no string, and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Makes one string of all.
    pub fn fuse(&mut self) {
        self.ends.clear();
        self.close(Kind::Text);
    }

    /// All bytes, in order.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}
