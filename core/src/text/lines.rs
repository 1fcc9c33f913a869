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

/// Where each line of documents ends, its end being a part of it; `ends` says where the documents do. Nothing else than
/// `\n` ends a line, and nothing is empty.
#[must_use]
pub fn with_ends(text: &[u8], ends: &[u64]) -> Vec<u64> {
    let mut lines = Vec::with_capacity(text.len() / 64);
    let mut start = 0;
    for &end in ends {
        let document = &text[start..end as usize];
        lines.extend(memchr_iter(b'\n', document).map(|feed| (start + feed + 1) as u64));
        if document.last().is_some_and(|&last| last != b'\n') {
            lines.push(end);
        }
        start = end as usize;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_keep_their_ends() {
        assert_eq!(with_ends(b"a\n\nb\r\nc", &[1, 1, 7]), [1, 2, 3, 6, 7]);
        assert_eq!(with_ends(b"ab\n", &[3, 3]), [3]);
        assert!(with_ends(b"", &[0]).is_empty());
    }
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
