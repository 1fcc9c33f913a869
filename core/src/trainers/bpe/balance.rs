//! Finds how many merges stay inside words: as many as leave both stages equally deep.
//!
//! A merge saves as many tokens as its pair is frequent. So where the last merge of the first stage is rarer than the
//! last one of the second, the second would have made better use of its place. The later the switch, the rarer is the
//! one and the more frequent the other, and bisection finds where they meet.

use super::Training;
use super::superwords::Superwords;
use crate::error::Result;

/// The switch is found to this share of the first stage.
const PARTS: usize = 128;

/// Both stages, and where the second one began.
#[derive(Debug)]
pub struct Balanced {
    /// What was learnt.
    pub training: Training,
    /// How many merges the first stage made.
    pub switch: usize,
    /// How many of these the second stage took over.
    pub taken_over: usize,
}

/// Learns the second stage again and again, after more or fewer merges of the first, and keeps the latest switch whose
/// last superword is no more frequent than its last word.
///
/// `first` is the first stage as far as the vocabulary goes, `initial` how many tokens there were before it. `lay_out`
/// begins a second stage, and `progress` is called with tokens: all rounds together make one vocabulary.
///
/// # Errors
/// As `lay_out` and [`Superwords::run`].
pub fn balance(
    first: &Training,
    initial: usize,
    lay_out: &mut dyn FnMut(&Training) -> Result<Superwords>,
    progress: &mut dyn FnMut(usize) -> Result<()>,
) -> Result<Balanced> {
    let step = first.merges.len().div_ceil(PARTS).max(1);
    let rounds = (first.merges.len() / step + 1).ilog2() as usize + 2;
    let mut round = 0;
    let mut learn = |switch: usize| {
        let before = round.min(rounds - 1);
        round += 1;
        let stage = lay_out(&first.beginning(switch, initial))?;
        let taken_over = stage.taken_over();
        let training =
            stage.run(&mut |tokens| progress((before * first.tokens.len() + tokens) / rounds))?;
        let rarest = rarest_superword(&training, taken_over);
        Ok(((training, taken_over), rarest))
    };
    let (mut early, mut late) = (0, first.merges.len() + 1);
    let mut best = None;
    while late - early > step {
        let switch = usize::midpoint(early, late);
        let (learnt, rarest) = learn(switch)?;
        if rarest <= first.counts[switch - 1] {
            (early, best) = (switch, Some(learnt));
        } else {
            late = switch;
        }
    }
    let (training, taken_over) = match best {
        Some(learnt) => learnt,
        None => learn(early)?.0,
    };
    Ok(Balanced {
        training,
        switch: early,
        taken_over,
    })
}

/// How often the last pair of the second stage occurred: 0 if there was none left to merge, and more than anything if
/// there was no room for one.
fn rarest_superword(training: &Training, taken_over: usize) -> u64 {
    match training.counts[taken_over..].last() {
        _ if training.exhausted => 0,
        Some(&count) => count,
        None => u64::MAX,
    }
}
