//! A byte-level BPE tokenizer as one value: the short way into this crate.
//!
//! It is an [`Encoder`] with its special tokens. What has other stages or another model is an [`Encoder`] of
//! [`Staged`](crate::encode::Staged).

use crate::count::Counts;
use crate::decode::{self, SpecialTable};
use crate::documents::Documents;
use crate::embedded;
use crate::encode::{Encoder, Plain};
use crate::error::{Result, ensure, invalid};
use crate::memory::budget::Budget;
use crate::models::bpe::Bpe;
use crate::special::SpecialMatcher;
use crate::split::Scanner;
use crate::tables::TokenTable;
use crate::trainers::bpe::{Options, Trainer};

/// Turns text into ids and ids into text. Threads can share one.
///
/// Text is any bytes; what is no UTF-8 comes back as it was.
#[derive(Debug)]
pub struct Tokenizer {
    encoder: Encoder<Plain>,
    merges: Option<Vec<[u32; 3]>>,
    special: Special,
}

/// Special tokens in both directions: ids ascending.
#[derive(Debug, Default)]
struct Special {
    ids: Vec<u32>,
    texts: TokenTable<'static>,
    matcher: Option<SpecialMatcher>,
}

impl Tokenizer {
    /// Makes a tokenizer of tokens in order of rank, as tiktoken does: of neighbours, those are merged
    /// first whose concatenation has the lowest rank. A token's rank is its id; an empty one stands for
    /// an id that is not used.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) if two tokens are the same, one is longer than a kibibyte, or there are too many.
    pub fn from_ranks(
        tokens: impl IntoIterator<Item = impl AsRef<[u8]>>,
        scanner: Scanner,
    ) -> Result<Self> {
        Ok(Self::new(
            scanner,
            Bpe::from_ranks(TokenTable::of(tokens)?)?,
            None,
        ))
    }

    /// Makes a tokenizer of tokens in order of id, and merges (left id, right id, product's id) in order of
    /// priority.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) as for [`Tokenizer::from_ranks`], and if a product is not its two parts joined.
    pub fn from_merges(
        tokens: impl IntoIterator<Item = impl AsRef<[u8]>>,
        merges: &[[u32; 3]],
        scanner: Scanner,
    ) -> Result<Self> {
        let model = Bpe::from_merges(TokenTable::of(tokens)?, merges, false)?;
        Ok(Self::new(scanner, model, Some(merges.to_vec())))
    }

    /// Makes a tokenizer of ranks that lie in the library, by the sha256 of the file they were published
    /// as. There are some with the feature `embedded` only.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) if there are no such ranks.
    pub fn embedded(sha256: &str, scanner: Scanner) -> Result<Self> {
        let table = embedded::find(sha256).ok_or_else(|| {
            let hint = if embedded::tables().next().is_none() {
                ": the feature `embedded` is off"
            } else {
                ""
            };
            invalid!("no embedded ranks have the sha256 {sha256}{hint}")
        })?;
        Ok(Self::new(scanner, table.model(), None))
    }

    /// Learns merges from texts until there are `vocab_size` tokens, the first 256 being the bytes, or
    /// no pair occurs twice.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) if `vocab_size` is below 256, or counts are too large.
    pub fn train(
        texts: impl IntoIterator<Item = impl AsRef<[u8]>>,
        vocab_size: usize,
        scanner: Scanner,
    ) -> Result<Self> {
        ensure!(
            vocab_size >= 256,
            "a vocabulary of {vocab_size} tokens has no room for the 256 bytes"
        );
        let mut counts = Counts::new(usize::MAX);
        for text in texts {
            let text = text.as_ref();
            let ends = [text.len() as u64];
            counts.add_block(&scanner, None, false, &documents(text, &ends), 1)?;
        }
        let options = Options {
            initial: (0..=u8::MAX).map(|byte| vec![byte]).collect(),
            symbols: (0..256).collect(),
            vocab_size,
            min_frequency: 2,
            ..Options::default()
        };
        let training = Trainer::new(counts.iter(), &options)?.run(&mut |_| Ok(()))?;
        Self::from_merges(training.tokens, &training.merges, scanner)
    }

    fn new(scanner: Scanner, model: Bpe, merges: Option<Vec<[u32; 3]>>) -> Self {
        Self {
            encoder: Encoder::plain(scanner, model, false),
            merges,
            special: Special::default(),
        }
    }

    /// The same tokenizer with these special tokens, (content, id), in the place of any that it has.
    /// [`Tokenizer::decode`] writes them; only [`Tokenizer::encode_with_special_tokens`] reads them.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) if a content is empty, or an id is another token's.
    pub fn with_special_tokens<T: AsRef<[u8]>>(
        self,
        tokens: impl IntoIterator<Item = (T, u32)>,
    ) -> Result<Self> {
        let mut list: Vec<(T, u32)> = tokens.into_iter().collect();
        list.sort_by_key(|&(_, id)| id);
        let ids: Vec<u32> = list.iter().map(|&(_, id)| id).collect();
        let twice = ids.windows(2).find(|two| two[0] == two[1]);
        let taken = ids.iter().find(|&&id| !self.tokens().get(id).is_empty());
        if let Some(id) = twice.map(|two| &two[0]).or(taken) {
            return Err(invalid!("two tokens have the id {id}"));
        }
        let contents: Vec<Vec<u8>> = list
            .iter()
            .map(|(text, _)| text.as_ref().to_vec())
            .collect();
        let texts = TokenTable::of(&contents)?;
        let matcher = SpecialMatcher::new(contents, ids.clone(), &[], None)?;
        let special = Special {
            ids,
            texts,
            matcher: Some(matcher),
        };
        Ok(Self { special, ..self })
    }

    /// Returns the ids of a text; what reads like a special token is text.
    ///
    /// # Errors
    /// [`Error::MissingByte`](crate::Error::MissingByte) if the vocabulary lacks a byte of it.
    pub fn encode(&self, text: impl AsRef<[u8]>) -> Result<Vec<u32>> {
        self.encode_by(text.as_ref(), None)
    }

    /// Returns the ids of a text in which special tokens are found.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`].
    pub fn encode_with_special_tokens(&self, text: impl AsRef<[u8]>) -> Result<Vec<u32>> {
        self.encode_by(text.as_ref(), self.special.matcher.as_ref())
    }

    fn encode_by(&self, text: &[u8], matcher: Option<&SpecialMatcher>) -> Result<Vec<u32>> {
        let ends = [text.len() as u64];
        Ok(self
            .encoder
            .encode(&documents(text, &ends), matcher, 1)?
            .ids)
    }

    /// Returns the ids of each text, found on up to `threads` threads: a long text is shared by several.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`].
    pub fn encode_batch(
        &self,
        texts: impl IntoIterator<Item = impl AsRef<[u8]>>,
        threads: usize,
    ) -> Result<Vec<Vec<u32>>> {
        let (text, ends) = joined(texts);
        let encoded = self
            .encoder
            .encode(&documents(&text, &ends), None, threads)?;
        let mut start = 0;
        let ids = encoded.ends.iter().map(|&end| {
            let end = end as usize;
            encoded.ids[std::mem::replace(&mut start, end)..end].to_vec()
        });
        Ok(ids.collect())
    }

    /// Returns how many ids a text has, without making a list of them.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`].
    pub fn count(&self, text: impl AsRef<[u8]>) -> Result<u64> {
        let text = text.as_ref();
        let ends = [text.len() as u64];
        let counts = self.encoder.count(&documents(text, &ends), None, 1)?;
        Ok(counts.iter().sum())
    }

    /// Gives back the memory in which pieces of earlier texts are remembered; calls that run now keep theirs.
    pub fn clear_cache(&self) {
        self.encoder.clear_cache();
    }

    /// Changes how much of that memory all threads may take together.
    pub fn set_budget(&mut self, budget: Budget) {
        self.encoder.set_budget(budget);
    }

    /// The bytes of that memory, but for those of calls that run now.
    #[must_use]
    pub fn cache_bytes(&self) -> usize {
        self.encoder.cache_bytes()
    }

    /// Returns the bytes of ids: those that were encoded, or of special tokens.
    ///
    /// # Errors
    /// [`Error::MissingId`](crate::Error::MissingId) if no token has one of them.
    pub fn decode(&self, ids: &[u32]) -> Result<Vec<u8>> {
        let special = SpecialTable {
            ids: &self.special.ids,
            blob: self.special.texts.blob(),
            ends: self.special.texts.ends(),
        };
        decode::decode(ids, self.tokens(), special)
    }

    /// The ordinary tokens by id.
    #[must_use]
    pub fn tokens(&self) -> &TokenTable<'static> {
        self.encoder.model().tokens()
    }

    /// The merges, (left id, right id, product's id), by priority; None for a tokenizer that was made of
    /// ranks.
    #[must_use]
    pub fn merges(&self) -> Option<&[[u32; 3]]> {
        self.merges.as_deref()
    }
}

fn documents<'a>(text: &'a [u8], ends: &'a [u64]) -> Documents<'a> {
    Documents {
        text,
        ends,
        continued: false,
    }
}

/// Texts as one, and where each ends.
fn joined(texts: impl IntoIterator<Item = impl AsRef<[u8]>>) -> (Vec<u8>, Vec<u64>) {
    let (mut all, mut ends) = (Vec::new(), Vec::new());
    for text in texts {
        all.extend_from_slice(text.as_ref());
        ends.push(all.len() as u64);
    }
    (all, ends)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    fn whole() -> Scanner {
        Scanner::new(None).unwrap()
    }

    fn bytes_and<'a>(more: &'a [&'a str]) -> impl Iterator<Item = Vec<u8>> + 'a {
        let bytes = (0..=u8::MAX).map(|byte| vec![byte]);
        bytes.chain(more.iter().map(|token| token.as_bytes().to_vec()))
    }

    #[test]
    fn ranks_and_merges_are_the_same_tokenizer() {
        let tokens = ["ab", "abc", "bc"];
        let by_ranks = Tokenizer::from_ranks(bytes_and(&tokens), whole()).unwrap();
        let merges = [[97, 98, 256], [256, 99, 257], [98, 99, 258]];
        let by_merges = Tokenizer::from_merges(bytes_and(&tokens), &merges, whole()).unwrap();
        for tokenizer in [&by_ranks, &by_merges] {
            assert_eq!(
                tokenizer.encode("abcbc\u{e9}").unwrap(),
                [257, 258, 195, 169]
            );
            assert_eq!(tokenizer.encode(b"\xff").unwrap(), [255]);
            assert_eq!(tokenizer.count("abcbc\u{e9}").unwrap(), 4);
            assert_eq!(tokenizer.decode(&[257, 255]).unwrap(), b"abc\xff");
            let batch = tokenizer.encode_batch(["ab", "", "bc"], 2).unwrap();
            assert_eq!(batch, [vec![256], vec![], vec![258]]);
        }
        assert_eq!(by_ranks.merges(), None);
        assert_eq!(by_merges.merges(), Some(&merges[..]));
    }

    #[test]
    fn special_tokens_are_read_where_that_is_asked_for() {
        let tokenizer = Tokenizer::from_ranks(bytes_and(&["<e"]), whole()).unwrap();
        let tokenizer = tokenizer
            .with_special_tokens([("<e>", 300), ("<b>", 299)])
            .unwrap();
        assert_eq!(tokenizer.encode("a<e>").unwrap(), [97, 256, 62]);
        assert_eq!(
            tokenizer.encode_with_special_tokens("a<e>").unwrap(),
            [97, 300]
        );
        assert_eq!(tokenizer.decode(&[299, 97, 300]).unwrap(), b"<b>a<e>");
        let missing = Error::MissingId { id: 298, place: 1 };
        assert_eq!(tokenizer.decode(&[299, 298]), Err(missing));
    }

    #[test]
    fn what_contradicts_itself_is_refused() {
        let sentence = |made: Result<Tokenizer>| made.unwrap_err().to_string();
        let twice = Tokenizer::from_ranks(["a", "a"], whole());
        assert_eq!(sentence(twice), "ids 0 and 1 are the same bytes");
        let small = Tokenizer::train(["a"], 255, whole());
        assert!(sentence(small).contains("no room for the 256 bytes"));
        let ab = || Tokenizer::from_ranks(["a", "b"], whole()).unwrap();
        for special in [[("x", 0), ("y", 2)], [("x", 2), ("y", 2)]] {
            assert!(
                sentence(ab().with_special_tokens(special)).starts_with("two tokens have the id")
            );
        }
        assert!(sentence(ab().with_special_tokens([("", 2)])).contains("empty"));
        assert!(sentence(Tokenizer::embedded("00", whole())).contains("no embedded ranks"));
        let missing = Error::MissingByte {
            byte: b'c',
            offset: 1,
        };
        assert_eq!(ab().encode("ac"), Err(missing));
    }

    #[test]
    fn what_was_learnt_can_be_laid_down_and_taken_up() {
        let tokenizer = Tokenizer::train(["abab", "abc"], 1000, whole()).unwrap();
        assert_eq!(tokenizer.merges(), Some(&[[97, 98, 256]][..]));
        let tokens = tokenizer.tokens().iter().map(|(_, token)| token);
        let again = Tokenizer::from_merges(tokens, tokenizer.merges().unwrap(), whole()).unwrap();
        assert_eq!(again.encode("abcab").unwrap(), [256, 99, 256]);
    }
}
