//! The vocabulary while it grows: texts, ids and lengths of tokens, and what no merge may make of them.

use std::cmp::Ordering;

use super::alphabet::Ids;
use super::cells::SEPARATOR;
use super::options::Vetoes;
use crate::error::{Result, ensure};
use crate::text::visible::of_byte;

/// Tokens by id.
#[derive(Debug)]
pub(in crate::trainers) struct Tokens {
    pub texts: Vec<Vec<u8>>,
    pub ids: Ids,
    /// Length of each in symbols, as it was first made; 0: it has not been made.
    pub lengths: Vec<u32>,
    prefix: Vec<u8>,
    vetoes: Vetoes,
}

impl Tokens {
    /// Takes the initial ones.
    ///
    /// # Errors
    /// Names one that stands there twice.
    pub fn new(initial: &[Vec<u8>], prefix: &[u8], vetoes: &Vetoes) -> Result<Self> {
        let mut ids = Ids::default();
        for (id, token) in initial.iter().enumerate() {
            ensure!(
                token.is_empty() || ids.insert(token.clone(), id as u32).is_none(),
                "the initial token {id} stands there twice"
            );
        }
        Ok(Self {
            texts: initial.to_vec(),
            ids,
            lengths: vec![0; initial.len()],
            prefix: prefix.to_vec(),
            vetoes: vetoes.clone(),
        })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// How two pairs compare by their left texts, then by their right ones, as written in the visible alphabet.
    pub fn compare_visible(&self, one: [u32; 2], other: [u32; 2]) -> Ordering {
        let visible = |id: u32| self.texts[id as usize].iter().copied().map(of_byte);
        let compare = |side: usize| visible(one[side]).cmp(visible(other[side]));
        compare(0).then_with(|| compare(1))
    }

    /// Adds symbols that no initial token is.
    pub fn extend(&mut self, symbols: Vec<Vec<u8>>) {
        for symbol in symbols {
            self.ids.insert(symbol.clone(), self.texts.len() as u32);
            self.texts.push(symbol);
        }
        self.lengths.resize(self.texts.len(), 0);
    }

    /// Whether two may be merged.
    pub fn allow(&self, left: u32, right: u32) -> bool {
        let length =
            u64::from(self.lengths[left as usize]) + u64::from(self.lengths[right as usize]);
        self.vetoes.allow_length(length)
            && (!self.vetoes.read_text() || self.vetoes.allow_text(&self.join(left, right)))
    }

    /// The text of a product.
    fn join(&self, left: u32, right: u32) -> Vec<u8> {
        let right = &self.texts[right as usize][..];
        let right = right.strip_prefix(&self.prefix[..]).unwrap_or(right);
        [&self.texts[left as usize][..], right].concat()
    }

    /// The id of the token that two become, and whether the corpus may have it already: it is a new one,
    /// unless there is one with this text.
    ///
    /// # Errors
    /// There is no id left.
    pub fn product(&mut self, left: u32, right: u32) -> Result<(u32, bool)> {
        let text = self.join(left, right);
        let next = self.texts.len() as u32;
        ensure!(next < SEPARATOR, "there are more than 2 billion tokens");
        let id = *self.ids.entry(text.clone()).or_insert(next);
        if id == next {
            self.texts.push(text);
            self.lengths.push(0);
        }
        let made = self.lengths[id as usize] > 0;
        self.make(left, right, id);
        Ok((id, made))
    }

    /// Takes in that a token is made of two others: its length, if it is the first time.
    pub fn make(&mut self, left: u32, right: u32, product: u32) {
        let length = self.lengths[left as usize] + self.lengths[right as usize];
        let own = &mut self.lengths[product as usize];
        if *own == 0 {
            *own = length;
        }
    }
}
