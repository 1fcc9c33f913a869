//! What became of each character, told as Hugging Face's normalizers tell it.
//!
//! They give with each new character a number: 0, it stands for the next old one; -n, for the next one,
//! behind which n are left out; 1, it was put in and stands for what the old one before it stands for.
//! Offsets follow from that, and so two libraries that give the same numbers give the same offsets.

use crate::text::{Origin, Rewriter, character_len};

/// Writes a text anew by such numbers.
pub(super) struct Changes<'a, 'b> {
    old: &'a [u8],
    new: &'a mut Rewriter<'b>,
    /// The next old character.
    at: usize,
}

impl<'a, 'b> Changes<'a, 'b> {
    /// Begins before the first character of the old text.
    pub(super) fn new(old: &'a [u8], new: &'a mut Rewriter<'b>) -> Self {
        Self { old, new, at: 0 }
    }

    /// Writes a character.
    pub(super) fn put(&mut self, character: char, change: isize) {
        let origin = if change > 0 {
            match self.at.checked_sub(1) {
                Some(before) => self.new.origin_at(before),
                None => Origin::default(),
            }
        } else if self.at < self.old.len() {
            self.new.origin_at(self.at)
        } else {
            Origin::default()
        };
        let mut bytes = [0; 4];
        self.new
            .insert(character.encode_utf8(&mut bytes).as_bytes(), origin);
        for _ in change..=0 {
            self.skip();
        }
    }

    /// Leaves the next old character out.
    pub(super) fn skip(&mut self) {
        if self.at < self.old.len() {
            self.at += character_len(self.old, self.at);
        }
    }

    /// Keeps all old characters up to an offset.
    pub(super) fn keep_to(&mut self, end: usize) {
        if self.at < end {
            self.new.keep(self.at..end);
            self.at = end;
        }
    }
}
