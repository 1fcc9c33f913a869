//! The memory of one long list of ids that nobody needs any more, kept for the next one.
//!
//! An allocator gives memory of this size back to the system, which makes its pages anew for the next list: a fifth of the
//! time of encoding a text again, and more with several threads, which wait for each other there. What is kept is offered
//! to the system, which may take it as soon as it runs short, and has no pages to make if it does not. Where the system refuses
//! memory ([`super::reserve`]), it is given back before anybody hears of that.

use std::sync::{Mutex, TryLockError};

#[cfg(target_os = "linux")]
use crate::memory::{huge_pages::whole_pages, spare::addresses_are_limited};

/// Bytes of the shortest list that is kept: the GNU C library keeps shorter ones.
const LEAST: usize = 1 << 25;
/// Bytes of ids in the longest.
const MOST: usize = 1 << 28;
/// So many times what is asked for is too much: a few ids that somebody holds for long would hold all of it.
const TOO_MUCH: usize = 16;

static KEPT: Keep = Keep::new();

/// Room for so many ids, and how many of its beginning there are pages for; nothing if none is kept that is about as long.
#[must_use]
pub fn take(items: usize) -> (Vec<u32>, usize) {
    KEPT.take(items)
}

/// Keeps the memory of a list, if it is long enough, in place of what was kept.
pub fn give(list: Vec<u32>) {
    if list.capacity() * size_of::<u32>() >= LEAST {
        KEPT.give(list);
    }
}

/// Gives back what is kept; returns whether there was something. It asks for no memory.
pub fn clear() -> bool {
    cfg!(target_os = "linux") && KEPT.clear() // nothing is kept elsewhere, where a lock may need memory
}

/// A place for a list. Nobody waits for it: a copy that a fork makes of a process may find it locked for ever.
#[derive(Debug)]
struct Keep(Mutex<(Vec<u32>, usize)>);

impl Keep {
    const fn new() -> Self {
        Self(Mutex::new((Vec::new(), 0)))
    }

    fn take(&self, items: usize) -> (Vec<u32>, usize) {
        let fits = |room: usize| items <= room && room / TOO_MUCH < items;
        self.change(|kept| fits(kept.0.capacity()).then(|| std::mem::take(kept)))
            .flatten()
            .unwrap_or_default()
    }

    fn give(&self, mut list: Vec<u32>) {
        let filled = list.len();
        list.clear();
        if size_of::<u32>() * filled > MOST || !offer(&mut list) {
            return;
        }
        // What was there is given back when nobody has to wait for that.
        drop(self.change(|kept| std::mem::replace(kept, (list, filled))));
    }

    fn clear(&self) -> bool {
        let kept = self.change(std::mem::take);
        kept.is_some_and(|(list, _)| list.capacity() > 0)
    }

    fn change<R>(&self, change: impl FnOnce(&mut (Vec<u32>, usize)) -> R) -> Option<R> {
        match self.0.try_lock() {
            Ok(mut kept) => Some(change(&mut kept)),
            Err(TryLockError::Poisoned(kept)) => Some(change(&mut kept.into_inner())),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

/// Offers a list's memory to the system; says whether it may be kept.
#[cfg(target_os = "linux")]
fn offer(list: &mut Vec<u32>) -> bool {
    const PAGE: usize = 1 << 12;
    if addresses_are_limited() {
        return false; // what is kept would be missed elsewhere
    }
    whole_pages(list.spare_capacity_mut(), PAGE).is_some_and(|(start, length)| {
        // SAFETY: the range, in whole pages, is memory that the caller has for itself and that holds nothing: the system may
        // take what was there before somebody writes to it.
        unsafe { libc::madvise(start.cast(), length, libc::MADV_FREE) == 0 }
    })
}

#[cfg(not(target_os = "linux"))]
fn offer(_list: &mut Vec<u32>) -> bool {
    false
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// A list with room for so many ids, of which some are filled.
    fn list(capacity: usize, filled: usize) -> Vec<u32> {
        let mut list = Vec::with_capacity(capacity);
        list.extend((0..filled).map(|id| id as u32));
        list
    }

    #[test]
    fn what_was_given_last_is_taken_once_if_it_is_long_enough() {
        let keep = Keep::new();
        assert_eq!(keep.take(1 << 14).0.capacity(), 0, "nothing was given");
        keep.give(list(1 << 16, 7));
        let given = list(1 << 15, 1 << 14);
        let place = given.as_ptr();
        keep.give(given);
        assert_eq!(keep.take((1 << 15) + 1).0.capacity(), 0, "not as long");
        let (taken, filled) = keep.take(1 << 15);
        assert_eq!((taken.as_ptr(), taken.len(), filled), (place, 0, 1 << 14));
        assert_eq!(keep.take(1 << 14).0.capacity(), 0, "it was taken");
    }

    #[test]
    fn nothing_is_taken_for_a_few_ids() {
        let keep = Keep::new();
        keep.give(list(1 << 15, 7));
        assert_eq!(keep.take(0).0.capacity(), 0);
        assert_eq!(keep.take((1 << 15) / TOO_MUCH).0.capacity(), 0);
        assert_eq!(keep.take((1 << 15) / TOO_MUCH + 1).0.capacity(), 1 << 15);
    }

    #[test]
    fn what_is_given_back_is_kept_no_more() {
        let keep = Keep::new();
        assert!(!keep.clear(), "nothing is kept");
        keep.give(list(1 << 15, 7));
        assert!(keep.clear());
        assert_eq!(keep.take(1 << 14).0.capacity(), 0);
    }

    #[test]
    fn nobody_waits_where_it_is_locked() {
        let keep = Keep::new();
        keep.give(list(1 << 15, 7));
        let locked = keep.0.lock().unwrap();
        assert_eq!(keep.take(1 << 14).0.capacity(), 0);
        keep.give(list(1 << 15, 7));
        assert!(!keep.clear());
        drop(locked);
        assert_eq!(keep.take(1 << 14).0.capacity(), 1 << 15);
    }

    #[test]
    fn too_many_ids_are_not_kept() {
        let keep = Keep::new();
        let mut long: Vec<u32> = bytemuck::zeroed_vec(MOST / 4 + 1); // pages that nobody has made
        keep.give(std::mem::take(&mut long));
        assert_eq!(keep.take(1 << 14).0.capacity(), 0);
    }

    #[test]
    fn what_is_written_to_kept_memory_stays() {
        let keep = Keep::new();
        keep.give(list(1 << 15, 1 << 15));
        let (mut list, _) = keep.take(1 << 15);
        list.extend((0..1 << 15).map(|id| !id));
        assert!(
            list.iter()
                .enumerate()
                .all(|(id, &there)| there == !(id as u32))
        );
    }
}
