//! A table doubles where nothing but the addresses that are set aside is left.
//!
//! The limit is the process's, so this test has a process of its own. It has no harness, which would run it in a thread:
//! threads have address space of their own to grow into.

#[cfg(target_os = "linux")]
fn main() {
    linux::a_table_doubles_in_what_is_set_aside();
}

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;
    use std::hint::black_box;

    use bpe_core::memory::{asking, reserve};

    pub fn a_table_doubles_in_what_is_set_aside() {
        limit_addresses(1 << 40);
        let _hold = reserve::hold();
        for megabytes in [4, 5, 8, 15, 16, 31, 32, 33, 64, 100] {
            let table: Vec<u8> = black_box(Vec::with_capacity(megabytes << 20));
            assert_eq!(reserve::check(), Ok(()), "what it needs next is set aside");
            limit_addresses(addresses_in_use());
            let rest = what_the_allocator_has();
            let doubled: Vec<u8> = black_box(Vec::with_capacity(2 * table.capacity()));
            for _ in 0..2 {
                assert!(reserve::check().is_err(), "so much cannot be had again");
            }
            limit_addresses(1 << 40);
            assert_eq!(reserve::check(), Ok(()));
            drop((table, doubled, rest));
        }
    }

    /// Takes all blocks that the allocator can give without asking the system.
    fn what_the_allocator_has() -> Vec<Vec<u8>> {
        let mut blocks = Vec::new();
        let mut block = Vec::new();
        while asking::room_for(&mut blocks, 1) && asking::room_for(&mut block, 1 << 10) {
            blocks.push(std::mem::take(&mut block));
        }
        blocks
    }

    fn limit_addresses(bytes: u64) {
        let limit = libc::rlimit {
            rlim_cur: bytes,
            rlim_max: libc::RLIM_INFINITY,
        };
        // SAFETY: the limit lives as long as the call.
        let answer = unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) };
        assert_eq!(answer, 0);
    }

    fn addresses_in_use() -> u64 {
        let status = fs::read_to_string("/proc/self/status").unwrap();
        let mut lines = status.lines();
        let line = lines.find(|line| line.starts_with("VmSize")).unwrap();
        let kilobytes = line.split_whitespace().nth(1).unwrap();
        1024 * kilobytes.parse::<u64>().unwrap()
    }
}
