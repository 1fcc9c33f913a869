//! What training is asked for, and what it gives.

use std::collections::HashSet;

use serde::Deserialize;

use crate::error::{Result, invalid};
use crate::trainers::json;

/// Which of the most frequent pairs is merged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tie {
    /// The one with the lowest (left id, right id): Hugging Face, rustbpe.
    #[default]
    LowestIds,
    /// The one that stands first in the corpus as it is segmented now: minbpe.
    FirstSeen,
    /// The one with the largest (left text, right text), as bytes: subword-nmt. For UTF-8 that is the
    /// order of code points.
    LargestText,
    /// The one with the largest (left text, right text), as written in the visible alphabet: parity-aware BPE.
    LargestVisible,
}

/// What is written around the symbols of a piece.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Decoration {
    /// Stands before each symbol but the first; a product leaves out its right part's.
    #[serde(deserialize_with = "json::bytes")]
    pub prefix: Vec<u8>,
    /// Stands after the last symbol.
    #[serde(deserialize_with = "json::bytes")]
    pub suffix: Vec<u8>,
    /// Whether the suffix is a symbol of its own instead, behind the last one.
    pub separate_suffix: bool,
}

/// What and how much to learn.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// Tokens that exist before the first merge, by id; empty: a text that no merge makes.
    #[serde(deserialize_with = "json::all_bytes")]
    pub initial: Vec<Vec<u8>>,
    /// Which of them are symbols, undecorated; text outside this alphabet is left out.
    #[serde(default)]
    pub symbols: Vec<u32>,
    /// Whether no merge crosses what is left out, as encoding has it where an unknown token stands there.
    #[serde(default)]
    pub unknown_separates: bool,
    /// Stop when there are so many tokens.
    pub vocab_size: usize,
    /// Stop after so many merges.
    pub max_merges: Option<usize>,
    /// Stop when the most frequent pair is rarer.
    pub min_frequency: u64,
    /// How ties are decided.
    pub tie: Tie,
    /// Whether symbols are UTF-8 characters instead of bytes.
    #[serde(default)]
    pub by_character: bool,
    /// What is written around symbols.
    #[serde(default)]
    pub decoration: Decoration,
    /// A text that no merge crosses and that is left out wherever it stands in a piece; empty: none.
    #[serde(default, deserialize_with = "json::bytes")]
    pub boundary_mark: Vec<u8>,
    /// What no product may be.
    #[serde(default)]
    pub vetoes: Vetoes,
}

/// What no product may be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Vetoes {
    /// Longest product, in symbols. A token's length is that of the first merge that made it.
    pub max_token_length: Option<u32>,
    /// Whether a product must be whole characters, or a proper beginning of a single one
    /// (Land and Arnett, arXiv:2505.24689).
    pub character_boundaries: bool,
    /// Most numeric characters (Unicode category N) in a product.
    pub max_digits: Option<u32>,
    /// Most words in a product: what is between its spaces.
    pub max_words: Option<u32>,
    /// Texts that no product contains.
    #[serde(deserialize_with = "json::all_bytes")]
    pub never_within: Vec<Vec<u8>>,
    /// Texts that no product has: those of special tokens, which text never becomes.
    #[serde(deserialize_with = "json::all_bytes")]
    pub reserved: HashSet<Vec<u8>>,
}

impl Options {
    /// Checks what contradicts itself whatever the text.
    ///
    /// # Errors
    /// Says what.
    pub(super) fn check(&self) -> Result<()> {
        let Decoration {
            prefix,
            suffix,
            separate_suffix,
        } = &self.decoration;
        if *separate_suffix && suffix.is_empty() {
            return Err(invalid!(
                "a suffix that is a symbol of its own needs a text"
            ));
        }
        if *separate_suffix && !prefix.is_empty() {
            return Err(invalid!(
                "a prefix does not go together with a suffix that is a symbol of its own"
            ));
        }
        Ok(())
    }
}

/// What was learnt.
#[derive(Debug, Default)]
pub struct Training {
    /// (left, right, product) in order.
    pub merges: Vec<[u32; 3]>,
    /// How often each merge's pair occurred.
    pub counts: Vec<u64>,
    /// How often each pair was merged: less often than it occurred where it overlaps itself, as in "aaa".
    pub merged: Vec<u64>,
    /// All tokens by id: the initial ones, the decorated symbols that were missing among them (sorted),
    /// the products.
    pub tokens: Vec<Vec<u8>>,
    /// Whether no pair was left that is frequent enough.
    pub exhausted: bool,
}

impl Training {
    /// What was learnt by the first merges, where `initial` tokens stood before them.
    pub(super) fn beginning(&self, merges: usize, initial: usize) -> Self {
        let known = self.merges[..merges]
            .iter()
            .map(|merge| merge[2] as usize + 1)
            .fold(initial, usize::max);
        Self {
            merges: self.merges[..merges].to_vec(),
            counts: self.counts[..merges].to_vec(),
            merged: self.merged[..merges].to_vec(),
            tokens: self.tokens[..known].to_vec(),
            exhausted: false,
        }
    }
}
