//! The ids of a block's tasks, put in order while threads still make them.
//!
//! The ids of a task have their place as soon as all tasks before it are done. Whoever finishes a task copies what has a
//! place by then, out of memory that is near and used again for the next task, into memory that all ids together have: no
//! thread waits for another, and none is left with work for all. Address space for an id for each byte is asked for, of
//! which the system makes the pages that are filled.

use std::collections::BTreeMap;
use std::sync::PoisonError;

use crate::encode::encoded::{Encoded, Part};
use crate::error::Result;
use crate::memory::asking::zeroed;
use crate::memory::kept;
use crate::memory::shares::{Share, Shares, list_of_shares};
use crate::models::found::{no_memory, reserve};
use crate::threads::sync::{Mutex, MutexGuard};

/// Where tasks put what they gave.
#[derive(Debug)]
pub struct Gather<'a>(Mutex<Gathered<'a>>);

#[derive(Debug)]
struct Gathered<'a> {
    /// The number of the task whose ids have the next place.
    next: usize,
    /// How many ids there are before them.
    before: u64,
    ids: Shares<'a, u32>,
    ends: &'a mut [u64],
    /// What came before its turn.
    early: BTreeMap<usize, Part>,
    /// What has a place where nobody has copied it yet.
    placed: Vec<Placed<'a>>,
    /// What there was no room for, and all that came after it.
    over: Vec<Part>,
    /// Memory to be used again.
    spare: Vec<Part>,
}

/// A part and its place.
#[derive(Debug)]
struct Placed<'a> {
    part: Part,
    before: u64,
    ids: Share<'a, u32>,
    ends: &'a mut [u64],
}

/// Gathers what tasks give of a block with so many documents, whose ids hardly take more than `room`. `work` has each
/// task, from number 0 on without a gap, put what it gave.
///
/// # Errors
/// Those of `work`; [`crate::Error::Memory`] when there is none for all ids together.
pub fn gather<R>(
    room: usize,
    documents: usize,
    work: impl FnOnce(&Gather<'_>) -> Result<R>,
) -> Result<(Encoded, R)> {
    let mut ends = zeroed(documents).ok_or_else(|| no_memory(documents as u64))?;
    let (mut ids, (made, over)) = list_of_shares(room, kept::take(room), |ids| {
        let gather = Gather(Mutex::new(Gathered {
            next: 0,
            before: 0,
            ids,
            ends: &mut ends,
            early: BTreeMap::new(),
            placed: Vec::new(),
            over: Vec::new(),
            spare: Vec::new(),
        }));
        let made = work(&gather)?;
        let gathered = gather.0.into_inner();
        Ok((made, gathered.unwrap_or_else(PoisonError::into_inner).over))
    })?;
    for part in over {
        reserve(&mut ids, part.ids.len())?;
        ids.extend_from_slice(&part.ids);
    }
    Ok((Encoded { ids, ends }, made))
}

impl<'a> Gather<'a> {
    /// Takes what a task gave. Returns memory for what another gives.
    pub fn put(&self, number: usize, part: Part) -> Part {
        let mut gathered = self.lock();
        gathered.early.insert(number, part);
        gathered.place();
        while let Some(placed) = gathered.placed.pop() {
            drop(gathered);
            let part = placed.fill();
            gathered = self.lock();
            gathered.spare.push(part);
        }
        gathered.spare.pop().unwrap_or_default()
    }

    fn lock(&self) -> MutexGuard<'_, Gathered<'a>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'a> Gathered<'a> {
    /// Gives a place to each part whose turn has come.
    fn place(&mut self) {
        while let Some(part) = self.early.remove(&self.next) {
            self.next += 1;
            let before = self.before;
            self.before += part.total();
            let (ends, others) = std::mem::take(&mut self.ends).split_at_mut(part.ends.len());
            self.ends = others;
            match self.ids.take(part.ids.len()) {
                Some(ids) => self.placed.push(Placed {
                    part,
                    before,
                    ids,
                    ends,
                }),
                None => {
                    fill_ends(ends, &part.ends, before);
                    self.over.push(part);
                }
            }
        }
    }
}

impl Placed<'_> {
    /// Copies what there is. Returns the memory it was in.
    fn fill(mut self) -> Part {
        self.ids.fill(&self.part.ids);
        fill_ends(self.ends, &self.part.ends, self.before);
        self.part.clear();
        self.part
    }
}

fn fill_ends(room: &mut [u64], ends: &[u64], before: u64) {
    for (room, end) in room.iter_mut().zip(ends) {
        *room = before + end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What task number so-and-so gives: ids that tell their place, and the ends of so many documents.
    fn part(number: usize, keep: bool) -> Part {
        let (ids, documents) = (number * 7 % 5, number % 3);
        let mut part = if keep {
            Part::default()
        } else {
            Part::counting()
        };
        match keep {
            true => part
                .ids
                .extend((0..ids).map(|id| (10 * number + id) as u32)),
            false => part.add(ids as u64),
        }
        let end = |document| (ids * (document + 1) / documents) as u64;
        part.ends.extend((0..documents).map(end));
        part
    }

    /// What parts become, one after the other.
    fn expected(tasks: usize, keep: bool) -> Encoded {
        let mut encoded = Encoded::default();
        let mut before = 0;
        for number in 0..tasks {
            let part = part(number, keep);
            encoded.ids.extend(&part.ids);
            encoded
                .ends
                .extend(part.ends.iter().map(|end| before + end));
            before += part.total();
        }
        encoded
    }

    #[test]
    fn parts_are_put_in_order_whenever_they_come_and_whatever_room_there_is() {
        for tasks in 0..12 {
            for keep in [true, false] {
                let expected = expected(tasks, keep);
                for (step, room) in [(1, 100), (5, 100), (7, 6), (11, 0), (1, 11)] {
                    let (encoded, ()) = gather(room, expected.ends.len(), |gather| {
                        for number in 0..12 {
                            let number = number * step % 12;
                            if number < tasks {
                                let again = gather.put(number, part(number, keep));
                                assert!(again.ids.is_empty() && again.total() == 0);
                            }
                        }
                        Ok(())
                    })
                    .unwrap();
                    assert_eq!(encoded, expected, "{tasks} tasks, {step}, {room}");
                }
            }
        }
    }

    /// However the threads lie: all is there, in order.
    #[cfg(shuttle)]
    fn parts_are_in_order() {
        let expected = expected(5, true);
        for room in [100, 6] {
            let (encoded, ()) = gather(room, expected.ends.len(), |gather| {
                crate::threads::map(0..5_usize, 3, |number| {
                    gather.put(number, part(number, true));
                });
                Ok(())
            })
            .unwrap();
            assert_eq!(encoded, expected);
        }
    }

    #[cfg(shuttle)]
    #[test]
    fn schedules_of_parts_that_are_put_in_order() {
        shuttle::check_random(parts_are_in_order, crate::threads::schedules::SCHEDULES);
    }
}
