//! The pre-tokenizers that rewrite text: each writes the whole of it anew once, with all its pieces.
//!
//! Of what no piece holds, a character at least is kept before the next piece: so a piece begins where the text begins only if
//! nothing was removed before it.

use std::ops::Range;

use super::categories;
use super::pieces::{Pieces, PrependScheme};
use crate::normalize::Context;
use crate::text::{Rewriter, visible};

/// Writes pieces anew; `write` is given each of them, and what it writes stands for the piece.
fn rewrite(
    pieces: &mut Pieces,
    mut write: impl FnMut(&[u8], Range<usize>, &mut Rewriter<'_>, &mut Vec<Range<usize>>),
) {
    let Pieces {
        text,
        ranges,
        spare,
        ..
    } = pieces;
    spare.clear();
    let keeps_all = text.keeps_origins();
    text.rewrite(|old, new| {
        let mut at = 0;
        for range in ranges.iter() {
            // It may be gigabytes of blanks. Somebody wants to see it only where origins are kept.
            new.keep(match keeps_all || at == range.start {
                true => at..range.start,
                false => at..at + categories::read(old, at).1,
            });
            at = range.end;
            write(old, range.clone(), new, spare);
        }
        if keeps_all {
            new.keep(at..old.len());
        }
    });
    std::mem::swap(ranges, spare);
}

/// Puts a space before each piece that does not begin with one. It stands for what the piece's first
/// character stands for.
pub(super) fn prefix_space(pieces: &mut Pieces, context: Context) {
    let needs = |text: &[u8], range: &Range<usize>| {
        text[range.start] != b' ' && !(context.continued && range.start == 0)
    };
    let text = pieces.text.bytes();
    if !pieces.ranges.iter().any(|range| needs(text, range)) {
        return;
    }
    rewrite(pieces, |old, range, new, ranges| {
        let start = new.position();
        if needs(old, &range) {
            new.insert(b" ", new.origin_at(range.start));
        }
        new.keep(range);
        ranges.push(start..new.position());
    });
}

/// Spells each byte as its visible character, which stands for what the byte stands for.
pub(super) fn byte_level(pieces: &mut Pieces) {
    rewrite(pieces, |old, range, new, ranges| {
        let start = new.position();
        let mut at = range.start;
        while at < range.end {
            let kept = old[at..range.end]
                .iter()
                .take_while(|byte| byte.is_ascii_graphic())
                .count();
            new.keep(at..at + kept);
            at += kept;
            if at < range.end {
                let character = visible::of_byte(old[at]);
                new.replace(at..at + 1, character.encode_utf8(&mut [0; 4]).as_bytes());
                at += 1;
            }
        }
        ranges.push(start..new.position());
    });
    pieces.visible = true;
}

/// Spaces written as a mark, before which text is cut.
#[derive(Debug)]
pub(super) struct Marks {
    mark: [u8; 4],
    length: usize,
    prepend: PrependScheme,
    split: bool,
}

impl Marks {
    /// Prepares to write spaces as `replacement`.
    pub fn new(replacement: char, prepend: PrependScheme, split: bool) -> Self {
        let mut mark = [0; 4];
        let length = replacement.encode_utf8(&mut mark).len();
        Self {
            mark,
            length,
            prepend,
            split,
        }
    }

    fn mark(&self) -> &[u8] {
        &self.mark[..self.length]
    }

    /// How long the space or the mark is that stands at the beginning of a text, if one does.
    #[inline]
    fn at_start(&self, text: &[u8]) -> Option<usize> {
        if text[0] == b' ' {
            Some(1)
        } else {
            text.starts_with(self.mark()).then_some(self.length)
        }
    }

    /// Rewrites and cuts. A mark that is put before a piece stands for what the piece's first
    /// character stands for.
    pub fn write(&self, pieces: &mut Pieces, context: Context) {
        rewrite(pieces, |old, range, new, ranges| {
            let text = &old[..range.end];
            let mut start = new.position();
            let prepends = match self.prepend {
                PrependScheme::Never => false,
                PrependScheme::Always => range.start > 0 || !context.continued,
                PrependScheme::First => range.start == 0 && context.first && !context.continued,
            };
            if prepends && self.at_start(&text[range.start..]).is_none() {
                new.insert(self.mark(), new.origin_at(range.start));
            }
            let mut kept = range.start;
            let mut at = range.start;
            while at < range.end {
                let Some(length) = self.at_start(&text[at..]) else {
                    at += categories::read(text, at).1;
                    continue;
                };
                new.keep(kept..at);
                if self.split && start < new.position() {
                    ranges.push(start..new.position());
                    start = new.position();
                }
                new.replace(at..at + length, self.mark());
                at += length;
                kept = at;
            }
            new.keep(kept..range.end);
            ranges.push(start..new.position());
        });
    }
}
