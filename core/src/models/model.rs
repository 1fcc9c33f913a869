//! What all models that stand behind stages have in common; it knows none of them.

use super::found::reserve;
pub use super::found::{Counted, Found, Tokens};
use super::scratch::Scratch;
use crate::boundaries::seams::{Border, Seams};
use crate::error::{Error, Result, invalid};
use crate::random::{Draw, Sampling};
use crate::tables::{MAX_TOKENS, TokenTable};

/// Turns pieces into tokens.
pub trait Model: Send + Sync + std::fmt::Debug {
    /// The tokens by id.
    fn tokens(&self) -> &TokenTable<'static>;

    /// Whether tokens are bytes, so that a piece that is spelt as visible characters has to be read
    /// as the bytes it spells.
    fn reads_bytes(&self) -> bool {
        false
    }

    /// Appends the tokens of a piece (not empty), from left to right.
    ///
    /// # Errors
    /// [`Error::MissingByte`] with the offset in the piece when the model has no answer for it.
    fn encode_piece(&self, piece: &[u8], scratch: &mut Scratch, out: &mut Vec<Found>)
    -> Result<()>;

    /// Appends the ids of the same tokens. A model whose pieces may be long writes them as it finds them; otherwise
    /// tokens are held until all of the piece's are known. Some may be left behind after an error.
    ///
    /// # Errors
    /// As [`Model::encode_piece`]; [`Error::Memory`] when there is no memory for the ids.
    fn encode_ids(&self, piece: &[u8], scratch: &mut Scratch, ids: &mut Vec<u32>) -> Result<()> {
        let mut found = std::mem::take(&mut scratch.found);
        found.clear();
        let result = self.encode_piece(piece, scratch, &mut found);
        let result = result.and_then(|()| reserve(ids, found.len()));
        if result.is_ok() {
            ids.extend(found.iter().map(|found| found.id));
        }
        scratch.found = found;
        result
    }

    /// How many ids those are. A model whose pieces may be long holds no more of them than it has to.
    ///
    /// # Errors
    /// As [`Model::encode_ids`].
    fn count_ids(&self, piece: &[u8], scratch: &mut Scratch) -> Result<u64> {
        let mut ids = Vec::new();
        self.encode_ids(piece, scratch, &mut ids)?;
        Ok(ids.len() as u64)
    }

    /// The same, varied at random.
    ///
    /// # Errors
    /// As [`Model::encode_piece`]; [`Error::Invalid`] when the model cannot be varied in this way.
    fn sample_piece(
        &self,
        _piece: &[u8],
        sampling: Sampling,
        _draw: &mut Draw,
        _scratch: &mut Scratch,
        _out: &mut Vec<Found>,
    ) -> Result<()> {
        Err(Error::Invalid(match sampling {
            Sampling::Dropout(_) | Sampling::LastingDropout(_) => {
                "this model has no merges that could be dropped".to_owned()
            }
            Sampling::Segmentation { .. } => {
                "this model gives no probabilities to draw by".to_owned()
            }
        }))
    }

    /// The `n` best segmentations of a piece with their scores, best first; fewer if there are fewer.
    ///
    /// # Errors
    /// As [`Model::encode_piece`]; [`Error::Invalid`] when the model knows only one.
    fn nbest_piece(&self, _piece: &[u8], _n: usize) -> Result<Vec<(Vec<Found>, f64)>> {
        Err(invalid!("this model gives no scores to rank by"))
    }

    /// The id of which neighbouring tokens, also of different pieces, become one. None claims that what becomes of a
    /// piece does not hang on the pieces around it: a text may then be cut wherever a piece ends.
    fn fuses(&self) -> Option<u32>;

    /// A character before which (or after which) pieces can be cut without changing any token, if it
    /// stands for a blank: no token goes on across such a place.
    fn border(&self) -> Option<Border> {
        None
    }

    /// Where a text can be cut so that each part can be encoded by itself: all that is known.
    fn seams(&self) -> Seams {
        Seams {
            border: self.border(),
            joints: None,
        }
    }

    /// Tells of a model whose choices in one part of a text depend on what it reckoned before how it
    /// goes on from part to part; None: each part is encoded as if it were alone.
    fn carrying(&self) -> Option<&dyn Carrying> {
        None
    }

    /// Whether tokens are those of a piece as soon as each two neighbours are what the model makes of their own
    /// characters.
    fn neighbours_tell(&self) -> bool {
        false
    }

    /// What each token adds to decoded text, by id: its bytes, unless tokens overlap.
    fn contributions(&self) -> &TokenTable<'static> {
        self.tokens()
    }
}

/// A model that reckons in numbers that grow from the beginning of a piece on, and are rounded: what it
/// takes for the best depends, in close cases, on what came before.
pub trait Carrying {
    /// The same as [`Model::encode_ids`] for what follows a seam, up to which scores were added up to
    /// [`Scratch::sum`]. That becomes the sum behind it, and [`Scratch::bound`] says up to which absolute
    /// sum before it the ids are sure to be the same; 0: they may never be.
    ///
    /// # Errors
    /// As [`Model::encode_ids`].
    fn encode_on(&self, piece: &[u8], scratch: &mut Scratch, ids: &mut Vec<u32>) -> Result<()>;

    /// What each token adds to the sum, by id, if it was given with a bound above 0.
    fn scores(&self) -> Scores<'_>;

    /// What one of them adds at most.
    fn largest(&self) -> f32;
}

/// Scores by id, in the precision in which they are added up.
#[derive(Clone, Copy, Debug)]
pub enum Scores<'a> {
    /// Each sum is rounded to f32.
    Single(&'a [f32]),
    /// Each sum is rounded to f64.
    Double(&'a [f64]),
}

impl Scores<'_> {
    /// The sum behind these tokens.
    #[must_use]
    pub fn add_up(self, sum: f64, ids: &[u32]) -> f64 {
        let ids = ids.iter().map(|&id| id as usize);
        match self {
            Self::Single(scores) => ids.fold(sum as f32, |sum, id| sum + scores[id]).into(),
            Self::Double(scores) => ids.fold(sum, |sum, id| sum + scores[id]),
        }
    }
}

/// What a model is made of, besides its specification.
#[derive(Debug, Default)]
pub struct Tables {
    /// Bytes of tokens by id; empty: no ordinary token has this id.
    pub tokens: TokenTable<'static>,
    /// (left, right, product) in order of priority.
    pub merges: Vec<[u32; 3]>,
    /// Scores by id.
    pub scores: Vec<f64>,
    /// SentencePiece's types of tokens by id (1 normal, 2 unknown, 3 control, 4 user-defined, 5 unused,
    /// 6 byte); empty: all are normal.
    pub kinds: Vec<u8>,
}

/// Types of tokens, by their numbers in [`Tables::kinds`].
pub(super) mod kind {
    pub const NORMAL: u8 = 1;
    pub const USER_DEFINED: u8 = 4;
    pub const UNUSED: u8 = 5;
    pub const BYTE: u8 = 6;
}

/// Checks the id of what is unknown: it need not be that of an ordinary token.
///
/// # Errors
/// When no token can have it.
pub(super) fn check_unknown(unk_id: Option<u32>) -> Result<()> {
    match unk_id {
        Some(id) if id as usize >= MAX_TOKENS => Err(invalid!(
            "the unknown token's id {id} is not below {MAX_TOKENS}"
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The tokens of a piece; their ids are what is said of them alone, which goes behind what there is.
    pub(in crate::models) fn tokens_of(model: &dyn Model, piece: &[u8]) -> Vec<Found> {
        let scratch = &mut Scratch::default();
        let (mut found, mut ids) = (Vec::new(), vec![7]);
        model.encode_piece(piece, scratch, &mut found).unwrap();
        model.encode_ids(piece, scratch, &mut ids).unwrap();
        let alone = ids[1..].iter();
        assert!(found.iter().map(|found| &found.id).eq(alone) && ids[0] == 7);
        let counted = model.count_ids(piece, scratch);
        assert_eq!(counted, Ok(found.len() as u64));
        found
    }
}
