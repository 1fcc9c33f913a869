//! Which documents of a block a trainer learns from, where some are left out.

use std::ops::Range;

use memchr::memmem;

use super::Documents;

/// Copies some of the documents of a block, those that are not empty, have at most so many bytes, and have no reserved
/// text in them. Gives their bytes, and where each ends.
pub(crate) fn usable(
    documents: &Documents<'_>,
    numbers: Range<usize>,
    longest: usize,
    reserved: &[u8],
) -> (Vec<u8>, Vec<u64>) {
    let end_of = |number: usize| documents.ends[number] as usize;
    let numbers = numbers.start..numbers.end.min(documents.ends.len());
    let start = (numbers.start.checked_sub(1)).map_or(0, |before| {
        documents.ends.get(before).map_or(0, |&end| end as usize)
    });
    let finder = memmem::Finder::new(reserved);
    let mut found = finder.find(&documents.text[start..]).map(|at| start + at);
    let mut bytes = Vec::with_capacity(documents.text.len() - start);
    let mut ends = Vec::with_capacity(numbers.len());
    let (mut copied, mut begin) = (start, start);
    for end in numbers.map(end_of) {
        while let Some(at) = found.filter(|&at| at < begin) {
            found = finder
                .find(&documents.text[begin..])
                .map(|next| begin + next);
            debug_assert!(found.is_none_or(|next| next > at));
        }
        let has_reserved = found.is_some_and(|at| at + reserved.len() <= end);
        if end - begin > longest || has_reserved {
            // What is kept is copied in runs.
            bytes.extend_from_slice(&documents.text[copied..begin]);
            copied = end;
        } else if end > begin {
            ends.push((bytes.len() + end - copied) as u64);
        }
        begin = end;
    }
    bytes.extend_from_slice(&documents.text[copied..begin]);
    (bytes, ends)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_that_cannot_be_learnt_from_are_left_out() {
        let parts: [&[u8]; 6] = [b"", b"ab", b"abcd", b"xy", b"x", b"yb"];
        let count = parts.len();
        for number in 0..count.pow(4) {
            let texts: Vec<&[u8]> = (0..4)
                .map(|place| parts[number / count.pow(place) % count])
                .collect();
            let ends: Vec<u64> = (1..=4)
                .map(|many| texts[..many].concat().len() as u64)
                .collect();
            let text = texts.concat();
            let documents = Documents {
                text: &text,
                ends: &ends,
                continued: false,
            };
            for numbers in [0..4, 1..3, 2..9, 3..3] {
                let kept: Vec<&[u8]> = texts[numbers.start..numbers.end.min(4)]
                    .iter()
                    .copied()
                    .filter(|text| !text.is_empty() && text.len() <= 3 && *text != b"xy")
                    .collect();
                let (bytes, ends) = usable(&documents, numbers, 3, b"xy");
                assert_eq!(bytes, kept.concat());
                let expected: Vec<u64> = (1..=kept.len())
                    .map(|many| kept[..many].concat().len() as u64)
                    .collect();
                assert_eq!(ends, expected);
            }
        }
    }
}
