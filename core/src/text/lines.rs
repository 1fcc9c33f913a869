//! Lines as documents.

use memchr::memchr_iter;

/// Takes the ends of lines (`\n` or `\r\n`; a lone `\r` is none) out of a text. Gives the text without
/// them, and where each line that has an end stops, `offset` added. What stands behind the last end is the
/// beginning of a line that goes on.
#[must_use]
pub fn without_ends(text: &[u8], offset: u64) -> (Vec<u8>, Vec<u64>) {
    let mut lines = Vec::with_capacity(text.len());
    let mut ends = Vec::with_capacity(text.len() / 64);
    let mut start = 0;
    for feed in memchr_iter(b'\n', text) {
        let line = &text[start..feed];
        lines.extend_from_slice(line.strip_suffix(b"\r").unwrap_or(line));
        ends.push(offset + lines.len() as u64);
        start = feed + 1;
    }
    lines.extend_from_slice(&text[start..]);
    (lines, ends)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn takes_out_the_ends_of_lines() {
        assert_eq!(
            without_ends(b"a\r\n\nb\rc\r\r\nd\r", 5),
            (b"ab\rc\rd\r".to_vec(), vec![6, 6, 10])
        );
        assert_eq!(without_ends(b"", 5), (vec![], vec![]));
    }

    proptest! {
        #[test]
        fn are_those_that_a_split_gives(text in "[ab\r\n]{0,40}") {
            let mut split: Vec<&str> = text.split('\n').collect();
            let rest = split.pop().unwrap();
            let closed = split.iter().map(|line| line.strip_suffix('\r').unwrap_or(line));
            let (lines, ends) = without_ends(text.as_bytes(), 0);
            let mut start = 0;
            let found: Vec<&[u8]> = ends.iter().map(|&end| {
                let line = &lines[start..end as usize];
                start = end as usize;
                line
            }).collect();
            prop_assert_eq!(found, closed.map(str::as_bytes).collect::<Vec<_>>());
            prop_assert_eq!(&lines[start..], rest.as_bytes());
        }
    }
}
