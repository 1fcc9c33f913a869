//! The pieces as they are segmented now: cells in a row, from which tokens and neighbours are read.
//!
//! A token's id stands in its first cell. If it covers several cells, the second and the last say how
//! many, so that both its neighbours are one step away, and all but the first are marked by [`SPAN`], so
//! that an id stands nowhere but where a token begins. A separator stands before, between and after the
//! pieces. What went before, and how long a token was when it was made, does not matter: once most cells
//! are inside tokens, [`Cells::compact`] gives each token one cell again.
//!
//! How often a piece occurs is kept for runs of cells: where pieces are laid out by falling count there
//! are few of those, and no cell needs to know its piece.

use crate::error::{Result, ensure};
use crate::memory::prefetch::prefetch;
use crate::memory::reserve;

/// Between pieces; ids are lower.
pub(in crate::trainers) const SEPARATOR: u32 = SPAN - 1;
/// Marks a cell inside a token; what else is in it is how many cells the token has.
const SPAN: u32 = 1 << 31;
/// How many places ahead of the present one a cell is asked for.
const AHEAD: usize = 12;
/// Cells of a stretch of which it is known in which run it begins, as a power of two.
const STRETCH: u32 = 8;

/// Cells whose pieces occur equally often.
#[derive(Clone, Copy, Debug)]
struct Run {
    count: u64,
    /// Where the next one begins.
    end: u32,
}

/// What stands on both sides of a merged pair: tokens, or [`SEPARATOR`].
#[derive(Clone, Copy, Debug)]
pub(in crate::trainers) struct Around {
    pub before: u32,
    /// Where the one before begins.
    pub before_at: u32,
    pub after: u32,
}

/// All pieces, one after the other.
#[derive(Debug)]
pub(in crate::trainers) struct Cells {
    cells: Vec<u32>,
    runs: Vec<Run>,
    /// The run that each stretch of cells begins in.
    run_of_stretch: Vec<u32>,
}

impl Cells {
    pub fn new() -> Self {
        Self {
            cells: vec![SEPARATOR],
            runs: Vec::new(),
            run_of_stretch: Vec::new(),
        }
    }

    /// Appends a piece that `lay_out` writes, a cell a symbol.
    ///
    /// # Errors
    /// There are more than 2^32 cells, or 2^31 in one piece; or no memory is left.
    pub fn push(&mut self, count: u64, lay_out: impl FnOnce(&mut Vec<u32>)) -> Result<()> {
        reserve::check()?;
        let begin = self.cells.len();
        lay_out(&mut self.cells);
        for (length, most) in [
            (self.cells.len(), u32::MAX),
            (self.cells.len() - begin, SEPARATOR),
        ] {
            ensure!(
                length < most as usize,
                "the different pieces have more than {most} symbols"
            );
        }
        self.cells.push(SEPARATOR);
        self.end_run(count, self.cells.len());
        Ok(())
    }

    /// How many cells there are.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// All cells, before the first merge: a symbol or a separator each.
    pub fn symbols(&mut self) -> &mut [u32] {
        &mut self.cells
    }

    fn end_run(&mut self, count: u64, end: usize) {
        let end = end as u32;
        match self.runs.last_mut() {
            Some(run) if run.count == count => run.end = end,
            _ => self.runs.push(Run { count, end }),
        }
        let (run, stretches) = (self.runs.len() as u32 - 1, end.div_ceil(1 << STRETCH));
        if self.run_of_stretch.len() < stretches as usize {
            self.run_of_stretch.resize(stretches as usize, run);
        }
    }

    /// Where the token ends that begins at a cell.
    #[inline]
    fn end_of(&self, begin: usize) -> usize {
        let second = self.cells[begin + 1];
        let span = if second & SPAN == 0 { 1 } else { second ^ SPAN };
        begin + span as usize
    }

    /// Where the token begins that ends before a cell.
    #[inline]
    fn begin_of(&self, end: usize) -> usize {
        let last = self.cells[end - 1];
        let span = if last & SPAN == 0 { 1 } else { last ^ SPAN };
        end - span as usize
    }

    /// Whether a pair stands at a place.
    #[inline]
    pub fn stands(&self, left: u32, right: u32, place: u32) -> bool {
        let begin = place as usize;
        self.cells[begin] == left && self.cells[self.end_of(begin)] == right
    }

    /// Merges a pair at a place; None if it does not stand there.
    #[inline]
    fn merge(&mut self, left: u32, right: u32, product: u32, place: u32) -> Option<Around> {
        let begin = place as usize;
        if self.cells[begin] != left {
            return None;
        }
        let middle = self.end_of(begin);
        if self.cells[middle] != right {
            return None;
        }
        let end = self.end_of(middle);
        let span = SPAN | (end - begin) as u32;
        self.cells[begin] = product;
        self.cells[middle] = SPAN;
        self.cells[begin + 1] = span;
        self.cells[end - 1] = span;
        Some(self.around_span(begin, end))
    }

    /// What stands on both sides of the token that begins at a place.
    pub fn around(&self, place: u32) -> Around {
        let begin = place as usize;
        self.around_span(begin, self.end_of(begin))
    }

    #[inline]
    fn around_span(&self, begin: usize, end: usize) -> Around {
        let before_at = self.begin_of(begin);
        Around {
            before: self.cells[before_at],
            before_at: before_at as u32,
            after: self.cells[end],
        }
    }

    /// How often all of the pieces at ascending places occur together.
    pub fn sum_at(&self, places: &[u32]) -> u64 {
        let mut run = 0;
        let counts = places.iter().map(|&place| {
            run = self.run_at(place, run);
            self.runs[run].count
        });
        counts.sum()
    }

    /// Merges a pair at ascending places, where it still stands; `each` is told what is around, the
    /// place, and how often its piece occurs.
    pub fn merge_all(
        &mut self,
        [left, right, product]: [u32; 3],
        places: &[u32],
        mut each: impl FnMut(Around, u32, u64),
    ) {
        let mut run = 0;
        for (number, &place) in places.iter().enumerate() {
            if let Some(&coming) = places.get(number + AHEAD) {
                prefetch(&self.cells, coming as usize);
            }
            if let Some(around) = self.merge(left, right, product, place) {
                run = self.run_at(place, run);
                each(around, place, self.runs[run].count);
            }
        }
    }

    /// Puts parts (token, length in cells) in the place of a token, at ascending places, where it still stands; `each` is
    /// told what is around, the place, and how often its piece occurs.
    pub fn split_all(
        &mut self,
        token: u32,
        parts: &[(u32, u32)],
        places: &[u32],
        mut each: impl FnMut(Around, u32, u64),
    ) {
        let mut run = 0;
        for &place in places {
            if self.holds(token, place) {
                let around = self.split(place as usize, parts);
                run = self.run_at(place, run);
                each(around, place, self.runs[run].count);
            }
        }
    }

    /// Whether a token begins at a place.
    pub fn holds(&self, token: u32, place: u32) -> bool {
        self.cells[place as usize] == token
    }

    /// Puts parts in the place of the token that begins at a cell.
    fn split(&mut self, begin: usize, parts: &[(u32, u32)]) -> Around {
        let mut at = begin;
        for &(part, length) in parts {
            let end = at + length as usize;
            self.cells[at] = part;
            if length > 1 {
                // Those between them are marked already.
                self.cells[at + 1] = SPAN | length;
                self.cells[end - 1] = SPAN | length;
            }
            at = end;
        }
        self.around_span(begin, at)
    }

    /// The run that a place is in, which is not before the one given. Complexity: the logarithm of how
    /// many begin in a stretch.
    #[inline]
    fn run_at(&self, place: u32, from: usize) -> usize {
        if self.runs[from].end > place {
            return from;
        }
        let stretch = (place >> STRETCH) as usize;
        let first = self.run_of_stretch[stretch] as usize;
        if self.runs[first].end > place {
            return first;
        }
        let next = self.run_of_stretch.get(stretch + 1);
        let last = next.map_or(self.runs.len() - 1, |&next| next as usize);
        let between = &self.runs[first + 1..last];
        first + 1 + between.partition_point(|run| run.end <= place)
    }

    /// Forgets the places, which ascend, where a pair does not stand any more.
    pub fn keep_standing(&self, left: u32, right: u32, places: &mut Vec<u32>) {
        let mut kept = 0;
        for number in 0..places.len() {
            if let Some(&coming) = places.get(number + AHEAD) {
                prefetch(&self.cells, coming as usize);
            }
            let place = places[number];
            places[kept] = place;
            kept += usize::from(self.stands(left, right, place));
        }
        places.truncate(kept);
    }

    /// Gives each token one cell, leaves out pieces that are one token, and tells `each` of all pairs:
    /// left, right, how often the piece occurs.
    pub fn compact(&mut self, mut each: impl FnMut(u32, u32, u64)) {
        let runs = std::mem::take(&mut self.runs);
        self.run_of_stretch.clear();
        let (mut at, mut to) = (1, 1);
        let mut first = 1; // where the present piece begins
        for run in runs {
            while at < run.end as usize {
                let token = self.cells[at];
                if token != SEPARATOR {
                    let end = self.end_of(at);
                    if to > first {
                        each(self.cells[to - 1], token, run.count);
                    }
                    self.cells[to] = token;
                    (at, to) = (end, to + 1);
                    continue;
                }
                if to > first + 1 {
                    self.cells[to] = SEPARATOR;
                    first = to + 1;
                }
                (at, to) = (at + 1, first);
            }
            self.end_run(run.count, to);
        }
        self.cells.truncate(to);
        self.cells.shrink_to_fit();
    }

    /// Tells `each` of all pairs, when each token has one cell: left, right, how often the piece occurs,
    /// and the place.
    pub fn for_each_pair(&self, mut each: impl FnMut(u32, u32, u64, u32)) {
        let mut at = 1;
        for run in &self.runs {
            let end = run.end as usize;
            let cells = &self.cells[at..end];
            for (number, pair) in cells.windows(2).enumerate() {
                if pair[0] != SEPARATOR && pair[1] != SEPARATOR {
                    each(pair[0], pair[1], run.count, (at + number) as u32);
                }
            }
            at = end;
        }
    }
}

#[cfg(test)]
mod tests;
