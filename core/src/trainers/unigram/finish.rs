//! The last step: from somewhat too many tokens to the vocabulary.

use std::collections::HashSet;

use super::Training;
use super::scored_pieces::ScoredPieces;
use super::words::Words;
use crate::models::unigram::real::Real;

/// By how much the scores of characters that no token was left for differ.
const STEP: f64 = 0.0001;

/// Gives the required characters and then the best tokens, `size` in all, best first.
pub fn finish<T: Real>(pieces: &ScoredPieces<T>, words: &Words, size: usize) -> Training {
    let mut buffer = [0; 4];
    let mut present: std::collections::HashMap<&[u8], usize> = std::collections::HashMap::new();
    for id in 0..pieces.len() {
        present.insert(pieces.get(id), id);
    }
    let mut chosen: Vec<(Vec<u8>, T)> = Vec::new();
    let mut taken: HashSet<usize> = HashSet::new();
    let mut extra = T::default();
    for &(character, _) in &words.characters {
        let bytes = character.encode_utf8(&mut buffer).as_bytes();
        if let Some(&id) = present.get(bytes) {
            taken.insert(id);
            chosen.push((bytes.to_vec(), pieces.scores()[id]));
        } else {
            // None of them has the score of another.
            chosen.push((bytes.to_vec(), pieces.lowest().plus(extra)));
            extra = extra.plus(T::round(STEP));
        }
    }
    let characters = chosen.len();
    let mut rest: Vec<usize> = (0..pieces.len()).filter(|id| !taken.contains(id)).collect();
    let by_score = |a: (&[u8], T), b: (&[u8], T)| {
        let scores = b.1.partial_cmp(&a.1).unwrap_or(std::cmp::Ordering::Equal);
        scores.then_with(|| a.0.cmp(b.0))
    };
    let item = |id: usize| (pieces.get(id), pieces.scores()[id]);
    rest.sort_unstable_by(|&a, &b| by_score(item(a), item(b)));
    rest.truncate(size.saturating_sub(characters));
    chosen.extend(rest.iter().map(|&id| (item(id).0.to_vec(), item(id).1)));
    chosen.sort_unstable_by(|a, b| by_score((&a.0, a.1), (&b.0, b.1)));
    let (tokens, scores) = chosen
        .into_iter()
        .map(|(token, score)| (token, score.wide()))
        .unzip();
    Training {
        tokens,
        scores,
        characters,
        ..Training::default()
    }
}
