//! Where a text can be cut without changing any piece, whatever stands before or after it.
//!
//! A cut between the characters `a` and `b` is safe when (1) no piece can hold `a` followed by `b`,
//! and (2) to every alternative that reaches the cut, `b` is what the end of the text is: something it
//! stops at. By (1) every piece that starts before the cut ends there or earlier; by (2) it ends at
//! the same place when `b` is missing. What starts behind the cut never looks back. So two characters
//! decide, and it does not matter where the piece with `a` in it began.

use super::bits::{LETTER, LOWER, NEWLINE, NUMBER, SPACE, SYMBOL};
use super::class::{at_end, at_start};
use super::scanner::Rules;
use super::{Contractions, Tail, WordRule};
use crate::text::continues;

/// Give the last safe cut inside a text, or 0.
///
/// A character that is not complete is no ground to cut: its other bytes may be beyond the text.
pub(super) fn safe_cut(words: WordRule, rules: Rules, text: &[u8]) -> usize {
    let mut at = text.len();
    while at > 1 {
        at -= 1;
        if is_safe(words, rules, text, at) {
            return at;
        }
        // Where the same byte stands again and again, all cuts are as this one.
        let byte = text[at];
        if byte.is_ascii() && text[at - 1] == byte {
            at = text[..at]
                .iter()
                .rposition(|&other| other != byte)
                .map_or(0, |last| last + 2);
        }
    }
    0
}

/// So many blanks stand behind a cut in a run of them: one may go along with what follows, and one is left of the run.
const BEHIND: usize = 2;

/// Returns where the run of blanks at the end of a text may be cut, or 0 if nowhere: a cut there divides a piece into two
/// parts, and each part is a piece.
///
/// The text must begin where a piece does. `newlines` is [`Rules::newlines`].
///
/// White space is a piece up to its last newline (only with `newlines`), or all of it but its last character, or all. If
/// nothing but blanks stands between its beginning and the cut, then the part before the cut is blanks up to a text's end:
/// one piece by any rule. The part behind begins with two blanks, so it is a piece by the rule by which the whole one was:
/// each of them asks what stands behind. Without `newlines`, what white space stands before the blanks is no matter, for one rule
/// takes all of it. A prefix of a word, or of symbols, is one blank and the last one.
pub(super) fn cut_in_run(newlines: bool, text: &[u8]) -> usize {
    let last = text.iter().rposition(|&byte| byte != b' ');
    let begin = last.map_or(0, |last| last + 1);
    let begins_piece = || at_end(text, begin).is_some_and(|before| before & SPACE == 0);
    let cut = text.len().saturating_sub(BEHIND);
    match cut > begin && (begin == 0 || !newlines || begins_piece()) {
        true => cut,
        false => 0,
    }
}

/// Return whether a text can be cut at an offset.
pub(super) fn is_safe(words: WordRule, rules: Rules, text: &[u8], at: usize) -> bool {
    let sides = || at_start(text, at).zip(at_end(text, at));
    !continues(text[at])
        && sides()
            .is_some_and(|(after, before)| is_safe_between(words, rules, before, after, text[at]))
}

/// Tell whether a cut is safe between characters of two classes, the second of which begins with `byte`.
fn is_safe_between(words: WordRule, rules: Rules, before: u8, after: u8, byte: u8) -> bool {
    if before & SPACE != 0 {
        // `\s*[\r\n]+`, `\s++$` and the tail of symbols all end after the last newline of a run. After
        // other white space it matters what comes: `\s+(?!\S)` gives its last character to a word.
        let in_tail = byte == b'/' && rules.tail == Tail::NewlinesAndSlashes;
        rules.newlines && before & NEWLINE != 0 && after & SPACE == 0 && !in_tail
    } else if after & SPACE != 0 {
        // Nothing takes white space along after it, but symbols their newlines. A mark is a symbol.
        after & NEWLINE == 0 || before & (LETTER | NUMBER) != 0 || rules.tail == Tail::Nothing
    } else if before & NUMBER != 0 || after & NUMBER != 0 {
        // Numbers keep to themselves; inside a run of them, pieces are counted from its start.
        before & after & NUMBER == 0
    } else {
        // Symbols may be the prefix of letters, but letters take none along, except that a cased word
        // goes on with marks and with an apostrophe.
        let in_word = words == WordRule::Cased
            && (after & LOWER != 0 || byte == b'\'' && rules.contractions == Contractions::Suffix);
        before & LETTER != 0 && after & SYMBOL != 0 && !in_word
    }
}
