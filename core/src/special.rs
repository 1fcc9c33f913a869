//! Special and added tokens in text: leftmost, and among those that begin there the longest.
//!
//! The semantics are those of Hugging Face's added tokens. Tokens are looked for in two passes: first
//! in the text as it is; then, in each stretch between the ones found, after it was normalized, those
//! whose contents are normalized too. A token may take the white space beside it along, or be found
//! only where no word character stands beside it; an occurrence that is turned down for that has
//! nevertheless used up its text, so that no shorter token is found inside it.

use std::sync::Arc;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, MatchKind};
use fancy_regex::Regex;

use crate::error::{Error, Result};
use crate::normalize::Context;
use crate::parallel::Segment;
use crate::stages::Stages;
use crate::text::{Text, read_char};

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
        if contents.len() != ids.len() {
            let sentence = format!("{} special tokens have {} ids", contents.len(), ids.len());
            return Err(Error::Invalid(sentence));
        }
        if !flags.is_empty() && flags.len() != ids.len() {
            let sentence = format!("{} special tokens have {} flags", ids.len(), flags.len());
            return Err(Error::Invalid(sentence));
        }
        if let Some(unknown) = flags
            .iter()
            .find(|&flags| flags & !(LSTRIP | RSTRIP | SINGLE_WORD | NORMALIZED) != 0)
        {
            let sentence = format!("a special token has the flags {unknown}, which are unknown");
            return Err(Error::Invalid(sentence));
        }
        if contents.iter().any(Vec::is_empty) {
            return Err(Error::Invalid("a special token is empty".to_owned()));
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
        })
    }

    /// Calls `each` for each stretch of text and each token, in order. Tokens that are looked for in
    /// normalized text are found here only if no normalizer changes the text.
    ///
    /// # Errors
    /// The first error that the callback gives.
    pub fn segments(&self, text: &[u8], mut each: impl FnMut(Segment) -> Result<()>) -> Result<()> {
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

    /// Tells whether an occurrence that begins before the offset `cut` may reach it, also one that goes
    /// on past the end of `text`, or whether it hangs on both sides of the cut whether one is found.
    /// One that ends at the cut counts: what follows a special token is the beginning of a text, which
    /// matters where a space is put before that. Where it is not known, the answer is yes.
    #[must_use]
    pub fn reaches_cut(&self, text: &[u8], cut: usize) -> bool {
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
        if found.is_some_and(|automaton| automaton.is_match(&text[left..right])) {
            return None; // a stretch begins here that the other side knows nothing of
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

/// A token that is looked for.
#[derive(Debug)]
struct Token {
    content: Vec<u8>,
    id: u32,
    flags: u8,
}

/// Tokens that are looked for in one pass.
#[derive(Debug, Default)]
struct TokenSet {
    tokens: Vec<Token>,
    /// None if there are no tokens.
    automaton: Option<AhoCorasick>,
    /// Bytes of the longest content.
    longest: usize,
    /// All flags of any token.
    flags: u8,
    /// `\w`, if a token needs it.
    word: Option<Regex>,
}

impl TokenSet {
    fn new(tokens: Vec<Token>) -> Result<Self> {
        if tokens.is_empty() {
            return Ok(Self::default());
        }
        let cannot = |error: &dyn std::fmt::Display| {
            Error::Invalid(format!("special tokens cannot be searched for: {error}"))
        };
        let automaton = AhoCorasickBuilder::new()
            .match_kind(MatchKind::LeftmostLongest)
            .build(tokens.iter().map(|token| &token.content))
            .map_err(|error| cannot(&error))?;
        let flags = tokens.iter().fold(0, |flags, token| flags | token.flags);
        let word = match flags & SINGLE_WORD {
            0 => None,
            _ => Some(Regex::new(r"\w").map_err(|error| cannot(&error))?),
        };
        Ok(Self {
            automaton: Some(automaton),
            longest: tokens.iter().map(|t| t.content.len()).max().unwrap_or(0),
            flags,
            word,
            tokens,
        })
    }

    /// Calls `each` for each stretch of text and each token, in order.
    ///
    /// A token that begins in white space which the one before it took along overlaps with that.
    fn segments(&self, text: &[u8], mut each: impl FnMut(Segment) -> Result<()>) -> Result<()> {
        let mut taken = 0;
        // White space that was gone through: its beginning and its end.
        let mut space = 0..0;
        if let Some(automaton) = &self.automaton {
            for found in automaton.find_iter(text) {
                let token = &self.tokens[found.pattern().as_usize()];
                let (mut start, mut end) = (found.start(), found.end());
                if token.flags != 0 {
                    if token.flags & SINGLE_WORD != 0 && self.inside_word(text, start, end) {
                        continue;
                    }
                    if token.flags & LSTRIP != 0 {
                        start = space_before(text, start, taken).max(taken);
                    }
                    if token.flags & RSTRIP != 0 {
                        if !(space.start..=space.end).contains(&end) {
                            space = end..space_after(text, end);
                        }
                        end = space.end;
                    }
                    if start >= end {
                        continue; // the token before it took all of it along
                    }
                }
                if taken < start {
                    each(Segment::Text {
                        start: taken,
                        end: start,
                    })?;
                }
                let id = token.id;
                each(Segment::Special { id, start, end })?;
                taken = end;
            }
        }
        if taken < text.len() {
            each(Segment::Text {
                start: taken,
                end: text.len(),
            })?;
        }
        Ok(())
    }

    fn inside_word(&self, text: &[u8], start: usize, end: usize) -> bool {
        let before = (start > 0).then(|| last_start(text, start));
        let after = (end < text.len()).then_some(end);
        before.into_iter().chain(after).any(|at| {
            // A byte that is no part of UTF-8 is a letter, as for the pre-tokenizers.
            read_char(text, at).0.is_none_or(|character| {
                let mut utf8 = [0; 4];
                let one = character.encode_utf8(&mut utf8);
                self.word
                    .as_ref()
                    .is_some_and(|word| word.is_match(one).unwrap_or(false))
            })
        })
    }

    fn reaches_cut(&self, text: &[u8], cut: usize) -> bool {
        if self.flags & (LSTRIP | RSTRIP | SINGLE_WORD) != 0 && cut > 0 {
            let last = last_start(text, cut);
            let half_a_character = last + expected_len(text[last]) > cut;
            let strips = self.flags & (LSTRIP | RSTRIP) != 0;
            if half_a_character || strips && is_space(text, last) {
                return true;
            }
        }
        self.tokens.iter().any(|token| {
            let length = token.content.len();
            let seen_from = |start: usize| &text[start..text.len().min(start + length)];
            let crosses = (1..=length.min(cut))
                .any(|before| token.content.starts_with(seen_from(cut - before)));
            // What stands before the cut decides about a single word that begins at it.
            crosses || (token.flags & SINGLE_WORD != 0 && token.content.starts_with(seen_from(cut)))
        })
    }
}

/// Where the last character before an offset begins.
fn last_start(text: &[u8], end: usize) -> usize {
    let nearest = end.saturating_sub(4);
    (nearest..end)
        .rev()
        .find(|&at| text[at] & 0xC0 != 0x80)
        .filter(|&at| at + expected_len(text[at]) >= end)
        .unwrap_or(end - 1)
}

/// How many bytes a character has that begins with a byte.
fn expected_len(lead: u8) -> usize {
    match lead {
        0xC2..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF4 => 4,
        _ => 1,
    }
}

fn is_space(text: &[u8], at: usize) -> bool {
    read_char(text, at).0.is_some_and(char::is_whitespace)
}

/// Where the white space before an offset begins, as far as it lies behind `floor`.
fn space_before(text: &[u8], mut at: usize, floor: usize) -> usize {
    while at > floor {
        let last = last_start(text, at);
        let (character, length) = read_char(text, last);
        if last + length != at || !character.is_some_and(char::is_whitespace) {
            break;
        }
        at = last;
    }
    at
}

/// Where the white space after an offset ends.
fn space_after(text: &[u8], mut at: usize) -> usize {
    while at < text.len() {
        let (character, length) = read_char(text, at);
        if !character.is_some_and(char::is_whitespace) {
            break;
        }
        at += length;
    }
    at
}

#[cfg(test)]
#[path = "special_tests.rs"]
mod tests;
