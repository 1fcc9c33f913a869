//! Large pages for memory of megabytes that is about to be filled.
//!
//! Whoever fills fresh memory pays for each page of it, and whoever looks around in a large table pays
//! for finding the pages. Both are dear on a virtual machine; pages of 2 MB are 512 times fewer.

/// The size of a large page.
pub const LARGE_PAGE: usize = 1 << 21;

/// Asks that the whole large pages in some memory be made as such. Nothing depends on the answer.
#[cfg(target_os = "linux")]
pub fn ask_for_large<T>(room: &mut [T]) {
    let start = room.as_mut_ptr().cast::<u8>();
    let length = size_of_val(room);
    let before = start.align_offset(LARGE_PAGE);
    if length < LARGE_PAGE || before > length - LARGE_PAGE {
        return;
    }
    let whole = (length - before) / LARGE_PAGE * LARGE_PAGE;
    // SAFETY: `before + whole` is at most `length`, so that the range, in whole pages, is memory that
    // the caller has for itself; the advice changes neither what it holds nor who may use it.
    unsafe { libc::madvise(start.add(before).cast(), whole, libc::MADV_HUGEPAGE) };
}

/// Asks that the whole large pages in some memory be made as such. Nothing depends on the answer.
#[cfg(not(target_os = "linux"))]
pub fn ask_for_large<T>(_room: &mut [T]) {}

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
}
