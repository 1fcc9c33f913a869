//! Reads JSON without building anything of it.
//!
//! It is strict about what it takes, and gives None for all else: whoever calls it has a slow and
//! plain reader for that, which knows what to say.
//!
//! A visitor of `serde_json` was weighed and left: on a document of 2 MB with 50,000 tokens and as many merges it takes 51
//! million instructions to go through the strings and keep the tokens, with no merge looked up, where all of
//! `Written::cut` takes 65, a third of that in this file; and it does not say where a value stood, which is what cutting
//! out needs.

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
        Self { text, at: 0 }
    }

    /// Where it stands.
    #[must_use]
    pub fn place(&self) -> usize {
        self.at
    }

    /// Gives the next byte that is no white space, without taking it.
    pub fn peek(&mut self) -> Option<u8> {
        loop {
            let byte = *self.text.get(self.at)?;
            if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                return Some(byte);
            }
            self.at += 1;
        }
    }

    /// Takes a byte, and white space before it.
    pub fn take(&mut self, wanted: u8) -> Option<()> {
        (self.peek()? == wanted).then(|| self.at += 1)
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
        let mut from = start;
        loop {
            scratch.extend_from_slice(&self.text[from..self.at]);
            self.at += 1;
            if self.text[self.at - 1] == b'"' {
                return Some(scratch);
            }
            self.escape(scratch)?;
            from = self.at;
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

#[cfg(test)]
mod tests {
    use super::Reader;
    use proptest::prelude::*;

    /// The oracle: the same by `serde_json`.
    fn by_serde(text: &str) -> Option<String> {
        serde_json::from_str(text).ok()
    }

    fn string(text: &str) -> Option<String> {
        let mut reader = Reader::new(text.as_bytes());
        let found = reader.string(&mut Vec::new())?.to_vec();
        (reader.peek().is_none()).then(|| String::from_utf8(found).unwrap())
    }

    #[test]
    fn strings_are_those_of_serde() {
        for text in [
            r#""""#,
            r#""a""#,
            r#""eight by""#,
            r#""longer than eight bytes""#,
            r#" "a\"b" "#,
            r#""\u0120t""#,
            r#""\ud83d\ude00""#,
            r#""\ud83d""#,
            r#""\ud83d\u0041""#,
            r#""\ude00""#,
            r#""\x""#,
            r#""\u12"#,
            r#"""#,
            r#""a\"#,
            "\"a\nb\"",
            "\"a\u{7f}é東😀\"",
            r#""\b\f\n\r\t\/\\""#,
            r#""1234567\"9""#,
            r#""12345678\u00e9""#,
        ] {
            assert_eq!(string(text), by_serde(text), "{text}");
        }
    }

    #[test]
    fn numbers_are_whole_and_small() {
        for (text, number) in [
            ("0", Some(0)),
            (" 17,", Some(17)),
            ("999999999]", Some(999_999_999)),
            ("1000000000", None),
            ("01", None),
            ("-1", None),
            ("1.0", None),
            ("1e3", None),
            ("", None),
            ("x", None),
        ] {
            assert_eq!(Reader::new(text.as_bytes()).number(), number, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_string_is_that_of_serde(inner in r#"([a-z" \\nué東]|\\["\\/bfnrt]|\\u[0-9a-fD-E]{4}|\\ud83d\\ude0[0-9]|[\x00-\x1f]){0,12}"#) {
            let text = format!("\"{inner}\"");
            prop_assert_eq!(string(&text), by_serde(&text));
        }

        #[test]
        fn a_value_is_gone_past(text in r#"[\[\]{}",:\\ 1a]{0,24}"#) {
            let mut values = serde_json::Deserializer::from_str(&text).into_iter::<serde_json::Value>();
            if let Some(Ok(value)) = values.next() {
                // A number or word ends where something else begins, so one more byte tells.
                let end = values.byte_offset();
                let whole = format!("{} ", &text[..end]);
                let mut reader = Reader::new(whole.as_bytes());
                prop_assert_eq!(reader.skip(), Some(()), "{:?}", value);
                prop_assert_eq!(reader.place(), end);
            }
            let _ = Reader::new(text.as_bytes()).skip();
        }
    }
}
