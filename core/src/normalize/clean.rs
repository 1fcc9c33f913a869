//! Normalizers that look at one character at a time.

use serde::Deserialize;
use unicode_normalization::char::canonical_combining_class;

use super::Context;
use super::categories::{COMBINING_MARKS, CONTROLS, NONSPACING_MARKS, Set, UNICODE_9};
use super::form::Form;
use crate::boundaries::pairs::Left;
use crate::text::visible;
use crate::text::{Text, characters, read_char};

/// What becomes of a character.
enum Cleaned {
    Kept,
    Removed,
    Space,
}

/// Keeps characters, leaves them out, or makes them spaces.
fn sift(text: &mut Text, becomes: impl Fn(char) -> Cleaned) {
    let touched = |bytes: &[u8], at: usize| match read_char(bytes, at) {
        (Some(character), length) => (becomes(character), length),
        (None, length) => (Cleaned::Kept, length),
    };
    let bytes = text.bytes();
    let mut first = 0;
    while first < bytes.len() {
        match touched(bytes, first) {
            (Cleaned::Kept, length) => first += length,
            _ => break,
        }
    }
    if first == bytes.len() {
        return;
    }
    text.rewrite(|old, new| {
        let mut start = 0;
        let mut at = first;
        while at < old.len() {
            let (becomes, length) = touched(old, at);
            if !matches!(becomes, Cleaned::Kept) {
                new.keep(start..at);
                if matches!(becomes, Cleaned::Space) {
                    new.replace(at..at + length, b" ");
                }
                start = at + length;
            }
            at += length;
        }
        new.keep(start..old.len());
    });
}

/// Leaves out the characters of a set.
fn remove(text: &mut Text, set: &Set) {
    if !text.bytes().is_ascii() {
        sift(text, |character| {
            if set.contains(character) {
                Cleaned::Removed
            } else {
                Cleaned::Kept
            }
        });
    }
}

/// Leaves control characters out and makes blanks spaces, as for machine translation.
pub(super) fn nmt(text: &mut Text) {
    sift(text, |character| match character {
        '\u{1}'..='\u{8}' | '\u{B}' | '\u{E}'..='\u{1F}' | '\u{7F}' | '\u{8F}' | '\u{9F}' => {
            Cleaned::Removed
        }
        '\t'
        | '\n'
        | '\u{C}'
        | '\r'
        | '\u{1680}'
        | '\u{200B}'..='\u{200F}'
        | '\u{2028}'
        | '\u{2029}'
        | '\u{2581}'
        | '\u{FEFF}'
        | '\u{FFFD}' => Cleaned::Space,
        _ => Cleaned::Kept,
    });
}

/// Leaves marks out.
pub(super) fn strip_accents(text: &mut Text) {
    remove(text, &COMBINING_MARKS);
}

/// Writes each character in lower case, for itself: a final sigma is none.
pub(super) fn lowercase(text: &mut Text) {
    let lower = |byte: &u8| byte.is_ascii() && !byte.is_ascii_uppercase();
    if text.bytes().iter().all(lower) {
        return;
    }
    text.rewrite(|old, new| {
        let mut start = 0;
        let mut at = 0;
        while at < old.len() {
            if lower(&old[at]) {
                at += 1;
                continue;
            }
            let (character, length) = read_char(old, at);
            if let Some(character) = character {
                let mut lowered = character.to_lowercase();
                if lowered.len() > 1 || lowered.next() != Some(character) {
                    new.keep(start..at);
                    let mut bytes = [0; 4];
                    for part in character.to_lowercase() {
                        new.replace(at..at + length, part.encode_utf8(&mut bytes).as_bytes());
                    }
                    start = at + length;
                }
            }
            at += length;
        }
        new.keep(start..old.len());
    });
}

/// A character in lower case, if that is one character.
pub(super) fn one_lowercase(character: char) -> Option<char> {
    let mut lowered = character.to_lowercase();
    lowered.next().filter(|_| lowered.len() == 0)
}

/// Leaves white space at the ends out; text that goes on has no beginning.
pub(super) fn strip(text: &mut Text, left: bool, right: bool, context: Context) {
    let blank = |bytes: &[u8], at: usize| {
        let (character, length) = read_char(bytes, at);
        character.is_some_and(char::is_whitespace).then_some(length)
    };
    let bytes = text.bytes();
    let mut start = 0;
    while left && !context.continued && start < bytes.len() {
        match blank(bytes, start) {
            Some(length) => start += length,
            None => break,
        }
    }
    let mut end = bytes.len();
    while right && end > start {
        // White space has at most three bytes.
        let nearest = start.max(end.saturating_sub(3));
        let last = (nearest..end)
            .rev()
            .find(|&at| blank(&bytes[..end], at).is_some_and(|length| at + length == end));
        match last {
            Some(at) => end = at,
            None => break,
        }
    }
    if start > 0 || end < bytes.len() {
        text.rewrite(|_, new| new.keep(start..end));
    }
}

/// Puts a text before a text that is not empty and has a beginning; it stands for the first character.
pub(super) fn prepend(text: &mut Text, what: &str, context: Context) {
    let Some((_, first)) = characters(text.bytes()).next() else {
        return;
    };
    if !context.continued && !what.is_empty() {
        let first = first.len();
        text.rewrite(|old, new| {
            new.replace(0..first, what.as_bytes());
            new.keep(0..old.len());
        });
    }
}

/// Spells each byte as its visible character.
pub(super) fn byte_level(text: &mut Text) {
    text.rewrite(|old, new| {
        let mut bytes = [0; 4];
        for (at, &byte) in old.iter().enumerate() {
            let spelt = visible::of_byte(byte).encode_utf8(&mut bytes);
            new.replace(at..at + 1, spelt.as_bytes());
        }
    });
}

/// The steps of `BertNormalizer`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bert {
    clean_text: bool,
    handle_chinese_chars: bool,
    /// None: as `lowercase` says.
    strip_accents: Option<bool>,
    lowercase: bool,
}

impl Bert {
    /// Runs the steps, in the order of Hugging Face's. (The first BERT lowered before it stripped.)
    pub(super) fn rewrite(self, text: &mut Text) {
        if self.clean_text {
            sift(text, |character| match character {
                '\0' | '\u{FFFD}' => Cleaned::Removed,
                ' '..='~' => Cleaned::Kept,
                _ if CONTROLS.contains(character) => Cleaned::Removed,
                _ if character.is_whitespace() => Cleaned::Space,
                _ => Cleaned::Kept,
            });
        }
        if self.handle_chinese_chars {
            space_out(text);
        }
        if self.strip_accents.unwrap_or(self.lowercase) {
            let decomposed = Form {
                compatible: false,
                composed: false,
                known: &UNICODE_9,
            };
            decomposed.rewrite(text);
            remove(text, &NONSPACING_MARKS);
        }
        if self.lowercase {
            lowercase(text);
        }
    }
}

impl Bert {
    /// What [`super::Normalizer::between`] asks: each character is rewritten by itself, but for the order of marks.
    pub(super) fn between(self, left: Left, right: char) -> Option<(Left, char)> {
        let Left::Character(left) = left else {
            return None;
        };
        if [left, right].map(canonical_combining_class) != [0, 0] {
            return None;
        }
        let left = self.of(left).chars().next_back()?;
        let right = self.of(right);
        let mut written = right.chars();
        let right = written.next()?;
        let is_steady = right.is_whitespace() || written.next().is_none();
        let begin = [left, right].map(canonical_combining_class) == [0, 0];
        (begin && is_steady).then_some((Left::Character(left), right))
    }

    /// Whether a character stays, or becomes one of ASCII, and is no mark.
    pub(super) fn begins_anew(self, character: char) -> bool {
        let first = self.of(character).chars().next();
        canonical_combining_class(character) == 0
            && first.is_some_and(|first| first == character || first.is_ascii())
    }

    /// What becomes of a character by itself.
    fn of(self, character: char) -> String {
        let mut text = Text::new(character.encode_utf8(&mut [0; 4]).as_bytes(), false);
        self.rewrite(&mut text);
        String::from_utf8_lossy(text.bytes()).into_owned()
    }
}

/// Puts a space on both sides of each Chinese character; they stand for the character as well.
fn space_out(text: &mut Text) {
    if text.bytes().is_ascii() {
        return;
    }
    text.rewrite(|old, new| {
        let mut start = 0;
        for (at, bytes) in characters(old) {
            if bytes.len() >= 3 && read_char(bytes, 0).0.is_some_and(is_chinese) {
                new.keep(start..at);
                start = at + bytes.len();
                new.replace(at..start, b" ");
                new.keep(at..start);
                new.replace(at..start, b" ");
            }
        }
        new.keep(start..old.len());
    });
}

/// Whether BERT takes a character for Chinese. Extension E begins at U+2B820; that Hugging Face's
/// begins at U+2B920 is a slip, kept because the ids of its tokenizers follow from it.
fn is_chinese(character: char) -> bool {
    matches!(character,
        '\u{4E00}'..='\u{9FFF}'
        | '\u{3400}'..='\u{4DBF}'
        | '\u{20000}'..='\u{2A6DF}'
        | '\u{2A700}'..='\u{2B73F}'
        | '\u{2B740}'..='\u{2B81F}'
        | '\u{2B920}'..='\u{2CEAF}'
        | '\u{F900}'..='\u{FAFF}'
        | '\u{2F800}'..='\u{2FA1F}')
}
