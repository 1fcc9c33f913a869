//! Where the pieces of a text end, some at a time.

use std::collections::VecDeque;

use super::WordRule;
use super::chain::{Walk, fill_digit_groups};
use super::lanes::{self, Machine, Progress};
use super::pattern::{Known, Pattern};
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
            (Going::DigitGroups(ascii, waiting), _) => progress.fill_some(room, |at, room| {
                fill_digit_groups(text, at, *ascii, waiting, room)
            }),
            (Going::Chain(walk), _) => walk.fill(room),
            (Going::Whole, _) => progress.fill_by(text, room, |_| text.len()),
        }
    }
}
