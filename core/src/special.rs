//! Special and added tokens in text: leftmost, and among those that begin there the longest.
//!
//! The semantics are those of Hugging Face's added tokens. Tokens are looked for in two passes: first
//! in the text as it is; then, in each stretch between the ones found, after it was normalized, those
//! whose contents are normalized too. A token may take the white space beside it along, or be found
//! only where no word character stands beside it; an occurrence that is turned down for that has
//! nevertheless used up its text, so that no shorter token is found inside it.

#[doc(hidden)]
pub mod codebook;
pub mod segment;
mod token_set;

use std::sync::Arc;

use crate::error::{Result, ensure, invalid};
use crate::normalize::Context;
use crate::special::codebook::Codebook;
pub use crate::special::segment::Segment;
use crate::special::token_set::{Token, TokenSet};
use crate::stages::Stages;
use crate::text::Text;

/// The token takes the white space before it along.
pub const LSTRIP: u8 = 1;
/// The token takes the white space after it along.
pub const RSTRIP: u8 = 2;
/// The token is found only where no word character (`\w`) stands beside it.
pub const SINGLE_WORD: u8 = 4;
/// The token is looked for in normalized text, its own content being normalized.
pub const NORMALIZED: u8 = 8;

/// Finds special tokens.
#[derive(Debug)]
pub struct SpecialMatcher {
    /// What is looked for in the text as it is.
    plain: TokenSet,
    /// What is looked for in each stretch that the first pass leaves.
    second: Option<TokenSet>,
    /// What the second pass's stretches go through before it; None when nothing changes them.
    stages: Option<Arc<Stages>>,
    /// What is looked for in what the tokens leave, before anything rewrites it.
    codebook: Option<Arc<Codebook>>,
}

impl SpecialMatcher {
    /// Compiles the contents to look for. `ids` has the id of each; `flags` has a sum of [`LSTRIP`],
    /// [`RSTRIP`], [`SINGLE_WORD`] and [`NORMALIZED`] for each, or is empty; `stages` normalize text.
    ///
    /// Among equal contents the first counts. A content that nothing is left of when it is normalized
    /// is never found.
    ///
    /// # Errors
    /// Says that a content is empty or cannot be normalized, that the lists differ in length, or that
    /// a flag is unknown.
    pub fn new(
        contents: Vec<Vec<u8>>,
        ids: Vec<u32>,
        flags: &[u8],
        stages: Option<Arc<Stages>>,
    ) -> Result<Self> {
        ensure!(
            contents.len() == ids.len(),
            "{} special tokens have {} ids",
            contents.len(),
            ids.len()
        );
        ensure!(
            flags.is_empty() || flags.len() == ids.len(),
            "{} special tokens have {} flags",
            ids.len(),
            flags.len()
        );
        if let Some(unknown) = flags
            .iter()
            .find(|&flags| flags & !(LSTRIP | RSTRIP | SINGLE_WORD | NORMALIZED) != 0)
        {
            return Err(invalid!(
                "a special token has the flags {unknown}, which are unknown"
            ));
        }
        if contents.iter().any(Vec::is_empty) {
            return Err(invalid!("a special token is empty"));
        }
        let stages = stages.filter(|stages| stages.rewrites());
        let (mut plain, mut second) = (Vec::new(), Vec::new());
        for (place, (content, id)) in contents.into_iter().zip(ids).enumerate() {
            let flags = flags.get(place).copied().unwrap_or(0);
            if flags & NORMALIZED == 0 {
                plain.push(Token { content, id, flags });
                continue;
            }
            let content = match &stages {
                None => content,
                Some(stages) => normalized(stages, &content, WHOLE)?,
            };
            if !content.is_empty() {
                second.push(Token { content, id, flags });
            }
        }
        Ok(Self {
            plain: TokenSet::new(plain)?,
            second: match second[..] {
                [] => None,
                _ => Some(TokenSet::new(second)?),
            },
            stages,
            codebook: None,
        })
    }

    /// Looks for the words of a codebook too.
    #[must_use]
    pub fn with_codebook(self, codebook: Arc<Codebook>) -> Self {
        Self {
            codebook: Some(codebook),
            ..self
        }
    }

    /// Calls `each` for each stretch of text and each token, in order. Tokens that are looked for in
    /// normalized text are found here only if no normalizer changes the text.
    ///
    /// # Errors
    /// The first error that the callback gives.
    pub fn segments(&self, text: &[u8], mut each: impl FnMut(Segment) -> Result<()>) -> Result<()> {
        match &self.codebook {
            None => self.tokens(text, each),
            Some(codebook) => self.tokens(text, |segment| {
                let Segment::Text { start, end } = segment else {
                    return each(segment);
                };
                codebook.segments(&text[start..end], |inner| each(inner.moved(start)))
            }),
        }
    }

    /// The same without the words of a codebook.
    ///
    /// # Errors
    /// The first error that the callback gives.
    pub fn tokens(&self, text: &[u8], mut each: impl FnMut(Segment) -> Result<()>) -> Result<()> {
        match &self.second {
            Some(second) if self.stages.is_none() => self.plain.segments(text, |segment| {
                let Segment::Text { start, end } = segment else {
                    return each(segment);
                };
                second.segments(&text[start..end], |inner| each(inner.moved(start)))
            }),
            _ => self.plain.segments(text, each),
        }
    }

    /// Whether some tokens are looked for in normalized text.
    #[must_use]
    pub fn looks_in_normalized(&self) -> bool {
        self.second.is_some() && self.stages.is_some()
    }

    /// The same as [`SpecialMatcher::segments`] for a normalized stretch and the tokens that are looked
    /// for in it.
    ///
    /// # Errors
    /// The first error that the callback gives.
    pub fn segments_normalized(
        &self,
        text: &[u8],
        each: impl FnMut(Segment) -> Result<()>,
    ) -> Result<()> {
        match &self.second {
            Some(second) => second.segments(text, each),
            None => TokenSet::default().segments(text, each),
        }
    }

    /// Tells whether a text, of which nothing before is open, can be cut at the offset `cut`: None if it
    /// can, else up to where another cut is to be looked for.
    ///
    /// It cannot where a token or a codebook's stretch goes on across the cut.
    #[must_use]
    pub fn moves_cut(&self, text: &[u8], cut: usize) -> Option<usize> {
        if self.reaches_cut(text, cut) {
            return Some(cut.saturating_sub(1));
        }
        let codebook = self.codebook.as_ref()?;
        if codebook.tag_reaches(text, cut) {
            return Some(cut.saturating_sub(1));
        }
        let start = codebook.open_at_end(&text[..cut])?;
        // A token ends a stretch; one that is turned down, or only looked for in normalized text, does not.
        let inside = &text[start + codebook.open_len()..cut];
        let ends = self.plain.flags & SINGLE_WORD == 0
            && (self.plain.automaton.as_ref()).is_some_and(|tokens| tokens.is_match(inside));
        (!ends).then_some(start)
    }

    /// Tells whether an occurrence that begins before the offset `cut` may reach it, also one that goes
    /// on past the end of `text`, or whether it hangs on both sides of the cut whether one is found.
    /// One that ends at the cut counts: what follows a special token is the beginning of a text, which
    /// matters where a space is put before that. Where it is not known, the answer is yes.
    #[must_use]
    fn reaches_cut(&self, text: &[u8], cut: usize) -> bool {
        if self.plain.reaches_cut(text, cut) {
            return true;
        }
        match (&self.second, &self.stages) {
            (None, _) => false,
            (Some(second), None) => second.reaches_cut(text, cut),
            (Some(second), Some(stages)) => self
                .normalized_around(second, stages, text, cut)
                .is_none_or(|(around, at)| second.reaches_cut(&around, at)),
        }
    }

    /// The normalized text around a cut and where the cut lies in it: on each side at least as much as
    /// the longest token has. None when it cannot be had from the text near the cut alone.
    ///
    /// Between two places where the stages allow cuts, the normalized text is that of the stretch by
    /// itself; so two such places, one on each side, are all that is needed.
    fn normalized_around(
        &self,
        second: &TokenSet,
        stages: &Stages,
        text: &[u8],
        cut: usize,
    ) -> Option<(Vec<u8>, usize)> {
        let far = 64 + 4 * second.longest;
        let near = second.longest + 2;
        let from = cut.saturating_sub(far);
        let left = match stages.safe_cut(&text[from..cut.checked_sub(near)?.max(from)]) {
            0 => return None,
            offset => from + offset,
        };
        let right = match stages.safe_cut(&text[cut..text.len().min(cut + far)]) {
            0 => return None,
            offset => cut + offset,
        };
        let found = self.plain.automaton.as_ref();
        if found.is_some_and(|automaton| automaton.is_match(&text[left..right]))
            || [left, right].iter().any(|&at| self.plain.crosses(text, at))
        {
            return None; // a stretch begins or ends here that the other side knows nothing of
        }
        let going_on = Context {
            continued: true,
            first: false,
        };
        let mut around = normalized(stages, &text[left..cut], going_on).ok()?;
        let at = around.len();
        around.extend(normalized(stages, &text[cut..right], going_on).ok()?);
        (at >= second.longest && around.len() - at >= second.longest).then_some((around, at))
    }
}

/// A text by itself, as a content is.
const WHOLE: Context = Context {
    continued: false,
    first: true,
};

fn normalized(stages: &Stages, text: &[u8], context: Context) -> Result<Vec<u8>> {
    let mut text = Text::new(text, false);
    stages.normalize(&mut text, context)?;
    Ok(text.bytes().to_vec())
}

#[cfg(test)]
mod tests;
