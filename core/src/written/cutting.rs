//! Cutting tokens and merges out of a document, on two threads if it is long: one goes through it and takes its tokens,
//! the other reads the merges ahead, from where they seem to begin. What that one read counts only if the first comes to
//! that very place.

use std::sync::OnceLock;

use memchr::memmem;

use super::reading::{Listed, MergeTexts};
use crate::text::json::Reader;
use crate::threads::both;

/// What was cut out of a document, and what is left.
pub(super) struct Parts<'a> {
    pub(super) listed: Listed,
    pub(super) merges: MergeTexts<'a>,
    /// The document with null in their places.
    pub(super) rest: Vec<u8>,
}

/// The names of the members: the outer one, and in it tokens and merges.
pub(super) type Names<'a> = [&'a [u8]; 3];

/// Cuts a document; None if it is not as [`super::Written::cut`] wants it.
pub(super) fn cut<'a>(document: &'a [u8], names: Names<'_>, threads: usize) -> Option<Parts<'a>> {
    let found = OnceLock::new();
    let read_ahead = || {
        if threads > 1
            && let Some(start) = seeming_start(document, names[2])
        {
            found.get_or_init(|| ReadAhead::from(document, start));
        }
    };
    let (walked, ()) = both(threads, || walk(document, names, &found), read_ahead);
    let walked = walked?;
    let merges = match walked.merges {
        Place::Here(merges) => merges,
        Place::Ahead => found.into_inner()?.read?.0,
    };
    Some(Parts {
        listed: walked.listed,
        merges,
        rest: walked.rest,
    })
}

/// Merges that were read from a place on, and where they end.
struct ReadAhead<'a> {
    start: usize,
    read: Option<(MergeTexts<'a>, usize)>,
}

impl<'a> ReadAhead<'a> {
    fn from(document: &'a [u8], start: usize) -> Self {
        let mut reader = Reader::at(document, start);
        let read = MergeTexts::read(&mut reader, document).map(|merges| (merges, reader.place()));
        Self { start, read }
    }
}

/// Where the array of merges seems to begin: its name may also be a token, but that has a number.
fn seeming_start(document: &[u8], name: &[u8]) -> Option<usize> {
    let quoted = [b"\"", name, b"\""].concat();
    memmem::find_iter(document, &quoted).find_map(|at| {
        let mut reader = Reader::at(document, at + quoted.len());
        reader.take(b':')?;
        (reader.peek()? == b'[').then(|| reader.place())
    })
}

/// What going through a document gave.
struct Walked<'a> {
    listed: Listed,
    merges: Place<'a>,
    rest: Vec<u8>,
}

/// Where the merges are.
enum Place<'a> {
    /// In what was read ahead.
    Ahead,
    Here(MergeTexts<'a>),
}

fn walk<'a>(
    document: &'a [u8],
    [outer, tokens, merges]: Names<'_>,
    ahead: &OnceLock<ReadAhead<'a>>,
) -> Option<Walked<'a>> {
    let mut reader = Reader::new(document);
    let mut outers = 0;
    let mut listed = None;
    let mut place = None;
    let mut rest = Vec::new();
    let mut kept = 0;
    reader.members(&mut |reader, key| {
        if key != outer {
            return reader.skip();
        }
        outers += 1;
        if outers > 1 || reader.peek()? != b'{' {
            return None;
        }
        reader.members(&mut |reader, key| {
            if key != tokens && key != merges {
                return reader.skip();
            }
            reader.peek()?;
            let start = reader.place();
            rest.extend_from_slice(&document[kept..start]);
            rest.extend_from_slice(b"null");
            if key == tokens {
                if listed.is_some() {
                    return None;
                }
                listed = Some(Listed::read(reader)?);
            } else {
                if place.is_some() || listed.is_none() {
                    return None;
                }
                // Waits for the other thread, if that is at it.
                let ahead = ahead.get_or_init(|| ReadAhead::from(document, start));
                place = Some(if ahead.start == start {
                    reader.go_to(ahead.read.as_ref()?.1);
                    Place::Ahead
                } else {
                    Place::Here(MergeTexts::read(reader, document)?)
                });
            }
            kept = reader.place();
            Some(())
        })
    })?;
    if reader.peek().is_some() {
        return None;
    }
    rest.extend_from_slice(&document[kept..]);
    Some(Walked {
        listed: listed?,
        merges: place?,
        rest,
    })
}
