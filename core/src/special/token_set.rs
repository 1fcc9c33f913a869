//! The tokens that one pass looks for in text; `special` says what becomes of them.

use aho_corasick::{AhoCorasick, MatchKind};

use crate::error::{Result, invalid};
use crate::special::segment::Segment;
use crate::special::{LSTRIP, RSTRIP, SINGLE_WORD};
use crate::split::categories;
use crate::text::finder::finder;
use crate::text::prefixes::Prefixes;
use crate::text::{begin_of_last, length_from, read_char};

/// A token that is looked for.
#[derive(Debug)]
pub(crate) struct Token {
    pub content: Vec<u8>,
    pub id: u32,
    pub flags: u8,
}

/// Tokens that are looked for in one pass.
#[derive(Debug, Default)]
pub(crate) struct TokenSet {
    tokens: Vec<Token>,
    /// None if there are no tokens.
    pub automaton: Option<AhoCorasick>,
    /// Bytes of the longest content.
    pub longest: usize,
    /// All flags of any token.
    pub flags: u8,
    /// What is looked for, and what of it as a single word.
    contents: Prefixes,
    single_words: Prefixes,
}

impl TokenSet {
    pub(crate) fn new(tokens: Vec<Token>) -> Result<Self> {
        if tokens.is_empty() {
            return Ok(Self::default());
        }
        let cannot = |error: &dyn std::fmt::Display| {
            invalid!("special tokens cannot be searched for: {error}")
        };
        let contents: Vec<_> = tokens.iter().map(|token| &token.content).collect();
        let automaton =
            finder(&contents, MatchKind::LeftmostLongest).map_err(|error| cannot(&error))?;
        let flags = tokens.iter().fold(0, |flags, token| flags | token.flags);
        Ok(Self {
            automaton: Some(automaton),
            longest: tokens.iter().map(|t| t.content.len()).max().unwrap_or(0),
            flags,
            contents: Prefixes::new(tokens.iter().map(|token| token.content.clone())),
            single_words: Prefixes::new(
                tokens
                    .iter()
                    .filter(|token| token.flags & SINGLE_WORD != 0)
                    .map(|token| token.content.clone()),
            ),
            tokens,
        })
    }

    /// Calls `each` for each stretch of text and each token, in order.
    ///
    /// A token that begins in white space which the one before it took along overlaps with that.
    pub(crate) fn segments(
        &self,
        text: &[u8],
        mut each: impl FnMut(Segment) -> Result<()>,
    ) -> Result<()> {
        let mut taken = 0;
        // White space that was gone through: its beginning and its end.
        let mut space = 0..0;
        if let Some(automaton) = &self.automaton {
            for found in automaton.find_iter(text) {
                let token = &self.tokens[found.pattern().as_usize()];
                let (mut start, mut end) = (found.start(), found.end());
                if token.flags != 0 {
                    if token.flags & SINGLE_WORD != 0 && inside_word(text, start, end) {
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

    pub(crate) fn reaches_cut(&self, text: &[u8], cut: usize) -> bool {
        if self.flags & (LSTRIP | RSTRIP | SINGLE_WORD) != 0 && cut > 0 {
            let last = begin_of_last(text, cut);
            let half_a_character = last + length_from(text[last]) > cut;
            let strips = self.flags & (LSTRIP | RSTRIP) != 0;
            if half_a_character || strips && is_space(text, last) {
                return true;
            }
        }
        // What stands before the cut decides about a single word that begins at it.
        self.crosses(text, cut) || self.single_words.reaches(&text[cut..], 0)
    }

    /// Whether a content that begins before an offset may reach it, or end there.
    pub(crate) fn crosses(&self, text: &[u8], at: usize) -> bool {
        (1..=self.longest.min(at)).any(|before| self.contents.reaches(&text[at - before..], before))
    }
}

/// Whether a word character stands before or after a range.
fn inside_word(text: &[u8], start: usize, end: usize) -> bool {
    let before = (start > 0).then(|| begin_of_last(text, start));
    let after = (end < text.len()).then_some(end);
    // A byte that is no part of UTF-8 is a letter, as for the pre-tokenizers.
    before
        .into_iter()
        .chain(after)
        .any(|at| categories::is_word(categories::read(text, at).0))
}

fn is_space(text: &[u8], at: usize) -> bool {
    read_char(text, at).0.is_some_and(char::is_whitespace)
}

/// Where the white space before an offset begins, as far as it lies behind `floor`.
fn space_before(text: &[u8], mut at: usize, floor: usize) -> usize {
    while at > floor {
        let last = begin_of_last(text, at);
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
