//! The most frequent of pieces that were counted.

use std::borrow::Cow;
use std::cmp::{Ordering, Reverse};

use foldhash::fast::RandomState;
use hashbrown::{HashMap, HashSet};

/// Gives the pieces that occur `min_frequency` times or more: the most frequent first, of equals the one
/// of lower bytes, and no more than `limit`.
pub fn most<'a>(
    pieces: impl Iterator<Item = (&'a [u8], u64)>,
    min_frequency: u64,
    limit: usize,
) -> Vec<(&'a [u8], u64)> {
    let mut kept: Vec<(&[u8], u64)> = pieces
        .filter(|&(_, count)| count >= min_frequency)
        .collect();
    best(&mut kept, limit, |a, b| {
        (Reverse(a.1), a.0).cmp(&(Reverse(b.1), b.0))
    });
    kept
}

/// Gives the words that are spelt with these characters alone, in the same order. Bytes that are no part
/// of UTF-8 count as U+FFFD.
pub fn spelt_with<'a>(
    pieces: impl Iterator<Item = (&'a [u8], u64)>,
    characters: &str,
    limit: usize,
) -> Vec<(Cow<'a, str>, u64)> {
    let known: HashSet<char, RandomState> = characters.chars().collect();
    let mut words: HashMap<Cow<'_, str>, u64, RandomState> = HashMap::default();
    for (piece, count) in pieces {
        let word = String::from_utf8_lossy(piece);
        if word.chars().all(|character| known.contains(&character)) {
            let total = words.entry(word).or_insert(0);
            *total = total.saturating_add(count);
        }
    }
    let mut words: Vec<_> = words.into_iter().collect();
    best(&mut words, limit, |a, b| {
        (Reverse(a.1), &a.0).cmp(&(Reverse(b.1), &b.0))
    });
    words
}

/// Leaves the first `limit` items, in order.
fn best<T>(items: &mut Vec<T>, limit: usize, order: impl Fn(&T, &T) -> Ordering) {
    if limit < items.len() {
        items.select_nth_unstable_by(limit, &order);
        items.truncate(limit);
    }
    items.sort_unstable_by(order);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chooses_and_sorts() {
        let pieces: [(&[u8], u64); 4] = [(b"b", 2), (b"c", 9), (b"a\xff", 1), (b"a", 2)];
        let all: [(&[u8], u64); 3] = [(b"c", 9), (b"a", 2), (b"b", 2)];
        assert_eq!(most(pieces.into_iter(), 2, 9), all);
        for limit in 0..3 {
            assert_eq!(most(pieces.into_iter(), 1, limit), all[..limit]);
        }
    }

    #[test]
    fn knows_how_words_are_spelt() {
        let pieces: [(&[u8], u64); 4] = [
            ("ab".as_bytes(), 2),
            (b"c", 9),
            (b"a\xff", 1),
            ("a\u{fffd}".as_bytes(), 2),
        ];
        let expected = [("a\u{fffd}".into(), 3), ("ab".into(), 2)];
        assert_eq!(spelt_with(pieces.into_iter(), "ab\u{fffd}", 5), expected);
        assert_eq!(spelt_with(pieces.into_iter(), "ab", 5), expected[1..]);
    }
}
