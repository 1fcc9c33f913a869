//! Counts pieces by counting what they are made of first: each different stretch of text between blanks
//! goes through the stages once.
//!
//! Text repeats itself: of the stretches between blanks of a large text one in five or fewer is new.
//! Normalizers and pre-tokenizers cost several times as much as looking a stretch up, so the stretches of
//! a block are counted as they stand, and what the stages make of each is counted as often as it occurs.
//! That is right where [`Stages::blanks`] says so; the tests hold it to [`ByStages`].
//!
//! Invariant: the order is kept. A piece that occurs first in some stretch cannot have occurred in an
//! earlier one like it; so pieces in order of stretches, and these in order of first occurrence, are in
//! order of first occurrence.
//!
//! [`ByStages`]: crate::cutting::ByStages

use crate::count::Counts;
use crate::cutting::{Cutter, context_of, stretches};
use crate::error::{Error, Result};
use crate::normalize::Context;
use crate::parallel::{Documents, Task};
use crate::special::SpecialMatcher;
use crate::split::stage::Pieces;
use crate::split::visible;
use crate::stages::Stages;

/// Begins the key of a stretch that does not go on from a text before it with a blank; its context
/// stands behind. No blank is this byte.
const MARKED: u8 = 0xFF;

/// Cuts documents before blanks.
pub struct ByBlanks<'a> {
    /// The block.
    pub documents: &'a Documents<'a>,
    /// Where to cut.
    pub blanks: &'static [u8],
    /// What is taken out.
    pub matcher: Option<&'a SpecialMatcher>,
}

impl Cutter for ByBlanks<'_> {
    fn cut(&self, task: &Task, mut each: impl FnMut(&[u8], usize) -> Result<()>) -> Result<()> {
        let mut is_blank = [false; 256];
        for &blank in self.blanks {
            is_blank[blank as usize] = true;
        }
        let mut key = Vec::new();
        stretches(self.documents, task, self.matcher, |range, continued| {
            let context = context_of(self.documents, &range, continued);
            let text = &self.documents.text[range.clone()];
            let mut start = 0;
            loop {
                let rest = &text[start..];
                let blanks = rest.iter().take_while(|&&byte| is_blank[byte as usize]).count();
                let length = rest[blanks..]
                    .iter()
                    .position(|&byte| is_blank[byte as usize])
                    .map_or(rest.len(), |length| blanks + length);
                let stretch = &rest[..length];
                if start > 0 || (continued && blanks > 0) {
                    each(stretch, range.start + start)?;
                } else {
                    key.clear();
                    key.extend([MARKED, u8::from(context.continued), u8::from(context.first)]);
                    key.extend_from_slice(stretch);
                    each(&key, range.start)?;
                }
                start += length;
                if start == text.len() {
                    return Ok(());
                }
            }
        })
    }
}

/// Sends each stretch that [`ByBlanks`] cut through the stages, and counts its pieces as often as it
/// occurs.
///
/// # Errors
/// As [`Counts::add_staged`].
pub fn add(counts: &mut Counts, stages: &Stages, stretches: &Counts) -> Result<()> {
    let mut pieces = Pieces::default();
    let mut spelt = Vec::new();
    for (key, count) in stretches.iter() {
        let (context, text) = match *key {
            [MARKED, continued, first, ref text @ ..] => {
                let (continued, first) = (continued != 0, first != 0);
                (Context { continued, first }, text)
            }
            _ => {
                let context = Context { continued: true, first: false };
                (context, key)
            }
        };
        if u32::try_from(text.len()).is_err() {
            let sentence = "a text without a safe place to cut it is longer than 4 GiB";
            return Err(Error::Invalid(sentence.to_owned()));
        }
        pieces.text.reset(text, false);
        stages.normalize(&mut pieces.text, context)?;
        stages.pre_tokenize(&mut pieces, context)?;
        let bytes = pieces.text.bytes();
        for piece in &pieces.ranges {
            if pieces.visible {
                spelt.clear();
                visible::decode(&bytes[piece.clone()], &mut spelt);
                counts.add(&spelt, count)?;
            } else {
                counts.add(&bytes[piece.clone()], count)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "chunks_tests.rs"]
mod tests;
