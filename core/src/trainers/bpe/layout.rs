//! Lays the pieces out as cells, with what is written around their symbols.

use std::cmp::Reverse;

use super::Trainer;
use super::alphabet::Alphabet;
use super::cells::SEPARATOR;
use super::options::{Options, Tie};
use super::segmentation::Segmentation;
use super::tokens::Tokens;
use crate::error::{Result, invalid};

impl Trainer {
    /// Lays out (piece, count).
    ///
    /// # Errors
    /// Settings that contradict themselves, or a corpus beyond 2^32 symbols.
    pub fn new<'a>(
        pieces: impl Iterator<Item = (&'a [u8], u64)>,
        options: &Options,
    ) -> Result<Self> {
        let mut trainer = Self::without_pieces(options)?;
        let mut alphabet = Alphabet::new(options, &trainer.corpus.tokens.ids)?;
        for (piece, count) in in_order(pieces, options.tie) {
            let lay_out = |cells: &mut Vec<u32>| alphabet.lay_out(piece, cells);
            trainer.corpus.cells.push(count, lay_out)?;
        }
        trainer.take_symbols(alphabet, &options.symbols);
        Ok(trainer)
    }

    /// Lays out (tokens, count) of pieces that are segmented already: training goes on from there. A token
    /// without text divides its piece, and no merge takes it.
    ///
    /// # Errors
    /// As [`Trainer::new`], or an id that no initial token has.
    pub fn resume<'a>(
        pieces: impl Iterator<Item = (&'a [u32], u64)>,
        options: &Options,
    ) -> Result<Self> {
        let mut trainer = Self::without_pieces(options)?;
        let cell_of = |&id: &u32| match options.initial.get(id as usize) {
            Some(token) if token.is_empty() => Ok(SEPARATOR),
            Some(_) => Ok(id),
            None => Err(invalid!(
                "a piece has the id {id}, which no initial token has"
            )),
        };
        for (tokens, count) in in_order(pieces, options.tie) {
            let laid_out = tokens.iter().map(cell_of).collect::<Result<Vec<u32>>>()?;
            trainer
                .corpus
                .cells
                .push(count, |cells| cells.extend(laid_out))?;
        }
        // A symbol is what a piece had at the beginning, however long.
        trainer.corpus.tokens.lengths.fill(1);
        Ok(trainer)
    }

    /// Takes what holds for any text.
    pub(super) fn without_pieces(options: &Options) -> Result<Self> {
        options.check()?;
        Ok(Self {
            tie: options.tie,
            vocab_size: options.vocab_size,
            max_merges: options.max_merges.unwrap_or(usize::MAX),
            minimum: options.min_frequency.max(1),
            corpus: Segmentation::new(
                Tokens::new(
                    &options.initial,
                    &options.decoration.prefix,
                    &options.vetoes,
                )?,
                u64::MAX,
            ),
        })
    }

    /// Makes tokens of all symbols, and gives them their length.
    pub(super) fn take_symbols(&mut self, alphabet: Alphabet, symbols: &[u32]) {
        let Segmentation { cells, tokens, .. } = &mut self.corpus;
        match alphabet {
            Alphabet::Bytes(_) => {
                for &symbol in symbols {
                    tokens.lengths[symbol as usize] = 1;
                }
            }
            Alphabet::Spelt(spelling) => {
                let cells = cells.symbols();
                tokens.extend(spelling.settle(cells));
                for &cell in cells.iter().filter(|&&cell| cell != SEPARATOR) {
                    tokens.lengths[cell as usize] = 1;
                }
            }
        }
    }
}

/// Gives pieces by falling count, so that the cells of equally frequent ones lie together; or as they
/// came, where the first place of a pair decides.
pub(in crate::trainers) fn in_order<'a, T>(
    pieces: impl Iterator<Item = (&'a [T], u64)>,
    tie: Tie,
) -> Vec<(&'a [T], u64)> {
    let mut pieces: Vec<_> = pieces.collect();
    if tie != Tie::FirstSeen {
        pieces.sort_by_key(|&(_, count)| Reverse(count));
    }
    pieces
}

#[cfg(test)]
mod tests;
