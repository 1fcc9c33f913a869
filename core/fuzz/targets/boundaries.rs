//! Where text may be cut, it can be cut: its parts become what the whole becomes, whatever follows.
//!
//! The first two bytes say which component it is, the third how much of the text is known when the cut is looked for.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;

#[path = "../../tests/support/components.rs"]
mod components;

static ALL: LazyLock<Vec<components::Component>> = LazyLock::new(components::all);

fuzz_target!(|data: &[u8]| {
    if let [high, low, known, text @ ..] = data {
        let component = &ALL[usize::from(u16::from_be_bytes([*high, *low])) % ALL.len()];
        component.hold(text, text.len() * usize::from(*known) / 255);
    }
});
