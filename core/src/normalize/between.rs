//! What normalizers do where a text is cut between two characters.

use super::{Kind, Normalizer, clean};
use crate::boundaries::pairs::Left;

impl Normalizer {
    /// What stands where a text is cut, if the parts become what the text becomes; the second one must be white space, or one that
    /// begins anew must follow it. None where that is not known.
    pub fn between(&self, left: Left, right: char) -> Option<(Left, char)> {
        match &self.0 {
            Kind::Identity => Some((left, right)),
            // No form of what is visible ends with white space, and what is settled composes with nothing before it.
            Kind::Form(form) => {
                let is_settled = form.settles(right)
                    && match left {
                        Left::Character(left) => form.settles(left),
                        Left::Visible => true,
                    };
                is_settled.then_some((left, right))
            }
            // Character by character, of which white space is none, before or after.
            Kind::Lowercase => {
                let left = match left {
                    Left::Character(left) => Left::Character(clean::one_lowercase(left)?),
                    Left::Visible => Left::Visible,
                };
                Some((left, clean::one_lowercase(right)?))
            }
            Kind::Replace(replace) => replace.between(left, right),
            Kind::Bert(bert) => bert.between(left, right),
            Kind::Nmt
            | Kind::StripAccents
            | Kind::Strip { .. }
            | Kind::Prepend(_)
            | Kind::ByteLevel
            | Kind::Graphemes(_)
            | Kind::Charsmap(_)
            | Kind::SpaceMarks(_) => None,
        }
    }

    /// Whether it knows what stands between some two characters.
    pub fn tells_between(&self) -> bool {
        match &self.0 {
            Kind::Identity | Kind::Form(_) | Kind::Lowercase | Kind::Replace(_) | Kind::Bert(_) => {
                true
            }
            Kind::Nmt
            | Kind::StripAccents
            | Kind::Strip { .. }
            | Kind::Prepend(_)
            | Kind::ByteLevel
            | Kind::Graphemes(_)
            | Kind::Charsmap(_)
            | Kind::SpaceMarks(_) => false,
        }
    }

    /// Whether it spells each byte as its visible character.
    pub fn spells_bytes(&self) -> bool {
        matches!(self.0, Kind::ByteLevel)
    }

    /// Whether a character changes nothing that stands before it, and stays itself, or one of ASCII; this is asked of those that
    /// know what stands [`Normalizer::between`] two.
    pub fn begins_anew(&self, character: char) -> bool {
        match &self.0 {
            Kind::Form(form) => form.settles(character),
            Kind::Lowercase => {
                character.is_ascii() || clean::one_lowercase(character) == Some(character)
            }
            Kind::Bert(bert) => bert.begins_anew(character),
            Kind::Identity | Kind::Replace(_) => true,
            Kind::Nmt
            | Kind::StripAccents
            | Kind::Strip { .. }
            | Kind::Prepend(_)
            | Kind::ByteLevel
            | Kind::Graphemes(_)
            | Kind::Charsmap(_)
            | Kind::SpaceMarks(_) => false,
        }
    }
}
