//! Memory that several threads fill, each its own stretch of it.
//!
//! How long a stretch has to be shows only when it is written; so one after the other is taken from the beginning, and
//! who has taken one fills it while the next are taken.

use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::{Result, invalid};
use crate::memory::asking::exact_room_for;
use crate::memory::huge_pages::Paging;

/// What is left of a list's memory.
#[derive(Debug)]
pub struct Shares<'a, T> {
    left: &'a mut [MaybeUninit<T>],
    /// How much of that has pages, and how more come.
    ready: usize,
    paging: Paging,
    book: &'a Book,
}

/// A stretch of it, to be filled.
#[derive(Debug)]
pub struct Share<'a, T> {
    room: &'a mut [MaybeUninit<T>],
    book: &'a Book,
}

/// How many items of a list were taken, and how many filled.
#[derive(Debug, Default)]
struct Book {
    taken: AtomicUsize,
    filled: AtomicUsize,
}

impl<'a, T: Copy> Shares<'a, T> {
    /// Takes the next so many items; None if there are not as many, and from then on.
    #[must_use]
    pub fn take(&mut self, items: usize) -> Option<Share<'a, T>> {
        while self.ready < items.min(self.left.len()) {
            let bare = &mut self.left[self.ready..];
            self.ready += self.paging.prepare(bare, 1);
        }
        let (room, left) = std::mem::take(&mut self.left).split_at_mut_checked(items)?;
        self.left = left;
        self.ready -= items;
        self.book.taken.fetch_add(items, Ordering::Relaxed);
        Some(Share {
            room,
            book: self.book,
        })
    }
}

impl<T: Copy> Share<'_, T> {
    /// Fills it.
    ///
    /// # Panics
    /// When there are not as many items as were taken.
    pub fn fill(self, items: &[T]) {
        assert_eq!(self.room.len(), items.len());
        for (room, &item) in self.room.iter_mut().zip(items) {
            room.write(item);
        }
        self.book.filled.fetch_add(items.len(), Ordering::Relaxed);
    }
}

/// Makes a list with room for so many items, as far as there is memory for them: `fill` takes shares of it and has all
/// of them filled when it returns. It begins as an empty list whose first `ready` items have pages.
///
/// # Errors
/// Those of `fill`; [`Error::Invalid`](crate::Error::Invalid) when it leaves something unfilled.
pub fn list_of_shares<T: Copy, R>(
    room: usize,
    (mut list, ready): (Vec<T>, usize),
    fill: impl FnOnce(Shares<'_, T>) -> Result<R>,
) -> Result<(Vec<T>, R)> {
    list.clear();
    let _ = exact_room_for(&mut list, room); // without it, nobody gets a share
    let book = Book::default();
    let made = fill(Shares {
        left: list.spare_capacity_mut(),
        ready,
        paging: Paging::new(),
        book: &book,
    })?;
    let (taken, filled) = (book.taken.into_inner(), book.filled.into_inner());
    if taken != filled {
        return Err(invalid!("{filled} of {taken} items were filled"));
    }
    // SAFETY: shares are taken one after the other from the beginning of the spare capacity, whose borrow has ended, and
    // are `taken` items together; each was filled at most once, with as many items as it has. So all were.
    unsafe { list.set_len(taken) };
    Ok((list, made))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_lie_one_after_the_other() {
        let filled = list_of_shares(8, Default::default(), |mut shares| {
            let (first, second) = (shares.take(3).unwrap(), shares.take(2).unwrap());
            second.fill(&[4, 5]);
            first.fill(&[1, 2, 3]);
            Ok(shares.take(1).is_some())
        });
        assert!(filled.is_err(), "one share was never filled");
        let (list, ()) = list_of_shares(8, Default::default(), |mut shares| {
            let (first, second) = (shares.take(3).unwrap(), shares.take(2).unwrap());
            second.fill(&[4, 5]);
            first.fill(&[1, 2, 3]);
            assert!(shares.take(0).is_some() && shares.take(4).is_none());
            assert!(
                shares.take(1).is_none(),
                "what comes later has no place before it"
            );
            Ok(())
        })
        .unwrap();
        assert_eq!(list, [1, 2, 3, 4, 5]);
    }

    #[test]
    fn what_has_pages_is_taken_with_the_share() {
        let (_, ready) = list_of_shares::<u32, _>(8, Default::default(), |mut shares| {
            shares.take(3).unwrap().fill(&[1, 2, 3]);
            let first = (shares.ready, shares.left.len());
            shares.take(2).unwrap().fill(&[4, 5]);
            Ok([first, (shares.ready, shares.left.len())])
        })
        .unwrap();
        assert!(
            ready.iter().all(|&(ready, left)| ready == left),
            "{ready:?}"
        );
    }

    #[test]
    fn without_memory_nobody_gets_a_share() {
        let (list, got) =
            list_of_shares::<u32, _>(usize::MAX >> 3, Default::default(), |mut shares| {
                Ok(shares.take(1).is_some())
            })
            .unwrap();
        assert!(list.is_empty() && !got);
    }
}
