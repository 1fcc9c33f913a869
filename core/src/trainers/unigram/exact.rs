//! The steps of training in logarithms, token by token, rounding where SentencePiece rounds.

#[cfg(test)]
use super::lattices::Lattices;
use super::lattices::{Home, Packing, WordLattice};
use super::prune::Alternative;
use super::scored_pieces::ScoredPieces;
use crate::error::Result;
use crate::models::unigram::lattice::Lattice;
use crate::models::unigram::real::Real;

/// The token to which unknown characters are counted: a slip of the original, which gives them the
/// number that stands for the unknown token in other places.
const COUNTS_UNKNOWN: usize = 0;

/// The token to which an id is counted: its own, unless it is none of so many and stands for an unknown character.
pub fn counts_to(id: usize, tokens: usize) -> usize {
    if id < tokens { id } else { COUNTS_UNKNOWN }
}

/// Gives how often each token is expected to occur.
#[cfg(test)]
pub fn expect<T: Real>(pieces: &ScoredPieces<T>, lattices: &Lattices) -> Vec<T> {
    let mut expected = vec![T::default(); pieces.len()];
    for word in lattices.words() {
        expect_word(
            pieces,
            word,
            lattices.packing(),
            &mut expected,
            Some(COUNTS_UNKNOWN),
        );
    }
    expected
}

/// Adds how often each token is expected to occur in a word that occurs so often.
pub fn expect_word<T: Real>(
    pieces: &ScoredPieces<T>,
    word: WordLattice<'_>,
    packing: Packing,
    expected: &mut [T],
    unknown: Option<usize>,
) {
    // Sums over the segmentations before and behind each place, None where there is none yet.
    let mut before: Vec<Option<T>> = vec![None; word.characters + 1];
    let mut behind: Vec<Option<T>> = vec![None; word.characters + 1];
    before[0] = Some(T::default());
    behind[word.characters] = Some(T::default());
    let add = |sum: &mut Option<T>, term: T| {
        *sum = Some(sum.map_or(term, |sum| sum.log_add(term)));
    };
    for (start, edge) in packing.placed(word.edges) {
        if let Some(sum) = before[start] {
            let term = pieces.score(packing.id(edge)).plus(sum);
            add(&mut before[start + packing.length(edge)], term);
        }
    }
    let (mut last, mut start) = (word.edges.len(), word.characters);
    while last > 0 {
        start -= 1;
        let singles = word.edges[..last]
            .iter()
            .rposition(|&edge| packing.length(edge) == 1);
        let first = singles.unwrap_or(0);
        for &edge in &word.edges[first..last] {
            if let Some(sum) = behind[start + packing.length(edge)] {
                let term = pieces.score(packing.id(edge)).plus(sum);
                add(&mut behind[start], term);
            }
        }
        last = first;
    }
    let Some(whole) = before[word.characters] else {
        return;
    };
    let count = T::round(word.count as f64).wide();
    for (start, edge) in packing.placed(word.edges) {
        let id = packing.id(edge);
        let place = if id < pieces.len() { Some(id) } else { unknown };
        let end = start + packing.length(edge);
        if let (Some(place), Some(left), Some(right)) = (place, before[start], behind[end]) {
            let share = left.plus(pieces.score(id)).plus(right).minus(whole);
            let total = &mut expected[place];
            *total = T::round(total.wide() + count * share.wide().exp());
        }
    }
}

/// Fills a lattice with the edges that lie in its first `length` places.
pub fn fill<T: Real>(
    lattice: &mut Lattice<T>,
    pieces: &ScoredPieces<T>,
    packing: Packing,
    edges: &[u32],
    length: usize,
) {
    lattice.reset(length);
    for (start, edge) in packing.placed(edges) {
        let end = start + packing.length(edge);
        if start >= length {
            break;
        }
        if end <= length {
            let id = packing.id(edge);
            lattice.push(start, end, id as u32, pieces.score(id));
        }
    }
    lattice.close();
}

/// Gives how often each token occurs in the best segmentations.
#[cfg(test)]
pub fn frequencies<T: Real>(pieces: &ScoredPieces<T>, lattices: &Lattices) -> Vec<T> {
    let mut frequencies = vec![T::default(); pieces.len()];
    let mut lattice = Lattice::default();
    let mut path = Vec::new();
    for word in lattices.words() {
        fill(
            &mut lattice,
            pieces,
            lattices.packing(),
            word.edges,
            word.characters,
        );
        lattice.best(&mut path);
        for node in &path {
            let place = counts_to(node.id as usize, pieces.len());
            frequencies[place] = frequencies[place].plus(T::round(word.count as f64));
        }
    }
    frequencies
}

/// Says how a token of so many characters is segmented otherwise; into what is put into `others`.
///
/// # Errors
/// As [`Lattice::nbest`].
pub fn alternative<T: Real>(
    pieces: &ScoredPieces<T>,
    packing: Packing,
    home: Home<'_>,
    others: &mut Vec<usize>,
) -> Result<Alternative> {
    let mut lattice = Lattice::default();
    fill(&mut lattice, pieces, packing, home.edges, home.length);
    let best = lattice.nbest(2)?;
    Ok(match &best[..] {
        [(first, _), (second, _)] if first.len() == 1 => {
            others.clear();
            // Unknown characters count as they do elsewhere.
            others.extend(
                second
                    .iter()
                    .map(|node| counts_to(node.id as usize, pieces.len())),
            );
            Alternative::Without
        }
        [_, _] => Alternative::Better,
        _ => Alternative::None,
    })
}
