//! Training: each call takes counts, or what stands for them, and options.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::Deserialize;

use super::arguments::Options;
use super::arrays::{BufferArg, U32Array, U64Array, joined};
use super::counts::{Counted, Counts, counted};
use super::progress;
use crate::trainers::bpe::balance::{Balanced, balance};
use crate::trainers::bpe::{parity, superwords};
use crate::trainers::{bpe, joining, likelihood, mingram, scored_pairs, top_down, unigram};

/// Merges that were learnt.
#[pyclass(frozen, module = "bpe_cli._core")]
pub struct BpeTraining(bpe::Training);

#[pymethods]
impl BpeTraining {
    #[getter]
    fn merges(&self) -> U32Array {
        self.0.merges.as_flattened().to_vec().into()
    }

    #[getter]
    fn counts(&self) -> U64Array {
        self.0.counts.clone().into()
    }

    fn tokens<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyBytes>, U32Array)> {
        joined(py, &self.0.tokens)
    }

    #[getter]
    fn exhausted(&self) -> bool {
        self.0.exhausted
    }
}

/// Learns merges from counts.
#[pyfunction]
#[pyo3(signature = (counts, options, progress=None))]
pub fn train_bpe(
    py: Python<'_>,
    counts: &Counts,
    options: Options<bpe::Options>,
    progress: Option<Py<PyAny>>,
) -> PyResult<BpeTraining> {
    let options = options.0;
    progress::run(py, progress.as_ref(), |report| {
        // The counts are free again before anybody is called who might ask them something.
        let trainer = bpe::Trainer::new(counts.lock().iter(), &options)?;
        trainer.run(&mut |tokens| report(tokens, options.vocab_size))
    })
    .map(BpeTraining)
}

/// Learns merges inside words, and then across the spaces between them; gives the number of the first, too, and how many of
/// them were taken over.
#[pyfunction]
#[pyo3(signature = (counts, options, threads, progress=None))]
pub fn train_superwords(
    py: Python<'_>,
    counts: &Counts,
    options: Options<superwords::SuperwordOptions>,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<(BpeTraining, usize, usize)> {
    let options = options.0;
    let balanced = progress::run(py, progress.as_ref(), |report| {
        let words = &options.words;
        let mut report = |tokens| report(tokens, words.vocab_size);
        let trainer = bpe::Trainer::new(
            superwords::marked(counts.lock().iter(), &options.word_mark),
            words,
        )?;
        let is_given = words.max_merges.is_some();
        let first = trainer.run(&mut |tokens| report(if is_given { tokens } else { 0 }))?;
        let mut lay_out = |first: &bpe::Training| {
            let held = counts.lock();
            let runs = superwords::marked(held.iter(), &options.run_mark);
            superwords::Superwords::new(runs, first, &options, threads)
        };
        if !is_given {
            return balance(&first, words.initial.len(), &mut lay_out, &mut report);
        }
        let second = lay_out(&first)?;
        Ok(Balanced {
            switch: first.merges.len(),
            taken_over: second.taken_over(),
            training: second.run(&mut report)?,
        })
    })?;
    Ok((
        BpeTraining(balanced.training),
        balanced.switch,
        balanced.taken_over,
    ))
}

/// Learns merges from the counts of several languages; gives who chose each merge, too.
#[pyfunction]
#[pyo3(signature = (counts, options, threads, progress=None))]
pub fn train_parity(
    py: Python<'_>,
    counts: &Counts,
    options: Options<parity::ParityOptions>,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<(BpeTraining, U32Array)> {
    let options = options.0;
    let learnt = progress::run(py, progress.as_ref(), |report| {
        let vocab_size = options.merging.vocab_size;
        let mut report = |tokens| report(tokens, vocab_size);
        let together = parity::together(counts.lock().iter(), &options, threads)?;
        let first = match together {
            Some(trainer) => trainer.run(&mut report)?,
            None => bpe::Training::default(),
        };
        let languages = parity::Languages::new(counts.lock().iter(), first, &options, threads)?;
        languages.run(&mut report)
    })?;
    Ok((BpeTraining(learnt.training), learnt.chosen_by.into()))
}

/// Learns further merges from pieces that are segmented already.
#[pyfunction]
#[pyo3(signature = (ids, ends, counts, options, progress=None))]
pub fn resume_bpe(
    py: Python<'_>,
    ids: BufferArg<u32>,
    ends: BufferArg<u64>,
    counts: BufferArg<u64>,
    options: Options<bpe::Options>,
    progress: Option<Py<PyAny>>,
) -> PyResult<BpeTraining> {
    let options = options.0;
    if ends.len() != counts.len() {
        return Err(PyValueError::new_err("there is not one count per piece"));
    }
    let ascending = ends.is_sorted() && ends.last().copied().unwrap_or(0) == ids.len() as u64;
    if !ascending {
        return Err(PyValueError::new_err(
            "the ends of pieces do not ascend to the number of ids",
        ));
    }
    let starts = std::iter::once(0).chain(ends.iter().copied());
    let pieces = starts.zip(ends.iter()).zip(counts.iter());
    progress::run(py, progress.as_ref(), |report| {
        let pieces =
            pieces.map(|((start, &end), &count)| (&ids[start as usize..end as usize], count));
        let trainer = bpe::Trainer::resume(pieces, &options)?;
        trainer.run(&mut |tokens| report(tokens, options.vocab_size))
    })
    .map(BpeTraining)
}

/// Learns merges from counts of words by the score of pairs.
#[pyfunction]
#[pyo3(signature = (counts, options, progress=None))]
pub fn train_by_likelihood(
    py: Python<'_>,
    counts: &Counts,
    options: Options<likelihood::Options>,
    progress: Option<Py<PyAny>>,
) -> PyResult<BpeTraining> {
    let options = options.0;
    progress::run(py, progress.as_ref(), |report| {
        let trainer = likelihood::Trainer::new(counts.lock().iter(), &options)?;
        trainer.run(&mut |tokens| report(tokens, options.vocab_size))
    })
    .map(BpeTraining)
}

/// Learns a vocabulary from counts of words by a threshold.
#[pyfunction]
#[pyo3(signature = (counts, options, progress=None))]
pub fn train_top_down<'py>(
    py: Python<'py>,
    counts: &Counts,
    options: Options<top_down::Options>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Bound<'py, PyBytes>, U32Array, u64)> {
    let vocabulary = progress::run(py, progress.as_ref(), |report| {
        let words = counts.copy();
        let words = words.iter().map(|(word, count)| (&word[..], *count));
        top_down::learn(words, &options.0, &mut |tried| report(tried, tried))
    })?;
    let (blob, ends) = joined(py, &vocabulary.tokens)?;
    Ok((blob, ends, vocabulary.threshold))
}

/// Learns merges of characters by SentencePiece's rules.
#[pyfunction]
#[pyo3(signature = (counts, options, progress=None))]
pub fn train_scored_pairs(
    py: Python<'_>,
    counts: &Counts,
    options: Options<scored_pairs::Options>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Vec<String>, U64Array, bool)> {
    let options = options.0;
    let training = progress::run(py, progress.as_ref(), |report| {
        let trainer = scored_pairs::Trainer::new(counts.lock().iter(), &options)?;
        trainer.run(&mut |done| report(done, options.merges))
    })?;
    Ok((training.tokens, training.counts.into(), training.exhausted))
}

/// A unigram model that was learnt.
#[pyclass(frozen, module = "bpe_cli._core")]
pub struct UnigramTraining(unigram::Training);

/// A step's name, and the tokens that it left with their scores.
type RecordedRound<'py> = (&'static str, Vec<(Bound<'py, PyBytes>, f64)>);

#[pymethods]
impl UnigramTraining {
    fn tokens<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyBytes>, U32Array)> {
        joined(py, &self.0.tokens)
    }

    #[getter]
    fn scores(&self) -> Vec<f64> {
        self.0.scores.clone()
    }

    #[getter]
    fn characters(&self) -> usize {
        self.0.characters
    }

    #[getter]
    fn seeds(&self) -> usize {
        self.0.seeds
    }

    #[getter]
    fn short(&self) -> Option<&'static str> {
        self.0.short.map(unigram::Step::name)
    }

    fn rounds<'py>(&self, py: Python<'py>) -> Vec<RecordedRound<'py>> {
        let tokens = |round: &unigram::Round| {
            let tokens = round.tokens.iter();
            tokens
                .map(|(token, score)| (PyBytes::new(py, token), *score))
                .collect()
        };
        let rounds = self.0.rounds.iter();
        rounds
            .map(|round| (round.step.name(), tokens(round)))
            .collect()
    }
}

/// By which rule a unigram model is trained.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnigramOptions {
    /// Expectation maximisation.
    Em(unigram::Options),
    /// The rule of Hugging Face's course.
    Textbook(unigram::Textbook),
}

/// Learns a unigram model from counts.
#[pyfunction]
#[pyo3(signature = (counts, options, progress=None))]
pub fn train_unigram(
    py: Python<'_>,
    counts: &Counts,
    options: Options<UnigramOptions>,
    progress: Option<Py<PyAny>>,
) -> PyResult<UnigramTraining> {
    progress::run(py, progress.as_ref(), |report| {
        // A copy, so that nobody waits for the counts while training goes on.
        let pieces = counts.copy();
        let pieces = pieces.iter().map(|(piece, count)| (&piece[..], *count));
        match &options.0 {
            UnigramOptions::Em(options) => unigram::train(pieces, options, report),
            UnigramOptions::Textbook(options) => unigram::train_textbook(pieces, *options, report),
        }
    })
    .map(UnigramTraining)
}

/// A vocabulary for the fewest tokens that was learnt.
#[pyclass(frozen, module = "bpe_cli._core")]
pub struct MinGramTraining(mingram::Training);

#[pymethods]
impl MinGramTraining {
    fn tokens<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyBytes>, U32Array)> {
        joined(py, &self.0.tokens)
    }

    #[getter]
    fn scores(&self) -> Vec<f64> {
        self.0.scores.clone()
    }

    #[getter]
    fn uses(&self) -> U64Array {
        self.0.uses.clone().into()
    }

    #[getter]
    fn seeds(&self) -> usize {
        self.0.seeds
    }

    #[getter]
    fn exhausted(&self) -> bool {
        self.0.exhausted
    }
}

/// Learns tokens with which pieces are as few of them as possible.
#[pyfunction]
#[pyo3(signature = (counts, options, progress=None))]
pub fn train_mingram(
    py: Python<'_>,
    counts: &Counts,
    options: Options<mingram::Options>,
    progress: Option<Py<PyAny>>,
) -> PyResult<MinGramTraining> {
    progress::run(py, progress.as_ref(), |report| {
        // A copy, so that nobody waits for the counts while training goes on.
        let pieces = counts.copy();
        let pieces = pieces.iter().map(|(piece, count)| (&piece[..], *count));
        mingram::train(pieces, &options.0, report)
    })
    .map(MinGramTraining)
}

/// Dictionaries that were learnt.
#[pyclass(frozen, module = "bpe_cli._core")]
pub struct MaxMatchTraining(joining::Learnt);

#[pymethods]
impl MaxMatchTraining {
    #[getter]
    fn lines(&self) -> usize {
        self.0.lines
    }

    #[getter]
    fn rounds(&self) -> Vec<(usize, f64, u64)> {
        let dictionaries = self.0.dictionaries.iter();
        dictionaries
            .map(|dictionary| (dictionary.pairs, dictionary.threshold, dictionary.joined))
            .collect()
    }

    fn characters<'py>(&self, py: Python<'py>) -> Counted<'py> {
        counted(py, &self.0.characters)
    }

    fn dictionaries<'py>(&self, py: Python<'py>) -> Vec<Counted<'py>> {
        let dictionaries = self.0.dictionaries.iter();
        dictionaries
            .map(|dictionary| counted(py, &dictionary.words))
            .collect()
    }
}

/// Learns dictionaries from lines.
#[pyfunction]
#[pyo3(signature = (counts, options, threads, progress=None))]
pub fn train_max_match(
    py: Python<'_>,
    counts: &Counts,
    options: Options<joining::Options>,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<MaxMatchTraining> {
    let options = options.0;
    progress::run(py, progress.as_ref(), |report| {
        let lines = joining::Lines::new(counts.lock().iter().map(|(line, _)| line), &options)?;
        lines.learn(&options, threads, &mut |round| {
            report(round, options.rounds)
        })
    })
    .map(MaxMatchTraining)
}
