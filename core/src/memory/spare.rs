//! Addresses that are set aside where they are limited (`ulimit -v`), for work that takes its memory for granted.
//!
//! The tables of trainers and counts grow by doubling, in more places than can ask whether there is memory for it, and a
//! refusal would end the process. While such work goes on ([`Hold`]), addresses for twice its largest table, and some more,
//! are kept free: a range that nobody may touch, which takes no memory. When the system refuses memory, as many are let go
//! as that takes, so that it has room; and the work ends with an error at the next [`super::reserve::check`], unless they
//! can be set aside again by then. So under a limit such work needs room for twice its largest table more than it uses.
//!
//! There are no locks: the allocator asks in the middle of anything, and a fork may copy the process at any moment.
//! Whoever takes a range, or a part of it, out of its place has that for itself.

use std::sync::atomic::{AtomicUsize, Ordering};

pub(super) use system::addresses_are_limited;

use super::asking;

/// Memory of at least this size is a table's: what is smaller comes from the other reserve, or needs no second thought.
pub(super) const LARGE: usize = 1 << 16;
/// What is set aside before the first table grows, of a size that nobody knows before.
pub(super) const LEAST: usize = 1 << 23;
/// What the allocator may take for itself besides, as the page before a large block is.
const SLACK: usize = 1 << 20;
/// Tables double: twice the largest is what it asks for next.
const TIMES: usize = 2;

static HOLDERS: AtomicUsize = AtomicUsize::new(0);
/// How many bytes are to be set aside: as many as some work that goes on may ask for next.
static WANTED: AtomicUsize = AtomicUsize::new(0);
static SPARE: Place = Place::new();

/// Keeps addresses in reserve, where they are limited, until this is dropped.
#[derive(Debug)]
#[must_use]
pub struct Hold(());

/// Begins work that takes its memory for granted, so many bytes at once at first; says whether these are set aside. Where a
/// refusal would not abort the process, it needs nothing.
pub(super) fn hold(bytes: usize) -> (Hold, bool) {
    HOLDERS.fetch_add(1, Ordering::Relaxed);
    let hold = Hold(());
    if !asking::would_abort() || !addresses_are_limited() {
        return (hold, true);
    }
    // Others may want as much already, and not have it.
    WANTED.fetch_max(bytes.saturating_add(SLACK), Ordering::Relaxed);
    (hold, restore())
}

impl Drop for Hold {
    fn drop(&mut self) {
        if HOLDERS.fetch_sub(1, Ordering::Relaxed) == 1 {
            WANTED.store(0, Ordering::Relaxed);
            SPARE.empty();
        }
    }
}

/// Hears that memory of a size from [`LARGE`] on was given: says whether what may be asked for next is set aside.
#[cold]
pub(super) fn grew(bytes: usize) -> bool {
    WANTED.load(Ordering::Relaxed) == 0 || want(bytes.saturating_mul(TIMES))
}

/// Sets aside what it takes to give memory of a size; says whether that could be had.
fn want(bytes: usize) -> bool {
    let bytes = bytes.saturating_add(SLACK);
    WANTED.fetch_max(bytes, Ordering::Relaxed) >= bytes || restore()
}

/// Sets aside what is wanted; says whether that could be had.
pub(super) fn restore() -> bool {
    let wanted = WANTED.load(Ordering::Relaxed);
    let had = SPARE.bytes() >= wanted || SPARE.fill(wanted);
    if HOLDERS.load(Ordering::Relaxed) == 0 {
        SPARE.empty(); // the last holder went meanwhile
    }
    had
}

/// Lets go as much of what is set aside as is needed; says whether there was something.
pub(super) fn let_go(needed: usize) -> bool {
    SPARE.give(needed.saturating_add(SLACK))
}

/// Whether somebody is about to give addresses back, or to set others aside: what is refused meanwhile may be had then.
pub(super) fn is_changing() -> bool {
    SPARE.changing.load(Ordering::Acquire) != 0
}

/// A place for a range of addresses.
struct Place {
    /// Its first page and how many there are, in one number, so that they change together; 0: there is none.
    range: AtomicUsize,
    /// How many are about to change it.
    changing: AtomicUsize,
}

const PAGE_BITS: u32 = 12;
/// Numbers of pages are kept as `m << e` with `m` below 32 and `e` below 128: in the bits that the address of a page leaves.
const MANTISSA_BITS: u32 = 5;

impl Place {
    const fn new() -> Self {
        Self {
            range: AtomicUsize::new(0),
            changing: AtomicUsize::new(0),
        }
    }

    fn bytes(&self) -> usize {
        length(self.range.load(Ordering::Relaxed))
    }

    fn change<T>(&self, work: impl FnOnce(&AtomicUsize) -> T) -> T {
        self.changing.fetch_add(1, Ordering::AcqRel);
        let result = work(&self.range);
        self.changing.fetch_sub(1, Ordering::AcqRel);
        result
    }

    /// Holds as many addresses as are wanted, or about as many as there are; says whether all were to be had.
    fn fill(&self, wanted: usize) -> bool {
        self.change(|range| {
            let mut bytes = wanted;
            release(range.swap(0, Ordering::AcqRel));
            loop {
                let length = rounded_up(bytes);
                if let Some(address) = system::reserve(length) {
                    release(range.swap(address | code(length), Ordering::AcqRel));
                    return bytes == wanted;
                }
                bytes -= bytes / 8;
                if bytes < LEAST {
                    return false;
                }
            }
        })
    }

    fn empty(&self) -> bool {
        self.change(|range| release(range.swap(0, Ordering::AcqRel)))
    }

    /// Gives back as many addresses as are needed, or what there is; says whether there were any. What is kept stays in its
    /// place all the time, so that another thread finds it there.
    fn give(&self, needed: usize) -> bool {
        self.change(|place| {
            let mut range = place.load(Ordering::Acquire);
            while range != 0 {
                let start = range >> PAGE_BITS << PAGE_BITS;
                let kept = rounded_down(length(range).saturating_sub(needed));
                let left = if kept == 0 { 0 } else { start | code(kept) };
                match place.compare_exchange(range, left, Ordering::AcqRel, Ordering::Acquire) {
                    Ok(_) => {
                        system::release(start + kept, length(range) - kept);
                        return true;
                    }
                    Err(other) => range = other,
                }
            }
            false
        })
    }
}

/// Gives a range back that was taken out of its place; says whether there was one.
fn release(range: usize) -> bool {
    if range != 0 {
        system::release(range >> PAGE_BITS << PAGE_BITS, length(range));
    }
    range != 0
}

/// The code of a length that is rounded.
fn code(length: usize) -> usize {
    let pages = length >> PAGE_BITS;
    let shift = shift_of(pages);
    (shift as usize) << MANTISSA_BITS | pages >> shift
}

fn length(range: usize) -> usize {
    let mantissa = range & ((1 << MANTISSA_BITS) - 1);
    let shift = range >> MANTISSA_BITS & ((1 << (PAGE_BITS - MANTISSA_BITS)) - 1);
    mantissa << shift << PAGE_BITS
}

/// The next length that has a code: at most a sixteenth more.
fn rounded_up(bytes: usize) -> usize {
    let pages = bytes.div_ceil(1 << PAGE_BITS);
    let shift = shift_of(pages);
    pages.div_ceil(1 << shift) << shift << PAGE_BITS
}

/// The last length before it that has a code, or 0.
fn rounded_down(bytes: usize) -> usize {
    let pages = bytes >> PAGE_BITS;
    let shift = shift_of(pages);
    pages >> shift << shift << PAGE_BITS
}

/// How many bits of a number of pages its code leaves out.
fn shift_of(pages: usize) -> u32 {
    (usize::BITS - pages.leading_zeros()).saturating_sub(MANTISSA_BITS)
}

#[cfg(target_os = "linux")]
mod system {
    use std::ptr::null_mut;

    /// Addresses that nobody may touch, if there are so many.
    pub fn reserve(length: usize) -> Option<usize> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: the system chooses addresses that nobody has.
        let start = unsafe { libc::mmap(null_mut(), length, libc::PROT_NONE, flags, -1, 0) };
        (start != libc::MAP_FAILED).then_some(start as usize)
    }

    /// Gives them back.
    pub fn release(start: usize, length: usize) {
        // SAFETY: `reserve` gave this range, or one that it is whole pages of; nobody can have looked into it, and who gives it
        // back took it out of its place.
        unsafe { libc::munmap(start as *mut libc::c_void, length) };
    }

    /// Whether the process may have only so many.
    pub fn addresses_are_limited() -> bool {
        let mut limit = libc::rlimit {
            rlim_cur: 0,
            rlim_max: 0,
        };
        // SAFETY: the call fills what it is given and does nothing else.
        let answer = unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) };
        answer != 0 || limit.rlim_cur != libc::RLIM_INFINITY
    }
}

/// Elsewhere nothing is set aside.
#[cfg(not(target_os = "linux"))]
mod system {
    pub fn reserve(_length: usize) -> Option<usize> {
        None
    }

    pub fn release(_start: usize, _length: usize) {}

    pub fn addresses_are_limited() -> bool {
        false
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_rounded_up_a_little_and_have_codes() {
        let mut bytes = 1;
        while bytes < 1 << 45 {
            for bytes in [bytes - 1, bytes, bytes + 1].map(|bytes| bytes.max(1)) {
                let rounded = rounded_up(bytes);
                assert!(
                    rounded >= bytes && rounded <= bytes + bytes / 16 + (1 << PAGE_BITS),
                    "{bytes}: {rounded}"
                );
                assert!(code(rounded) < 1 << PAGE_BITS);
                let below = rounded_down(bytes);
                assert!(below <= bytes && bytes - below < bytes / 16 + (1 << PAGE_BITS));
                assert_eq!(length(code(below)), below);
                assert_eq!(length(0x7F00_1234_5000 | code(rounded)), rounded);
            }
            bytes += bytes / 3 + 1;
        }
        assert_eq!(length(0), 0);
    }

    #[test]
    fn a_place_has_one_range_at_a_time() {
        let place = Place::new();
        assert_eq!(place.bytes(), 0);
        assert!(!place.empty(), "there is nothing");
        assert!(place.fill(LEAST));
        assert_eq!(place.bytes(), LEAST);
        assert!(place.fill(3 * LEAST + 1));
        assert_eq!(place.bytes(), rounded_up(3 * LEAST + 1));
        assert!(place.empty());
        assert!(!place.empty(), "it went once");
        assert!(!place.fill(1 << 62), "nobody has so many addresses");
        assert!(place.bytes() < 1 << 48, "but as many as there are are kept");
        place.empty();
    }

    #[test]
    fn a_place_gives_part_by_part() {
        let place = Place::new();
        assert!(!place.give(1), "there is nothing");
        assert!(place.fill(8 * LEAST));
        for parts in (1..8).rev() {
            assert!(place.give(LEAST));
            assert_eq!(place.bytes(), parts * LEAST);
        }
        assert!(place.give(2 * LEAST), "what there is");
        assert!(!place.give(1));
    }

    #[test]
    fn threads_that_take_parts_find_what_is_left() {
        let place = Place::new();
        for _ in 0..300 {
            assert!(place.fill(16 * LEAST));
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| (0..4).for_each(|_| assert!(place.give(LEAST))));
                }
            });
            assert_eq!(place.bytes(), 0);
        }
        assert_eq!(place.changing.into_inner(), 0);
    }

    #[test]
    fn threads_do_not_lose_a_range() {
        let place = Place::new();
        std::thread::scope(|scope| {
            for number in 1..5 {
                let place = &place;
                scope.spawn(move || {
                    for _ in 0..500 {
                        assert!(place.fill(number * LEAST));
                        place.empty();
                    }
                });
            }
        });
        assert_eq!(place.bytes(), 0);
    }
}
