//! Giant words, such as a gigabyte of blanks, window by window: the memory of a window and the ids.
//!
//! What the stages make of such a text is longer than it, up to three times where blanks become marks. So each window
//! goes through them by itself, from the text as it is. That is right for stages that write each blank as a mark,
//! change nothing else, and put something at the beginning at most; and for models whose tokens are right if each two
//! neighbours are what their own symbols become (see `models::merging::windows`). As there, a window begins with a token of the one
//! before and must find it again, so that all neighbours are neighbours in some window.

use super::plan::INSIDE;
use crate::encode::encoded::Part;
use crate::encode::staged::{Staged, Worker};
use crate::error::Result;
use crate::normalize::Context;
use crate::text::{Origin, continues};

/// The bytes of a window. Tests have many of them in short texts.
const WINDOW: usize = if cfg!(test) { 24 } else { 1 << 16 };
/// So many of them may become something else with what comes behind: what begins there is not kept.
const OPEN: usize = if cfg!(test) { 9 } else { 1 << 11 };

/// From how many bytes on a word is worth it.
pub(super) const LEAST: usize = 2 * WINDOW;

impl Staged {
    /// Appends the ids of a giant word, or adds their number where nobody asks for more; or says that this does not lead
    /// to an end: nothing is appended then.
    pub(super) fn spell_by_windows(
        &self,
        text: &[u8],
        mut context: Context,
        worker: &mut Worker,
        part: &mut Part,
    ) -> Result<bool> {
        let Worker {
            pieces,
            scratch,
            found,
            ..
        } = worker;
        let before = part.ids.len();
        let mut counted = 0;
        let mut at = 0;
        let mut expected = None;
        // What `found` belongs to.
        let mut last: &[u8] = &[];
        loop {
            let end = end_of_window(text, at);
            let window = &text[at..end];
            // The same bytes are the same tokens; the first window has something before it perhaps.
            if window != last {
                pieces.text.reset(window, true);
                self.stages.normalize(&mut pieces.text, context)?;
                found.clear();
                self.model
                    .encode_piece(pieces.text.bytes(), scratch, found)?;
                last = if at > 0 { window } else { &[] };
            }
            let place = |number: usize| -> (u32, Origin) {
                let token = found[number];
                let place = token.start as usize..token.end as usize;
                (token.id, pieces.text.origin(place).unwrap_or_default())
            };
            let finds = |expected| !found.is_empty() && place(0) == expected;
            if !expected.is_none_or(finds) {
                break;
            }
            // The next window begins with a token that may still change, at a character that no other token has a part of.
            let mut next = found.len();
            if end < text.len() {
                let limit = (end - at - OPEN) as u32;
                let begins = |number: &usize| {
                    let (_, own) = place(*number);
                    let (_, last) = place(number - 1);
                    own.end > limit && own.start >= last.end && own.start > 0
                };
                let Some(begin) = (1..found.len()).find(begins) else {
                    break;
                };
                next = begin;
            }
            if part.only_counts {
                counted += next as u64;
            } else {
                part.reserve(next)?;
                let ids = found[..next].iter().map(|token| token.id);
                part.ids.extend(ids);
            }
            if next == found.len() {
                part.add(counted);
                return Ok(true);
            }
            let (id, origin) = place(next);
            at += origin.start as usize;
            let (start, end) = (0, origin.end - origin.start);
            expected = Some((id, Origin { start, end }));
            context = INSIDE;
        }
        part.ids.truncate(before);
        Ok(false)
    }
}

/// Where a window ends: at a character's end, as three bytes that go on have no character with the next one.
fn end_of_window(text: &[u8], at: usize) -> usize {
    let end = text.len().min(at + WINDOW);
    let is_border = |end: &usize| text.get(*end).is_none_or(|&byte| !continues(byte));
    (end - 3..=end).rev().find(is_border).unwrap_or(end)
}
