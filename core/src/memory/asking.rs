//! Memory that may be refused, and what is done where nobody counted on that.
//!
//! What takes much asks: [`room_for`] and the others say whether there was memory. All else takes it for granted, and a
//! Rust program that is refused it is aborted. A program that would rather end in its own way says so by [`end_with`].

use std::cell::Cell;
use std::sync::OnceLock;

use bytemuck::Zeroable;

use crate::error::{Error, Result};

thread_local! {
    /// Whether this thread asks at the moment, and knows what to do about a refusal.
    static ASKS: Cell<bool> = const { Cell::new(false) };
}

static END: OnceLock<fn() -> !> = OnceLock::new();

/// Makes sure that a list has room for so many more items; says whether there was memory for them.
#[inline]
#[must_use]
pub fn room_for<T>(list: &mut Vec<T>, more: usize) -> bool {
    list.capacity() - list.len() >= more || grow(list, more)
}

#[cold]
fn grow<T>(list: &mut Vec<T>, more: usize) -> bool {
    ask(|| list.try_reserve(more)).is_ok()
}

/// Makes sure that a list has room for so many more items, and for no others; says whether there was memory for them.
#[must_use]
pub fn exact_room_for<T>(list: &mut Vec<T>, more: usize) -> bool {
    ask(|| list.try_reserve_exact(more)).is_ok()
}

/// Makes sure that a list has room for so many more items; an error says what there is no memory for.
///
/// # Errors
/// [`Error::Memory`].
#[inline]
pub fn need_room<T>(list: &mut Vec<T>, more: usize, items: &str) -> Result<()> {
    match room_for(list, more) {
        true => Ok(()),
        false => Err(no_memory(list.len() as u64 + more as u64, items)),
    }
}

/// The same for so many items and no others.
///
/// # Errors
/// [`Error::Memory`].
pub fn need_exact_room<T>(list: &mut Vec<T>, more: usize, items: &str) -> Result<()> {
    match exact_room_for(list, more) {
        true => Ok(()),
        false => Err(no_memory(list.len() as u64 + more as u64, items)),
    }
}

/// The error of so many items for which there is no memory.
#[cold]
#[must_use]
pub fn no_memory(count: u64, items: &str) -> Error {
    Error::Memory(format!("there is no memory for {count} {items}"))
}

/// Makes a list of zeros, if there is memory for it.
#[must_use]
pub fn zeroed<T: Zeroable>(length: usize) -> Option<Vec<T>> {
    ask(|| bytemuck::allocation::try_zeroed_vec(length)).ok()
}

fn ask<R>(request: impl FnOnce() -> R) -> R {
    ASKS.set(true);
    let answer = request();
    ASKS.set(false);
    answer
}

/// Has the process end in this way, from now on, when memory is refused to what does not ask.
///
/// The function runs wherever that happens: it may take no memory, nor wait for anybody. Only the first one counts.
pub fn end_with(end: fn() -> !) {
    let _ = END.set(end);
}

/// Ends the process where the program wants that: memory was refused. Comes back if the thread asked, or nobody wants it.
pub(super) fn refused() {
    if let (false, Some(end)) = (ASKS.get(), END.get()) {
        end();
    }
}

/// Whether a refusal now would abort the process: the thread does not ask, and nobody has said how to end.
pub(super) fn would_abort() -> bool {
    !ASKS.get() && END.get().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOO_MANY: usize = isize::MAX as usize / 16;

    #[test]
    fn what_cannot_be_had_is_refused_and_what_is_there_stays() {
        let mut list = vec![7_u64, 8];
        assert!(!room_for(&mut list, TOO_MANY));
        assert!(!exact_room_for(&mut list, TOO_MANY));
        assert!(zeroed::<u64>(TOO_MANY).is_none());
        let sentence = format!("there is no memory for {} texts", TOO_MANY + 2);
        for refused in [
            need_room(&mut list, TOO_MANY, "texts"),
            need_exact_room(&mut list, TOO_MANY, "texts"),
        ] {
            assert_eq!(refused, Err(Error::Memory(sentence.clone())));
        }
        assert_eq!(list, [7, 8]);
    }

    #[test]
    fn what_can_be_had_is_there() {
        let mut list = vec![7_u64, 8];
        assert!(room_for(&mut list, 3));
        assert!(list.capacity() >= 5);
        let capacity = list.capacity();
        assert!(room_for(&mut list, capacity - 2));
        assert_eq!(list.capacity(), capacity, "there was room already");
        assert!(exact_room_for(&mut list, 1000));
        assert!(list.capacity() >= 1002);
        assert_eq!(zeroed::<u32>(3), Some(vec![0; 3]));
    }

    #[test]
    fn a_thread_asks_only_meanwhile() {
        assert!(!ASKS.get());
        assert!(ask(|| ASKS.get()));
        assert!(!ASKS.get());
        refused();
    }
}
