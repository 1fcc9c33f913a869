//! Byte-pair encoding of a piece, for both forms of the model.
//!
//! * *By ranks* (tiktoken): merge the neighbours whose concatenation has the lowest id.
//! * *By merges* (GPT-2, Hugging Face): merge the pair that stands first in a list.
//!
//! Both are one procedure over a table (left, right) -> number of the merge: take the lowest number,
//! the leftmost of equals, until no neighbours have one. By ranks, the number is the id itself, and
//! the table has the recovered merges if they reach every token (`bpe_tables::recover_merges` proves
//! that this is the same), else every way to put a token together from two others.
//!
//! Invariant: a piece's ids decode to its bytes.

use std::borrow::Cow;

use bpe_tables::{MAX_TOKENS, NONE, PairTable, PieceTable, TokenTable, recover_merges};

use super::queue::{BucketQueue, HeapQueue, Queue};
use crate::error::{Error, Result};

/// Pieces up to this many bytes are merged by scanning for the lowest number each time.
const SHORT: usize = 48;
/// A longer token is in no rank file but a hostile one; finding its parts would take hours.
const LONGEST_TOKEN: usize = 1024;

/// A byte-pair model.
#[derive(Clone, Debug)]
pub struct Bpe {
    tokens: TokenTable<'static>,
    pieces: PieceTable<'static>,
    pairs: PairTable<'static>,
    /// Number of a merge -> id it makes; empty: the number is the id.
    products: Cow<'static, [u32]>,
    byte_ids: [u32; 256],
    whole_pieces: bool,
    monotone: bool,
}

/// Working memory that is used again from piece to piece.
#[derive(Debug, Default)]
pub struct Scratch {
    ids: Vec<u32>,
    numbers: Vec<u32>,
    next: Vec<u32>,
    previous: Vec<u32>,
}

impl Bpe {
    /// Builds a model that merges by the rank of the concatenation; a whole piece that is a token is
    /// taken as it is.
    ///
    /// # Errors
    /// A sentence that names what contradicts itself in the vocabulary.
    pub fn from_ranks(tokens: TokenTable<'static>) -> Result<Self> {
        let pieces = PieceTable::build(&tokens)?;
        check_lengths(&tokens)?;
        let recovered = recover_merges(&tokens, &pieces);
        let entries: Vec<(u32, u32, u32)> = if recovered.unreachable.is_empty() {
            recovered
                .merges
                .iter()
                .map(|m| (m.left, m.right, m.product))
                .collect()
        } else {
            all_splits(&tokens, &pieces)
        };
        Self::new(tokens, pieces, &entries, Cow::Borrowed(&[]), true)
    }

    /// Builds a model from merges (left, right, product) in order of priority.
    ///
    /// # Errors
    /// A sentence that names the first merge whose parts or product do not fit together.
    pub fn from_merges(
        tokens: TokenTable<'static>,
        merges: &[[u32; 3]],
        whole_pieces: bool,
    ) -> Result<Self> {
        let pieces = PieceTable::build(&tokens)?;
        let mut entries = Vec::with_capacity(merges.len());
        for (number, &[left, right, product]) in merges.iter().enumerate() {
            let (l, r, p) = (tokens.get(left), tokens.get(right), tokens.get(product));
            let fits = !l.is_empty() && !r.is_empty() && p.len() == l.len() + r.len();
            if !fits || !p.starts_with(l) || !p.ends_with(r) {
                return Err(Error::Invalid(format!(
                    "merge {number} joins ids {left} and {right} to {product}, whose bytes are not theirs joined"
                )));
            }
            entries.push((left, right, number as u32));
        }
        let products = merges.iter().map(|merge| merge[2]).collect();
        Self::new(tokens, pieces, &entries, Cow::Owned(products), whole_pieces)
    }

    fn new(
        tokens: TokenTable<'static>,
        pieces: PieceTable<'static>,
        entries: &[(u32, u32, u32)],
        products: Cow<'static, [u32]>,
        whole_pieces: bool,
    ) -> Result<Self> {
        let byte_ids =
            std::array::from_fn(|byte| pieces.get(&[byte as u8], &tokens).unwrap_or(NONE));
        let monotone = is_monotone(entries, &products, tokens.len());
        let pairs = PairTable::build(entries.iter().copied())?;
        Ok(Self::from_parts(
            tokens,
            pieces,
            pairs,
            products,
            byte_ids,
            whole_pieces,
            monotone,
        ))
    }

    /// Trusts parts that belong together: those a build script wrote.
    #[must_use]
    pub fn from_parts(
        tokens: TokenTable<'static>,
        pieces: PieceTable<'static>,
        pairs: PairTable<'static>,
        products: Cow<'static, [u32]>,
        byte_ids: [u32; 256],
        whole_pieces: bool,
        monotone: bool,
    ) -> Self {
        Self {
            tokens,
            pieces,
            pairs,
            products,
            byte_ids,
            whole_pieces,
            monotone,
        }
    }

    /// The same model, merging even what is a token as a whole.
    #[must_use]
    pub fn without_whole_pieces(self) -> Self {
        Self {
            whole_pieces: false,
            ..self
        }
    }

    /// The tokens by id.
    #[must_use]
    pub fn tokens(&self) -> &TokenTable<'static> {
        &self.tokens
    }

    /// Appends the ids of a piece.
    ///
    /// # Errors
    /// [`Error::MissingByte`] with the offset in the piece.
    pub fn encode_piece(
        &self,
        piece: &[u8],
        scratch: &mut Scratch,
        out: &mut Vec<u32>,
    ) -> Result<()> {
        if self.whole_pieces
            && let Some(id) = self.pieces.get(piece, &self.tokens)
        {
            out.push(id);
            return Ok(());
        }
        if piece.len() <= SHORT {
            return self.merge_short(piece, out);
        }
        if self.monotone {
            self.merge_long(piece, BucketQueue::default(), scratch, out)
        } else {
            self.merge_long(piece, HeapQueue::default(), scratch, out)
        }
    }

    #[inline]
    fn id_of_byte(&self, piece: &[u8], offset: usize) -> Result<u32> {
        let byte = piece[offset];
        match self.byte_ids[byte as usize] {
            NONE => Err(Error::MissingByte { byte, offset }),
            id => Ok(id),
        }
    }

    #[inline]
    fn product(&self, number: u32) -> u32 {
        if self.products.is_empty() {
            number
        } else {
            self.products[number as usize]
        }
    }

    /// Merges a short piece on the stack. Complexity: quadratic, in at most 48 bytes.
    fn merge_short(&self, piece: &[u8], out: &mut Vec<u32>) -> Result<()> {
        let mut ids = [0; SHORT];
        let mut numbers = [NONE; SHORT]; // numbers[i]: the merge of parts i and i + 1
        let mut parts = piece.len();
        for offset in 0..parts {
            ids[offset] = self.id_of_byte(piece, offset)?;
            if offset > 0 {
                numbers[offset - 1] = self.pairs.get(ids[offset - 1], ids[offset]);
            }
        }
        while parts > 1 {
            let (mut at, mut best) = (0, NONE);
            for (place, &number) in numbers[..parts - 1].iter().enumerate() {
                if number < best {
                    (at, best) = (place, number);
                }
            }
            if best == NONE {
                break;
            }
            ids[at] = self.product(best);
            ids.copy_within(at + 2..parts, at + 1);
            numbers.copy_within(at + 1..parts - 1, at);
            parts -= 1;
            if at + 1 < parts {
                numbers[at] = self.pairs.get(ids[at], ids[at + 1]);
            }
            if at > 0 {
                numbers[at - 1] = self.pairs.get(ids[at - 1], ids[at]);
            }
        }
        out.extend_from_slice(&ids[..parts]);
        Ok(())
    }

    /// Merges a piece of any length over a linked list. Complexity: that of the queue.
    fn merge_long(
        &self,
        piece: &[u8],
        mut queue: impl Queue,
        scratch: &mut Scratch,
        out: &mut Vec<u32>,
    ) -> Result<()> {
        if u32::try_from(piece.len()).is_err() {
            return Err(Error::Invalid(
                "a piece of text is longer than 4 GiB".to_owned(),
            ));
        }
        let Scratch {
            ids,
            numbers,
            next,
            previous,
        } = scratch;
        let end = piece.len() as u32;
        ids.clear();
        numbers.clear();
        for offset in 0..piece.len() {
            ids.push(self.id_of_byte(piece, offset)?);
        }
        next.clear();
        next.extend(1..=end);
        previous.clear();
        previous.extend((0..end).map(|at| at.wrapping_sub(1)));
        for at in 0..end {
            let number = if at + 1 < end {
                self.pairs.get(ids[at as usize], ids[at as usize + 1])
            } else {
                NONE
            };
            numbers.push(number);
            if number != NONE {
                queue.push(number, at);
            }
        }
        while let Some((number, left)) = queue.pop() {
            if numbers[left as usize] != number {
                continue; // one of the two was merged meanwhile
            }
            let right = next[left as usize];
            let after = next[right as usize];
            ids[left as usize] = self.product(number);
            next[left as usize] = after;
            numbers[right as usize] = NONE;
            let mut renew = |at: u32, number: u32| {
                numbers[at as usize] = number;
                if number != NONE {
                    queue.push(number, at);
                }
            };
            if after < end {
                previous[after as usize] = left;
                renew(
                    left,
                    self.pairs.get(ids[left as usize], ids[after as usize]),
                );
            } else {
                renew(left, NONE);
            }
            if left > 0 {
                let before = previous[left as usize];
                renew(
                    before,
                    self.pairs.get(ids[before as usize], ids[left as usize]),
                );
            }
        }
        let mut at = 0;
        while at < end {
            out.push(ids[at as usize]);
            at = next[at as usize];
        }
        // A giant piece must not hold its memory for the rest of the run.
        if piece.len() > 1 << 20 {
            *scratch = Scratch::default();
        }
        Ok(())
    }
}

/// Whether every merge's number is above the numbers of the merges that make its parts.
fn is_monotone(entries: &[(u32, u32, u32)], products: &[u32], ids: usize) -> bool {
    let mut made_by = vec![None; ids.max(1)];
    for &(_, _, number) in entries {
        let product = if products.is_empty() {
            number
        } else {
            products[number as usize]
        } as usize;
        made_by[product] = made_by[product].max(Some(number));
    }
    entries.iter().all(|&(left, right, number)| {
        made_by[left as usize] < Some(number) && made_by[right as usize] < Some(number)
    })
}

/// Every way to put a token together from two others, with its id as the number.
fn all_splits(tokens: &TokenTable<'_>, pieces: &PieceTable<'_>) -> Vec<(u32, u32, u32)> {
    let mut entries = Vec::new();
    for (id, bytes) in tokens.iter() {
        for middle in 1..bytes.len() {
            if let (Some(left), Some(right)) = (
                pieces.get(&bytes[..middle], tokens),
                pieces.get(&bytes[middle..], tokens),
            ) {
                entries.push((left, right, id));
            }
        }
    }
    entries
}

/// Refuses tokens that no trainer makes and that would take hours to lay out.
fn check_lengths(tokens: &TokenTable<'_>) -> Result<()> {
    debug_assert!(tokens.len() <= MAX_TOKENS);
    match tokens.iter().find(|(_, bytes)| bytes.len() > LONGEST_TOKEN) {
        Some((id, bytes)) => Err(Error::Invalid(format!(
            "token {id} has {} bytes; at most {LONGEST_TOKEN} are handled",
            bytes.len()
        ))),
        None => Ok(()),
    }
}

#[cfg(test)]
#[path = "bpe_tests.rs"]
mod tests;
