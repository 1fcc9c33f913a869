//! The stages before the model: normalizers, then pre-tokenizers.

use std::ops::Range;

use serde::Deserialize;

use crate::boundaries::seams::Border;
use crate::boundaries::stages::Answers;
use crate::error::{Result, invalid};
use crate::normalize::{self, Context, Normalizer};
use crate::split::stage::{self, Pieces, PreTokenizer};
use crate::text::Text;

mod between;
pub mod stretches;

/// The specification of all stages before the model.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// In order.
    #[serde(default)]
    pub normalizers: Vec<normalize::Spec>,
    /// In order.
    #[serde(default)]
    pub pre_tokenizers: Vec<stage::Spec>,
}

/// The compiled stages before the model.
#[derive(Debug, Default)]
pub struct Stages {
    normalizers: Vec<Normalizer>,
    pre_tokenizers: Vec<PreTokenizer>,
    answers: Answers,
}

impl Stages {
    /// Compiles stages.
    ///
    /// # Errors
    /// Says which stage cannot be, and why.
    pub fn new(spec: Spec) -> Result<Self> {
        let rewriting: Vec<_> = spec
            .normalizers
            .iter()
            .map(normalize::Spec::rewriting)
            .collect();
        let normalizers = Normalizer::all(spec.normalizers)?;
        let pre_tokenizers: Vec<_> = spec
            .pre_tokenizers
            .into_iter()
            .map(PreTokenizer::new)
            .collect::<Result<_>>()?;
        let rewriting: Vec<_> = (normalizers.iter().zip(rewriting))
            .map(|(each, does)| (each.at_space(), each.rewriting().unwrap_or(does)))
            .collect();
        let cutting: Vec<_> = pre_tokenizers.iter().map(PreTokenizer::cutting).collect();
        let stretches: Vec<_> = normalizers.iter().map(Normalizer::of_stretches).collect();
        Ok(Self {
            answers: Answers::of(&rewriting, &stretches, &cutting),
            normalizers,
            pre_tokenizers,
        })
    }

    /// Where a text can be cut before it goes through the stages.
    #[must_use]
    pub fn answers(&self) -> &Answers {
        &self.answers
    }

    /// Whether no rule of a normalizer looks at a byte, but one that begins with it.
    #[must_use]
    pub fn only_begins(&self, byte: u8) -> bool {
        self.normalizers
            .iter()
            .all(|normalizer| normalizer.only_begins(byte))
    }

    /// Whether no table of rules makes anything but a space of a blank, whatever stands behind it.
    #[must_use]
    pub fn leave_blank(&self, blank: u8) -> bool {
        self.normalizers
            .iter()
            .all(|normalizer| normalizer.leaves_blank(blank))
    }

    /// Compiles stages from JSON.
    ///
    /// # Errors
    /// As [`Stages::new`], and when the JSON is none or of another form.
    pub fn from_json(json: &str) -> Result<Self> {
        let spec = serde_json::from_str(json)
            .map_err(|error| invalid!("not the stages of a tokenizer: {error}"))?;
        Self::new(spec)
    }

    /// The texts that a normalizer's table leaves as they are.
    pub fn kept(&self) -> impl Iterator<Item = &[u8]> {
        let kept = self.normalizers.iter().flat_map(Normalizer::kept);
        kept.map(Vec::as_slice)
    }

    /// Whether it is certain that the normalizers leave a text as it is, and any part of the text.
    #[must_use]
    pub fn leaves(&self, text: &[u8]) -> bool {
        (self.normalizers.iter()).all(|normalizer| normalizer.leaves(text))
    }

    /// Whether all they do is to spell each byte as its visible character.
    #[must_use]
    pub fn only_spell_bytes(&self) -> bool {
        let mut normalizers = self.normalizers.iter();
        self.pre_tokenizers.is_empty()
            && normalizers.len() == 1
            && normalizers.all(Normalizer::spells_bytes)
    }

    /// Whether there are normalizers.
    #[must_use]
    pub fn rewrites(&self) -> bool {
        !self.normalizers.is_empty()
    }

    /// Runs the normalizers.
    ///
    /// # Errors
    /// As [`Normalizer::normalize`].
    pub fn normalize(&self, text: &mut Text, context: Context) -> Result<()> {
        self.normalizers.iter().try_for_each(|normalizer| {
            normalizer.normalize(text, context)?;
            text.check()
        })
    }

    /// Begins a text, without origins, with what the normalizers make of an original.
    ///
    /// # Errors
    /// As [`Normalizer::normalize`].
    pub fn begin(&self, original: &[u8], text: &mut Text, context: Context) -> Result<()> {
        let Some((first, rest)) = self.normalizers.split_first() else {
            text.reset(original, false);
            return Ok(());
        };
        first.begin(original, text, context)?;
        text.check()?;
        rest.iter().try_for_each(|normalizer| {
            normalizer.normalize(text, context)?;
            text.check()
        })
    }

    /// Runs the pre-tokenizers over a normalized text: `pieces.text`, with any ranges, which are set
    /// to the whole of it first.
    ///
    /// # Errors
    /// As [`PreTokenizer::split`].
    pub fn pre_tokenize(&self, pieces: &mut Pieces, context: Context) -> Result<()> {
        pieces.visible = false;
        pieces.ranges.clear();
        let whole: Range<usize> = 0..pieces.text.bytes().len();
        if !whole.is_empty() {
            pieces.ranges.push(whole);
        }
        self.pre_tokenizers.iter().try_for_each(|pre_tokenizer| {
            pre_tokenizer.split(pieces, context)?;
            pieces.text.check()
        })
    }

    /// Gives the last offset at which a text can be cut, whatever follows, and each part go through the
    /// stages by itself (the later one with [`Context::continued`]); 0 when there is none.
    #[must_use]
    pub fn safe_cut(&self, text: &[u8]) -> usize {
        match self.last_cut_between(text) {
            0 => self.answers.safe_cut(text),
            cut => cut,
        }
    }

    /// The same for the stages and a model behind them: see [`Answers::safe_cut_for`].
    #[must_use]
    pub fn safe_cut_for(&self, border: Option<Border>, fuses: bool, text: &[u8]) -> usize {
        if fuses {
            return 0;
        }
        match self.last_cut_between(text) {
            0 => self.answers.safe_cut_for(border, fuses, text),
            cut => cut,
        }
    }
}

#[cfg(test)]
mod tests;
