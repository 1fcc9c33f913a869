//! Lays the pieces out as cells, with what is written around their symbols, and finds the first pairs.

use hashbrown::HashMap;

use super::options::Options;
use super::{INTERIOR, LAST, SEPARATOR, Trainer};
use crate::error::{Error, Result};
use crate::trainers::alphabet::{Alphabet, Ids};

impl Trainer {
    /// Lays out (piece, count) and finds the pairs.
    ///
    /// # Errors
    /// Settings that contradict themselves, or a corpus beyond 2^31 symbols.
    pub fn new<'a>(
        pieces: impl Iterator<Item = (&'a [u8], u64)>,
        options: &Options,
    ) -> Result<Self> {
        let mut trainer = Self::without_pieces(options)?;
        let mut alphabet = Alphabet::new(options, &trainer.ids)?;
        let most = match alphabet {
            Alphabet::Bytes(_) => INTERIOR as usize,
            Alphabet::Spelt(_) => LAST as usize,
        };
        for (piece, count) in pieces {
            alphabet.lay_out(piece, SEPARATOR, &mut trainer.cells);
            trainer.end_piece(count, most)?;
        }
        trainer.take_symbols(alphabet, &options.symbols);
        trainer.find_pairs();
        Ok(trainer)
    }

    /// Lays out (tokens, count) of pieces that are segmented already and finds the pairs: training goes
    /// on from there. A token without text divides its piece, and no merge takes it.
    ///
    /// # Errors
    /// As [`Trainer::new`], or an id that no initial token has.
    pub fn resume<'a>(
        pieces: impl Iterator<Item = (&'a [u32], u64)>,
        options: &Options,
    ) -> Result<Self> {
        let mut trainer = Self::without_pieces(options)?;
        for (tokens, count) in pieces {
            for &id in tokens {
                let token = options.initial.get(id as usize);
                let Some(token) = token else {
                    let sentence = format!("a piece has the id {id}, which no initial token has");
                    return Err(Error::Invalid(sentence));
                };
                let divides = token.is_empty();
                trainer.cells.push(if divides { SEPARATOR } else { id });
            }
            trainer.end_piece(count, LAST as usize)?;
        }
        // A cell is what a piece had at the beginning, however long; so lengths go by place.
        trainer.lengths.fill(1);
        trainer.spans = vec![1; trainer.cells.len()];
        trainer.find_pairs();
        Ok(trainer)
    }

    /// Takes what holds for any text.
    fn without_pieces(options: &Options) -> Result<Self> {
        options.check()?;
        let mut ids = Ids::default();
        for (id, token) in options.initial.iter().enumerate() {
            if !token.is_empty() && ids.insert(token.clone(), id as u32).is_some() {
                return Err(Error::Invalid(format!(
                    "the initial token {id} stands there twice"
                )));
            }
        }
        Ok(Self {
            tie: options.tie,
            vocab_size: options.vocab_size,
            max_merges: options.max_merges.unwrap_or(usize::MAX),
            minimum: options.min_frequency.max(1),
            vetoes: options.vetoes.clone(),
            prefix: options.decoration.prefix.clone(),
            cells: vec![SEPARATOR],
            spans: Vec::new(),
            piece_of: vec![0],
            counts: Vec::new(),
            tokens: options.initial.clone(),
            ids,
            lengths: vec![0; options.initial.len()],
            pairs: Vec::new(),
            numbers: HashMap::default(),
            grown: Vec::new(),
        })
    }

    /// Ends the piece whose symbols were laid out last.
    fn end_piece(&mut self, count: u64, most: usize) -> Result<()> {
        if self.cells.len() >= most {
            let sentence = format!("the different pieces have more than {most} symbols");
            return Err(Error::Invalid(sentence));
        }
        self.piece_of
            .resize(self.cells.len() + 1, self.counts.len() as u32);
        self.cells.push(SEPARATOR);
        self.counts.push(count);
        Ok(())
    }

    /// Makes tokens of all symbols, and gives them their length.
    fn take_symbols(&mut self, alphabet: Alphabet, symbols: &[u32]) {
        match alphabet {
            Alphabet::Bytes(_) => {
                for &symbol in symbols {
                    self.lengths[symbol as usize] = 1;
                }
            }
            Alphabet::Spelt(spelling) => {
                for token in spelling.settle(SEPARATOR, &mut self.cells) {
                    self.ids.insert(token.clone(), self.tokens.len() as u32);
                    self.tokens.push(token);
                }
                self.lengths.resize(self.tokens.len(), 0);
                for &cell in self.cells.iter().filter(|&&cell| cell != SEPARATOR) {
                    self.lengths[cell as usize] = 1;
                }
                self.spans = vec![1; self.cells.len()];
            }
        }
    }

    fn find_pairs(&mut self) {
        for at in 1..self.cells.len().saturating_sub(1) {
            let (left, right) = (self.cells[at], self.cells[at + 1]);
            if left != SEPARATOR && right != SEPARATOR {
                self.add(left, right, at as u32);
            }
        }
        self.take_grown();
    }
}

#[cfg(test)]
#[path = "resume_tests.rs"]
mod tests;
