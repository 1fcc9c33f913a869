//! Where the pieces of a text end, some at a time.

use std::collections::VecDeque;
use std::ops::Range;

use super::WordRule;
use super::chain::{Chain, Cut, fill_digit_groups};
use super::lanes::{self, Machine, Progress};
use super::pattern::{Groups, Known, Pattern, Runs};
use super::scanner::{Cased, Prefixed, Rules, Spaced, Words};

/// How many ends are found at a time: few enough to stay in the nearest cache, many enough that what
/// is done once for all of them costs nothing.
pub const AT_A_TIME: usize = 256;

/// In a text of no more bytes, the pieces are found sooner a character at a time than in windows.
pub(super) const FEW_BYTES: usize = 48;

/// Finds the ends of a text's pieces, some at a time, so that the loops that use them know the next
/// pieces ahead.
#[derive(Clone, Debug)]
pub struct Ends<'t> {
    pub(super) way: Going<'t>,
    pub(super) text: &'t [u8],
    /// What windows are looked at with; None for one character at a time.
    pub(super) machine: Option<Machine>,
    pub(super) progress: Progress,
}

/// What finds the ends.
#[derive(Clone, Debug)]
pub(super) enum Going<'t> {
    Whole,
    Rule(WordRule, Rules),
    Pattern(&'t Pattern, Known),
    Runs(&'t Runs, Groups),
    /// Whether only 0 to 9 count, and ends that wait.
    DigitGroups(bool, VecDeque<usize>),
    /// What walks through several ways to cut.
    Chain(Box<Walk<'t>>),
}

/// What a text is looked at with.
#[inline]
pub(super) fn best_machine(text: &[u8]) -> Option<Machine> {
    (text.len() > FEW_BYTES).then(Machine::best)
}

impl<'t> Ends<'t> {
    /// Begins a text.
    #[inline]
    pub(super) fn by(way: Going<'t>, text: &'t [u8]) -> Self {
        Self {
            way,
            text,
            machine: best_machine(text),
            progress: Progress::default(),
        }
    }

    /// Write the ends of the next pieces and give their number: as many as there is room for, or as the
    /// text has left.
    #[inline]
    pub fn fill(&mut self, room: &mut [usize]) -> usize {
        let (text, progress) = (self.text, &mut self.progress);
        match (&mut self.way, self.machine) {
            (&mut Going::Rule(words, ref rules), Some(machine)) => {
                let job = lanes::Job {
                    words,
                    rules,
                    text,
                    progress,
                    room,
                };
                lanes::fill(machine, job)
            }
            (Going::Rule(WordRule::Spaced, rules), None) => {
                progress.fill_by(text, room, |at| Spaced::piece(*rules, text, at))
            }
            (Going::Rule(WordRule::Prefixed, rules), None) => {
                progress.fill_by(text, room, |at| Prefixed::piece(*rules, text, at))
            }
            (Going::Rule(WordRule::Cased, rules), None) => {
                progress.fill_by(text, room, |at| Cased::piece(*rules, text, at))
            }
            (Going::Pattern(pattern, known), _) => {
                progress.fill_some(room, |at, room| pattern.fill(text, at, room, known))
            }
            (Going::Runs(runs, groups), _) => {
                progress.fill_some(room, |at, room| runs.fill(text, at, room, groups))
            }
            (Going::DigitGroups(ascii, waiting), _) => progress.fill_some(room, |at, room| {
                fill_digit_groups(text, at, *ascii, waiting, room)
            }),
            (Going::Chain(walk), _) => walk.fill(room),
            (Going::Whole, _) => progress.fill_by(text, room, |_| text.len()),
        }
    }
}

/// How many pieces of each way but the last are found at a time.
const AHEAD: usize = 32;

/// Walks through the pieces of a text. What is worked out ahead is a few pieces of each way.
#[derive(Clone, Debug)]
pub(super) struct Walk<'t> {
    text: &'t [u8],
    levels: Vec<Level<'t>>,
}

/// A way, in the piece that it cuts.
#[derive(Clone, Debug)]
struct Level<'t> {
    cut: &'t Cut,
    /// What finds the ends in the piece.
    ends: Ends<'t>,
    /// Where the piece begins in the text.
    begin: usize,
    /// Where the next part of it begins in the text.
    at: usize,
    /// Ends in the piece; those from `taken` to `found` are still to be given.
    waiting: [usize; AHEAD],
    found: usize,
    taken: usize,
}

impl<'t> Walk<'t> {
    /// Begins a text.
    pub fn new(chain: &'t Chain, text: &'t [u8]) -> Self {
        let level = |(number, cut): (usize, &'t Cut)| Level {
            cut,
            // All but the first wait for a piece.
            ends: cut.ends(if number == 0 { text } else { &[] }),
            begin: 0,
            at: 0,
            waiting: [0; AHEAD],
            found: 0,
            taken: 0,
        };
        Self {
            text,
            levels: chain.0.iter().enumerate().map(level).collect(),
        }
    }

    /// Writes the ends of the next pieces and gives their number.
    pub fn fill(&mut self, room: &mut [usize]) -> usize {
        let Some((last, before)) = self.levels.split_last_mut() else {
            return 0;
        };
        let mut total = 0;
        while total < room.len() {
            let found = last.ends.fill(&mut room[total..]);
            for end in &mut room[total..total + found] {
                *end += last.begin;
            }
            total += found;
            while found == 0 && total < room.len() {
                let Some((piece, is_whole)) = next(before, self.text) else {
                    return total;
                };
                if !is_whole {
                    last.begin(piece, self.text);
                    break;
                }
                room[total] = piece.end;
                total += 1;
            }
        }
        total
    }
}

/// Gives the next piece that the last of some ways cuts, and whether it is cut no further.
fn next<'t>(levels: &mut [Level<'t>], text: &'t [u8]) -> Option<(Range<usize>, bool)> {
    let (level, before) = levels.split_last_mut()?;
    while level.taken == level.found {
        level.taken = 0;
        level.found = level.ends.fill(&mut level.waiting);
        if level.found == 0 {
            level.begin(next(before, text)?.0, text);
        }
    }
    let end = level.begin + level.waiting[level.taken];
    let is_whole = match &level.ends.way {
        Going::Runs(_, groups) => groups.is_whole(level.taken),
        _ => false,
    };
    level.taken += 1;
    Some((std::mem::replace(&mut level.at, end)..end, is_whole))
}

impl<'t> Level<'t> {
    /// Begins a piece.
    fn begin(&mut self, piece: Range<usize>, text: &'t [u8]) {
        (self.begin, self.at) = (piece.start, piece.start);
        self.ends = self.cut.ends(&text[piece]);
    }
}

impl Cut {
    /// Gives what finds the ends of a text's pieces.
    fn ends<'t>(&'t self, text: &'t [u8]) -> Ends<'t> {
        let way = match self {
            &Self::Rule(words, rules) => Going::Rule(words, rules),
            Self::Pattern(pattern) => Going::Pattern(pattern, Known::default()),
            Self::Runs(runs) => Going::Runs(&runs.0, Groups::default()),
            &Self::DigitGroups { ascii } => Going::DigitGroups(ascii, VecDeque::new()),
        };
        Ends::by(way, text)
    }
}
