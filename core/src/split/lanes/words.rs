//! The families of words, as algebra of bits: where pieces begin in a window.

use super::super::scanner::{Cased, Rules, Uncased, contraction, suffix};
use super::super::{Contractions, Tail};
use super::rules::{Carry, after, contractions, grow, numbers, settle, tails, white_space};
use super::window::Window;

/// A family of words, seen 64 bytes at a time.
pub(in super::super) trait Lanes {
    /// Gives the bytes that pieces begin with; `window` stands at `at` in `text`. A piece that begins in
    /// an earlier window and is known only now is told in `early`.
    fn begins(
        rules: &Rules,
        text: &[u8],
        at: usize,
        window: &Window,
        carry: &mut Carry,
        early: &mut Option<usize>,
    ) -> u64;
}

/// Words that are runs of letters: a piece begins where the kind changes, but for what the space or the
/// prefix before takes along.
impl<const PREFIXED: bool> Lanes for Uncased<PREFIXED> {
    #[inline(always)]
    fn begins(
        rules: &Rules,
        text: &[u8],
        at: usize,
        window: &Window,
        carry: &mut Carry,
        early: &mut Option<usize>,
    ) -> u64 {
        let tail = tails(rules, window, carry, window.symbol);
        let letter = window.letter;
        let symbol = window.symbol & !tail;
        let space = window.space & !tail;
        let newline = window.newline & !tail;
        let after_blank = after(window.blank, carry.blank);

        let symbols = symbol & !after(symbol, carry.symbol) & !after_blank;
        let mut words = letter & !after(letter, carry.word);
        if PREFIXED {
            let prefix = space & !newline | window.whole(symbols);
            words &= !after(prefix, carry.prefix);
            carry.prefix = window.last(prefix);
        } else {
            words &= !after_blank;
        }
        carry.word = window.last(letter);
        carry.symbol = window.last(symbol);
        carry.tail = window.last(tail);

        let mut begins = words | symbols;
        begins |= numbers(rules, window, carry);
        begins |= white_space(rules, window, at, space, newline, carry, early);
        carry.blank = window.last(window.blank);
        if rules.contractions != Contractions::None {
            let apostrophes = window.apostrophe & symbols;
            let end = |at| contraction(*rules, text, at);
            let contracted = contractions::<false>(window, at, apostrophes, carry, end);
            begins = begins & !contracted.clear | contracted.set;
        }
        begins
    }
}

/// See [`Cased`] of the scanner for what the two alternatives come to.
impl Lanes for Cased {
    #[inline(always)]
    fn begins(
        rules: &Rules,
        text: &[u8],
        at: usize,
        window: &Window,
        carry: &mut Carry,
        early: &mut Option<usize>,
    ) -> u64 {
        let (run, tail) = runs_of_symbols(rules, window, carry);
        let in_word = (window.upper | window.lower) & !run;
        // Symbols but for marks.
        let symbol = window.symbol & !(window.upper | window.lower | tail);
        let space = window.space & !tail;
        let newline = window.newline & !tail;
        let after_blank = after(window.blank, carry.blank);

        // A symbol that is in no run is the prefix of a word.
        let prefix = space & !newline | symbol & !run;
        let words = in_word & !after(in_word | prefix, carry.word | carry.prefix);
        let symbols = symbol & !window.inner & !after(run, carry.symbol) & !after_blank;
        let mut begins = words | symbols;
        begins |= numbers(rules, window, carry);
        begins |= white_space(rules, window, at, space, newline, carry, early);
        let mut contracted = 0;
        let mut clear = 0;
        if rules.contractions == Contractions::Suffix {
            let apostrophes = window.apostrophe & after(in_word, carry.word);
            let end = |at| Some(suffix(*rules, text, at)).filter(|&end| end > at);
            let found = contractions::<true>(window, at, apostrophes, carry, end);
            (contracted, clear) = (found.set, found.clear);
        }
        begins |= capitals(window, at, in_word, contracted, carry, early);

        carry.word = window.last(in_word);
        carry.prefix = window.last(prefix);
        carry.symbol = window.last(run);
        carry.tail = window.last(tail);
        carry.blank = window.last(window.blank);
        begins & !clear | contracted
    }
}

/// Gives the runs of symbols that are pieces, and their tails. A run may lack the bytes of its first
/// character but the last.
///
/// A symbol that stands alone before a letter or a mark is the prefix of a word. Any other begins a run,
/// which takes marks along.
#[inline(always)]
fn runs_of_symbols(rules: &Rules, window: &Window, carry: &Carry) -> (u64, u64) {
    let cased = window.upper | window.lower;
    let last_bytes = !(window.inner >> 1);
    let before_word = (cased & !window.inner) >> 1;
    let after_blank = after(window.blank, carry.blank);
    let runs = |tail: u64| {
        let all = window.symbol & !tail;
        let symbol = all & !cased;
        let follows = symbol & (symbol << 1 | after_blank) & !window.inner;
        let from = (window.whole(follows) | symbol & !before_word) & last_bytes;
        grow(from | all & carry.symbol, all)
    };
    let mut run = runs(0);
    let mut tail = tails(rules, window, carry, run);
    if rules.tail == Tail::NewlinesAndSlashes
        && window.slash & after(window.newline, carry.tail) != 0
    {
        // A slash in a tail is in no run, and what follows it begins another. A tail depends only on what
        // precedes it, so that every round settles at least one more.
        loop {
            run = runs(tail);
            let settled = tails(rules, window, carry, run);
            if settled == tail {
                break;
            }
            tail = settled;
        }
    }
    (run, tail)
}

/// Gives the beginnings of words inside of runs of letters and marks, which are before capitals;
/// `contracted` are beginnings behind contractions.
#[inline(always)]
fn capitals(
    window: &Window,
    at: usize,
    in_word: u64,
    contracted: u64,
    carry: &mut Carry,
    early: &mut Option<usize>,
) -> u64 {
    let capital = window.upper & !window.lower;
    let small = window.lower & !window.upper;
    let caseless = window.upper & in_word & !capital;
    if caseless == 0 && carry.caseless == 0 && carry.before_capitals.is_none() {
        let begins = capital & after(small, carry.lower);
        carry.lower = window.last(small);
        return begins;
    }
    // Small letters take what has no case along into the second half of their word, which capitals end.
    let from = caseless & after(small, carry.lower) & !contracted;
    let lower = small | grow(from, caseless);
    let begins = capital & after(lower, carry.lower);
    // In the first half, the word ends after what has no case if nothing follows the capitals.
    let first = caseless & !lower;
    let open = capital & after(first, carry.caseless) & window.decided();
    let settled = settle(
        open,
        capital,
        in_word,
        at,
        &mut carry.before_capitals,
        early,
    );
    carry.lower = window.last(lower);
    carry.caseless = window.last(first);
    begins | settled
}
