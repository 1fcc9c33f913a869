//! Where documents can be taken apart into stretches that the normalizers leave as they are, and others.

use super::Stages;

/// How long a stretch is that is asked about as a whole.
const SIZE: usize = 1 << 14;

/// Gives where the parts of documents end, and whether the normalizers are certain to leave each. `ends` are those of the
/// documents, the last one the text's. Documents are cut where the stages allow it and `moves` has no objection, which
/// gets a text and a cut, and says up to where another one is to be looked for.
#[must_use]
pub fn parts(
    stages: &Stages,
    text: &[u8],
    ends: &[u64],
    moves: impl Fn(&[u8], usize) -> Option<usize>,
) -> Vec<(usize, bool)> {
    let mut parts: Vec<(usize, bool)> = Vec::new();
    let mut begin = 0;
    while begin < text.len() {
        let end = end_of_stretch(stages, text, ends, begin, &moves);
        let leaves = stages.leaves(&text[begin..end]);
        match parts.last_mut() {
            Some((last, same)) if *same == leaves => *last = end,
            _ => parts.push((end, leaves)),
        }
        begin = end;
    }
    parts
}

fn end_of_stretch(
    stages: &Stages,
    text: &[u8],
    ends: &[u64],
    begin: usize,
    moves: &impl Fn(&[u8], usize) -> Option<usize>,
) -> usize {
    let mut size = SIZE;
    while begin + size < text.len() {
        let target = begin + size;
        let near = ends.partition_point(|&end| end <= (begin + SIZE) as u64);
        let last = ends[..near].last().filter(|&&end| end > begin as u64);
        let next = ends.get(near).filter(|&&end| end <= target as u64);
        if let Some(&end) = last.or(next) {
            return end as usize;
        }
        let stretch = &text[begin..target];
        let mut cut = stages.safe_cut(stretch);
        while cut > 0
            && let Some(before) = moves(stretch, cut)
        {
            cut = stages.safe_cut(&stretch[..before]);
        }
        if cut > 0 {
            return begin + cut;
        }
        size *= 2;
    }
    text.len()
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

    #[test]
    fn what_is_left_alone_is_told_from_the_rest() {
        let stages = stages();
        let (clean, other) = ("a line of text\n".repeat(20_000), "e\u{301} ".repeat(1000));
        let text = [&clean[..], &other, &clean, &other].concat();
        let whole = [text.len() as u64];
        let found = parts(&stages, text.as_bytes(), &whole, |_, _| None);
        assert_eq!(found.len(), 4);
        let answers: Vec<bool> = found.iter().map(|part| part.1).collect();
        assert_eq!(answers, [true, false, true, false]);
        assert!(found.is_sorted());
        assert_eq!(found[3].0, text.len());
        assert!(found[0].0 <= clean.len() && found[0].0 > clean.len() - 2 * SIZE);
        let nowhere = |_: &[u8], _| Some(0);
        let found = parts(&stages, text.as_bytes(), &whole, nowhere);
        assert_eq!(found, [(text.len(), false)]);
    }

    #[test]
    fn documents_are_told_apart() {
        let stages = stages();
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
        let found = parts(&stages, text.as_bytes(), &ends, |_, _| None);
        assert_eq!(found, [(100_000, true), (100_003, false), (170_003, true)]);
        assert!(parts(&stages, b"", &[0, 0], |_, _| None).is_empty());
    }
}
