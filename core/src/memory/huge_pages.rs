//! Large pages for memory of megabytes that is about to be filled.
//!
//! Whoever fills fresh memory pays for each page of it, and whoever looks around in a large table pays
//! for finding the pages. Both are dear on a virtual machine; pages of 2 MB are 512 times fewer.
//!
//! But they may come slowly: a system without a whole one free moves others' memory together first, and a virtual
//! machine's host may have taken back those that lay idle, while small ones come from what is left over between others.
//! So what is filled from its beginning asks for one at a time, and stops where one came slowly.

use std::hint::black_box;
use std::mem::MaybeUninit;
use std::time::Duration;

/// The size of a large page.
pub const LARGE_PAGE: usize = 1 << 21;

/// What a large page may take of the thread's own time. Clearing one takes 0.1 to 0.4 ms, 512 small ones of the same
/// memory twice as long; one that the host has taken back takes 5 ms.
pub(super) const SLOW: Duration = Duration::from_millis(1);

/// Asks that the whole large pages in some memory be made as such. Nothing depends on the answer.
#[cfg(target_os = "linux")]
pub fn ask_for_large<T>(room: &mut [T]) {
    if let Some((start, length)) = whole_pages(room, LARGE_PAGE) {
        // SAFETY: the range, in whole pages, is memory that the caller has for itself; the advice changes neither what it
        // holds nor who may use it.
        unsafe { libc::madvise(start.cast(), length, libc::MADV_HUGEPAGE) };
    }
}

/// Where the whole pages of a size begin that lie in some memory, and how many bytes they have; None if there are none.
#[cfg(target_os = "linux")]
pub(super) fn whole_pages<T>(room: &mut [T], page: usize) -> Option<(*mut u8, usize)> {
    let start = room.as_mut_ptr().cast::<u8>();
    let before = start.align_offset(page);
    let length = size_of_val(room).checked_sub(before)? / page * page;
    (length > 0).then(|| (start.wrapping_add(before), length))
}

/// Asks that the whole large pages in some memory be made as such. Nothing depends on the answer.
#[cfg(not(target_os = "linux"))]
pub fn ask_for_large<T>(_room: &mut [T]) {}

/// Large pages for one stretch of memory, one after the other while it is filled.
#[derive(Debug)]
pub struct Paging {
    /// Whether one came slowly: the rest stays as it is.
    slow: bool,
}

impl Default for Paging {
    fn default() -> Self {
        Self::new()
    }
}

impl Paging {
    /// None came slowly yet.
    pub const fn new() -> Self {
        Self { slow: false }
    }

    /// Sees to the pages of the first `items` of some room. Returns for how many it has: at least those, unless there
    /// are not as many.
    #[cold]
    pub fn prepare<T>(&mut self, room: &mut [MaybeUninit<T>], items: usize) -> usize {
        if self.slow {
            return room.len();
        }
        let in_page = LARGE_PAGE / size_of::<T>();
        if items >= in_page {
            // Few of so many may come, so none is touched before.
            let asked = items.min(room.len());
            ask_for_large(&mut room[..asked]);
            return asked;
        }
        let before = room.as_ptr().align_offset(LARGE_PAGE);
        let end = before.saturating_add(in_page);
        match room.get_mut(before..end) {
            Some(page) => {
                self.slow = made_in(page, MaybeUninit::zeroed()) >= SLOW;
                end
            }
            None => room.len(),
        }
    }
}

/// Asks for one large page and writes an item to it; returns how long that took.
pub(super) fn made_in<T>(page: &mut [T], item: T) -> Duration {
    ask_for_large(page);
    let began = own_time();
    page[0] = item;
    // A write that nobody reads would be left out.
    black_box(&mut page[0]);
    own_time().saturating_sub(began)
}

/// Makes a large page of small ones, with what they hold; returns how long that took, or None if the system does not do it.
#[cfg(target_os = "linux")]
pub(super) fn collapse<T>(page: &mut [T]) -> Option<Duration> {
    let (start, length) = whole_pages(page, LARGE_PAGE)?;
    let began = own_time();
    // SAFETY: as in `ask_for_large`.
    let refused = unsafe { libc::madvise(start.cast(), length, libc::MADV_COLLAPSE) };
    (refused == 0).then(|| own_time().saturating_sub(began))
}

/// Makes a large page of small ones, with what they hold; returns how long that took, or None if the system does not do it.
#[cfg(not(target_os = "linux"))]
pub(super) fn collapse<T>(_page: &mut [T]) -> Option<Duration> {
    None
}

/// The processor's time of this thread: waiting for others to run does not count.
#[cfg(target_os = "linux")]
fn own_time() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the call fills what it is given and does nothing else.
    match unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) } {
        0 => Duration::new(time.tv_sec as u64, time.tv_nsec as u32),
        _ => Duration::ZERO,
    }
}

/// The processor's time of this thread; nothing is known of it here.
#[cfg(not(target_os = "linux"))]
fn own_time() -> Duration {
    Duration::ZERO
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asking_changes_nothing() {
        for items in [0, 1, LARGE_PAGE / 4 - 1, LARGE_PAGE / 4, LARGE_PAGE] {
            let mut numbers: Vec<u32> = Vec::with_capacity(items);
            ask_for_large(numbers.spare_capacity_mut());
            numbers.extend(0..items as u32);
            ask_for_large(numbers.spare_capacity_mut());
            assert!(numbers.iter().copied().eq(0..items as u32));
        }
    }

    /// Whether large pages are asked for at a place, as the system tells.
    #[cfg(target_os = "linux")]
    fn is_asked_for(place: *const u8) -> bool {
        let told = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let mut is_inside = false;
        for line in told.lines() {
            let first = line.split_ascii_whitespace().next().unwrap_or("");
            if let Some((start, end)) = first.split_once('-') {
                let [start, end] = [start, end].map(|at| usize::from_str_radix(at, 16).unwrap());
                is_inside = (start..end).contains(&(place as usize));
            } else if is_inside && first == "VmFlags:" {
                return line.split_ascii_whitespace().any(|flag| flag == "hg");
            }
        }
        false
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn large_pages_are_asked_for_where_whole_ones_lie() {
        // The allocator may give memory that another test has asked something for, however much it is.
        let length = 17 * LARGE_PAGE;
        // SAFETY: a new mapping of nothing; it stays until the process ends, and nobody else knows of it.
        let room: &mut [MaybeUninit<u8>] = unsafe {
            let place = libc::mmap(
                std::ptr::null_mut(),
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            );
            assert_ne!(place, libc::MAP_FAILED);
            std::slice::from_raw_parts_mut(place.cast(), length)
        };
        let start = room.as_ptr().align_offset(LARGE_PAGE);
        // SAFETY: the memory is this test's, and may hold anything.
        let is_known = unsafe {
            let page = room.as_mut_ptr().add(start).cast();
            libc::madvise(page, LARGE_PAGE, libc::MADV_HUGEPAGE) == 0
        };
        for (first, pages) in [(2, 1), (4, 2), (7, 3)] {
            let begin = start + first * LARGE_PAGE;
            let end = begin + pages * LARGE_PAGE;
            ask_for_large(&mut room[begin - LARGE_PAGE / 2..end]);
            for at in (begin..end).step_by(LARGE_PAGE) {
                assert_eq!(is_asked_for(room[at..].as_ptr().cast()), is_known);
            }
            assert!(!is_asked_for(room[end..].as_ptr().cast()), "none behind");
        }
    }

    #[test]
    fn pages_are_prepared_as_far_as_there_is_room() {
        let in_page = LARGE_PAGE / 4;
        for items in [0, 1, in_page - 1, in_page, 5 * in_page + 7] {
            let mut numbers: Vec<u32> = Vec::with_capacity(items);
            let mut paging = Paging::new();
            let mut ready = 0;
            while numbers.len() < items {
                if numbers.len() == ready {
                    let room = numbers.spare_capacity_mut();
                    let prepared = paging.prepare(room, 1);
                    assert!((1..=room.len()).contains(&prepared));
                    assert!(prepared < 2 * in_page || paging.slow);
                    ready += prepared;
                }
                numbers.push(numbers.len() as u32);
            }
            assert!(numbers.iter().copied().eq(0..items as u32));
            let mut room = vec![MaybeUninit::<u32>::uninit(); items];
            assert_eq!(paging.prepare(&mut room, items + 1), items);
        }
    }

    #[test]
    fn where_a_page_came_slowly_no_more_are_asked_for() {
        let mut room = vec![MaybeUninit::<u32>::uninit(); LARGE_PAGE];
        assert_eq!(Paging { slow: true }.prepare(&mut room, 1), LARGE_PAGE);
        let prepared = Paging::new().prepare(&mut room, 1);
        assert!(prepared < LARGE_PAGE);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_own_time_of_a_thread_goes_on_while_it_works() {
        let before = own_time();
        assert!((0..10_000_000).any(|_| own_time() > before));
    }

    /// Of a page that is there already a write costs next to nothing, whatever the machine.
    #[test]
    fn a_page_that_is_there_comes_soon() {
        let mut room = vec![MaybeUninit::new(1_u8); 2 * LARGE_PAGE];
        assert!((0..100).any(|_| {
            let mut paging = Paging::new();
            paging.prepare(&mut room, 1);
            !paging.slow
        }));
    }
}
