//! Unicode's normalization forms (Unicode Standard Annex 15), with the origin of every character.
//!
//! The crate that has the tables gives text alone, so the ordering of marks and the composition are
//! done here. Only stretches around characters that may change are taken apart: a character of ASCII
//! is never the second half of a composition, so whatever stands before it is settled.

use unicode_normalization::char::{
    canonical_combining_class, compose, decompose_canonical, decompose_compatible,
};
use unicode_normalization::{
    IsNormalized, is_nfc_quick, is_nfd_quick, is_nfkc_quick, is_nfkd_quick,
};

use super::categories::Set;
use super::changes::Changes;
use super::inert;
use crate::text::Text;

/// A normalization form.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    /// Decompose by compatibility, not only canonically.
    pub(super) compatible: bool,
    /// Compose what was decomposed.
    pub(super) composed: bool,
    /// The characters of a Unicode version. All others are left alone and separate marks.
    pub(super) known: &'static Set,
}

impl Form {
    /// Normalizes a text.
    pub(super) fn rewrite(self, text: &mut Text) {
        if text.bytes().is_ascii() {
            return;
        }
        text.rewrite(|old, new| {
            let mut changes = Changes::new(old, new);
            let mut start = 0;
            for chunk in old.utf8_chunks() {
                for (from, to) in stretches(chunk.valid()) {
                    let stretch = &chunk.valid()[from..to];
                    if !self.keeps(stretch) {
                        changes.keep_to(start + from);
                        self.normalize(stretch, |character, change| changes.put(character, change));
                    }
                }
                start += chunk.valid().len() + chunk.invalid().len();
                changes.keep_to(start);
            }
        });
    }

    /// Whether a text is in this form already.
    pub(super) fn leaves(self, text: &[u8]) -> bool {
        // Any UTF-8 is found to be that in less time as a whole.
        match simdutf8::basic::from_utf8(text) {
            Ok(valid) => self.leaves_valid(valid),
            Err(_) => (text.utf8_chunks()).all(|chunk| self.leaves_valid(chunk.valid())),
        }
    }

    fn leaves_valid(self, text: &str) -> bool {
        self.composed && !self.compatible && inert::are_all(text)
            || stretches(text).all(|(from, to)| {
                let stretch = &text[from..to];
                self.keeps(stretch) || self.of(stretch) == stretch
            })
    }

    /// Whether a character stays what it is in this form, composes with nothing before it, and is no mark.
    pub(super) fn settles(self, character: char) -> bool {
        canonical_combining_class(character) == 0 && self.keeps(character.encode_utf8(&mut [0; 4]))
    }

    /// Normalizes a string.
    pub(super) fn of(self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        self.normalize(text, |character, _| out.push(character));
        out
    }

    /// Whether the quick check of the standard says that a stretch is in this form. Characters that
    /// are not known cannot make a Yes wrong: to leave them alone keeps others apart.
    fn keeps(self, stretch: &str) -> bool {
        let characters = stretch.chars();
        IsNormalized::Yes
            == match (self.compatible, self.composed) {
                (false, false) => is_nfd_quick(characters),
                (false, true) => is_nfc_quick(characters),
                (true, false) => is_nfkd_quick(characters),
                (true, true) => is_nfkc_quick(characters),
            }
    }

    /// Calls `put` with the characters of a normalized text and what change each is ([`Changes`]).
    fn normalize(self, text: &str, put: impl FnMut(char, isize)) {
        let mut composer = Composer {
            form: self,
            put,
            starter: None,
            waiting: Vec::new(),
            last_class: 0,
        };
        // Marks behind a starter, until it is known that no more come.
        let mut marks = Vec::new();
        for character in text.chars() {
            let mut added = false;
            self.decompose(character, |part| {
                let class = self.class(part);
                if class == 0 {
                    composer.take_marks(&mut marks);
                    composer.take(Part::new(0, part, added));
                } else {
                    marks.push(Part::new(class, part, added));
                }
                added = true;
            });
        }
        composer.take_marks(&mut marks);
        composer.flush();
    }

    fn decompose(self, character: char, mut emit: impl FnMut(char)) {
        // No character of ASCII decomposes, nor has a Hangul syllable come since Unicode 2.0.
        if character.is_ascii() || !self.known.contains(character) {
            emit(character);
        } else if self.compatible {
            decompose_compatible(character, emit);
        } else {
            decompose_canonical(character, emit);
        }
    }

    fn class(self, character: char) -> u8 {
        match canonical_combining_class(character) {
            0 => 0,
            class if self.known.contains(character) => class,
            _ => 0,
        }
    }
}

/// A part of a character: its class, itself, and whether it is not the first one. Four bytes, for a text may have as many marks
/// behind one character as there is memory.
#[derive(Clone, Copy, Debug)]
struct Part(u32);

impl Part {
    const ADDED: u32 = 1 << 23;

    fn new(class: u8, character: char, added: bool) -> Self {
        let added = if added { Self::ADDED } else { 0 };
        Self(u32::from(class) << 24 | added | u32::from(character))
    }

    fn class(self) -> u8 {
        (self.0 >> 24) as u8
    }

    fn character(self) -> char {
        char::from_u32(self.0 & (Self::ADDED - 1)).unwrap_or(char::REPLACEMENT_CHARACTER)
    }

    fn change(self) -> isize {
        isize::from(self.0 & Self::ADDED != 0)
    }
}

/// Puts characters together again, where the form does so.
struct Composer<P> {
    form: Form,
    put: P,
    /// The last starter, not yet written, to which marks may be added.
    starter: Option<(char, isize)>,
    /// What stands behind it and could not be added.
    waiting: Vec<Part>,
    /// The class of the last that waits.
    last_class: u8,
}

impl<P: FnMut(char, isize)> Composer<P> {
    /// Takes marks in canonical order; those of one class keep theirs. Complexity: n log n.
    fn take_marks(&mut self, marks: &mut Vec<Part>) {
        if !marks.is_sorted_by_key(|part| part.class()) {
            marks.sort_by_key(|part| part.class());
        }
        for part in marks.drain(..) {
            self.take(part);
        }
    }

    fn take(&mut self, part: Part) {
        let (class, character, change) = (part.class(), part.character(), part.change());
        if !self.form.composed {
            (self.put)(character, change);
            return;
        }
        let Some((starter, starter_change)) = self.starter else {
            if class == 0 {
                self.starter = Some((character, change));
            } else {
                (self.put)(character, change);
            }
            return;
        };
        // A mark is blocked by one of its own class or a higher one; a starter by any that waits.
        if self.waiting.is_empty() || self.last_class < class {
            let composed = compose(starter, character);
            if let Some(composed) = composed.filter(|&new| self.form.known.contains(new)) {
                self.starter = Some((composed, starter_change + change - 1));
                return;
            }
        }
        if class == 0 {
            self.flush();
            self.starter = Some((character, change));
        } else {
            self.waiting.push(part);
            self.last_class = class;
        }
    }

    /// Writes what is settled.
    fn flush(&mut self) {
        if let Some((character, change)) = self.starter.take() {
            (self.put)(character, change);
        }
        for part in self.waiting.drain(..) {
            (self.put)(part.character(), part.change());
        }
    }
}

/// Gives the ranges that hold everything but ASCII, each with the character of ASCII before it, to
/// which marks may be added.
fn stretches(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        let first = at + bytes[at..].iter().position(|byte| !byte.is_ascii())?;
        let end = bytes[first..]
            .iter()
            .position(u8::is_ascii)
            .map_or(bytes.len(), |length| first + length);
        let from = first.saturating_sub(1).max(at);
        at = end;
        Some((from, end))
    })
}

#[cfg(test)]
mod tests {
    use super::super::categories::UNICODE_16;
    use super::*;
    use unicode_normalization::UnicodeNormalization;

    const NFC: Form = Form {
        compatible: false,
        composed: true,
        known: &UNICODE_16,
    };

    const FORMS: [(bool, bool); 4] = [(false, false), (false, true), (true, false), (true, true)];

    /// What [`super::super::Normalizer::between`] says of characters before a space.
    #[test]
    fn what_is_visible_becomes_nothing_that_ends_with_white_space() {
        let visible = || ('\0'..=char::MAX).filter(|character| !character.is_whitespace());
        for (compatible, composed) in FORMS {
            let form = Form {
                compatible,
                composed,
                ..NFC
            };
            for character in visible() {
                let made = form.of(&character.to_string());
                assert!(
                    !made.ends_with(char::is_whitespace),
                    "{character:?}: {made:?}"
                );
            }
        }
    }

    #[test]
    fn equals_the_standard_on_every_character_and_mark() {
        for (compatible, composed) in FORMS {
            let form = Form {
                compatible,
                composed,
                ..NFC
            };
            let wanted = |text: &str| -> String {
                match (compatible, composed) {
                    (false, false) => text.nfd().collect(),
                    (false, true) => text.nfc().collect(),
                    (true, false) => text.nfkd().collect(),
                    (true, true) => text.nfkc().collect(),
                }
            };
            for character in (0..0x3_0000).filter_map(char::from_u32) {
                let text = format!("{character}\u{323}\u{301}{character}\u{308}");
                assert_eq!(form.of(&text), wanted(&text), "{text:?}");
            }
        }
    }

    #[test]
    fn leaves_alone_what_surrounds_a_change() {
        let mut text = Text::new("ab e\u{301}\u{323}c \u{FF}好\n".as_bytes(), true);
        NFC.rewrite(&mut text);
        assert_eq!(text.bytes(), "ab \u{1EB9}\u{301}c \u{FF}好\n".as_bytes());
        let bytes = b"\xFFe\xCC\x81\xFF\xCC\x81";
        let mut text = Text::new(bytes, true);
        NFC.rewrite(&mut text);
        assert_eq!(text.bytes(), b"\xFF\xC3\xA9\xFF\xCC\x81");
    }
}
