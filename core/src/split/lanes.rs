//! The scanner that looks at 64 bytes at a time.
//!
//! A window of 64 bytes becomes words of 64 bits, one for each kind of character (`window`); where pieces
//! begin is algebra of such words (`words`, `rules`), with a few bits carried from window to window; the
//! places of the bits that are set are the ends of pieces. Only what a machine does with 64 bytes is
//! written for each kind of machine (`level`). The scanner of one character after the other is the oracle.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod level;
#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;
mod rules;
mod window;
mod words;

use self::level::Level;
#[cfg(target_arch = "aarch64")]
use self::neon::Neon;
use self::portable::Portable;
use self::rules::Carry;
use self::window::Window;
use self::words::Lanes;
#[cfg(target_arch = "x86_64")]
use self::{avx2::Avx2, avx512::Avx512};
use super::WordRule;
use super::scanner::{Cased, Prefixed, Rules, Spaced};

/// The instructions that a machine has.
#[derive(Clone, Copy, Debug)]
pub(super) enum Machine {
    Portable(Portable),
    #[cfg(target_arch = "aarch64")]
    Neon(Neon),
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
}

impl Machine {
    /// Gives what this machine has, the best first.
    pub fn all() -> impl Iterator<Item = Self> {
        #[cfg(target_arch = "x86_64")]
        let others = [
            Avx512::detect().map(Self::Avx512),
            Avx2::detect().map(Self::Avx2),
        ];
        #[cfg(target_arch = "aarch64")]
        let others = [Neon::detect().map(Self::Neon)];
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        let others: [Option<Self>; 0] = [];
        others
            .into_iter()
            .flatten()
            .chain([Self::Portable(Portable)])
    }

    /// Gives the best that this machine has.
    pub fn best() -> Self {
        Self::all().next().expect("every machine has a level")
    }
}

/// How far a text is scanned.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Progress {
    /// Where the next window begins.
    at: usize,
    /// Where the last window began.
    base: usize,
    /// The ends in it that are not given yet.
    bits: u64,
    carry: Carry,
}

impl Progress {
    /// Writes the ends that `piece` finds, which gives the end of the piece that starts at an offset, and
    /// gives their number.
    #[inline]
    pub fn fill_by(
        &mut self,
        text: &[u8],
        room: &mut [usize],
        piece: impl Fn(usize) -> usize,
    ) -> usize {
        let mut found = 0;
        while self.at < text.len() && found < room.len() {
            let end = piece(self.at);
            debug_assert!(self.at < end && end <= text.len());
            room[found] = end;
            found += 1;
            self.at = end;
        }
        found
    }

    /// Writes the ends that `pieces` finds, which writes those from an offset on and gives their number, and gives
    /// their number.
    #[inline]
    pub fn fill_some(
        &mut self,
        room: &mut [usize],
        pieces: impl FnOnce(usize, &mut [usize]) -> usize,
    ) -> usize {
        let found = pieces(self.at, room);
        self.at = room[..found].last().copied().unwrap_or(self.at);
        found
    }
}

/// What is to be scanned, how, and where the ends of pieces go.
pub(super) struct Job<'a> {
    pub words: WordRule,
    pub rules: &'a Rules,
    pub text: &'a [u8],
    pub progress: &'a mut Progress,
    pub room: &'a mut [usize],
}

/// Writes the ends of the next pieces and gives their number: as many as there is room for, or as the
/// text has left.
#[inline]
pub(super) fn fill(machine: Machine, job: Job<'_>) -> usize {
    if job.progress.at == job.text.len() && job.progress.bits == 0 {
        return 0;
    }
    match machine {
        Machine::Portable(level) => fill_words(level, job),
        #[cfg(target_arch = "aarch64")]
        Machine::Neon(level) => fill_words(level, job),
        // SAFETY: the level is the proof that the machine has these instructions.
        #[cfg(target_arch = "x86_64")]
        Machine::Avx2(level) => unsafe { fill_avx2(level, job) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Machine::Avx512(level) => unsafe { fill_avx512(level, job) },
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn fill_avx2(level: Avx2, job: Job<'_>) -> usize {
    fill_words(level, job)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(
    enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt"
)]
fn fill_avx512(level: Avx512, job: Job<'_>) -> usize {
    fill_words(level, job)
}

#[inline(always)]
fn fill_words<L: Level>(level: L, job: Job<'_>) -> usize {
    match job.words {
        WordRule::Spaced => fill_room::<L, Spaced>(level, job),
        WordRule::Prefixed => fill_room::<L, Prefixed>(level, job),
        WordRule::Cased => fill_room::<L, Cased>(level, job),
    }
}

#[inline(always)]
fn fill_room<L: Level, W: Lanes>(level: L, job: Job<'_>) -> usize {
    let Job {
        rules,
        text,
        progress,
        room,
        ..
    } = job;
    let Progress {
        mut at,
        mut base,
        mut bits,
        mut carry,
    } = *progress;
    let mut found = 0;
    loop {
        if bits != 0 {
            let count = bits.count_ones() as usize;
            let free = &mut room[found..];
            if count.next_multiple_of(8) <= free.len() {
                level.put(bits, base, free);
                found += count;
                bits = 0;
            } else {
                for place in free {
                    if bits == 0 {
                        break;
                    }
                    *place = base + bits.trailing_zeros() as usize;
                    bits &= bits - 1;
                    found += 1;
                }
            }
        }
        if found == room.len() || at == text.len() {
            break;
        }
        let window = Window::look(level, text, at);
        let mut early = None;
        bits = if window.is_plain() {
            W::begins(rules, text, at, &window.plain(), &mut carry, &mut early)
        } else {
            W::begins(rules, text, at, &window, &mut carry, &mut early)
        };
        bits &= window.decided();
        if at == 0 {
            // No piece ends where the text begins.
            bits &= !1;
        }
        if let Some(end) = early {
            room[found] = end;
            found += 1;
        }
        base = at;
        at += window.step;
        if at == text.len() {
            bits |= 1 << window.step;
        }
    }
    *progress = Progress {
        at,
        base,
        bits,
        carry,
    };
    found
}

#[cfg(test)]
mod tests;
