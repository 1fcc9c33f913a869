//! Documents whose ids do not decode to them.

use bpe_tables::TokenTable;

use crate::decode::{self, Decoder, Reading, SpecialTable, Strings};
use crate::error::{Error, Result};
use crate::parallel::{self, Documents, Task};

/// What makes text of ids again.
pub trait Reader: Sync {
    /// Gives the bytes of ids.
    ///
    /// # Errors
    /// As the decoder.
    fn read(&self, ids: &[u32]) -> Result<Vec<u8>>;
}

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

/// Tokens that a chain of decoders reads.
#[derive(Debug)]
pub struct Chain<'a> {
    /// The chain.
    pub decoder: &'a Decoder,
    /// The tokens.
    pub tokens: Strings<'a>,
    /// The special ones.
    pub special: SpecialTable<'a>,
    /// How those read.
    pub reading: Reading<'a>,
}

impl Reader for Chain<'_> {
    fn read(&self, ids: &[u32]) -> Result<Vec<u8>> {
        decode::decode_chain(self.decoder, ids, self.tokens, self.special, self.reading)
    }
}

/// Gives the numbers of the documents that do not come back, ascending. One that cannot be decoded at
/// all does not come back.
///
/// # Errors
/// [`Error::Invalid`] for ends that contradict the text or the ids.
pub fn failures(
    reader: &impl Reader,
    (ids, ends): (&[u32], &[u64]),
    documents: &Documents<'_>,
    threads: usize,
) -> Result<Vec<u64>> {
    documents.check()?;
    if ends.len() != documents.ends.len()
        || !ends.is_sorted()
        || ends.last().copied().unwrap_or(0) != ids.len() as u64
    {
        let sentence = "the ids do not end where their documents do";
        return Err(Error::Invalid(sentence.to_owned()));
    }
    // Whole documents only: nothing is cut.
    let tasks = parallel::tasks(documents, |_| 0, None);
    let found = parallel::run(
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
            let closed = task.document..task.document + task.closes;
            let failed = closed.filter(|&document| {
                let read = reader.read(&ids[range(ends, document)]);
                read.as_deref() != Ok(&documents.text[range(documents.ends, document)])
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
