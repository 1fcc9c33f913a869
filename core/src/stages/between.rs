//! Between which characters a text can be cut before it goes through the stages: see [`crate::boundaries::pairs`].

use super::Stages;
use crate::boundaries::LOOK;
use crate::boundaries::pairs::{Between, Left, Places};
use crate::normalize::Normalizer;
use crate::split::stage::PreTokenizer;
use crate::text::{begin_of_last, read_char};

impl Stages {
    /// Between which bytes a text can be cut before it goes through the stages, each part but the first as one that goes on.
    /// None where no pair is known but a letter before a space, which [`Stages::answers`] tell.
    #[must_use]
    pub fn places(&self) -> Option<Places> {
        if !self.are_asked() {
            return None;
        }
        let ends = |left, right| self.end_between(left, right);
        Places::new(ends, |right, next| self.is_steady(right, next))
    }

    /// The last offset at which a text can be cut between two characters, whatever stands around it, and each part go through
    /// the stages by itself; 0 if none is known near the text's end.
    pub(super) fn last_cut_between(&self, text: &[u8]) -> usize {
        if !self.are_asked() {
            return 0;
        }
        let mut at = text.len();
        let mut next = None;
        let mut right = None;
        while at > text.len().saturating_sub(LOOK) {
            let begin = begin_of_last(text, at);
            let (left, _) = read_char(&text[..at], begin);
            if let (Some(left), Some(right)) = (left, right)
                && self.is_steady(right, next)
                && self.end_between(Left::Character(left), right)
            {
                return at;
            }
            (next, right) = (right, left);
            at = begin;
        }
        0
    }

    /// Whether there may be an answer: all normalizers have some, and so has the first pre-tokenizer, and what becomes of a piece
    /// never depends on how it begins.
    fn are_asked(&self) -> bool {
        let mut cutting = self.pre_tokenizers.iter().map(|each| each.cutting());
        let first = self.pre_tokenizers.first();
        first.is_some_and(PreTokenizer::tells_between)
            && self.normalizers.iter().all(Normalizer::tells_between)
            && !cutting.any(|cutting| cutting.looks_at_start)
    }

    /// Whether normalizers make of a character what they make of it by itself, whatever follows the one behind it.
    fn is_steady(&self, character: char, next: Option<char>) -> bool {
        let begins_anew = |next| self.normalizers.iter().all(|each| each.begins_anew(next));
        self.normalizers.is_empty() || character.is_whitespace() || next.is_some_and(begins_anew)
    }

    /// Whether a piece always ends between two characters, and the parts become what the text becomes; the second one is white
    /// space or steady.
    fn end_between(&self, left: Left, right: char) -> bool {
        let mut normalizers = self.normalizers.iter();
        let place = normalizers.try_fold((left, right), |(left, right), normalizer| {
            normalizer.between(left, right)
        });
        place.is_some_and(|(left, right)| {
            let stages = self.pre_tokenizers.iter();
            let mut between = stages.map(|stage| stage.between(left, right));
            between.find(|&each| each != Between::Stays) == Some(Between::Ends)
        })
    }
}
