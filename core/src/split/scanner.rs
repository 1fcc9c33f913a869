//! The three families of scanners: each finds the end of the piece that starts at an offset.
//!
//! A family is a type with one function, so that the loop over a text is compiled once for each and
//! asks nothing about the pattern that the text does not bring up: a contraction rule is looked at
//! when an apostrophe stands there, a newline rule when white space does.
//!
//! The patterns' only backtracking is resolved here by hand. `\s+(?!\S)` and `\s*[\r\n]+` depend on
//! nothing but the end of the run of white space and its last newline; [`Cased`] says what the first
//! alternative of o200k comes to. Complexity: linear; no character is read more than four times,
//! because what a piece gives back of a run begins a piece that takes all of it, or all but its last.

use super::bits::{LETTER, LOWER, NEWLINE, NUMBER, SPACE, SYMBOL, UPPER};
use super::class::{of_byte, read, read_long};
use super::{Contractions, ScannerSpec, Tail, WordRule};
use crate::error::{Result, ensure, invalid};

/// A specification, checked, as the scanners ask for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rules {
    pub contractions: Contractions,
    /// Longest run of numbers in a piece.
    pub max_digits: usize,
    /// Whether a run of numbers takes a space before it along: ` ?\p{N}+`.
    pub spaced_digits: bool,
    pub tail: Tail,
    pub newlines: bool,
    pub final_space: bool,
}

impl Rules {
    /// Check a specification.
    pub fn new(spec: &ScannerSpec) -> Result<Self> {
        use Contractions::{Exact, Folded, Suffix};
        ensure!(
            spec.digits <= 3,
            "digits is {}, but a scanner takes 0 to 3",
            spec.digits
        );
        match (spec.words, spec.contractions) {
            (WordRule::Spaced | WordRule::Prefixed, Suffix) => {
                return Err(invalid!("contractions can be a suffix of cased words only"));
            }
            (WordRule::Cased, Exact | Folded) => {
                return Err(invalid!(
                    "cased words take contractions as a suffix or not at all"
                ));
            }
            _ => {}
        }
        if spec.final_space && !spec.newlines {
            return Err(invalid!(
                "final_space changes nothing without newlines, so it must be false"
            ));
        }
        Ok(Self {
            contractions: spec.contractions,
            max_digits: if spec.digits == 0 {
                usize::MAX
            } else {
                usize::from(spec.digits)
            },
            spaced_digits: spec.digits == 0,
            tail: spec.tail,
            newlines: spec.newlines,
            final_space: spec.final_space,
        })
    }
}

/// A family of scanners.
pub(super) trait Words {
    /// Give the end of the piece that starts at `at`, which is before the end of `text`.
    fn piece(rules: Rules, text: &[u8], at: usize) -> usize;
}

/// Words that are runs of letters, with a space or any other prefix.
pub(super) struct Uncased<const PREFIXED: bool>;

/// ` ?\p{L}+`.
pub(super) type Spaced = Uncased<false>;

impl Words for Spaced {
    #[inline(always)]
    fn piece(rules: Rules, text: &[u8], at: usize) -> usize {
        let (class, length) = read(text, at);
        let next = at + length;
        if text[at] == b' '
            && let Some(end) = after_space::<true>(rules, text, next)
        {
            return end;
        }
        if class & LETTER != 0 {
            return letters(text, next);
        }
        if class & SYMBOL != 0 {
            return match contraction(rules, text, at) {
                Some(end) => end,
                None => symbols(rules, text, next),
            };
        }
        if class & NUMBER != 0 {
            return numbers(rules, text, next);
        }
        white_space(rules, text, at)
    }
}

/// `[^\r\n\p{L}\p{N}]?\p{L}+`.
pub(super) type Prefixed = Uncased<true>;

impl Words for Prefixed {
    #[inline(always)]
    fn piece(rules: Rules, text: &[u8], at: usize) -> usize {
        let (class, length) = read(text, at);
        let next = at + length;
        if text[at] == b' ' {
            if let Some(end) = after_space::<true>(rules, text, next) {
                return end;
            }
        } else if class & LETTER != 0 {
            return letters(text, next);
        } else if class & NUMBER != 0 {
            return numbers(rules, text, next);
        } else if class & NEWLINE == 0 {
            if let Some(end) = contraction(rules, text, at) {
                return end;
            }
            if next < text.len() && is(LETTER, text, next) {
                return letters(text, next);
            }
            if class & SYMBOL != 0 {
                return symbols(rules, text, next);
            }
        }
        white_space(rules, text, at)
    }
}

/// The two alternatives of o200k, with P for `[^\r\n\p{L}\p{N}]`:
///
/// ```text
/// P? [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]* [\p{Ll}\p{Lm}\p{Lo}\p{M}]+ suffix?
/// P? [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+ [\p{Ll}\p{Lm}\p{Lo}\p{M}]* suffix?
/// ```
///
/// The first half is greedy. If a small letter stands where it stops, the second half goes on from
/// there. If not, the second half gets the last character of the first half that is in both (a letter
/// without case, or a mark), and ends with it: what follows is capitals, or no word at all. If there
/// is none, the first half is capitals only, and the prefix is given back: a prefix that is a mark is
/// in both halves and makes a word by itself. Else the second alternative takes the capitals, and
/// finds nothing for its second half.
pub(super) struct Cased;

impl Words for Cased {
    #[inline(always)]
    fn piece(rules: Rules, text: &[u8], at: usize) -> usize {
        let (class, length) = read(text, at);
        let next = at + length;
        if text[at] == b' ' {
            if next < text.len() && is(UPPER | LOWER, text, next) {
                return cased_word(rules, text, next, None);
            }
            if let Some(end) = after_space::<false>(rules, text, next) {
                return end;
            }
        } else if class & LETTER != 0 {
            return cased_word(rules, text, at, None);
        } else if class & NUMBER != 0 {
            return numbers(rules, text, next);
        } else if class & NEWLINE == 0 {
            let mark = (class & UPPER != 0).then_some(next);
            if next < text.len() && is(UPPER | LOWER, text, next) {
                return cased_word(rules, text, next, mark);
            }
            if let Some(end) = mark {
                return suffix(rules, text, end);
            }
            if class & SYMBOL != 0 {
                return symbols(rules, text, next);
            }
        }
        white_space(rules, text, at)
    }
}

/// Give the end of the cased word whose letters begin at `at`, where there is one; `mark` is the end
/// of a prefix that is a mark.
#[inline(always)]
fn cased_word(rules: Rules, text: &[u8], at: usize, mark: Option<usize>) -> usize {
    let mut end = at;
    let mut last_in_both = mark;
    while end < text.len() {
        let (class, length) = read(text, end);
        if class & UPPER == 0 {
            if class & LOWER != 0 {
                return suffix(rules, text, small_letters(text, end + length));
            }
            break;
        }
        end += length;
        if class & LOWER != 0 {
            last_in_both = Some(end);
        }
    }
    suffix(rules, text, last_in_both.unwrap_or(end))
}

/// Give the end of what takes the space before `at` along, if there is such a thing.
#[inline(always)]
fn after_space<const LETTERS: bool>(rules: Rules, text: &[u8], at: usize) -> Option<usize> {
    if at == text.len() {
        return None;
    }
    let (class, length) = read(text, at);
    if LETTERS && class & LETTER != 0 {
        Some(letters(text, at + length))
    } else if class & SYMBOL != 0 {
        Some(symbols(rules, text, at + length))
    } else if class & NUMBER != 0 && rules.spaced_digits {
        Some(numbers(rules, text, at + length))
    } else {
        None
    }
}

/// Give the end of the piece that begins with white space and is nothing but that.
#[inline(always)]
fn white_space(rules: Rules, text: &[u8], at: usize) -> usize {
    let mut end = at;
    let mut last = at;
    let mut after_newline = None;
    while end < text.len() {
        let (class, length) = read(text, end);
        if class & SPACE == 0 {
            break;
        }
        last = end;
        end += length;
        if class & NEWLINE != 0 {
            after_newline = Some(end);
        }
    }
    let is_final = end == text.len();
    match after_newline {
        Some(end) if rules.newlines && !(is_final && rules.final_space) => end,
        // The last character goes with what follows, unless nothing does or it is the only one.
        _ if is_final || last == at => end,
        _ => last,
    }
}

/// Give the end of a run of symbols and of what it takes along.
#[inline(always)]
fn symbols(rules: Rules, text: &[u8], mut at: usize) -> usize {
    at = run_of(SYMBOL, text, at);
    match rules.tail {
        Tail::Nothing => {}
        Tail::Newlines => {
            while at < text.len() && matches!(text[at], b'\r' | b'\n') {
                at += 1;
            }
        }
        Tail::NewlinesAndSlashes => {
            while at < text.len() && matches!(text[at], b'\r' | b'\n' | b'/') {
                at += 1;
            }
        }
    }
    at
}

/// Give the end of a run of numbers, the first of which ends at `at`.
#[inline(always)]
fn numbers(rules: Rules, text: &[u8], mut at: usize) -> usize {
    let mut room = rules.max_digits - 1;
    while room > 0 && at < text.len() {
        let (class, length) = read(text, at);
        if class & NUMBER == 0 {
            break;
        }
        at += length;
        room -= 1;
    }
    at
}

/// Give the end of a contraction that is a piece by itself and starts at `at`.
#[inline(always)]
pub(super) fn contraction(rules: Rules, text: &[u8], at: usize) -> Option<usize> {
    match rules.contractions {
        Contractions::None | Contractions::Suffix => None,
        Contractions::Exact | Contractions::Folded if text[at] != b'\'' => None,
        Contractions::Exact => contraction_end(text, at, 0),
        Contractions::Folded => contraction_end(text, at, CASE_BIT),
    }
}

/// Give the end of the contraction at `at` if the rules make it part of the word that ends there.
#[inline(always)]
pub(super) fn suffix(rules: Rules, text: &[u8], at: usize) -> usize {
    if at < text.len() && text[at] == b'\'' && rules.contractions == Contractions::Suffix {
        contraction_end(text, at, CASE_BIT).unwrap_or(at)
    } else {
        at
    }
}

/// What makes a small letter of an ASCII letter (and no letter of anything else).
const CASE_BIT: u8 = 0x20;

/// Give the end of `'s 't 're 've 'm 'll 'd`, with `fold` set in its letters, whose apostrophe is at `at`.
fn contraction_end(text: &[u8], at: usize, fold: u8) -> Option<usize> {
    let letter = |i: usize| text.get(at + i).map(|&byte| byte | fold);
    match letter(1)? {
        b's' | b't' | b'm' | b'd' => Some(at + 2),
        b'r' | b'v' if letter(2) == Some(b'e') => Some(at + 3),
        b'l' if letter(2) == Some(b'l') => Some(at + 3),
        // U+017F, the long s, whose capital is S.
        _ if fold != 0 && text[at + 1..].starts_with("\u{17F}".as_bytes()) => Some(at + 3),
        _ => None,
    }
}

/// Give the end of a run of `\p{L}`.
#[inline(always)]
fn letters(text: &[u8], at: usize) -> usize {
    run_of(LETTER, text, ascii_letters::<CASE_BIT>(text, at))
}

/// Give the end of a run of `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`.
#[inline(always)]
fn small_letters(text: &[u8], at: usize) -> usize {
    run_of(LOWER, text, ascii_letters::<0>(text, at))
}

/// Tell whether the character at `at` has one of the bits.
#[inline(always)]
fn is(bits: u8, text: &[u8], at: usize) -> bool {
    read(text, at).0 & bits != 0
}

/// Give the end of the run of characters that have the bit.
#[inline(always)]
fn run_of(bit: u8, text: &[u8], mut at: usize) -> usize {
    while at < text.len() {
        let class = of_byte(text[at]);
        if class & bit != 0 {
            at += 1;
        } else if class != 0 {
            break;
        } else {
            let (class, length) = read_long(text, at);
            if class & bit == 0 {
                break;
            }
            at += length;
        }
    }
    at
}

/// Skip ASCII letters, eight at a time: small letters when `FOLD` is 0, all of them when it is the
/// case bit. May stop early, near the end of the text.
///
/// Most words end within the first eight bytes, so that the branch is predicted where a loop over
/// bytes would be mispredicted once a word.
#[inline(always)]
fn ascii_letters<const FOLD: u8>(text: &[u8], mut at: usize) -> usize {
    const fn all(byte: u8) -> u64 {
        u64::from_ne_bytes([byte; 8])
    }
    while let Some(bytes) = text[at..].first_chunk::<8>() {
        let word = u64::from_le_bytes(*bytes);
        // Seven bits a byte, so that the sums below carry into the high bit and no further.
        let low = (word | all(FOLD)) & all(0x7F);
        let from_a = low + all(0x80 - b'a');
        let past_z = low + all(0x7F - b'z');
        let others = (!from_a | past_z | word) & all(0x80);
        if others != 0 {
            return at + others.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    at
}
