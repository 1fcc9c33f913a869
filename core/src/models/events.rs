//! Byte-pair encoding by a list of events: each merges a pair everywhere, or takes a token apart again everywhere.
//!
//! Source: Chizhov et al., "BPE Gets Picky: Efficient Vocabulary Refinement During Tokenizer Training",
//! arXiv:2409.04599. A piece's symbols are characters, or bytes, and the events happen to it one after the other, in
//! their order; or the piece is taken as it is, if it is a token.
//!
//! Only the events that concern a piece are looked at: those of its neighbours and tokens, first event first. What an
//! event makes has only later events, so none is looked at twice.

mod history;

use serde::Deserialize;

use self::history::{History, MOST_ANEW, SPLIT};
use super::found::reserve;
use super::merging::characters::Symbol;
use super::merging::queue::{HeapQueue, Queue};
use super::model::{Counted, Found, Model, Tokens, check_unknown};
use super::scratch::Scratch;
use crate::error::{Error, Result, ensure, invalid};
use crate::random::{Draw, Sampling};
use crate::tables::{MAX_TOKENS, NONE, PieceTable, TokenTable};
use crate::text::character_len;

/// What the model is told besides its tables.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The token for a symbol that has none; without it a character is left out, and a byte is an error.
    pub unk_id: Option<u32>,
    /// Whether neighbouring unknown symbols become one token.
    pub fuse_unk: bool,
    /// Whether symbols are bytes, instead of characters.
    pub byte_level: bool,
    /// Whether a piece that is a token is taken as it is, unless the events take that apart at last.
    pub ignore_merges: bool,
}

/// A model that merges neighbours and takes tokens apart, in the order of a list.
#[derive(Debug)]
pub struct Events {
    tokens: TokenTable<'static>,
    pieces: PieceTable<'static>,
    /// (left, right, product), or (token, [`SPLIT`], number of the split).
    events: Vec<[u32; 3]>,
    history: History,
    settings: Settings,
}

/// A symbol that no token is; no event concerns it.
const UNKNOWN: u32 = MAX_TOKENS as u32;
/// Symbols from which on the working memory is given back after a piece.
const GIANT: usize = 1 << 20;

/// Working memory that is used again from piece to piece.
#[derive(Debug, Default)]
struct EventScratch {
    /// What the piece is spelt with.
    symbols: Vec<Symbol>,
    /// The token that begins at each symbol, or [`NONE`] inside of one.
    ids: Vec<u32>,
    /// How many symbols a token has, at its first and at its last one.
    widths: Vec<u32>,
    queue: HeapQueue,
}

impl Events {
    /// Builds a model from events: (left, right, product), or (token, `u32::MAX`, `u32::MAX`) for a token that is taken
    /// apart: into the pair that first made it, and those of its parts that are not there either into theirs.
    ///
    /// # Errors
    /// A sentence that names the first event that cannot be, two tokens that are the same text, or an unknown token's
    /// id that is too large.
    pub fn new(
        tokens: TokenTable<'static>,
        mut events: Vec<[u32; 3]>,
        settings: Settings,
    ) -> Result<Self> {
        check_unknown(settings.unk_id)?;
        Ok(Self {
            pieces: PieceTable::build(&tokens)?,
            history: History::replay(&tokens, &mut events, settings.byte_level)?,
            tokens,
            events,
            settings,
        })
    }

    /// The parts of all splits, one after the other in the order of the events, and where each split's end.
    #[cfg(feature = "python")]
    #[must_use]
    pub fn parts(&self) -> (&[u32], &[u32]) {
        (self.history.parts.items(), self.history.parts.ends())
    }

    /// The ids of tokens that no text becomes, as they are taken apart at last.
    #[cfg(feature = "python")]
    #[must_use]
    pub fn removed(&self) -> Vec<u32> {
        let removed = |id: &u32| self.history.removed[*id as usize];
        self.tokens
            .iter()
            .map(|(id, _)| id)
            .filter(removed)
            .collect()
    }

    /// Spells a piece.
    fn spell(&self, piece: &[u8], scratch: &mut EventScratch) -> Result<()> {
        let EventScratch {
            symbols,
            ids,
            widths,
            ..
        } = scratch;
        symbols.clear();
        ids.clear();
        widths.clear();
        reserve(symbols, piece.len())?;
        reserve(ids, piece.len())?;
        let mut at = 0;
        let mut after_unknown = false;
        while at < piece.len() {
            let start = at;
            at += match self.settings.byte_level {
                true => 1,
                false => character_len(piece, at),
            };
            let known = self.pieces.get(&piece[start..at], &self.tokens);
            let id = match (known, self.settings.unk_id) {
                (Some(id), _) => id,
                (None, Some(_)) => UNKNOWN,
                (None, None) if self.settings.byte_level => {
                    return Err(Error::MissingByte {
                        byte: piece[start],
                        offset: start,
                    });
                }
                (None, None) => continue,
            };
            let fuses = id == UNKNOWN && after_unknown && self.settings.fuse_unk;
            after_unknown = id == UNKNOWN;
            match symbols.last_mut() {
                Some(last) if fuses => last.end = at as u32,
                _ => {
                    let [start, end] = [start, at].map(|place| place as u32);
                    symbols.push(Symbol { id, start, end });
                    ids.push(id);
                }
            }
        }
        reserve(widths, ids.len())?;
        widths.resize(ids.len(), 1);
        Ok(())
    }

    /// Puts the next event of a token and the one behind it into the queue.
    #[inline]
    fn look(&self, scratch: &mut EventScratch, at: usize, from: u32) {
        let EventScratch {
            ids, widths, queue, ..
        } = scratch;
        let next = at + widths[at] as usize;
        let Some(&right) = ids.get(next) else {
            return;
        };
        if ids[at].max(right) < UNKNOWN
            && let Some(event) = self.history.next_merge(ids[at], right, from)
        {
            queue.push(event, at as u32);
        }
    }

    /// Puts the next event that takes a token apart into the queue.
    #[inline]
    fn look_inside(&self, scratch: &mut EventScratch, at: usize, from: u32) {
        if let Some(event) = self.history.next_split(scratch.ids[at], from) {
            scratch.queue.push(event, at as u32);
        }
    }

    /// Lets all events happen to what is spelt.
    ///
    /// Complexity: log n an event and place; a place has at most [`MOST_ANEW`] parts, and merges of these.
    fn happen(&self, scratch: &mut EventScratch) -> Result<()> {
        let count = scratch.ids.len();
        (0..count).for_each(|at| self.look(scratch, at, 0));
        let mut parts_made = 0;
        while let Some((event, at)) = scratch.queue.pop() {
            let [left, right, made] = self.events[event as usize];
            let at = at as usize;
            if scratch.ids[at] != left {
                continue; // something else happened there meanwhile
            }
            let width = scratch.widths[at] as usize;
            let from = event + 1;
            if right == SPLIT {
                let parts = self.history.parts.get(made);
                parts_made += parts.len();
                ensure!(
                    parts_made <= MOST_ANEW * count,
                    "the tokenizer's events take a piece of {count} symbols apart into more than {} parts",
                    MOST_ANEW * count
                );
                let mut start = at;
                for &part in parts {
                    let width = self.history.widths[part as usize];
                    scratch.put(start, part, width as usize);
                    start += width as usize;
                }
                let mut start = at;
                for &part in parts {
                    self.look(scratch, start, from);
                    self.look_inside(scratch, start, from);
                    start += self.history.widths[part as usize] as usize;
                }
            } else {
                let next = at + width;
                if scratch.ids.get(next) != Some(&right) {
                    continue;
                }
                let both = width + scratch.widths[next] as usize;
                scratch.ids[next] = NONE;
                scratch.put(at, made, both);
                self.look(scratch, at, from);
                self.look_inside(scratch, at, from);
            }
            if at > 0 {
                let before = at - scratch.widths[at - 1] as usize;
                self.look(scratch, before, from);
            }
        }
        Ok(())
    }

    /// Gives out the tokens of a piece.
    fn encode(&self, piece: &[u8], scratch: &mut Scratch, out: &mut impl Tokens) -> Result<()> {
        ensure!(
            u32::try_from(piece.len()).is_ok(),
            "a piece of text is longer than 4 GiB"
        );
        if self.settings.ignore_merges
            && let Some(id) = self.pieces.get(piece, &self.tokens)
            && !self.history.removed[id as usize]
        {
            out.reserve(1)?;
            let end = piece.len() as u32;
            out.push(Found { id, start: 0, end });
            return Ok(());
        }
        let scratch: &mut EventScratch = scratch.own.of();
        self.spell(piece, scratch)?;
        let happened = self.happen(scratch);
        if happened.is_ok() {
            out.reserve(scratch.ids.iter().filter(|&&id| id != NONE).count())?;
            scratch.left().for_each(|found| out.push(self.named(found)));
        }
        if happened.is_err() || scratch.ids.len() > GIANT {
            *scratch = EventScratch::default();
        }
        happened
    }

    /// The same, with its id if it is unknown.
    fn named(&self, found: Found) -> Found {
        let id = match found.id {
            UNKNOWN => self.settings.unk_id.unwrap_or(NONE),
            id => id,
        };
        Found { id, ..found }
    }
}

impl EventScratch {
    /// Writes a token down at the symbols that it has.
    #[inline]
    fn put(&mut self, at: usize, id: u32, width: usize) {
        self.ids[at] = id;
        self.widths[at] = width as u32;
        self.widths[at + width - 1] = width as u32;
    }

    /// The tokens that are left.
    fn left(&self) -> impl Iterator<Item = Found> {
        let mut at = 0;
        std::iter::from_fn(move || {
            let &id = self.ids.get(at)?;
            let start = self.symbols[at].start;
            at += self.widths[at] as usize;
            let end = self.symbols[at - 1].end;
            Some(Found { id, start, end })
        })
    }
}

impl Model for Events {
    fn tokens(&self) -> &TokenTable<'static> {
        &self.tokens
    }

    fn reads_bytes(&self) -> bool {
        self.settings.byte_level
    }

    /// Unknown symbols become one token within a piece only.
    fn fuses(&self) -> Option<u32> {
        None
    }

    fn encode_piece(
        &self,
        piece: &[u8],
        scratch: &mut Scratch,
        out: &mut Vec<Found>,
    ) -> Result<()> {
        self.encode(piece, scratch, out)
    }

    fn encode_ids(&self, piece: &[u8], scratch: &mut Scratch, ids: &mut Vec<u32>) -> Result<()> {
        self.encode(piece, scratch, ids)
    }

    fn count_ids(&self, piece: &[u8], scratch: &mut Scratch) -> Result<u64> {
        let mut counted = Counted::default();
        self.encode(piece, scratch, &mut counted)?;
        Ok(counted.0)
    }

    fn sample_piece(
        &self,
        _: &[u8],
        sampling: Sampling,
        _: &mut Draw,
        _: &mut Scratch,
        _: &mut Vec<Found>,
    ) -> Result<()> {
        Err(match sampling {
            Sampling::Dropout(_) | Sampling::LastingDropout(_) => {
                invalid!("no merge can be dropped here, as later events count on it")
            }
            Sampling::Segmentation { .. } => {
                invalid!("this model gives no probabilities to draw by")
            }
        })
    }
}

#[cfg(test)]
mod tests;
