//! Stretches of documents that the normalizers leave as they are, and others.

use super::Stages;
use crate::boundaries::last_cut;

/// How long a stretch is that is asked about as a whole.
const SIZE: usize = if cfg!(test) { 1 << 8 } else { 1 << 14 };

/// A stretch of a text that may have several documents, or a part of one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stretch {
    /// Where it ends.
    pub end: usize,
    /// Whether the normalizers are certain to leave it as it is.
    pub stays: bool,
}

impl Stretch {
    /// The next stretch of a text, from `begin` on, where a document or a stretch begins. `ends` are those of the documents, at
    /// least of all that end in the text. It ends where a document does, or where the stages allow a cut and `moves_cut` has no
    /// objection: see [`last_cut`].
    #[must_use]
    pub fn of(
        stages: &Stages,
        text: &[u8],
        begin: usize,
        ends: &[u64],
        moves_cut: impl Fn(&[u8], usize) -> Option<usize>,
    ) -> Self {
        let end = end_of(stages, text, begin, ends, moves_cut);
        Self {
            end,
            stays: stages.leaves(&text[begin..end]),
        }
    }
}

fn end_of(
    stages: &Stages,
    text: &[u8],
    begin: usize,
    ends: &[u64],
    moves_cut: impl Fn(&[u8], usize) -> Option<usize>,
) -> usize {
    let near = begin + SIZE;
    if near >= text.len() {
        return text.len();
    }
    let behind = ends.partition_point(|&end| end <= near as u64);
    if let Some(&end) = ends[..behind].last()
        && end > begin as u64
    {
        return end as usize;
    }
    let end = ends
        .get(behind)
        .map_or(text.len(), |&end| text.len().min(end as usize));
    let rest = &text[begin..end];
    let mut size = SIZE;
    while size < rest.len() {
        let safe_cut = |text: &[u8]| stages.safe_cut(text);
        if let Some(cut) = last_cut(rest, size, safe_cut, &moves_cut) {
            return begin + cut;
        }
        size *= 2;
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stages() -> Stages {
        let pattern = r"[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
        let spec = format!(
            r#"{{"normalizers": [{{"type": "NFC"}}], "pre_tokenizers": [{{"type": "Split", "pattern": {{"Regex": "{pattern}"}}, "behavior": "Isolated", "invert": false}}]}}"#
        );
        Stages::from_json(&spec).unwrap()
    }

    /// All stretches of documents; neighbours of the same kind as one.
    fn kinds(
        text: &[u8],
        ends: &[u64],
        moves_cut: impl Fn(&[u8], usize) -> Option<usize>,
    ) -> Vec<(usize, bool)> {
        let stages = stages();
        let mut found: Vec<(usize, bool)> = Vec::new();
        let mut begin = 0;
        while begin < text.len() {
            let Stretch { end, stays } = Stretch::of(&stages, text, begin, ends, &moves_cut);
            assert!(end > begin);
            match found.last_mut() {
                Some((last, same)) if *same == stays => *last = end,
                _ => found.push((end, stays)),
            }
            begin = end;
        }
        found
    }

    #[test]
    fn what_is_left_alone_is_told_from_the_rest() {
        let (clean, other) = ("a line of text\n".repeat(20_000), "e\u{301} ".repeat(1000));
        let text = [&clean[..], &other, &clean, &other].concat();
        let whole = [text.len() as u64];
        let found = kinds(text.as_bytes(), &whole, |_, _| None);
        let answers: Vec<bool> = found.iter().map(|stretch| stretch.1).collect();
        assert_eq!(answers, [true, false, true, false]);
        assert!(found[0].0 <= clean.len() && found[0].0 > clean.len() - 2 * SIZE);
        let found = kinds(text.as_bytes(), &whole, |_, _| Some(0));
        assert_eq!(found, [(text.len(), false)]);
    }

    #[test]
    fn documents_are_told_apart() {
        let documents = [
            "x".repeat(100_000),
            "e\u{301}".to_owned(),
            String::new(),
            "y".repeat(70_000),
        ];
        let text = documents.concat();
        let mut end = 0;
        let ends: Vec<u64> = (documents.iter())
            .map(|document| {
                end += document.len() as u64;
                end
            })
            .collect();
        let found = kinds(text.as_bytes(), &ends, |_, _| None);
        assert_eq!(found, [(100_000, true), (100_003, false), (170_003, true)]);
        // A task may end inside a document.
        let stages = stages();
        let part = Stretch::of(&stages, &text.as_bytes()[..50_000], 0, &ends, |_, _| None);
        assert_eq!(part.end, 50_000);
    }
}
