//! The models that stand behind stages: what all of them have in common, and how one is made.
//!
//! The byte-level model of GPT's families has its own short way in `encode::plain`; here it is one of many.

use serde::Deserialize;

use crate::error::{Error, Result};
use crate::models::bpe::{self, Bpe};
use crate::models::character_pairs::{self, CharacterPairs};
use crate::models::characters;
use crate::models::dropout::Dropout;
use crate::models::longest_match::{self, LongestMatch};
use crate::models::max_match::{self, MaxMatch};
use crate::models::ngram::NGram;
use crate::models::scored_pairs::ScoredPairs;
use crate::models::seams::Seams;
use crate::models::unigram::{self, Unigram};
use crate::models::word_level::WordLevel;
use crate::models::word_piece::WordPiece;
use crate::random::{Draw, Sampling};
use crate::tables::{MAX_TOKENS, TokenTable};

/// A token in a piece: its id, and what bytes of the piece it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The id.
    pub id: u32,
    /// Where it begins in the piece.
    pub start: u32,
    /// Where it ends (exclusive).
    pub end: u32,
}

/// Working memory that is used again from piece to piece, for whichever model needs it.
#[derive(Debug, Default)]
pub struct Scratch {
    /// Of byte pairs.
    pub bpe: bpe::Scratch,
    /// Of pairs of characters.
    pub characters: characters::Scratch,
    /// Plain ids on their way to become [`Found`].
    pub ids: Vec<u32>,
    /// Of maximum matching.
    pub window: max_match::Window,
    /// Of unigram models.
    pub unigram: unigram::Scratch,
    /// What scores have added up to, see [`Carrying`].
    pub sum: f32,
    /// How far a result holds, see [`Carrying`].
    pub bound: f32,
}

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
        Err(Error::Invalid(
            "this model gives no scores to rank by".to_owned(),
        ))
    }

    /// The id of which neighbouring tokens, also of different pieces, become one.
    fn fuses(&self) -> Option<u32> {
        None
    }

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

    /// What each token adds to decoded text, by id: its bytes, unless tokens overlap.
    fn contributions(&self) -> &TokenTable<'static> {
        self.tokens()
    }
}

/// A model that reckons in numbers that grow from the beginning of a piece on, and are rounded: what it
/// takes for the best depends, in close cases, on what came before.
pub trait Carrying {
    /// The same as [`Model::encode_piece`] for what follows a seam, up to which scores were added up to
    /// [`Scratch::sum`]. That becomes the sum behind it, and [`Scratch::bound`] says up to which absolute
    /// sum before it the ids are sure to be the same; 0: they may never be.
    ///
    /// # Errors
    /// As [`Model::encode_piece`].
    fn encode_on(&self, piece: &[u8], scratch: &mut Scratch, out: &mut Vec<Found>) -> Result<()>;

    /// What each token adds to the sum, by id, if it was given with a bound above 0.
    fn scores(&self) -> &[f32];

    /// What one of them adds at most.
    fn largest(&self) -> f32;
}

/// Where pieces can be cut without changing any token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Border {
    /// Before a run of this character that follows another one.
    Before(char),
    /// After a run of this character that another one follows.
    After(char),
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

/// The specification of a model.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "type", deny_unknown_fields)]
#[expect(
    missing_docs,
    reason = "the names are the field's; the Python specs document each"
)]
pub enum Spec {
    /// Byte-level BPE by merges, or by the rank of the concatenation when `ranks`.
    BytePairs {
        ranks: bool,
        whole_pieces: bool,
    },
    /// BPE over characters (Sennrich's, Hugging Face's `BPE`).
    CharacterPairs {
        unk_id: Option<u32>,
        fuse_unk: bool,
        byte_fallback: bool,
        ignore_merges: bool,
        continuing_subword_prefix: String,
        end_of_word_suffix: String,
        /// The suffix is a symbol of its own until a merge takes it (subword-nmt 0.1).
        separate_suffix: bool,
        /// A character of which a piece of nothing else is taken as it is, if it is a token.
        #[serde(default)]
        whole_runs_of: String,
        /// Each step takes a merge at all of its places (subword-nmt).
        #[serde(default)]
        by_steps: bool,
    },
    /// BPE by the score of the concatenation (SentencePiece's).
    ScoredPairs {
        unk_id: u32,
        byte_fallback: bool,
    },
    WordPiece {
        unk_id: u32,
        continuing_subword_prefix: String,
        max_input_chars_per_word: usize,
    },
    WordLevel {
        unk_id: Option<u32>,
        /// Whether neighbouring unknown pieces become one token.
        fuse_unk: bool,
    },
    Unigram(unigram::Settings),
    /// Cut at the longest tokens first, or at the longest token from the left (the seeds' two).
    LongestMatch {
        unk_id: Option<u32>,
        left_to_right: bool,
        end_of_word_suffix: String,
        /// Whether the suffix is a symbol of its own.
        separate_suffix: bool,
        continuing_subword_prefix: String,
    },
    /// Forward maximum matching with a dictionary; what it lacks is a character by itself.
    MaxMatch {
        unk_id: Option<u32>,
    },
    /// Overlapping n-grams of characters.
    NGram {
        n: usize,
        unk_id: Option<u32>,
    },
}

/// Makes a model.
///
/// # Errors
/// Says what of the tables and the specification does not fit together.
pub fn build(spec: Spec, tables: Tables) -> Result<Box<dyn Model>> {
    Ok(match spec {
        Spec::BytePairs { ranks: true, .. } => Box::new(Bpe::from_ranks(tables.tokens)?),
        Spec::BytePairs {
            ranks: false,
            whole_pieces,
        } => Box::new(Bpe::from_merges(
            tables.tokens,
            &tables.merges,
            whole_pieces,
        )?),
        Spec::MaxMatch { unk_id } => Box::new(MaxMatch::new(tables.tokens, unk_id)?),
        Spec::NGram { n, unk_id } => Box::new(NGram::new(tables.tokens, n, unk_id)?),
        Spec::CharacterPairs {
            unk_id,
            fuse_unk,
            byte_fallback,
            ignore_merges,
            continuing_subword_prefix,
            end_of_word_suffix,
            separate_suffix,
            whole_runs_of,
            by_steps,
        } => {
            let settings = character_pairs::Settings {
                unk_id,
                fuse_unk,
                byte_fallback,
                ignore_merges,
                prefix: continuing_subword_prefix.into_bytes(),
                suffix: end_of_word_suffix.into_bytes(),
                separate_suffix,
                whole_runs_of: whole_runs_of.into_bytes(),
                by_steps,
            };
            Box::new(CharacterPairs::new(
                tables.tokens,
                &tables.merges,
                settings,
            )?)
        }
        Spec::ScoredPairs {
            unk_id,
            byte_fallback,
        } => Box::new(ScoredPairs::new(tables, unk_id, byte_fallback)?),
        Spec::LongestMatch {
            unk_id,
            left_to_right,
            end_of_word_suffix,
            separate_suffix,
            continuing_subword_prefix,
        } => {
            let marks = longest_match::Marks {
                suffix: end_of_word_suffix.into_bytes(),
                separate: separate_suffix,
                prefix: continuing_subword_prefix.into_bytes(),
            };
            Box::new(LongestMatch::new(
                tables.tokens,
                &tables.scores,
                unk_id,
                left_to_right,
                marks,
            )?)
        }
        Spec::WordPiece {
            unk_id,
            continuing_subword_prefix,
            max_input_chars_per_word,
        } => Box::new(WordPiece::new(
            tables.tokens,
            unk_id,
            &continuing_subword_prefix,
            max_input_chars_per_word,
        )?),
        Spec::WordLevel { unk_id, fuse_unk } => {
            Box::new(WordLevel::new(tables.tokens, unk_id, fuse_unk)?)
        }
        Spec::Unigram(settings) => Box::new(Unigram::new(settings, tables)?),
    })
}

/// Checks the id of what is unknown: it need not be that of an ordinary token.
///
/// # Errors
/// When no token can have it.
pub(super) fn check_unknown(unk_id: Option<u32>) -> Result<()> {
    match unk_id {
        Some(id) if id as usize >= MAX_TOKENS => Err(Error::Invalid(format!(
            "the unknown token's id {id} is not below {MAX_TOKENS}"
        ))),
        _ => Ok(()),
    }
}

impl Model for Bpe {
    fn tokens(&self) -> &TokenTable<'static> {
        self.tokens()
    }

    fn reads_bytes(&self) -> bool {
        true
    }

    fn encode_piece(
        &self,
        piece: &[u8],
        scratch: &mut Scratch,
        out: &mut Vec<Found>,
    ) -> Result<()> {
        scratch.ids.clear();
        self.encode_piece(piece, &mut scratch.bpe, &mut scratch.ids)?;
        place(&scratch.ids, self.tokens(), out);
        Ok(())
    }

    fn sample_piece(
        &self,
        piece: &[u8],
        sampling: Sampling,
        draw: &mut Draw,
        scratch: &mut Scratch,
        out: &mut Vec<Found>,
    ) -> Result<()> {
        scratch.ids.clear();
        let Scratch { bpe, ids, .. } = scratch;
        match Dropout::of(sampling)? {
            Some(dropout) => self.sample_piece(piece, dropout, draw, bpe, ids)?,
            None => self.encode_piece(piece, bpe, ids)?,
        }
        place(&scratch.ids, self.tokens(), out);
        Ok(())
    }
}

/// Gives each id the bytes of the piece that are its token's.
fn place(ids: &[u32], tokens: &TokenTable<'_>, out: &mut Vec<Found>) {
    let mut start = 0;
    out.extend(ids.iter().map(|&id| {
        let end = start + tokens.get(id).len() as u32;
        let found = Found { id, start, end };
        start = end;
        found
    }));
}
