//! Documents whose ids do not decode to them.

use crate::decode::{self, Chain, SpecialTable};
use crate::documents::{self, Documents, Task};
use crate::error::{Result, ensure};
use crate::tables::TokenTable;

/// What makes text of ids again.
pub trait Reader: Sync {
    /// Gives the bytes of ids.
    ///
    /// # Errors
    /// As the decoder.
    fn read(&self, ids: &[u32]) -> Result<Vec<u8>>;

    /// Whether ids read as a text.
    fn gives_back(&self, ids: &[u32], text: &[u8]) -> bool {
        self.read(ids).as_deref() == Ok(text)
    }
}

/// How many ids are read at once, where that changes nothing.
const IDS_AT_ONCE: usize = 1 << 16;

/// Tokens that are joined as they are.
#[derive(Debug)]
pub struct Joined<'a> {
    /// What each adds.
    pub tokens: &'a TokenTable<'a>,
    /// The special ones.
    pub special: SpecialTable<'a>,
}

impl Reader for Joined<'_> {
    fn read(&self, ids: &[u32]) -> Result<Vec<u8>> {
        decode::decode(ids, self.tokens, self.special)
    }
}

impl Reader for Chain<'_> {
    fn read(&self, ids: &[u32]) -> Result<Vec<u8>> {
        self.decode(ids)
    }

    fn gives_back(&self, ids: &[u32], text: &[u8]) -> bool {
        if self.decoder.is_local() {
            self.in_parts(ids, text, IDS_AT_ONCE)
        } else {
            self.read(ids).as_deref() == Ok(text)
        }
    }
}

impl Chain<'_> {
    /// Reads ids part by part, each behind the last id of the part before, whose own text is left out:
    /// it is not the first of all then.
    fn in_parts(&self, ids: &[u32], text: &[u8], at_once: usize) -> bool {
        let (mut start, mut rest, mut before) = (0, text, Vec::new());
        while start < ids.len() {
            let mut end = ids.len().min(start + at_once);
            while end < ids.len() && !self.can_cut(ids[end - 1], ids[end]) {
                end += 1;
            }
            let known = before.len();
            before.extend_from_slice(&ids[start..end]);
            let own = if known == 0 {
                Ok(Vec::new())
            } else {
                self.read(&before[..known])
            };
            let (Ok(own), Ok(read)) = (own, self.read(&before)) else {
                return false;
            };
            let Some(left) = read
                .strip_prefix(&own[..])
                .and_then(|new| rest.strip_prefix(new))
            else {
                return false;
            };
            rest = left;
            before.clear();
            before.push(ids[end - 1]);
            start = end;
        }
        rest.is_empty()
    }
}

/// Gives the numbers of the documents that do not come back, ascending. One that cannot be decoded at
/// all does not come back.
///
/// # Errors
/// [`Error::Invalid`](crate::Error::Invalid) for ends that contradict the text or the ids.
pub fn failures(
    reader: &impl Reader,
    (ids, ends): (&[u32], &[u64]),
    documents: &Documents<'_>,
    threads: usize,
) -> Result<Vec<u64>> {
    documents.check()?;
    ensure!(
        ends.len() == documents.ends.len()
            && ends.is_sorted()
            && ends.last().copied().unwrap_or(0) == ids.len() as u64,
        "the ids do not end where their documents do"
    );
    // Whole documents only: nothing is cut.
    let tasks = documents::tasks(documents, |_| 0, None);
    let found = documents::run(
        &tasks,
        threads,
        || (),
        |(), task: &Task| {
            let begin = |ends: &[u64], document: usize| match document {
                0 => 0,
                _ => ends[document - 1] as usize,
            };
            let range =
                |ends: &[u64], document: usize| begin(ends, document)..ends[document] as usize;
            let closed = task.document..task.document + task.closed_documents;
            let failed = closed.filter(|&document| {
                let text = &documents.text[range(documents.ends, document)];
                !reader.gives_back(&ids[range(ends, document)], text)
            });
            Ok(failed.map(|document| document as u64).collect::<Vec<_>>())
        },
        |()| (),
    )?;
    Ok(found.concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::{Decoder, Reading, Strings};

    #[test]
    fn parts_read_as_the_whole() {
        let spelt = ["\u{2581}a", "b", "<0xC3>", "<0xA9>", "\u{2581}", "<s>"];
        let mut ends = Vec::new();
        let mut blob = Vec::new();
        for token in spelt {
            blob.extend_from_slice(token.as_bytes());
            ends.push(blob.len() as u32);
        }
        let marks = r#"{"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": true}"#;
        let replaces = r#"{"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}"#;
        let strips = r#"{"type": "Strip", "content": " ", "start": 1, "stop": 0}"#;
        let bytes = r#"{"type": "ByteFallback"}"#;
        let fuses = r#"{"type": "Fuse"}"#;
        let visible = r#"{"type": "ByteLevel"}"#;
        for chain in [
            format!("[{marks}]"),
            format!("[{replaces}, {bytes}, {fuses}, {strips}]"),
            format!("[{visible}]"),
        ] {
            let decoder = Decoder::from_json(&chain).unwrap();
            assert!(decoder.is_local());
            let reader = Chain {
                decoder: &decoder,
                tokens: Strings {
                    blob: &blob,
                    ends: &ends,
                },
                special: SpecialTable::default(),
                reading: Reading::default(),
            };
            for ids in [
                &[0, 1, 4, 0, 2, 3, 0, 1][..],
                &[4, 4, 4, 0, 0],
                &[2, 3, 1],
                &[],
            ] {
                let text = reader.read(ids).unwrap();
                let other = [&text[..], b"b"].concat();
                for at_once in 1..4 {
                    assert!(reader.in_parts(ids, &text, at_once), "{ids:?} {at_once}");
                    assert!(!reader.in_parts(ids, &other, at_once));
                }
            }
        }
        for chain in [
            format!("[{fuses}, {replaces}]"),
            format!("[{fuses}, {visible}]"),
        ] {
            assert!(!Decoder::from_json(&chain).unwrap().is_local());
        }
    }

    #[test]
    fn names_what_does_not_come_back() {
        let tokens = TokenTable::new(b"abab"[..].into(), vec![1, 2, 4].into()).unwrap();
        let reader = Joined {
            tokens: &tokens,
            special: SpecialTable::default(),
        };
        let documents = Documents {
            text: b"abaXab",
            ends: &[2, 2, 3, 4, 6],
            continued: false,
        };
        let of = |ids: &[u32], ends: &[u64]| failures(&reader, (ids, ends), &documents, 2);
        assert_eq!(of(&[2, 0, 7, 0, 1], &[1, 1, 2, 3, 5]), Ok(vec![3]));
        assert_eq!(of(&[2, 0, 7, 0, 1], &[1, 2, 2, 4, 5]), Ok(vec![1, 2, 3, 4]));
        assert!(of(&[2], &[1]).is_err());
    }
}
