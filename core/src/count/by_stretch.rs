//! Counts pieces by counting what they are made of first: each different stretch of text between blanks
//! goes through the stages once.
//!
//! Text repeats itself: of the stretches between blanks of a large text one in five or fewer is new.
//! Normalizers and pre-tokenizers cost several times as much as looking a stretch up, so the stretches of
//! a block are counted as they stand, and what the stages make of each is counted as often as it occurs.
//! That is right where [`Stages::blanks`] says so; the tests hold it to [`ByStages`].
//!
//! Invariant: the order is kept. A piece that occurs first in some stretch cannot have occurred in an
//! earlier one like it; so pieces in order of stretches, and these in order of first occurrence, are in
//! order of first occurrence.
//!
//! [`ByStages`]: crate::count::cutters::ByStages

use crate::count::Counts;
use crate::count::cutters::{StageMemory, context_of, stretches};
use crate::count::table::Stretches;
use crate::count::together::Run;
use crate::documents::{Documents, Task};
use crate::error::Result;
use crate::memory::reserve;
use crate::normalize::Context;
use crate::special::SpecialMatcher;
use crate::stages::Stages;
use crate::threads;

/// A block that is cut before blanks.
pub struct Chunks<'a> {
    /// The block.
    pub documents: &'a Documents<'a>,
    /// What the stretches go through.
    pub stages: &'a Stages,
    /// Where to cut: see [`Stages::blanks`].
    pub blanks: &'static [u8],
    /// What is taken out.
    pub matcher: Option<&'a SpecialMatcher>,
}

impl Chunks<'_> {
    /// Counts the pieces of tasks.
    ///
    /// # Errors
    /// As [`Counts::add_staged`].
    pub fn count(&self, counts: &mut Counts, tasks: &[Task], threads: usize) -> Result<()> {
        let begin = || Stretches::new(self.documents.text);
        if threads <= 1 || tasks.len() < 2 {
            let mut own = begin();
            tasks.iter().try_for_each(|task| self.cut(task, &mut own))?;
            return self.rewrite(own, |piece, count, _| counts.add(piece, count));
        }
        let empty = &*counts;
        let (_, found) = threads::map_with(
            tasks.iter(),
            threads,
            |_| begin(),
            |own, task| self.cut(task, own),
            |own| {
                let (mut counts, mut firsts) = (empty.empty(), Vec::new());
                self.rewrite(own, |piece, count, first| {
                    counts.add(piece, count)?;
                    if firsts.len() < counts.unique() {
                        firsts.push(first);
                    }
                    Ok(())
                })?;
                Ok((counts, firsts))
            },
        )?;
        let found = found.into_iter().collect::<Result<Vec<_>>>()?;
        let (found, firsts): (Vec<_>, Vec<_>) = found.into_iter().unzip();
        counts.add_found(&found, &runs_of(&firsts, tasks), threads)
    }

    /// Counts the stretches of a task.
    fn cut(&self, task: &Task, own: &mut Stretches<'_>) -> Result<()> {
        reserve::check()?;
        let mut is_blank = [false; 256];
        for &blank in self.blanks {
            is_blank[blank as usize] = true;
        }
        let behind = Context {
            continued: true,
            first: false,
        };
        stretches(self.documents, task, self.matcher, |range, continued| {
            let text = &self.documents.text[..range.end];
            let mut context = context_of(self.documents, &range, continued);
            let mut start = range.start;
            while start < range.end {
                let mut end = start;
                while end < range.end && is_blank[text[end] as usize] {
                    end += 1;
                }
                while end < range.end && !is_blank[text[end] as usize] {
                    end += 1;
                }
                own.add(start..end, context)?;
                context = behind;
                start = end;
            }
            Ok(())
        })
    }

    /// Sends each stretch through the stages; calls `each` with a piece, how often it occurs there, and
    /// where the stretch stood first.
    fn rewrite(
        &self,
        stretches: Stretches<'_>,
        mut each: impl FnMut(&[u8], u64, usize) -> Result<()>,
    ) -> Result<()> {
        let mut memory = StageMemory::default();
        for (range, context, count) in stretches.finish() {
            let first = range.start;
            let text = &self.documents.text[range];
            memory.cut(self.stages, text, context, |text, range| {
                each(&text[range], count, first)
            })?;
        }
        Ok(())
    }
}

/// The pieces of each task, task by task, given where in the text each piece of each thread stood first: these rise, as a
/// thread takes tasks in ascending order.
fn runs_of(firsts: &[Vec<usize>], tasks: &[Task]) -> Vec<Run> {
    let mut runs = Vec::new();
    for (thread, firsts) in firsts.iter().enumerate() {
        let mut start = 0;
        while let Some(&first) = firsts.get(start) {
            let next = tasks.partition_point(|task| task.start <= first);
            let end = tasks.get(next).map_or(firsts.len(), |next| {
                firsts.partition_point(|&first| first < next.start)
            });
            let places = start..end;
            runs.push((next, Run { thread, places }));
            start = end;
        }
    }
    runs.sort_unstable_by_key(|(next, _)| *next); // each task was one thread's
    runs.into_iter().map(|(_, run)| run).collect()
}

#[cfg(test)]
mod tests;
