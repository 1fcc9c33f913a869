//! A field of each line of JSON as a document.
//!
//! Lines that are plainly right are read here. At any other line reading stops, and the caller reads that line with a
//! slower reader that has good messages. Reading stops at a line that is not JSON or not UTF-8, lacks the field or has it
//! twice, or has a field that is not a string. It also stops at unusual lines: deep nesting, or a number with a hundred digits.

use memchr::memchr;
use simdutf8::basic::from_utf8;

use super::json::Reader;

/// More brackets in one another than this are unusual.
const DEEPEST: usize = 64;

/// Documents that were read from lines of JSON and are not taken yet.
#[derive(Debug, Default)]
pub struct JsonTexts {
    /// The key of the text, as it was given.
    field: Vec<u8>,
    /// The keys on the way to it, if there are dots in it.
    path: Vec<Vec<u8>>,
    texts: Vec<u8>,
    ends: Vec<usize>,
}

/// How far lines were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// The end of the lines, or where one begins that is to be looked at.
    pub place: usize,
    /// How many lines were read.
    pub lines: usize,
}

impl JsonTexts {
    /// Begins without documents. A `field` with dots is a path into objects, unless the line has a key that is spelt so.
    #[must_use]
    pub fn new(field: &[u8]) -> Self {
        let keys = field.split(|&byte| byte == b'.').map(<[u8]>::to_vec);
        let path: Vec<Vec<u8>> = keys.collect();
        Self {
            field: field.to_vec(),
            path: if path.len() > 1 { path } else { Vec::new() },
            ..Self::default()
        }
    }

    /// How many bytes the documents have.
    #[must_use]
    pub fn size(&self) -> usize {
        self.texts.len()
    }

    /// Reads lines, the last of which need not have an end; blank ones are skipped. Stops before the first that is not
    /// plainly right.
    pub fn read(&mut self, lines: &[u8]) -> Stop {
        self.texts.reserve(lines.len());
        let mut stop = Stop { place: 0, lines: 0 };
        while stop.place < lines.len() {
            let rest = &lines[stop.place..];
            let line = &rest[..memchr(b'\n', rest).unwrap_or(rest.len())];
            let before = self.texts.len();
            match self.row(line) {
                Some(false) => {}
                Some(true) => self.ends.push(self.texts.len()),
                None => {
                    self.texts.truncate(before);
                    break;
                }
            }
            stop.place = (stop.place + line.len() + 1).min(lines.len());
            stop.lines += 1;
        }
        stop
    }

    /// Adds a document.
    pub fn add(&mut self, text: &[u8]) {
        self.texts.extend_from_slice(text);
        self.ends.push(self.texts.len());
    }

    /// Gives the documents, one after the other, and where each ends, `offset` added. There are none then.
    pub fn take(&mut self, offset: u64) -> (Vec<u8>, Vec<u64>) {
        let ends = self.ends.drain(..).map(|end| offset + end as u64);
        let ends = ends.collect();
        (std::mem::take(&mut self.texts), ends)
    }

    /// Reads a line: whether it is one, and not blank. None for what is to be looked at.
    fn row(&mut self, line: &[u8]) -> Option<bool> {
        let mut reader = Reader::new(line);
        if reader.peek().is_none() {
            return Some(false);
        }
        from_utf8(line).ok()?;
        let Self {
            field, path, texts, ..
        } = self;
        let (mut found, mut begun) = (0, 0);
        reader.members(&mut |reader, key| {
            if key == field {
                found += 1;
                return reader.append_string(texts);
            }
            match path.split_first() {
                Some((first, rest)) if key == first => {
                    begun += 1;
                    inside(reader, rest, texts)
                }
                _ => reader.value(DEEPEST),
            }
        })?;
        (found + begun == 1 && reader.peek().is_none()).then_some(true)
    }
}

/// Reads the string that a path leads to in an object.
fn inside(reader: &mut Reader<'_>, path: &[Vec<u8>], texts: &mut Vec<u8>) -> Option<()> {
    let (first, rest) = match path {
        [] => return reader.append_string(texts),
        [first, rest @ ..] => (first, rest),
    };
    let mut begun = 0;
    reader.members(&mut |reader, key| {
        if key != first {
            return reader.value(DEEPEST);
        }
        begun += 1;
        inside(reader, rest, texts)
    })?;
    (begun == 1).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    /// What all lines up to the first that is left alone give.
    fn read(field: &str, lines: &str) -> (Vec<String>, Stop) {
        let mut texts = JsonTexts::new(field.as_bytes());
        let stop = texts.read(lines.as_bytes());
        let (text, ends) = texts.take(0);
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let found = starts
            .zip(&ends)
            .map(|(start, &end)| String::from_utf8(text[start as usize..end as usize].to_vec()))
            .map(Result::unwrap)
            .collect();
        (found, stop)
    }

    /// The oracle for a line: the field by `serde_json`, of which a key that comes twice is not asked.
    fn by_serde(field: &str, line: &str) -> Option<String> {
        let value: Value = serde_json::from_str(line).ok()?;
        let whole = value.get(field);
        let nested = || {
            field
                .split('.')
                .try_fold(&value, |value, key| value.as_object()?.get(key))
        };
        Some(whole.or_else(nested)?.as_str()?.to_owned())
    }

    #[test]
    fn reads_lines_and_skips_blank_ones() {
        let (texts, stop) = read(
            "text",
            "{\"text\":\"a\\n\"}\r\n \t\n\n{\"b\":[1],\"text\":\"\"}",
        );
        assert_eq!(texts, ["a\n", ""]);
        assert_eq!((stop.place, stop.lines), (39, 4));
        assert_eq!(read("text", "").1, Stop { place: 0, lines: 0 });
    }

    #[test]
    fn stops_where_a_line_is_to_be_looked_at() {
        for odd in [
            r#"{"text":1}"#,
            r#"{"other":"a"}"#,
            r#"{"text":"a","text":"b"}"#,
            r#"{"text":"a"} x"#,
            r#"{"text":"a","b":01}"#,
            r#"{"text":"a","b":1e999}"#,
            r#"{"text":"a\ud800"}"#,
            r#"{"text":"a","b":"\ud800"}"#,
            r#"{"text":"a""#,
            r#"["text"]"#,
            "\u{feff}{\"text\":\"a\"}",
        ] {
            let lines = format!("{{\"text\":\"x\"}}\n{odd}\n{{\"text\":\"y\"}}\n");
            let (texts, stop) = read("text", &lines);
            assert_eq!(
                (texts, stop.place, stop.lines),
                (vec!["x".to_owned()], 13, 1),
                "{odd}"
            );
        }
        let mut texts = JsonTexts::new(b"text");
        assert_eq!(texts.read(b"{\"text\":\"\xff\"}").place, 0);
        assert_eq!(texts.take(0), (vec![], vec![]));
    }

    #[test]
    fn goes_into_objects() {
        assert_eq!(read("a.b", r#"{"a":{"c":1,"b":"x"}}"#).0, ["x"]);
        assert_eq!(read("a.b", r#"{"a.b":"x"}"#).0, ["x"]);
        for odd in [
            r#"{"a.b":"x","a":{"b":"y"}}"#,
            r#"{"a":{"b":"x"},"a":{"c":"y"}}"#,
            r#"{"a":{"b":"x","b":"y"}}"#,
            r#"{"a":["x"]}"#,
            r#"{"a":{}}"#,
        ] {
            assert_eq!(read("a.b", odd).1.lines, 0, "{odd}");
        }
    }

    #[test]
    fn documents_can_be_added_and_are_taken_once() {
        let mut texts = JsonTexts::new(b"t");
        assert_eq!(texts.read(b"{\"t\":\"ab\"}\n").lines, 1);
        texts.add(b"c");
        assert_eq!(texts.size(), 3);
        assert_eq!(texts.take(10), (b"abc".to_vec(), vec![12, 13]));
        assert_eq!(texts.take(10), (vec![], vec![]));
    }

    proptest! {
        #[test]
        fn a_line_that_is_read_is_that_of_serde(
            line in r#"\{("(a|b|a\.b|t)": ?("[a-z\\"n\u00e9]{0,9}"|\{"b":"x"\}|\{\}|[0-9.e-]{1,4}|\[1,2\]|null|true)[,}]? ?){0,3}\}?"#,
            field in r"a\.b|t|a",
        ) {
            let (texts, stop) = read(&field, &line);
            if stop.lines == 1 {
                prop_assert_eq!(texts.first().cloned(), by_serde(&field, &line));
            } else if let Some(text) = by_serde(&field, &line) {
                // Only a key that comes twice, or stands for two ways, is left alone.
                let first = field.split('.').next().unwrap();
                let quoted = [format!("\"{field}\":"), format!("\"{first}\":"), "\"b\":".to_owned()];
                let keys: usize = quoted.iter().map(|key| line.matches(key.as_str()).count()).sum();
                prop_assert!(keys > 1, "{} {}", line, text);
            }
        }
    }
}
