//! Asking memory for what will soon be read.

/// Asks for an item of a slice, if it has it, and there is a way to ask.
#[inline(always)]
pub fn prefetch<T>(items: &[T], at: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(item) = items.get(at) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the address is an item's, and a prefetch does nothing that a program sees.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(item).cast()) };
    }
    // There is no function for it yet in stable Rust.
    #[cfg(target_arch = "aarch64")]
    if let Some(item) = items.get(at) {
        // SAFETY: as above.
        unsafe {
            std::arch::asm!(
                "prfm pldl1keep, [{address}]",
                address = in(reg) std::ptr::from_ref(item),
                options(nostack, preserves_flags, readonly)
            );
        }
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = (items, at);
}
