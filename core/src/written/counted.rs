//! Texts one after the other, each behind the number of its bytes in eight bytes, as files of GGUF have them.

/// The bytes of a number.
const NUMBER: usize = size_of::<u64>();

/// Texts, as they stand in some bytes.
#[derive(Clone, Copy, Debug)]
pub struct Counted<'a> {
    bytes: &'a [u8],
    is_big_endian: bool,
}

impl<'a> Counted<'a> {
    /// Texts that begin where the bytes do.
    #[must_use]
    pub fn new(bytes: &'a [u8], is_big_endian: bool) -> Self {
        Self {
            bytes,
            is_big_endian,
        }
    }

    /// The bytes in which they stand.
    pub(super) fn bytes(self) -> &'a [u8] {
        self.bytes
    }

    /// Goes past so many texts, or as many as are whole; gives how many that are, and the bytes that they take.
    #[must_use]
    pub fn pass(mut self, count: usize) -> (usize, usize) {
        let length = self.bytes.len();
        let passed = self.by_ref().take(count).count();
        (passed, length - self.bytes.len())
    }

    /// What is behind the last whole text.
    #[must_use]
    pub fn rest(self) -> &'a [u8] {
        let (_, place) = self.pass(usize::MAX);
        &self.bytes[place..]
    }
}

impl<'a> Iterator for Counted<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let (number, behind) = self.bytes.split_first_chunk::<NUMBER>()?;
        let length = match self.is_big_endian {
            true => u64::from_be_bytes(*number),
            false => u64::from_le_bytes(*number),
        };
        let (text, rest) = behind.split_at_checked(usize::try_from(length).ok()?)?;
        self.bytes = rest;
        Some(text)
    }
}
