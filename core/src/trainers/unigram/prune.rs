//! Pruning: the tokens whose loss costs the least likelihood go.

use super::lattices::{GONE, Home, Lattices, Packing};
use super::scored_pieces::ScoredPieces;
use super::{Precision, add_to};
use crate::error::Result;
use crate::threads;

/// How the text of a token is segmented otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alternative {
    /// In no other way.
    None,
    /// In a better way.
    Better,
    /// Without the token.
    Without,
}

/// What becomes of a token.
#[derive(Clone, Copy, Debug)]
enum Verdict<T> {
    Dropped,
    Kept,
    /// It is kept if its loss costs more than that of others.
    Costs(T),
}

/// Gives the tokens that are left after a round: those without alternative, and then those whose loss
/// would cost most, up to `size` of them in all.
///
/// # Errors
/// As [`Precision::alternative`].
pub fn prune<T: Precision>(
    pieces: &ScoredPieces<T>,
    lattices: &mut Lattices,
    size: usize,
    threads: usize,
) -> Result<ScoredPieces<T>> {
    let verdicts = judge(pieces, lattices, threads)?;
    let mut kept: Vec<usize> = Vec::new();
    let mut candidates: Vec<(usize, T)> = Vec::new();
    for (id, verdict) in verdicts.into_iter().enumerate() {
        match verdict {
            Verdict::Dropped => {}
            Verdict::Kept => kept.push(id),
            Verdict::Costs(loss) => candidates.push((id, loss)),
        }
    }
    candidates.sort_unstable_by(|a, b| {
        let losses = b.1.partial_cmp(&a.1).unwrap_or(std::cmp::Ordering::Equal);
        losses.then(a.0.cmp(&b.0))
    });
    candidates.truncate(size.saturating_sub(kept.len()));
    kept.extend(candidates.iter().map(|&(id, _)| id));
    if !T::EXACT {
        // In order of their bytes, as all are.
        kept.sort_unstable();
    }
    let mut new_ids = vec![GONE; pieces.len()];
    for (new, &id) in kept.iter().enumerate() {
        new_ids[id] = new as u32;
    }
    lattices.rename(&new_ids, kept.len(), threads);
    Ok(ScoredPieces::new(
        kept.iter().map(|&id| (pieces.get(id), pieces.scores()[id])),
    ))
}

/// Says of each token what becomes of it, at its home.
fn judge<T: Precision>(
    pieces: &ScoredPieces<T>,
    lattices: &Lattices,
    threads: usize,
) -> Result<Vec<Verdict<T>>> {
    let frequencies = T::frequencies(pieces, lattices, threads);
    // Added in f64 and rounded once.
    let sum = T::round(frequencies.iter().map(|frequency| frequency.wide()).sum());
    let log_sum = T::round(sum.wide().ln());
    let packing = lattices.packing();
    let parts = threads::map(lattices.shards().iter(), threads, |shard| {
        let mut found = Vec::new();
        let mut failed = None;
        let mut search = T::Search::default();
        let mut others = Vec::new();
        lattices.homes(shard, |home| {
            let frequency = frequencies[home.id];
            if frequency == T::default() || failed.is_some() {
                return;
            }
            let verdict = match T::alternative(pieces, packing, home, &mut search, &mut others) {
                Err(error) => {
                    failed = Some(error);
                    return;
                }
                Ok(Alternative::Better) => Verdict::Dropped,
                Ok(Alternative::None) => Verdict::Kept,
                Ok(Alternative::Without) => {
                    let own = T::round(frequency.wide().ln() - log_sum.wide());
                    // Each occurrence becomes as many as there are in the alternative.
                    let more = T::round(frequency.wide() * (others.len() as f64 - 1.0));
                    let log_sum_without = T::round(sum.plus(more).wide().ln());
                    let mut without = T::default();
                    for &other in &others {
                        let before = frequencies.get(other).copied().unwrap_or_default();
                        let now = before.plus(frequency).wide().ln() - log_sum_without.wide();
                        without = T::round(without.wide() + now);
                    }
                    let share = T::round(frequency.wide() / sum.wide());
                    Verdict::Costs(T::round(share.wide() * own.minus(without).wide()))
                }
            };
            found.push((home.id, verdict));
        });
        failed.map_or(Ok(found), Err)
    });
    // A token without a home stands nowhere.
    let mut verdicts = vec![Verdict::Dropped; pieces.len()];
    for part in parts {
        for (id, verdict) in part? {
            verdicts[id] = verdict;
        }
    }
    Ok(verdicts)
}

/// The best segmentation of a text, by Viterbi's algorithm.
#[derive(Default)]
pub struct Viterbi {
    steps: Vec<Step>,
}

/// The best way to a place: its score, and the token it ends with.
#[derive(Clone, Copy, Debug)]
struct Step {
    score: f64,
    edge: u32,
}

impl Viterbi {
    /// Finds that of the first `length` places, `but` for one token; gives its score, minus infinity if
    /// there is none.
    fn run(
        &mut self,
        pieces: &ScoredPieces<f64>,
        packing: Packing,
        edges: &[u32],
        length: usize,
        but: usize,
    ) -> f64 {
        let scores = pieces.scores();
        let unknown = pieces.unknown();
        self.steps.clear();
        let nothing = Step {
            score: f64::NEG_INFINITY,
            edge: 0,
        };
        self.steps.resize(length + 1, nothing);
        self.steps[0].score = 0.0;
        let (mut at, mut before) = (0, 0.0);
        for &edge in edges {
            let characters = packing.length(edge);
            if characters == 1 {
                if at == length {
                    break;
                }
                before = self.steps[at].score;
                at += 1;
            }
            let Some(step) = self.steps.get_mut(at - 1 + characters) else {
                continue;
            };
            let id = packing.id(edge);
            let score = before + scores.get(id).unwrap_or(&unknown);
            if score > step.score && id != but {
                *step = Step { score, edge };
            }
        }
        self.steps[length].score
    }

    /// Calls `each` with its tokens, from the right.
    fn backwards(&self, packing: Packing, mut each: impl FnMut(usize)) {
        let mut at = self.steps.len() - 1;
        while at > 0 {
            let edge = self.steps[at].edge;
            each(packing.id(edge));
            at -= packing.length(edge);
        }
    }
}

/// Gives how often each token occurs in the best segmentations.
pub fn frequencies(pieces: &ScoredPieces<f64>, lattices: &Lattices, threads: usize) -> Vec<f64> {
    let packing = lattices.packing();
    let parts = threads::map(lattices.shards().iter(), threads, |shard| {
        let mut frequencies = vec![0.0; pieces.len()];
        let mut viterbi = Viterbi::default();
        for word in shard.words() {
            viterbi.run(pieces, packing, word.edges, word.characters, usize::MAX);
            viterbi.backwards(packing, |id| {
                if let Some(frequency) = frequencies.get_mut(id) {
                    *frequency += word.count as f64;
                }
            });
        }
        frequencies
    });
    let mut sum = vec![0.0; pieces.len()];
    parts.into_iter().for_each(|part| add_to(&mut sum, part));
    sum
}

/// Says how a token of so many characters is segmented otherwise; into what is put into `others`.
pub fn alternative(
    pieces: &ScoredPieces<f64>,
    packing: Packing,
    home: Home<'_>,
    viterbi: &mut Viterbi,
    others: &mut Vec<usize>,
) -> Alternative {
    let score = viterbi.run(pieces, packing, home.edges, home.length, home.id);
    if score == f64::NEG_INFINITY {
        return Alternative::None;
    }
    if score > pieces.scores()[home.id] {
        return Alternative::Better;
    }
    others.clear();
    viterbi.backwards(packing, |other| others.push(other));
    Alternative::Without
}
