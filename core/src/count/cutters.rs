//! The two ways to cut the tasks of a block into pieces that are counted.

use std::ops::Range;

use crate::documents::{self, Documents, Task};
use crate::error::{Result, ensure};
use crate::normalize::Context;
use crate::special::{Segment, SpecialMatcher};
use crate::split::stage::Pieces;
use crate::split::{AT_A_TIME, Scanner};
use crate::stages::Stages;
use crate::text::visible;

/// Cuts tasks into pieces.
pub trait Cutter: Sync {
    /// Calls `each` with all pieces of a task, in order, some at a time that follow each other: a text,
    /// where in it the first begins, and where each ends. None is empty.
    fn cut(
        &self,
        task: &Task,
        each: impl FnMut(&[u8], usize, &[usize]) -> Result<()>,
    ) -> Result<()>;
}

/// Cuts by a scanner.
pub struct ByScanner<'a> {
    /// The block.
    pub documents: &'a Documents<'a>,
    /// What cuts.
    pub scanner: &'a Scanner,
    /// What is taken out.
    pub matcher: Option<&'a SpecialMatcher>,
    /// Whether a space is put before text that begins with none.
    pub prefix_space: bool,
}

impl Cutter for ByScanner<'_> {
    fn cut(
        &self,
        task: &Task,
        mut each: impl FnMut(&[u8], usize, &[usize]) -> Result<()>,
    ) -> Result<()> {
        stretches(self.documents, task, self.matcher, |range, continued| {
            let spaced; // owns the text if a space goes before it
            let mut text = &self.documents.text[range.clone()];
            let prefixed = self.prefix_space && !continued && text[0] != b' ';
            if prefixed {
                spaced = [b" ", text].concat();
                text = &spaced;
            }
            let mut ends = self.scanner.ends(text);
            let mut room = [0; AT_A_TIME];
            let mut start = 0;
            loop {
                let found = ends.fill(&mut room);
                let Some(&last) = room[..found].last() else {
                    return Ok(());
                };
                each(text, start, &room[..found])?;
                start = last;
            }
        })
    }
}

/// Cuts by stages.
pub struct ByStages<'a> {
    /// The block.
    pub documents: &'a Documents<'a>,
    /// What rewrites and cuts.
    pub stages: &'a Stages,
    /// What is taken out.
    pub matcher: Option<&'a SpecialMatcher>,
}

impl Cutter for ByStages<'_> {
    fn cut(
        &self,
        task: &Task,
        mut each: impl FnMut(&[u8], usize, &[usize]) -> Result<()>,
    ) -> Result<()> {
        let mut memory = StageMemory::default();
        stretches(self.documents, task, self.matcher, |range, continued| {
            let context = context_of(self.documents, &range, continued);
            let text = &self.documents.text[range];
            memory.cut(self.stages, text, context, |text, range| {
                each(text, range.start, &[range.end])
            })
        })
    }
}

/// Memory in which text goes through stages, used again.
#[derive(Default)]
pub(crate) struct StageMemory {
    pieces: Pieces,
    spelt: Vec<u8>,
}

impl StageMemory {
    /// Calls `each` with every piece that stages make of a text, as a text and a range in it; none is empty.
    pub fn cut(
        &mut self,
        stages: &Stages,
        original: &[u8],
        context: Context,
        mut each: impl FnMut(&[u8], Range<usize>) -> Result<()>,
    ) -> Result<()> {
        ensure!(
            u32::try_from(original.len()).is_ok(),
            "a text without a safe place to cut it is longer than 4 GiB"
        );
        let Self { pieces, spelt } = self;
        stages.begin(original, &mut pieces.text, context)?;
        stages.pre_tokenize(pieces, context)?;
        let bytes = pieces.text.bytes();
        pieces.ranges.iter().try_for_each(|piece| {
            let (mut text, mut range) = (bytes, piece.clone());
            if pieces.visible {
                spelt.clear();
                visible::decode(&bytes[range], spelt);
                (text, range) = (&*spelt, 0..spelt.len());
            }
            if range.is_empty() {
                return Ok(());
            }
            each(text, range)
        })
    }
}

/// What a stretch of text is a part of.
pub(crate) fn context_of(
    documents: &Documents<'_>,
    range: &Range<usize>,
    continued: bool,
) -> Context {
    let begins = || range.start == 0 || documents.ends.binary_search(&(range.start as u64)).is_ok();
    let first = !continued && begins();
    Context { continued, first }
}

/// Calls `each` with every stretch of text of a task, and whether it goes on from text before it.
pub(crate) fn stretches(
    documents: &Documents<'_>,
    task: &Task,
    matcher: Option<&SpecialMatcher>,
    mut each: impl FnMut(Range<usize>, bool) -> Result<()>,
) -> Result<()> {
    for part in documents.parts_of(task) {
        let (start, mut continued) = (part.range.start, part.continued);
        documents::segments(&documents.text[part.range], matcher, |segment| {
            if let Segment::Text {
                start: from,
                end: to,
            } = segment
            {
                each(start + from..start + to, continued)?;
            }
            continued = false;
            Ok(())
        })?;
    }
    Ok(())
}
