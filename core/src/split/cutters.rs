//! The loops that cut a piece by what its characters are. Each appends the parts to a list.

use std::convert::Infallible;
use std::ops::Range;

use super::bits::{NUMBER, SPACE, SYMBOL};
use super::joining::Joiner;
use super::pieces::Behavior;
use super::{categories, class};

/// Tells whether the character at an offset is punctuation, and its length.
#[inline]
pub(super) fn punctuation_at(text: &[u8], at: usize) -> (bool, usize) {
    let (code_point, length) = categories::read(text, at);
    (categories::is_punctuation(code_point), length)
}

/// Tells whether the character at an offset is a number, and its length.
#[inline]
pub(super) fn number_at(text: &[u8], at: usize) -> (bool, usize) {
    let (class, length) = class::read(text, at);
    (class & NUMBER != 0, length)
}

/// Cuts at single characters; `matches` tells whether the one at an offset is such, and its length.
#[inline]
pub(super) fn at_characters(
    text: &[u8],
    range: Range<usize>,
    matches: impl Fn(&[u8], usize) -> (bool, usize),
    behavior: Behavior,
    out: &mut Vec<Range<usize>>,
) {
    let mut joiner = Joiner::new(behavior, false, out);
    let mut at = range.start;
    let found = std::iter::from_fn(|| {
        while at < range.end {
            let start = at;
            let (is_match, length) = matches(text, at);
            at += length;
            if is_match {
                return Some(Ok::<_, Infallible>(start..at));
            }
        }
        None
    });
    let Ok(()) = joiner.tell_matches(range.clone(), found);
    joiner.finish();
}

/// Appends the stretches without white space.
pub(super) fn white_space(text: &[u8], range: Range<usize>, out: &mut Vec<Range<usize>>) {
    let mut start = range.start;
    let mut at = range.start;
    while at < range.end {
        let (class, length) = class::read(text, at);
        if class & SPACE != 0 {
            if start < at {
                out.push(start..at);
            }
            start = at + length;
        }
        at += length;
    }
    if start < at {
        out.push(start..at);
    }
}

/// Appends the stretches without white space and punctuation, and each punctuation character.
pub(super) fn words_and_punctuation(text: &[u8], range: Range<usize>, out: &mut Vec<Range<usize>>) {
    let mut start = range.start;
    let mut at = range.start;
    while at < range.end {
        let (class, length) = class::read(text, at);
        let is_space = class & SPACE != 0;
        // No letter or number is punctuation.
        let is_punctuation =
            class & SYMBOL != 0 && categories::is_punctuation(categories::read(text, at).0);
        if is_space || is_punctuation {
            if start < at {
                out.push(start..at);
            }
            if is_punctuation {
                out.push(at..at + length);
            }
            start = at + length;
        }
        at += length;
    }
    if start < at {
        out.push(start..at);
    }
}

/// Appends the matches of `\w+|[^\w\s]+`.
pub(super) fn words(text: &[u8], range: Range<usize>, out: &mut Vec<Range<usize>>) {
    let mut run: Option<(usize, bool)> = None;
    let mut at = range.start;
    while at < range.end {
        let (code_point, length) = categories::read(text, at);
        let is_word = categories::is_word(code_point);
        let is_space = !is_word && class::read(text, at).0 & SPACE != 0;
        match run {
            Some((_, in_word)) if !is_space && in_word == is_word => {}
            _ => {
                out.extend(run.map(|(start, _)| start..at));
                run = (!is_space).then_some((at, is_word));
            }
        }
        at += length;
    }
    out.extend(run.map(|(start, _)| start..at));
}

/// Appends the stretches of one script. Spaces and characters without a script go with what is before
/// them; where nothing is, they are left out.
pub(super) fn scripts(text: &[u8], range: Range<usize>, out: &mut Vec<Range<usize>>) {
    let mut run: Option<(usize, u8)> = None;
    let mut at = range.start;
    while at < range.end {
        let (code_point, length) = categories::read(text, at);
        let script = categories::joined_script(code_point);
        if script != categories::UNKNOWN && run.is_none_or(|(_, present)| present != script) {
            out.extend(run.map(|(start, _)| start..at));
            run = Some((at, script));
        }
        at += length;
    }
    out.extend(run.map(|(start, _)| start..at));
}

/// Appends stretches of so many characters.
pub(super) fn fixed_length(
    text: &[u8],
    range: Range<usize>,
    length: usize,
    out: &mut Vec<Range<usize>>,
) {
    let (mut start, mut at, mut room) = (range.start, range.start, length);
    while at < range.end {
        at += class::read(text, at).1;
        room -= 1;
        if room == 0 {
            out.push(start..at);
            (start, room) = (at, length);
        }
    }
    if start < at {
        out.push(start..at);
    }
}
