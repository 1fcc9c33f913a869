//! The steps of training in logarithms, token by token, rounding where SentencePiece rounds.

use super::pieces::{Pieces, UNKNOWN};
use super::prune::Alternative;
use super::shards_of;
use super::words::Words;
use crate::error::Result;
use crate::models::unigram::lattice::Lattice;
use crate::models::unigram::real::Real;
use crate::trainers::shards;

/// The token to which unknown characters are counted: a slip of the original, which gives them the
/// number that stands for the unknown token in other places.
const COUNTS_UNKNOWN: Option<usize> = Some(0);

/// Gives how often each token is expected to occur.
pub fn expect<T: Real>(pieces: &Pieces<T>, words: &Words) -> Vec<T> {
    let mut expected = vec![T::default(); pieces.len()];
    for number in 0..words.len() {
        let (word, count) = words.get(number);
        expect_word(pieces, word, count, &mut expected, COUNTS_UNKNOWN);
    }
    expected
}

/// Adds how often each token is expected to occur in a word that occurs so often.
pub fn expect_word<T: Real>(
    pieces: &Pieces<T>,
    word: &[u8],
    count: u64,
    expected: &mut [T],
    unknown: Option<usize>,
) {
    // Sums over the segmentations before and behind each place, None where there is none yet.
    let mut before: Vec<Option<T>> = vec![None; word.len() + 1];
    let mut behind: Vec<Option<T>> = vec![None; word.len() + 1];
    before[0] = Some(T::default());
    behind[word.len()] = Some(T::default());
    let mut edges: Vec<(usize, usize, u32)> = Vec::new();
    let add = |sum: &mut Option<T>, term: T| {
        *sum = Some(sum.map_or(term, |sum| sum.log_add(term)));
    };
    pieces.each_in(word, |start, end, id| {
        if let Some(sum) = before[start] {
            add(&mut before[end], pieces.score(id).plus(sum));
        }
        edges.push((start, end, id));
    });
    let mut last = edges.len();
    while last > 0 {
        let start = edges[last - 1].0;
        let first = edges[..last].partition_point(|edge| edge.0 < start);
        for &(_, end, id) in &edges[first..last] {
            if let Some(sum) = behind[end] {
                add(&mut behind[start], pieces.score(id).plus(sum));
            }
        }
        last = first;
    }
    let Some(whole) = before[word.len()] else {
        return;
    };
    let count = T::round(count as f64).wide();
    for (start, end, id) in edges {
        let place = match id {
            UNKNOWN => unknown,
            id => Some(id as usize),
        };
        if let (Some(place), Some(left), Some(right)) = (place, before[start], behind[end]) {
            let share = left.plus(pieces.score(id)).plus(right).minus(whole);
            let total = &mut expected[place];
            *total = T::round(total.wide() + count * share.wide().exp());
        }
    }
}

/// Fills a lattice with the tokens of a text.
fn fill<T: Real>(lattice: &mut Lattice<T>, pieces: &Pieces<T>, text: &[u8]) {
    lattice.reset(text.len());
    pieces.each_in(text, |start, end, id| {
        lattice.push(start, end, id, pieces.score(id));
    });
    lattice.close();
}

/// Gives how often each token occurs in the best segmentations.
pub fn frequencies<T: Real>(pieces: &Pieces<T>, words: &Words) -> Vec<T> {
    let mut frequencies = vec![T::default(); pieces.len()];
    let mut lattice = Lattice::default();
    let mut path = Vec::new();
    for number in 0..words.len() {
        let (word, count) = words.get(number);
        fill(&mut lattice, pieces, word);
        lattice.best(&mut path);
        for node in &path {
            let place = match node.id {
                UNKNOWN => COUNTS_UNKNOWN,
                id => Some(id as usize),
            };
            if let Some(place) = place {
                frequencies[place] = frequencies[place].plus(T::round(count as f64));
            }
        }
    }
    frequencies
}

/// Gives how each token is segmented otherwise.
///
/// # Errors
/// As [`Lattice::nbest`].
pub fn alternatives<T: Real>(pieces: &Pieces<T>, threads: usize) -> Result<Vec<Alternative>> {
    let shards = shards_of(pieces.len());
    let parts = shards::run(shards, threads, |shard| {
        let mut lattice = Lattice::default();
        let ids = shard * pieces.len() / shards..(shard + 1) * pieces.len() / shards;
        ids.map(|id| {
            fill(&mut lattice, pieces, pieces.get(id));
            let best = lattice.nbest(2)?;
            Ok(match &best[..] {
                [(first, _), (second, _)] if first.len() == 1 => {
                    let ids = second.iter().map(|node| node.id);
                    // Unknown characters count as they do elsewhere.
                    let place = |id| match (id, COUNTS_UNKNOWN) {
                        (UNKNOWN, Some(place)) => place as u32,
                        _ => id,
                    };
                    Alternative::Without(ids.map(place).collect())
                }
                [_, _] => Alternative::Better,
                _ => Alternative::None,
            })
        })
        .collect::<Result<Vec<_>>>()
    });
    let mut all = Vec::with_capacity(pieces.len());
    for part in parts {
        all.extend(part?);
    }
    Ok(all)
}
