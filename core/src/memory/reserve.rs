//! Memory for small things where the system has none left.
//!
//! Long lists are asked for with the question whether there is memory for them, and the answer no becomes an error. Small
//! things are too many to ask for each: a name, a few places, the text of that very error. Without memory for one of them a
//! Rust program is aborted. Here it comes from a reserve, and [`check`], which long work calls now and then, makes an
//! error of it: so the work ends before the reserve does.
//!
//! The reserve is memory of the program that nobody has written: it costs address space, and no page as long as it is not
//! needed.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::hint::black_box;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

pub use super::spare::Hold;
use super::{asking, kept, spare};
use crate::error::{Error, Result};

/// Bytes of the reserve, and of the largest thing that is taken from it: what is larger is asked for.
const RESERVE: usize = 1 << 20;
const LARGEST: usize = 1 << 16;
/// Bytes that the system must have for work to go on after the reserve was needed.
const LEAST: usize = 1 << 17;
/// How many times longer than a text lists are that the work on it takes for granted: a step for each byte is as large.
const TIMES_A_TEXT: usize = 16;
/// The most that is asked of a place.
const ALIGNMENT: usize = 1 << 12;

/// Ends work where the reserve was needed since the last call, if the system has nothing still.
///
/// # Errors
/// [`Error::Memory`].
#[inline]
pub fn check() -> Result<()> {
    match NEEDED.load(Ordering::Relaxed) {
        true => look_again(),
        false => Ok(()),
    }
}

/// Begins work that takes its memory for granted, with spare addresses until what this gives is dropped.
pub fn hold() -> Hold {
    let (hold, is_whole) = spare::hold(spare::LEAST);
    if !is_whole {
        NEEDED.store(true, Ordering::Relaxed);
    }
    hold
}

/// Begins work on a text that takes its memory for granted, as [`hold`] does; for a short one, the reserve is enough.
///
/// # Errors
/// [`Error::Memory`] when there are not as many addresses as that may take.
#[inline]
pub fn hold_for(text: &[u8]) -> Result<Option<Hold>> {
    match text.len() * TIMES_A_TEXT < LARGEST {
        true => Ok(None),
        false => hold_at_length(text.len()).map(Some),
    }
}

fn hold_at_length(bytes: usize) -> Result<Hold> {
    match spare::hold(bytes.saturating_mul(TIMES_A_TEXT)) {
        (hold, true) => Ok(hold),
        (hold, false) if kept::clear() && spare::restore() => Ok(hold),
        _ => Err(asking::no_memory(bytes as u64, "bytes of text at once")),
    }
}

#[cold]
fn look_again() -> Result<()> {
    // Before the look: what another thread needs meanwhile is not forgotten.
    NEEDED.store(false, Ordering::Relaxed);
    if system_has_some() && spare::restore() {
        return Ok(());
    }
    NEEDED.store(true, Ordering::Relaxed); // other work asks too
    Err(Error::Memory("there is no memory left".to_owned()))
}

fn system_has_some() -> bool {
    let least = Layout::new::<[u8; LEAST]>();
    // SAFETY: the layout is not empty. What is given back unused, a compiler would not ask for at all.
    let memory = black_box(unsafe { System.alloc(least) });
    if memory.is_null() {
        return false;
    }
    // SAFETY: it is given back as it was taken.
    unsafe { System.dealloc(memory, least) };
    true
}

/// How often a refusal waits for a thread that changes the spare addresses: in a fork there may be no such thread any more.
const WAITS: usize = 1000;

#[global_allocator]
static ALLOCATOR: WithReserve = WithReserve;
static POOL: Pool<RESERVE> = Pool::new();
static NEEDED: AtomicBool = AtomicBool::new(false);

/// The system's allocator, with a reserve.
struct WithReserve;

impl WithReserve {
    /// What the system has refused: it may have it once nothing is kept any more. Else small things come from the reserve,
    /// and large ones are asked for `again` once the spare addresses are let go; or it is null.
    #[cold]
    fn refused(layout: Layout, again: impl Fn() -> *mut u8) -> *mut u8 {
        if kept::clear() {
            let memory = again();
            if !memory.is_null() {
                return memory;
            }
        }
        let taken = POOL.take(layout);
        if !taken.is_null() {
            NEEDED.store(true, Ordering::Relaxed);
            return taken;
        }
        let mut waits = 0;
        while asking::would_abort() && waits < WAITS {
            let is_given = spare::let_go(layout.size());
            // Whoever had taken it all and is done has given it back before it is asked for again.
            let is_changing = spare::is_changing();
            NEEDED.fetch_or(is_given || is_changing, Ordering::Relaxed);
            let memory = again();
            if !memory.is_null() {
                return memory;
            }
            if !is_given && !is_changing {
                break;
            }
            if !is_given {
                waits += 1;
                std::thread::yield_now();
            }
        }
        asking::refused();
        null_mut()
    }

    /// Hears that the system gave memory.
    #[inline]
    fn given(size: usize) {
        if size >= spare::LARGE && asking::would_abort() && !spare::grew(size) {
            NEEDED.store(true, Ordering::Relaxed);
        }
    }
}

// SAFETY: memory is the system's, or a stretch of the pool that nobody else has until it is given back; each goes back where
// it came from. Layouts are kept to, and nothing here unwinds.
unsafe impl GlobalAlloc for WithReserve {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps to what this method asks, which is what the system's asks.
        let ask = || unsafe { System.alloc(layout) };
        let memory = ask();
        if memory.is_null() {
            return Self::refused(layout, ask);
        }
        Self::given(layout.size());
        memory
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        let ask = || unsafe { System.alloc_zeroed(layout) };
        let memory = ask();
        if memory.is_null() {
            let memory = Self::refused(layout, ask);
            if POOL.holds(memory) {
                // SAFETY: so many bytes were taken there.
                unsafe { memory.write_bytes(0, layout.size()) };
            }
            return memory;
        }
        Self::given(layout.size());
        memory
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        if POOL.holds(memory) {
            POOL.give_back();
        } else {
            // SAFETY: what is not the pool's came from the system, with this layout.
            unsafe { System.dealloc(memory, layout) };
        }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller sees to it that the size is not 0 and not too large for the alignment.
        let wanted = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        let moved = if POOL.holds(memory) {
            // SAFETY: as in `alloc`.
            unsafe { self.alloc(wanted) }
        } else {
            // SAFETY: as in `dealloc`. Where it is refused, the memory stays as it is.
            let ask = || unsafe { System.realloc(memory, layout, size) };
            let mut moved = ask();
            if moved.is_null() {
                moved = Self::refused(wanted, ask);
            } else {
                Self::given(size);
            }
            if !POOL.holds(moved) {
                return moved; // with what was there, or null
            }
            moved
        };
        if !moved.is_null() {
            // SAFETY: both have so many bytes; they are two places, for the old one was not given back. It is given back
            // once, as `dealloc` asks.
            unsafe {
                moved.copy_from_nonoverlapping(memory, size.min(layout.size()));
                self.dealloc(memory, layout);
            }
        }
        moved
    }
}

/// Memory that is given out from its beginning on, and again once all of it was given back.
#[repr(align(4096))]
struct Pool<const SIZE: usize> {
    memory: UnsafeCell<[u8; SIZE]>,
    /// How many bytes are given out, and in how many stretches, in the lower and the upper half.
    state: AtomicU64,
}

// SAFETY: the memory is written only by those who have taken a stretch, and no two stretches overlap.
unsafe impl<const SIZE: usize> Sync for Pool<SIZE> {}

impl<const SIZE: usize> Pool<SIZE> {
    const ONE: u64 = 1 << 32;

    const fn new() -> Self {
        Self {
            memory: UnsafeCell::new([0; SIZE]),
            state: AtomicU64::new(0),
        }
    }

    fn start(&self) -> *mut u8 {
        self.memory.get().cast()
    }

    fn holds(&self, memory: *mut u8) -> bool {
        (memory as usize).wrapping_sub(self.start() as usize) < SIZE
    }

    /// Takes a stretch; null if it is too large or nothing is left.
    fn take(&self, layout: Layout) -> *mut u8 {
        if layout.size() > LARGEST || layout.align() > ALIGNMENT {
            return null_mut();
        }
        let mut place = 0;
        let taken = self
            .state
            .fetch_update(Ordering::Acquire, Ordering::Relaxed, |state| {
                place = (state as u32 as usize).next_multiple_of(layout.align());
                let end = place + layout.size().max(1);
                (end <= SIZE).then_some((state >> 32 << 32) + Self::ONE + end as u64)
            });
        match taken {
            // SAFETY: the stretch lies inside the pool.
            Ok(_) => unsafe { self.start().add(place) },
            Err(_) => null_mut(),
        }
    }

    /// Gives one stretch back. When it is the last, all is free again.
    fn give_back(&self) {
        let less = |state: u64| {
            let fewer = state - Self::ONE;
            if fewer >> 32 == 0 { 0 } else { fewer }
        };
        let _ = self
            .state
            .fetch_update(Ordering::Release, Ordering::Relaxed, |state| {
                Some(less(state))
            });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(size: usize, align: usize) -> Layout {
        Layout::from_size_align(size, align).unwrap()
    }

    #[test]
    fn stretches_do_not_overlap_and_begin_again_when_all_are_back() {
        let pool: Box<Pool<256>> = Box::new(Pool::new());
        let first = pool.take(layout(10, 1));
        let second = pool.take(layout(16, 16));
        assert_eq!(first, pool.start());
        assert_eq!(second as usize - first as usize, 16);
        assert!(second.align_offset(16) == 0 && pool.holds(second));
        assert!(pool.take(layout(250, 1)).is_null(), "not so much is left");
        assert!(pool.take(layout(LARGEST + 1, 1)).is_null());
        pool.give_back();
        assert_eq!(
            pool.take(layout(0, 1)) as usize - first as usize,
            32,
            "one is out still"
        );
        pool.give_back();
        pool.give_back();
        assert_eq!(pool.take(layout(1, 1)), first);
        pool.give_back();
        assert_eq!(pool.state.load(Ordering::Relaxed), 0);
        assert!(!pool.holds(first.wrapping_add(256)) && !pool.holds(null_mut()));
    }

    #[test]
    fn the_largest_thing_is_taken_and_no_larger_one() {
        let pool: Box<Pool<{ 2 * LARGEST }>> = Box::new(Pool::new());
        assert!(pool.take(layout(LARGEST + 1, 1)).is_null());
        assert!(pool.take(layout(1, 2 * ALIGNMENT)).is_null());
        assert_eq!(pool.take(layout(LARGEST, ALIGNMENT)), pool.start());
        assert_eq!(
            pool.take(layout(LARGEST, 1)),
            pool.start().wrapping_add(LARGEST)
        );
        assert!(pool.take(layout(0, 1)).is_null(), "all is out");
    }

    #[test]
    fn many_threads_take_and_give_back() {
        let pool: Box<Pool<4096>> = Box::new(Pool::new());
        std::thread::scope(|scope| {
            for number in 0..4_u8 {
                let pool = &pool;
                scope.spawn(move || {
                    for _ in 0..5_000 {
                        let memory = pool.take(layout(8, 8));
                        if memory.is_null() {
                            continue;
                        }
                        // SAFETY: so many bytes were taken there.
                        unsafe {
                            memory.write_bytes(number, 8);
                            std::thread::yield_now();
                            assert_eq!(
                                memory.cast::<u64>().read(),
                                u64::from_ne_bytes([number; 8])
                            );
                        }
                        pool.give_back();
                    }
                });
            }
        });
        assert_eq!(pool.state.load(Ordering::Relaxed), 0);
    }

    /// What the system would do without memory, done by hand.
    #[test]
    fn things_move_between_the_system_and_the_reserve() {
        let small = layout(24, 8);
        // SAFETY: each place is used as it was asked for, and given back once.
        unsafe {
            let held = WithReserve::refused(small, null_mut);
            assert!(POOL.holds(held));
            held.write_bytes(7, 24);
            let moved = ALLOCATOR.realloc(held, small, 48);
            assert!(!POOL.holds(moved));
            assert_eq!(std::slice::from_raw_parts(moved, 24), [7; 24]);
            ALLOCATOR.dealloc(moved, layout(48, 8));
        }
        assert!(NEEDED.load(Ordering::Relaxed), "the reserve was needed");
        assert!(check().is_ok(), "but there is memory again");
        assert!(!NEEDED.load(Ordering::Relaxed));
        // SAFETY: nothing of such a size can be had, and nothing is done with it.
        unsafe {
            let huge = layout(isize::MAX as usize - 4096, 8);
            assert!(black_box(ALLOCATOR.alloc(huge)).is_null());
            let kept = ALLOCATOR.alloc(small);
            kept.write_bytes(9, 24);
            assert!(black_box(ALLOCATOR.realloc(kept, small, huge.size())).is_null());
            assert_eq!(std::slice::from_raw_parts(kept, 24), [9; 24], "as it was");
            ALLOCATOR.dealloc(kept, small);
        }
        assert!(check().is_ok(), "large things are asked for");
    }
}
