//! Count overlapping n-grams of characters.

use crate::count::Counts;
use crate::error::{Result, ensure};
use crate::text::character_len;

/// Counts the n-grams of pieces: one begins at each character, and at the end of a piece stand the
/// shorter ones that are left. They come in order of first occurrence, in at most `max_bytes`.
///
/// Complexity: `n` times the text.
///
/// # Errors
/// [`Error::Invalid`](crate::Error::Invalid) when `n` is 0, [`Error::Bound`](crate::Error::Bound) when the bound is passed.
pub fn count<'a>(
    pieces: impl Iterator<Item = (&'a [u8], u64)>,
    n: usize,
    max_bytes: usize,
) -> Result<Counts> {
    ensure!(n != 0, "an n-gram has at least one character");
    let mut counts = Counts::new(max_bytes);
    for (piece, frequency) in pieces {
        let (mut start, mut end, mut held) = (0, 0, 0);
        while start < piece.len() {
            while held < n && end < piece.len() {
                end += character_len(piece, end);
                held += 1;
            }
            counts.add(&piece[start..end], frequency)?;
            start += character_len(piece, start);
            held -= 1;
        }
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_the_short_ones_at_the_end_too() {
        let counts = count([(&b"aba"[..], 2), (b"\xff", 1)].into_iter(), 2, 1 << 20).unwrap();
        let found: Vec<_> = counts.iter().collect();
        assert_eq!(
            found,
            [(&b"ab"[..], 2), (b"ba", 2), (b"a", 2), (b"\xff", 1)]
        );
        assert!(count(std::iter::empty(), 0, 0).is_err());
    }
}
