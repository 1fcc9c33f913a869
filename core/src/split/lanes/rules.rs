//! The rules that the families of words share, as algebra of bits.

use super::super::Tail;
use super::super::scanner::Rules;
use super::level::for_each_bit;
use super::window::Window;

/// What a window knows of the ones before it: bits are 0 or 1, of the character before.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Carry {
    /// It is a letter, or for cased words, goes into one.
    pub word: u64,
    pub number: u64,
    /// It is white space and no tail of symbols.
    pub space: u64,
    /// It is a symbol and no tail; for cased words, in a run of symbols.
    pub symbol: u64,
    pub blank: u64,
    /// It is a newline and no tail.
    pub newline: u64,
    /// It is taken along by symbols.
    pub tail: u64,
    /// A letter that follows goes into its piece.
    pub prefix: u64,
    /// It is in the second half of a cased word.
    pub lower: u64,
    /// It is a letter without case or a mark, in the first half of a cased word.
    pub caseless: u64,
    /// How many numbers the piece has that it ends, if it is a number.
    pub numbers: usize,
    /// Where pieces begin behind contractions that reach into this window.
    pub set: u64,
    /// The bytes inside of such a contraction.
    pub clear: u64,
    /// Where a piece begins after a newline, unless another newline comes before the white space ends.
    pub after_newline: Option<usize>,
    /// Where a piece begins before capitals, unless their word goes on behind them.
    pub before_capitals: Option<usize>,
}

/// Gives the bits of what follows: the next byte, for whole characters the next character.
#[inline(always)]
pub(super) fn after(bits: u64, carry: u64) -> u64 {
    bits << 1 | carry
}

/// Goes from each bit of `from`, which stand in runs of `over`, to the end of its run.
#[inline(always)]
pub(super) fn grow(from: u64, over: u64) -> u64 {
    // The sum clears the run from the lowest on; the other bits of `from` stay in it.
    from | over & !over.wrapping_add(from)
}

/// Gives the tails that begin after the bits of `symbol`.
#[inline(always)]
pub(super) fn tails(rules: &Rules, window: &Window, carry: &Carry, symbol: u64) -> u64 {
    let over = match rules.tail {
        Tail::Nothing => return 0,
        Tail::Newlines => window.newline,
        Tail::NewlinesAndSlashes => window.newline | window.slash,
    };
    let from = window.newline & after(symbol, carry.symbol) | over & carry.tail;
    grow(from, over)
}

/// Gives the beginnings of runs of numbers and of the pieces in them.
#[inline(always)]
pub(super) fn numbers(rules: &Rules, window: &Window, carry: &mut Carry) -> u64 {
    let number = window.number;
    let runs = number & !after(number, carry.number);
    if rules.spaced_digits {
        carry.number = window.last(number);
        return runs & !after(window.blank, carry.blank);
    }
    if rules.max_digits == 1 {
        return number & !window.inner;
    }
    let follows = carry.number & number;
    carry.number = window.last(number);
    if number & window.inner != 0 {
        let firsts = number & !window.inner & window.decided();
        let (begins, numbers) = count_numbers(firsts, runs, rules.max_digits, carry.numbers);
        carry.numbers = numbers;
        return begins;
    }
    let mut begins = runs;
    if follows != 0 {
        let left = rules.max_digits - carry.numbers;
        if number.trailing_ones() as usize > left {
            begins |= 1 << left;
        }
    }
    // A number whose piece is full before it: all that such a piece would hold are numbers.
    let mut full = number & number << 1 & number << 2;
    if rules.max_digits == 3 {
        full &= number << 3;
    }
    let mut next = begins << rules.max_digits & full;
    while next != 0 {
        begins |= next;
        next = next << rules.max_digits & full;
    }
    // Where there is no beginning, the number means nothing: a run that fills a window has some.
    let last = 63 - (begins & window.decided() | 1).leading_zeros() as usize;
    carry.numbers = window.step - last;
    begins
}

/// Does what [`numbers`] does, one character after the other; `count` is how many numbers the open piece
/// has, before and after.
#[cold]
#[inline(never)]
fn count_numbers(firsts: u64, runs: u64, max: usize, mut count: usize) -> (u64, usize) {
    let mut begins = 0;
    for_each_bit(firsts, |at| {
        if runs >> at & 1 == 1 || count == max {
            begins |= 1 << at;
            count = 0;
        }
        count += 1;
    });
    (begins, count)
}

/// Gives the beginnings of pieces in runs of white space; `space` and `newline` are without tails.
#[inline(always)]
pub(super) fn white_space(
    rules: &Rules,
    window: &Window,
    at: usize,
    space: u64,
    newline: u64,
    carry: &mut Carry,
    early: &mut Option<usize>,
) -> u64 {
    // The last character of a run goes with what follows, where something does.
    let mut last = space & !((space | window.beyond) >> 1);
    if last & window.inner != 0 {
        last = first_bytes(last, window.inner, window.decided());
    }
    let mut begins = space & !after(space, carry.space);
    carry.space = window.last(space);
    if !rules.newlines {
        return begins | last;
    }
    let others = space & !newline;
    let stop = if rules.final_space {
        newline | window.beyond
    } else {
        newline
    };
    begins |= last & !newline;
    begins |= settle(
        others & after(newline, carry.newline) & window.decided(),
        others,
        stop,
        at,
        &mut carry.after_newline,
        early,
    );
    carry.newline = window.last(newline);
    begins
}

/// Gives those of the bits `from`, each at the beginning of a run of `over`, whose run does not end at a
/// bit of `stop`.
///
/// One whose run goes beyond the window is left to the next in `held`. One that an earlier window held,
/// whose run goes on with the first byte, is told in `early` if it stands.
#[inline(always)]
pub(super) fn settle(
    from: u64,
    over: u64,
    stop: u64,
    at: usize,
    held: &mut Option<usize>,
    early: &mut Option<usize>,
) -> u64 {
    let open = from | u64::from(held.is_some());
    let (sum, is_beyond) = over.overflowing_add(open);
    let dropped = sum & !over & stop;
    if dropped == 0 && !is_beyond && held.is_none() {
        return from;
    }
    let settled = settle_rest(open, dropped, is_beyond, at, *held);
    *held = settled.held;
    *early = early.or(settled.early);
    settled.begins
}

/// What [`settle`] comes to.
struct Settled {
    begins: u64,
    held: Option<usize>,
    early: Option<usize>,
}

/// Does what [`settle`] does when not all stand.
#[inline(never)]
fn settle_rest(
    mut open: u64,
    dropped: u64,
    is_beyond: bool,
    at: usize,
    before: Option<usize>,
) -> Settled {
    let highest = |bits: u64| 63 - bits.leading_zeros() as usize;
    for_each_bit(dropped, |end| {
        open &= !(1 << highest(open & !(u64::MAX << end)));
    });
    let held = is_beyond.then(|| {
        let place = highest(open);
        open &= !(1 << place);
        before.filter(|_| place == 0).unwrap_or(at + place)
    });
    // What was held is the lowest bit, if it is not dropped and not held again.
    let early = before.filter(|_| open & 1 == 1);
    Settled {
        begins: open & !u64::from(before.is_some()),
        held,
        early,
    }
}

/// Moves bits of the last bytes of characters to their first.
#[cold]
#[inline(never)]
fn first_bytes(last: u64, inner: u64, decided: u64) -> u64 {
    let mut moved = last & !inner;
    for_each_bit(last & inner & decided, |place| {
        let first = 63 - (!inner & !(u64::MAX << place)).leading_zeros();
        moved |= 1 << first;
    });
    moved
}

/// Where contractions change the pieces.
pub(super) struct Contracted {
    /// The beginnings behind them.
    pub set: u64,
    /// The bytes at which no piece begins.
    pub clear: u64,
}

/// Reads the contractions at `apostrophes`, for which `end` gives the offset behind one: each a piece, or
/// the suffix of one.
#[inline(always)]
pub(super) fn contractions<const SUFFIX: bool>(
    window: &Window,
    at: usize,
    apostrophes: u64,
    carry: &mut Carry,
    end: impl Fn(usize) -> Option<usize>,
) -> Contracted {
    let (set, clear) = (carry.set, carry.clear);
    let apostrophes = apostrophes & window.decided();
    if apostrophes == 0 {
        (carry.set, carry.clear) = (0, 0);
        return Contracted { set, clear };
    }
    let (mut set, mut clear) = (u128::from(set), u128::from(clear));
    for_each_bit(apostrophes, |place| {
        // A piece has one suffix: what follows that is none.
        let is_taken = SUFFIX && set >> place & 1 == 1;
        if !is_taken && let Some(end) = end(at + place) {
            let first = place + usize::from(!SUFFIX);
            set |= 1 << (end - at);
            clear |= (1 << (end - at)) - (1 << first);
        }
    });
    (carry.set, carry.clear) = ((set >> window.step) as u64, (clear >> window.step) as u64);
    Contracted {
        set: set as u64,
        clear: clear as u64,
    }
}
