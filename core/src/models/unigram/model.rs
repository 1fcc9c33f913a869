//! A unigram model among other models: what the stages' pipeline asks of it.

use super::{SearchScratch, Unigram, sample};
use crate::boundaries::seams::{Border, Joints, Seams};
use crate::error::{Result, ensure, invalid};
use crate::models::model::{Carrying, Counted, Found, Model};
use crate::models::scratch::Scratch;
use crate::random::{Draw, Sampling};
use crate::tables::TokenTable;

impl Model for Unigram {
    fn tokens(&self) -> &TokenTable<'static> {
        &self.tokens
    }

    /// Unknown characters become one token within a piece only.
    fn fuses(&self) -> Option<u32> {
        None
    }

    fn encode_piece(
        &self,
        piece: &[u8],
        scratch: &mut Scratch,
        out: &mut Vec<Found>,
    ) -> Result<()> {
        self.encode(piece, scratch.own.of(), out).map(|_| ())
    }

    fn encode_ids(&self, piece: &[u8], scratch: &mut Scratch, ids: &mut Vec<u32>) -> Result<()> {
        self.encode(piece, scratch.own.of(), ids).map(|_| ())
    }

    fn count_ids(&self, piece: &[u8], scratch: &mut Scratch) -> Result<u64> {
        let mut counted = Counted::default();
        self.encode(piece, scratch.own.of(), &mut counted)?;
        Ok(counted.0)
    }

    fn sample_piece(
        &self,
        piece: &[u8],
        sampling: Sampling,
        draw: &mut Draw,
        scratch: &mut Scratch,
        out: &mut Vec<Found>,
    ) -> Result<()> {
        let Sampling::Segmentation { alpha, nbest } = sampling else {
            return Err(invalid!("this model has no merges that could be dropped"));
        };
        ensure!(
            alpha.is_finite() && alpha >= 0.0,
            "the sampling parameter {alpha} is not a number of 0 or more"
        );
        match nbest {
            0 => {
                let memory: &mut SearchScratch = scratch.own.of();
                self.sample(piece, alpha, draw, memory);
                self.emit(piece, memory.path.iter().copied(), &mut false, out)
            }
            1 => self.encode_piece(piece, scratch, out),
            n => {
                let best = self.nbest_piece(piece, n)?;
                out.extend(sample::choose(best, alpha, draw));
                Ok(())
            }
        }
    }

    fn nbest_piece(&self, piece: &[u8], n: usize) -> Result<Vec<(Vec<Found>, f64)>> {
        if n == 1 && !piece.is_empty() {
            let mut found = Vec::new();
            let score = self.encode(piece, &mut SearchScratch::default(), &mut found)?;
            return Ok(vec![(found, score)]);
        }
        let mut best = match self.settings.single_precision {
            true => self.nbest::<f32>(piece, n)?,
            false => self.nbest::<f64>(piece, n)?,
        };
        if self.settings.fixed_point && n > 1 {
            // Of equals the other search has another order: the one that it takes comes first.
            let first = self.nbest_piece(piece, 1)?;
            best.retain(|(found, _)| first.iter().all(|(taken, _)| found != taken));
            best.splice(0..0, first);
            best.truncate(n);
        }
        Ok(best)
    }

    fn border(&self) -> Option<Border> {
        self.border
    }

    /// Every segmentation has a boundary where no token goes on. Neighbours of which neither is a token
    /// may be unknown, and become one. Sums that round are carried on; exact ones are the same wherever they begin, but
    /// their search has other rules for equals, of which no more is said than where marks stand.
    fn seams(&self) -> Seams {
        let texts = || {
            let known = self.tokens.iter();
            known.filter_map(|(_, text)| self.trie.get(text).map(|_| text))
        };
        Seams {
            border: self.seam,
            joints: (!self.settings.fixed_point).then(|| Joints::of(texts()).beside(texts())),
        }
    }

    fn carrying(&self) -> Option<&dyn Carrying> {
        match self.settings.fixed_point {
            true => None,
            false => Some(self),
        }
    }
}
