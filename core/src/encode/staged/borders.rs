//! Cuts of a piece that change no token, for models in which no token goes on across a blank.

use std::ops::Range;

use crate::error::Result;
use crate::models::seams::Border;
use crate::text::read_char;

/// Calls `each` for the parts of a piece between which no token goes on.
pub(super) fn cut_at_borders(
    text: &[u8],
    range: Range<usize>,
    border: Option<Border>,
    mut each: impl FnMut(Range<usize>) -> Result<()>,
) -> Result<()> {
    let (mark, before) = match border {
        None => return each(range),
        Some(Border::Before(mark)) => (mark, true),
        Some(Border::After(mark)) => (mark, false),
    };
    let mut start = range.start;
    let mut at = range.start;
    let mut was_mark = before; // the first character begins no new part
    while at < range.end {
        let (character, length) = read_char(&text[..range.end], at);
        let is_mark = character == Some(mark);
        if (if before {
            is_mark && !was_mark
        } else {
            was_mark && !is_mark
        }) && at > start
        {
            each(start..at)?;
            start = at;
        }
        was_mark = is_mark;
        at += length;
    }
    if start < range.end {
        each(start..range.end)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str, border: Option<Border>) -> Vec<&str> {
        let mut found = Vec::new();
        cut_at_borders(text.as_bytes(), 0..text.len(), border, |range| {
            found.push(&text[range]);
            Ok(())
        })
        .unwrap();
        found
    }

    #[test]
    fn cuts_before_or_after_runs_of_marks() {
        let text = "▁▁a▁b▁▁c▁";
        assert_eq!(parts(text, None), [text]);
        assert_eq!(
            parts(text, Some(Border::Before('▁'))),
            ["▁▁a", "▁b", "▁▁c", "▁"]
        );
        assert_eq!(
            parts(text, Some(Border::After('▁'))),
            ["▁▁", "a▁", "b▁▁", "c▁"]
        );
        assert_eq!(parts("", Some(Border::Before('▁'))), [""; 0]);
    }
}
