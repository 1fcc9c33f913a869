//! Words and tokens in *units*, which are never cut: a character; a mark of the end by itself, or a last character together
//! with it; with a prefix, a first character is another unit than the same one inside a word.

use super::automaton::read_symbol;

/// The unit of a suffix by itself; above all characters and stray bytes.
const END: u32 = 1 << 21;
/// Of the unit of a character that has the suffix.
const LAST: u32 = 1 << 22;
/// Of the unit of a character that begins a word, where tokens inside words have a prefix.
const FIRST: u32 = 1 << 23;

/// What is written around the characters of a word; empty for nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marks<'a> {
    /// Written at the end of a word.
    suffix: &'a str,
    /// Whether the suffix is a unit by itself, or belongs to the last character.
    separate_suffix: bool,
    /// Written before a token that does not begin a word.
    prefix: &'a str,
}

/// Whether a unit is a character together with the suffix.
pub(super) fn is_last(unit: u32) -> bool {
    unit & LAST != 0
}

impl<'a> Marks<'a> {
    pub fn new(suffix: &'a str, separate_suffix: bool, prefix: &'a str) -> Self {
        Self {
            suffix,
            separate_suffix,
            prefix,
        }
    }

    /// Spells a word in units, with where each begins in its text; the suffix by itself begins nowhere.
    pub fn word(&self, text: &[u8]) -> (Vec<u32>, Vec<u32>) {
        let (mut units, mut starts) = (Vec::new(), Vec::new());
        spell(text, &mut units, &mut starts);
        self.mark(&mut units, false, !self.suffix.is_empty());
        (units, starts)
    }

    /// Spells a token in units. What it begins and ends with are marks, unless nothing stands beside them.
    pub fn token(&self, text: &[u8]) -> Vec<u32> {
        let rest = match text.strip_suffix(self.suffix.as_bytes()) {
            Some(rest) if self.separate_suffix || !rest.is_empty() => rest,
            _ => text,
        };
        let stem = match rest.strip_prefix(self.prefix.as_bytes()) {
            Some(stem) if !stem.is_empty() => stem,
            _ => rest,
        };
        let mut units = Vec::new();
        spell(stem, &mut units, &mut Vec::new());
        self.mark(&mut units, stem.len() < rest.len(), rest.len() < text.len());
        units
    }

    /// Whether a token is spelt with the prefix: it goes on inside a word.
    pub fn has_prefix(&self, text: &[u8]) -> bool {
        let stem = text.strip_prefix(self.prefix.as_bytes());
        !self.prefix.is_empty() && stem.is_some_and(|stem| !stem.is_empty())
    }

    /// Spells a token as the beginning of a word that has its prefix in the text.
    pub fn beginning(&self, text: &[u8]) -> Vec<u32> {
        let mut units = Vec::new();
        spell(text, &mut units, &mut Vec::new());
        self.mark(&mut units, false, false);
        units
    }

    fn mark(&self, units: &mut Vec<u32>, inside: bool, ends: bool) {
        if !self.prefix.is_empty()
            && !inside
            && let Some(first) = units.first_mut()
        {
            *first |= FIRST;
        }
        if ends && self.separate_suffix {
            units.push(END);
        } else if ends && let Some(last) = units.last_mut() {
            *last |= LAST;
        }
    }
}

/// Appends the symbols of a text, and where each begins.
fn spell(text: &[u8], word: &mut Vec<u32>, starts: &mut Vec<u32>) {
    let mut at = 0;
    while at < text.len() {
        let (symbol, length) = read_symbol(text, at);
        word.push(symbol);
        starts.push(at as u32);
        at += length;
    }
}
