//! Reads JSON without building anything of it.
//!
//! It is strict about what it takes, and gives None for all else: whoever calls it has a slow and
//! plain reader for that, which knows what to say.
//!
//! A visitor of `serde_json` was weighed and left for tables of tokens: on a document of 2 MB with 50,000 tokens and as many merges it takes 51
//! million instructions to go through the strings and keep the tokens, with no merge looked up, where all of
//! `Written::cut` takes 65, a third of that in this file; and it does not say where a value stood, which is what cutting
//! out needs. For the texts of JSON lines likewise: a GB of documents takes it 1.1 CPU seconds and this 0.7, simd-json
//! 0.7 and sonic-rs, with a dozen crates beneath it, 0.6.

use std::borrow::Cow;

/// Goes through the bytes of a document.
pub struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

/// Eight equal bytes.
const fn each(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// Marks the bytes of a word that end the plain part of a string, quote, backslash and control
/// characters: the lowest mark is right, what stands above it may not be.
const fn marks(word: u64) -> u64 {
    const fn zeros(word: u64) -> u64 {
        word.wrapping_sub(each(1)) & !word & each(0x80)
    }
    let control = word.wrapping_sub(each(0x20)) & !word & each(0x80);
    zeros(word ^ each(b'"')) | zeros(word ^ each(b'\\')) | control
}

impl<'a> Reader<'a> {
    /// Begins a document.
    #[must_use]
    pub fn new(text: &'a [u8]) -> Self {
        Self::at(text, 0)
    }

    /// Begins at a place in a document.
    #[must_use]
    pub fn at(text: &'a [u8], at: usize) -> Self {
        Self { text, at }
    }

    /// Goes to a place in the document.
    pub fn go_to(&mut self, place: usize) {
        self.at = place;
    }

    /// Where it stands.
    #[must_use]
    pub fn place(&self) -> usize {
        self.at
    }

    /// Gives the next byte that is no white space, without taking it.
    #[inline]
    pub fn peek(&mut self) -> Option<u8> {
        loop {
            let byte = *self.text.get(self.at)?;
            if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                return Some(byte);
            }
            self.at += 1;
            // Lines of a document are mostly indented.
            while let Some(word) = self.text[self.at..].first_chunk::<8>() {
                let other = u64::from_le_bytes(*word) ^ each(b' ');
                self.at += other.trailing_zeros() as usize / 8;
                if other != 0 {
                    break;
                }
            }
        }
    }

    /// Takes a byte, and white space before it.
    pub fn take(&mut self, wanted: u8) -> Option<()> {
        (self.peek()? == wanted).then(|| self.at += 1)
    }

    /// The document from a place on to where it stands.
    #[must_use]
    pub fn since(&self, place: usize) -> &'a [u8] {
        &self.text[place..self.at]
    }

    /// Takes these very bytes, if they come next.
    #[inline]
    pub fn passes(&mut self, bytes: &[u8]) -> bool {
        let comes = self.text[self.at..].starts_with(bytes);
        self.at += if comes { bytes.len() } else { 0 };
        comes
    }

    /// Takes what follows an element: true for a comma, false for the closing bracket.
    pub fn goes_on(&mut self, closing: u8) -> Option<bool> {
        let byte = self.peek()?;
        self.at += 1;
        match byte {
            b',' => Some(true),
            _ if byte == closing => Some(false),
            _ => None,
        }
    }

    /// Takes an opening bracket, and the closing one if nothing stands between: tells whether
    /// something does.
    pub fn opens(&mut self, opening: u8, closing: u8) -> Option<bool> {
        self.take(opening)?;
        Some(self.take(closing).is_none())
    }

    /// Reads a string: a part of the document, or if escapes are in it what `scratch` then holds.
    /// Its bytes are as they stand there, be they UTF-8 or not.
    pub fn string<'b>(&mut self, scratch: &'b mut Vec<u8>) -> Option<&'b [u8]>
    where
        'a: 'b,
    {
        self.take(b'"')?;
        let start = self.at;
        self.plain()?;
        if self.text[self.at] == b'"' {
            self.at += 1;
            return Some(&self.text[start..self.at - 1]);
        }
        scratch.clear();
        self.go_on(start, scratch)?;
        Some(scratch)
    }

    /// Reads a string; as [`Reader::string`].
    pub fn text(&mut self) -> Option<Cow<'a, [u8]>> {
        self.take(b'"')?;
        let start = self.at;
        self.plain()?;
        if self.text[self.at] == b'"' {
            self.at += 1;
            return Some(Cow::Borrowed(&self.text[start..self.at - 1]));
        }
        let mut text = Vec::new();
        self.go_on(start, &mut text)?;
        Some(Cow::Owned(text))
    }

    /// Reads a string to the end of `out`; as [`Reader::string`].
    pub fn append_string(&mut self, out: &mut Vec<u8>) -> Option<()> {
        self.take(b'"')?;
        let start = self.at;
        self.plain()?;
        self.go_on(start, out)
    }

    /// Reads the rest of a string, whose plain part from `start` on has been gone past.
    fn go_on(&mut self, mut start: usize, out: &mut Vec<u8>) -> Option<()> {
        loop {
            out.extend_from_slice(&self.text[start..self.at]);
            self.at += 1;
            if self.text[self.at - 1] == b'"' {
                return Some(());
            }
            self.escape(out)?;
            start = self.at;
            self.plain()?;
        }
    }

    /// Goes to the next quote or backslash; None at the end, or at a control character.
    fn plain(&mut self) -> Option<()> {
        while let Some(word) = self.text[self.at..].first_chunk::<8>() {
            let found = marks(u64::from_le_bytes(*word));
            if found != 0 {
                self.at += found.trailing_zeros() as usize / 8;
                return (self.text[self.at] >= 0x20).then_some(());
            }
            self.at += 8;
        }
        loop {
            match *self.text.get(self.at)? {
                b'"' | b'\\' => return Some(()),
                0..0x20 => return None,
                _ => self.at += 1,
            }
        }
    }

    /// Reads what follows a backslash.
    fn escape(&mut self, scratch: &mut Vec<u8>) -> Option<()> {
        let kind = *self.text.get(self.at)?;
        self.at += 1;
        let byte = match kind {
            b'"' | b'\\' | b'/' => kind,
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                let mut units = [self.unit()?, 0];
                let halves = usize::from(matches!(units[0], 0xD800..0xDC00));
                if halves == 1 {
                    if self.text.get(self.at..self.at + 2)? != b"\\u" {
                        return None;
                    }
                    self.at += 2;
                    units[1] = self.unit()?;
                }
                let character = char::decode_utf16(units[..=halves].iter().copied())
                    .next()?
                    .ok()?;
                scratch.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                return Some(());
            }
            _ => return None,
        };
        scratch.push(byte);
        Some(())
    }

    /// Reads four hexadecimal digits.
    fn unit(&mut self) -> Option<u16> {
        let digits = self.text.get(self.at..self.at + 4)?;
        self.at += 4;
        digits.iter().try_fold(0, |number, &digit| {
            Some(number << 4 | char::from(digit).to_digit(16)? as u16)
        })
    }

    /// Reads a whole number of at most nine digits.
    pub fn number(&mut self) -> Option<u32> {
        let first = self.peek()?;
        let start = self.at;
        let mut number = 0u32;
        while let Some(digit @ b'0'..=b'9') = self.text.get(self.at) {
            number = number
                .wrapping_mul(10)
                .wrapping_add(u32::from(digit - b'0'));
            self.at += 1;
        }
        let digits = self.at - start;
        let ends = !matches!(self.text.get(self.at), Some(b'.' | b'e' | b'E'));
        let plain = (1..10).contains(&digits) && (digits == 1 || first != b'0');
        (plain && ends).then_some(number)
    }

    /// Reads the members of an object, each by `read`, which gets the key.
    pub fn members(&mut self, read: &mut dyn FnMut(&mut Self, &[u8]) -> Option<()>) -> Option<()> {
        let mut scratch = Vec::new();
        let mut more = self.opens(b'{', b'}')?;
        while more {
            let key = self.string(&mut scratch)?;
            self.take(b':')?;
            read(self, key)?;
            more = self.goes_on(b'}')?;
        }
        Some(())
    }

    /// Goes past a value that is one, in at most `depth` brackets: all of it is looked at but whether it is UTF-8.
    pub fn value(&mut self, depth: usize) -> Option<()> {
        match self.peek()? {
            b'"' => self.string(&mut Vec::new()).map(|_| ()),
            b'{' => {
                let depth = depth.checked_sub(1)?;
                self.members(&mut |reader, _| reader.value(depth))
            }
            b'[' => {
                let depth = depth.checked_sub(1)?;
                let mut more = self.opens(b'[', b']')?;
                while more {
                    self.value(depth)?;
                    more = self.goes_on(b']')?;
                }
                Some(())
            }
            b't' => self.word(b"true"),
            b'f' => self.word(b"false"),
            b'n' => self.word(b"null"),
            _ => self.decimal(),
        }
    }

    fn word(&mut self, word: &[u8]) -> Option<()> {
        let ahead = self.text[self.at..].starts_with(word);
        ahead.then(|| self.at += word.len())
    }

    /// Goes past a number that no reader of floats finds too large: of at most 100 bytes, its exponent of two digits.
    fn decimal(&mut self) -> Option<()> {
        let start = self.at;
        let _ = self.word(b"-");
        let zero = self.text.get(self.at) == Some(&b'0');
        let digits = self.digits();
        if digits == 0 || (zero && digits > 1) {
            return None;
        }
        if self.word(b".").is_some() && self.digits() == 0 {
            return None;
        }
        if matches!(self.text.get(self.at), Some(b'e' | b'E')) {
            self.at += 1;
            if self.word(b"+").is_none() {
                let _ = self.word(b"-");
            }
            if !(1..=2).contains(&self.digits()) {
                return None;
            }
        }
        (self.at - start <= 100).then_some(())
    }

    /// Goes past digits, and gives their number.
    fn digits(&mut self) -> usize {
        let rest = &self.text[self.at..];
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += digits;
        digits
    }

    /// Goes past a value. Only brackets are counted and strings followed: a value that is none is
    /// gone past as well, or None.
    pub fn skip(&mut self) -> Option<()> {
        let mut depth = 0usize;
        loop {
            match self.peek()? {
                b'"' => self.skip_string()?,
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                    continue;
                }
                b'}' | b']' => {
                    depth = depth.checked_sub(1)?;
                    self.at += 1;
                }
                b',' | b':' => {
                    if depth == 0 {
                        return None;
                    }
                    self.at += 1;
                    continue;
                }
                _ => {
                    let rest = &self.text[self.at..];
                    self.at += rest
                        .iter()
                        .position(|byte| b" \n\r\t,:\"{}[]".contains(byte))?;
                }
            }
            if depth == 0 {
                return Some(());
            }
        }
    }

    fn skip_string(&mut self) -> Option<()> {
        self.at += 1;
        loop {
            self.plain()?;
            self.at += 1;
            if self.text[self.at - 1] == b'"' {
                return Some(());
            }
            self.text.get(self.at)?; // what the backslash stands before
            self.at += 1;
        }
    }
}

/// Whether a document is JSON, in at most 64 brackets, and has no number that a reader could find too large.
#[must_use]
#[cfg(feature = "python")]
pub fn is_plain(document: &[u8]) -> bool {
    let mut reader = Reader::new(document);
    let whole = reader.value(64).is_some() && reader.peek().is_none();
    whole && simdutf8::basic::from_utf8(document).is_ok()
}

#[cfg(test)]
mod tests;
