//! Large pages for a table, which is read here and there: what its look-ups wait for most is finding the pages.
//!
//! So each is worth a wait, but not at once: where they come slowly (see [`super::huge_pages`]), a text of 70 MB is through
//! before they would have paid. Then the table begins with small pages, and while it serves they become large, one after the
//! other: that may take one part in [`SHARE`] of the time.

use std::time::Duration;

use super::huge_pages::{LARGE_PAGE, SLOW, collapse, made_in};

/// What part of the time slow pages may take.
const SHARE: u32 = 64;

/// How long a turn is: the work between two questions whether a page is due.
const TURN: Duration = Duration::from_micros(2);

/// Which pages of a table are large.
#[derive(Debug, Default)]
pub(super) struct TablePages {
    /// Where the table is, once it is known.
    place: Option<usize>,
    /// How many large pages, from the beginning on, are there or cannot be had.
    seen_to: usize,
    /// How many turns until the next; 0 if none came slowly.
    turns: u32,
}

impl TablePages {
    /// Makes the large pages of a table that lie in what it has now, unless they come slowly. Those that were not there at
    /// the last call hold nothing yet, which is zero.
    pub fn make<T: Default + PartialEq>(&mut self, table: &mut [T]) {
        if self.turns == 0 {
            self.go_on(table, |page| {
                debug_assert!(page[0] == T::default(), "nothing is lost");
                Some(made_in(page, T::default()))
            });
        }
    }

    /// Counts a turn; says whether [`TablePages::improve`] is to be called.
    #[inline]
    pub fn is_due(&mut self) -> bool {
        let waits = self.turns > 0;
        self.turns -= u32::from(waits);
        waits && self.turns == 0
    }

    /// Makes the next of its pages large.
    #[cold]
    pub fn improve<T>(&mut self, table: &mut [T]) {
        self.go_on(table, collapse);
    }

    /// Sees to one page after the other until one came slowly. If one is refused, none is asked for again; nor if the table has
    /// moved, as an allocator may do that gives some of it back: its pages begin elsewhere then, where it may hold something.
    fn go_on<T>(&mut self, table: &mut [T], make: impl Fn(&mut [T]) -> Option<Duration>) {
        let place = table.as_ptr().addr();
        if *self.place.get_or_insert(place) != place {
            self.seen_to = usize::MAX;
        }
        let first = table.as_ptr().align_offset(LARGE_PAGE).min(table.len());
        let pages = table[first..].chunks_exact_mut(LARGE_PAGE / size_of::<T>());
        for page in pages.skip(self.seen_to) {
            let Some(took) = make(page) else {
                self.seen_to = usize::MAX;
                return;
            };
            self.seen_to += 1;
            if took >= SLOW {
                self.turns = (took.div_duration_f32(TURN) as u32).saturating_mul(SHARE);
                return;
            }
        }
    }
}

/// Where the large page ends that the last of so many items of a table lies in, or else the table.
pub(super) fn page_end<T>(table: &[T], items: usize) -> usize {
    let first = table.as_ptr().align_offset(LARGE_PAGE);
    let pages = items
        .saturating_sub(first)
        .div_ceil(LARGE_PAGE / size_of::<T>());
    first
        .saturating_add(pages * (LARGE_PAGE / size_of::<T>()))
        .min(table.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    const IN_PAGE: usize = LARGE_PAGE / size_of::<u32>();

    /// A table of whole pages, wherever it lies.
    fn table(memory: &mut [u32], pages: usize) -> &mut [u32] {
        let before = memory.as_ptr().align_offset(LARGE_PAGE);
        &mut memory[before..][..pages * IN_PAGE]
    }

    /// Goes on with pages that take so long each; returns which were made, by what was written to them.
    fn go_on(pages: &mut TablePages, table: &mut [u32], took: Option<Duration>) -> Vec<usize> {
        table.fill(0);
        pages.go_on(table, |page| {
            assert_eq!(page.len(), IN_PAGE);
            page.fill(1);
            took
        });
        let made = table.chunks(IN_PAGE).enumerate();
        made.filter(|(_, page)| page[0] == 1)
            .map(|(number, _)| number)
            .collect()
    }

    #[test]
    fn pages_that_come_soon_are_made_at_once_and_each_only_once() {
        let mut memory = vec![0; 6 * IN_PAGE];
        let mut pages = TablePages::default();
        let soon = Some(Duration::from_micros(200));
        for (there, made) in [
            (0, vec![]),
            (2, vec![0, 1]),
            (2, vec![]),
            (5, vec![2, 3, 4]),
        ] {
            assert_eq!(go_on(&mut pages, table(&mut memory, there), soon), made);
            assert!(!pages.is_due());
        }
    }

    #[test]
    fn after_a_slow_page_the_next_comes_when_the_table_has_served() {
        let mut memory = vec![0; 6 * IN_PAGE];
        let mut pages = TablePages::default();
        let slow = Duration::from_millis(5);
        for number in 0..5 {
            assert_eq!(
                go_on(&mut pages, table(&mut memory, 5), Some(slow)),
                [number]
            );
            let turns = (1..).find(|_| pages.is_due()).unwrap();
            assert_eq!(TURN * turns, SHARE * slow);
            assert!(!pages.is_due());
        }
        assert!(go_on(&mut pages, table(&mut memory, 5), Some(slow)).is_empty());
        assert!(!pages.is_due(), "all are seen to");
    }

    #[test]
    fn while_it_waits_what_a_table_grows_by_stays_as_it_is() {
        let mut memory = vec![0; 4 * IN_PAGE];
        let mut pages = TablePages {
            turns: 1,
            ..TablePages::default()
        };
        pages.make(table(&mut memory, 3));
        assert_eq!(pages.seen_to, 0);
        assert!(pages.is_due());
        pages.improve(table(&mut memory, 3));
        assert!(pages.seen_to > 0);
    }

    #[test]
    fn where_a_page_is_refused_none_is_asked_for_again() {
        let mut memory = vec![0; 4 * IN_PAGE];
        let mut pages = TablePages::default();
        assert_eq!(go_on(&mut pages, table(&mut memory, 3), None), [0]);
        assert!(!pages.is_due());
        assert!(go_on(&mut pages, table(&mut memory, 3), None).is_empty());
    }

    #[test]
    fn a_table_that_has_moved_is_left_as_it_is() {
        let mut memory = vec![0; 5 * IN_PAGE];
        let mut pages = TablePages::default();
        let whole = table(&mut memory, 4);
        pages.make(&mut whole[IN_PAGE / 2..][..IN_PAGE]);
        whole.fill(7);
        for improves in [false, true] {
            match improves {
                false => pages.make(whole),
                true => pages.improve(whole),
            }
            assert!(whole.iter().all(|&number| number == 7));
        }
        assert_eq!(pages.seen_to, usize::MAX);
    }

    #[test]
    fn pages_end_where_whole_ones_do() {
        let memory = vec![0_u32; 4 * IN_PAGE];
        let first = memory.as_ptr().align_offset(LARGE_PAGE);
        let ends = [
            first,
            first + IN_PAGE,
            first + 2 * IN_PAGE,
            first + 3 * IN_PAGE,
            memory.len(),
        ];
        assert_eq!(page_end(&memory, 0), first);
        for pair in ends.windows(2).filter(|pair| pair[0] < pair[1]) {
            for items in [pair[0] + 1, pair[1] - 1, pair[1]] {
                assert_eq!(page_end(&memory, items), pair[1]);
            }
        }
        assert_eq!(page_end(&memory[..7], 3), first.min(7));
    }

    #[test]
    fn what_is_in_a_table_stays_in_it_when_its_pages_become_large() {
        let mut memory = vec![0; 4 * IN_PAGE];
        let table = table(&mut memory, 3);
        let mut pages = TablePages::default();
        pages.make(table);
        assert!(table.iter().all(|&number| number == 0));
        for (number, place) in table.iter_mut().enumerate() {
            *place = number as u32;
        }
        while pages.seen_to < 3 {
            pages.improve(table);
        }
        pages.seen_to = 0;
        while pages.seen_to < 3 {
            pages.improve(table);
        }
        assert!(table.iter().copied().eq(0..3 * IN_PAGE as u32));
    }
}
