//! Learns merges that serve languages alike: the language that is compressed worst chooses the next merge, which is then
//! made in all of them.
//!
//! Foroutan et al. 2025, Parity-Aware Byte-Pair Encoding (arXiv:2508.04796). Each language has its own pieces, pairs and
//! heap; the tokens are common. A merge that one language chooses may be rare in another, which makes it too: so all
//! pairs are kept, however rare they are.
//!
//! The merges that all languages choose together, before the others, are those of the plain trainer on all texts. They are
//! applied to each language as merges are that were given beforehand ([`Replay`]).
//!
//! Complexity: a merge costs its places in all texts, and a look-up for each text.

mod judging;
mod language;

use std::collections::HashMap;

use serde::Deserialize;

use super::alphabet::Alphabet;
use super::layout::in_order;
use super::replay::Replay;
use super::segmentation::Sides;
use super::tokens::Tokens;
use super::{Options, Tie, Trainer, Training};
use crate::error::{Result, ensure, invalid};
use crate::trainers::json;
use judging::{Judge, Turns};
use language::{Language, Text};

/// Instead of the number of a language: the merge was given, or chosen by all together.
pub const NO_LANGUAGE: u32 = u32::MAX;

/// What and how much to learn of several languages.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParityOptions {
    /// What is learnt, whichever language chooses. Symbols are bytes, and ties go to the largest visible text.
    pub merging: Options,
    /// For each language, what stands before the pieces that it learns from; all marks have one length.
    #[serde(deserialize_with = "json::all_bytes")]
    pub training: Vec<Vec<u8>>,
    /// For each language, what stands before the pieces of its development set. The language that needs most tokens there
    /// is the worst. Empty: there are no such sets.
    #[serde(deserialize_with = "json::all_bytes")]
    pub development: Vec<Vec<u8>>,
    /// Without development sets: for each language, by what its compression (symbols by tokens) is divided. The one with
    /// the lowest result is the worst.
    pub ratios: Vec<f64>,
    /// How many merges all languages choose together, before the others.
    pub shared_merges: usize,
    /// How many choices are remembered; a language that made too many of them is passed over. None: nobody is.
    pub window: Option<usize>,
    /// A language may have made `alpha / languages` of the choices in the window. Merges that are chosen together count
    /// as one language more.
    pub alpha: f64,
    /// Whether a language that has no frequent pair left is passed over, instead of ending the training. If all others
    /// have then chosen too often, the worst of them chooses all the same.
    pub pass_over: bool,
    /// The pairs that are merged before all others, by ids.
    pub preload: Vec<[u32; 2]>,
}

impl ParityOptions {
    fn check(&self) -> Result<()> {
        let languages = self.training.len();
        ensure!(languages > 0, "there is no language to learn from");
        let judged = [self.development.len(), self.ratios.len()];
        ensure!(
            judged == [languages, 0] || judged == [0, languages],
            "each language needs a development set, or each a ratio"
        );
        let mut numbers = self.ratios.iter().chain([&self.alpha]);
        ensure!(
            numbers.all(|&number| number.is_finite() && number > 0.0),
            "ratios and alpha are numbers above 0"
        );
        ensure!(
            self.window != Some(0),
            "a window remembers one choice at least"
        );
        ensure!(
            self.merging.tie == Tie::LargestVisible,
            "languages decide ties by the largest visible text"
        );
        let marks = self.training.iter().chain(&self.development);
        let lengths = marks.map(Vec::len);
        ensure!(
            lengths.clone().min() == lengths.max(),
            "the marks of languages have different lengths"
        );
        Ok(())
    }

    fn max_merges(&self) -> usize {
        self.merging.max_merges.unwrap_or(usize::MAX)
    }
}

/// What was learnt.
#[derive(Debug)]
pub struct ParityTraining {
    /// The merges, those given beforehand too, with how often each pair stood in all languages together (0 for the given).
    pub training: Training,
    /// For each merge, the number of the language that chose it, or [`NO_LANGUAGE`].
    pub chosen_by: Vec<u32>,
}

/// Pieces with their counts.
type Pieces<'a> = Vec<(&'a [u8], u64)>;

/// The pieces that each language learns from, and those of its development set; without their marks.
///
/// # Errors
/// A piece has no mark.
fn by_language<'a>(
    pieces: impl Iterator<Item = (&'a [u8], u64)>,
    options: &ParityOptions,
) -> Result<[Vec<Pieces<'a>>; 2]> {
    let marks = [&options.training, &options.development];
    let mut owners = HashMap::new();
    for (kind, marks) in marks.iter().enumerate() {
        for (language, mark) in marks.iter().enumerate() {
            owners.insert(&mark[..], (kind, language));
        }
    }
    let length = options.training.first().map_or(0, Vec::len);
    let mut found = marks.map(|marks| vec![Pieces::new(); marks.len()]);
    for (piece, count) in pieces {
        let owner = piece
            .split_at_checked(length)
            .and_then(|(mark, rest)| Some((*owners.get(mark)?, rest)));
        let Some(((kind, language), rest)) = owner else {
            return Err(invalid!("a piece has no mark of a language"));
        };
        found[kind][language].push((rest, count));
    }
    Ok(found)
}

/// The tokens that there are after some merges.
struct Vocabulary {
    alphabet: Alphabet,
    tokens: Tokens,
    merges: Vec<[u32; 3]>,
}

impl Vocabulary {
    /// Merges pairs of tokens, one after the other.
    ///
    /// # Errors
    /// Settings that contradict themselves, or an id that no token has yet.
    fn after(pairs: impl Iterator<Item = [u32; 2]>, options: &Options) -> Result<Self> {
        options.check()?;
        let mut tokens = Tokens::new(&options.initial, &[], &options.vetoes)?;
        let alphabet = Alphabet::new(options, &tokens.ids)?;
        ensure!(
            matches!(alphabet, Alphabet::Bytes(_)),
            "languages are learnt from by plain bytes"
        );
        for &symbol in &options.symbols {
            tokens.lengths[symbol as usize] = 1;
        }
        let mut merges = Vec::new();
        for [left, right] in pairs {
            ensure!(
                (left.max(right) as usize) < tokens.len(),
                "the pair of {left} and {right} stands before a token that it is made of"
            );
            let (product, _) = tokens.product(left, right)?;
            merges.push([left, right, product]);
        }
        ensure!(
            tokens.len() <= options.vocab_size,
            "the merges that are given make {} tokens, and the vocabulary has {}",
            tokens.len(),
            options.vocab_size
        );
        Ok(Self {
            alphabet,
            tokens,
            merges,
        })
    }
}

/// Lays out the pieces of all languages, for the merges that these choose together; None if there are none.
///
/// # Errors
/// Options that contradict themselves, a piece without a mark, or a corpus beyond 2^32 symbols.
pub fn together<'a>(
    pieces: impl Iterator<Item = (&'a [u8], u64)>,
    options: &ParityOptions,
    threads: usize,
) -> Result<Option<Trainer>> {
    options.check()?;
    if options.shared_merges == 0 {
        return Ok(None);
    }
    let Vocabulary {
        mut alphabet,
        tokens,
        merges,
    } = Vocabulary::after(options.preload.iter().copied(), &options.merging)?;
    let mut trainer = Trainer::without_pieces(&Options {
        max_merges: Some(options.shared_merges.min(options.max_merges())),
        ..options.merging.clone()
    })?;
    trainer.corpus.tokens = tokens;
    let [training, _] = by_language(pieces, options)?;
    let pieces = in_order(training.into_iter().flatten(), Tie::LargestVisible);
    let replay = Replay::new(&merges, &trainer.corpus.tokens.texts);
    replay.lay_out(&pieces, &mut alphabet, threads, |merged, count| {
        let cells = &mut trainer.corpus.cells;
        cells.push(count, |cells| cells.extend_from_slice(merged))
    })?;
    Ok(Some(trainer))
}

/// All languages with what they know.
pub struct Languages {
    languages: Vec<Language>,
    judge: Judge,
    turns: Option<Turns>,
    tokens: Tokens,
    sides: Sides,
    vocab_size: usize,
    max_merges: usize,
    minimum: u64,
    pass_over: bool,
    learnt: ParityTraining,
}

impl Languages {
    /// Lays out the pieces of each language as the merges leave them that were given and that all chose together.
    ///
    /// # Errors
    /// As [`together`], or a language has no text.
    pub fn new<'a>(
        pieces: impl Iterator<Item = (&'a [u8], u64)>,
        first: Training,
        options: &ParityOptions,
        threads: usize,
    ) -> Result<Self> {
        options.check()?;
        let shared = first.merges.iter().map(|&[left, right, _]| [left, right]);
        let given = options.preload.iter().copied();
        let Vocabulary {
            mut alphabet,
            tokens,
            merges,
        } = Vocabulary::after(given.chain(shared), &options.merging)?;
        let replay = Replay::new(&merges, &tokens.texts);
        let [training, development] = by_language(pieces, options)?;
        let mut development = development.into_iter();
        let mut languages = Vec::new();
        let minimum = options.merging.min_frequency.max(1);
        for (number, pieces) in training.into_iter().enumerate() {
            let text = Text::new(pieces, &replay, &mut alphabet, &tokens, threads)?;
            ensure!(text.length > 0, "the language {number} has no text");
            let judged = development
                .next()
                .map(|pieces| Text::new(pieces, &replay, &mut alphabet, &tokens, threads))
                .transpose()?;
            languages.push(Language::new(text, judged, &tokens, minimum));
        }
        let counts = [vec![0; options.preload.len()], first.counts].concat();
        let chosen_by = vec![NO_LANGUAGE; merges.len()];
        Ok(Self {
            judge: Judge::new(&options.ratios),
            turns: options.window.map(|size| {
                let voices = languages.len() + usize::from(options.shared_merges > 0);
                Turns::new(size, options.alpha / voices as f64, languages.len())
            }),
            languages,
            tokens,
            sides: Sides::default(),
            vocab_size: options.merging.vocab_size,
            max_merges: options.max_merges().saturating_add(options.preload.len()),
            minimum,
            pass_over: options.pass_over,
            learnt: ParityTraining {
                training: Training {
                    merges,
                    counts,
                    exhausted: first.exhausted,
                    ..Training::default()
                },
                chosen_by,
            },
        })
    }

    /// Merges until the vocabulary is full, or the language whose turn it is has no pair that is frequent enough;
    /// `progress` is called now and then with the size.
    ///
    /// # Errors
    /// What `progress` gives, more than 2^31 tokens, or every language has chosen too often.
    pub fn run(mut self, progress: &mut dyn FnMut(usize) -> Result<()>) -> Result<ParityTraining> {
        let mut training = std::mem::take(&mut self.learnt.training);
        let mut chosen_by = std::mem::take(&mut self.learnt.chosen_by);
        progress(self.tokens.len())?;
        while !training.exhausted
            && self.tokens.len() < self.vocab_size
            && training.merges.len() < self.max_merges
        {
            let Some((chooser, [left, right])) = self.choose()? else {
                training.exhausted = true;
                break;
            };
            let texts = self.languages.iter().map(|language| &language.text);
            let count = texts.map(|text| text.count(left, right)).sum();
            let (product, _) = self.tokens.product(left, right)?;
            let merge = [left, right, product];
            for language in &mut self.languages {
                language.merge(merge, &self.tokens, &mut self.sides, self.minimum);
            }
            training.merges.push(merge);
            training.counts.push(count);
            chosen_by.push(chooser as u32);
            if training.merges.len().is_multiple_of(256) {
                progress(self.tokens.len())?;
            }
        }
        progress(self.tokens.len())?;
        training.tokens = self.tokens.texts;
        Ok(ParityTraining {
            training,
            chosen_by,
        })
    }

    /// Finds the language whose turn it is, and the pair that it merges; None if it has none, or with `pass_over` no
    /// language has.
    ///
    /// # Errors
    /// Every language has chosen too often.
    fn choose(&mut self) -> Result<Option<(usize, [u32; 2])>> {
        let mut passed = vec![false; self.languages.len()];
        while let Some(chooser) = self.next_in_turn(&passed)? {
            if let Some(pair) = self.languages[chooser].best(&self.tokens, self.minimum) {
                if let Some(turns) = &mut self.turns {
                    turns.take(chooser);
                }
                return Ok(Some((chooser, pair)));
            }
            if !self.pass_over {
                break;
            }
            passed[chooser] = true;
        }
        Ok(None)
    }

    /// The worst language that was not passed over and has not chosen too often; None if all were passed over.
    fn next_in_turn(&self, passed: &[bool]) -> Result<Option<usize>> {
        let worst = |may_choose: &dyn Fn(usize) -> bool| {
            let texts = self.languages.iter().map(Language::judged);
            self.judge
                .worst(texts, |language| !passed[language] && may_choose(language))
        };
        let turns = self.turns.as_ref();
        let found = worst(&|language| turns.is_none_or(|turns| turns.allow(language)));
        if found.is_none() && !self.pass_over {
            return Err(invalid!("every language has chosen too often lately"));
        }
        Ok(found.or_else(|| worst(&|_| true)))
    }
}

#[cfg(test)]
mod tests;
