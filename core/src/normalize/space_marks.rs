//! Blanks as SentencePiece handles them, after its table of rules has run: only U+0020 is a blank.
//!
//! Source: Kudo and Richardson, "SentencePiece: A simple and language independent subword tokenizer
//! and detokenizer for Neural Text Processing", arXiv:1808.06226, section 3.2.

use serde::Deserialize;

use super::Context;
use crate::boundaries::stages::{AtSpace, OfStretches};
use crate::text::{Origin, Rewriter, Text};

const MARK: &[u8] = "\u{2581}".as_bytes();

/// How blanks are handled.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpaceMarks {
    add_dummy_prefix: bool,
    remove_extra_whitespaces: bool,
    pub(super) escape_whitespaces: bool,
    treat_whitespace_as_suffix: bool,
    /// Whether a table has left extra blanks out before, but for those at the ends.
    #[serde(skip)]
    keeps_runs: bool,
}

impl SpaceMarks {
    /// Rewrites a text. A mark that is added stands for the empty place where it is added, one that
    /// stays of several blanks for all of them.
    pub(super) fn rewrite(self, text: &mut Text, context: Context) {
        // A text from which rules left everything out gets its mark, unless blanks at the ends go: the
        // mark is one.
        let all_blank = text.bytes().iter().all(|&byte| byte == b' ');
        if text.original_len() == 0 || self.remove_extra_whitespaces && all_blank {
            text.rewrite(|_, _| ());
            return;
        }
        text.rewrite(|old, new| {
            let (mut start, mut end) = (0, old.len());
            if self.remove_extra_whitespaces {
                if !context.continued {
                    start = old.iter().take_while(|&&byte| byte == b' ').count();
                }
                end = self.trimmed(old, start);
            }
            let before = !self.treat_whitespace_as_suffix && !context.continued;
            let lost = self.remove_extra_whitespaces && start == end;
            if self.add_dummy_prefix && before && !lost {
                new.insert(self.blank(), place(new, old, start));
            }
            self.write(old, start, end, new);
            if self.puts_suffix() {
                new.insert(self.blank(), place(new, old, end));
            }
        });
    }

    /// Whether extra blanks go.
    pub(super) fn removes_extra(self) -> bool {
        self.remove_extra_whitespaces
    }

    /// From now on, several blanks side by side stay, but at the ends.
    pub(super) fn keep_runs(&mut self) {
        self.keeps_runs = true;
    }

    /// Whether a mark is put behind a text.
    pub(super) fn puts_suffix(self) -> bool {
        self.add_dummy_prefix && self.treat_whitespace_as_suffix
    }

    /// The end of a text without blanks there. What is written as a mark cannot be told from one that
    /// was given, so those go as well.
    fn trimmed(self, old: &[u8], start: usize) -> usize {
        let mut rest = &old[start..];
        while let Some(shorter) = rest
            .strip_suffix(b" ")
            .or_else(|| rest.strip_suffix(MARK).filter(|_| self.escape_whitespaces))
        {
            rest = shorter;
        }
        start + rest.len()
    }

    fn write(self, old: &[u8], start: usize, end: usize, new: &mut Rewriter<'_>) {
        let mut from = start;
        let mut at = start;
        while at < end {
            if old[at] != b' ' {
                at += 1;
                continue;
            }
            let several = old[at..end]
                .iter()
                .take_while(|&&byte| byte == b' ')
                .count();
            let length = if self.remove_extra_whitespaces && !self.keeps_runs {
                several
            } else {
                1
            };
            if self.escape_whitespaces || length > 1 {
                new.keep(from..at);
                new.replace(at..at + length, self.blank());
                from = at + length;
            }
            at += length;
        }
        new.keep(from..end);
    }

    fn blank(self) -> &'static [u8] {
        if self.escape_whitespaces { MARK } else { b" " }
    }

    /// A single space between letters is neither at an end nor one of several: it stays or becomes a mark. But a suffix
    /// would be put behind each part.
    pub(super) fn at_space(self) -> AtSpace {
        match (self.puts_suffix(), self.escape_whitespaces) {
            (true, _) => AtSpace::Unknown,
            (false, true) => AtSpace::Changes,
            (false, false) => AtSpace::Stays,
        }
    }

    /// What happens to the stretches that begin with a run of spaces.
    pub(super) fn of_stretches(self) -> OfStretches {
        let begins_with_mark = self.add_dummy_prefix && !self.treat_whitespace_as_suffix;
        let is_one = self.remove_extra_whitespaces && !self.keeps_runs;
        if begins_with_mark && is_one && self.escape_whitespaces {
            OfStretches::Marks
        } else {
            OfStretches::Unknown
        }
    }
}

/// The empty place before a byte of the old text.
fn place(new: &Rewriter<'_>, old: &[u8], at: usize) -> Origin {
    let edge = match at.checked_sub(1) {
        _ if at < old.len() => new.origin_at(at).start,
        Some(last) => new.origin_at(last).end,
        None => 0,
    };
    Origin {
        start: edge,
        end: edge,
    }
}
