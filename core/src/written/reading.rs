//! What is cut out of a document: tokens by id and by text, and merges as ids.

use std::borrow::Cow;

use super::counted::Counted;
use crate::tables::{MAX_TOKENS, NONE, PieceTable, TokenTable};
use crate::text::json::Reader;
use crate::threads;

/// So many merges are looked up together.
const TOGETHER: usize = 32;

/// Different texts with different ids.
pub(super) struct Listed {
    texts: TokenTable<'static>,
    ids: PieceTable<'static>,
    /// The id of the empty text, which no table holds.
    empty: Option<u32>,
}

impl Listed {
    /// Reads an object of text -> id.
    pub(super) fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let (mut blob, mut ends, mut ids) = (Vec::new(), Vec::new(), Vec::new());
        let mut more = reader.opens(b'{', b'}')?;
        let [mut before, mut between]: [&[u8]; 2] = Default::default();
        while more {
            pass(&mut before, reader, |_| Some(()))?;
            reader.append_string(&mut blob)?;
            ends.push(u32::try_from(blob.len()).ok()?);
            pass(&mut between, reader, |reader| reader.take(b':'))?;
            ids.push(reader.number()?);
            more = reader.goes_on(b'}')?;
        }
        check_utf8(&blob, &ends)?;
        let mut empties = (0..ends.len()).filter(|&at| range(&ends, at).is_empty());
        let empty = empties.next().map(|at| ids[at]);
        if empties.next().is_some() {
            return None;
        }
        let (blob, ends) = by_id(blob, ends, &ids)?;
        Self::made(blob, ends, empty)
    }

    /// Takes texts in the order of their ids. Empty ones and those of the ids `absent` are none.
    pub(super) fn of(counted: Counted<'_>, absent: &[u32]) -> Option<Self> {
        let (mut blob, mut ends) = (Vec::with_capacity(counted.bytes().len()), Vec::new());
        let mut absent = absent.iter().copied().peekable();
        for (id, text) in (0..).zip(counted) {
            if ends.len() == MAX_TOKENS {
                return None;
            }
            if absent.next_if_eq(&id).is_none() {
                blob.extend_from_slice(text);
            }
            ends.push(u32::try_from(blob.len()).ok()?);
        }
        if absent.next().is_some() {
            return None; // they do not ascend, or go beyond the texts
        }
        check_utf8(&blob, &ends)?;
        Self::made(blob, ends, None)
    }

    fn made(blob: Vec<u8>, ends: Vec<u32>, empty: Option<u32>) -> Option<Self> {
        let texts = TokenTable::new(blob.into(), ends.into()).ok()?;
        let ids = PieceTable::build(&texts).ok()?;
        Some(Self { texts, ids, empty })
    }

    /// The texts by id.
    pub(super) fn texts(&self) -> &TokenTable<'static> {
        &self.texts
    }

    /// The id of a text.
    pub(super) fn id_of(&self, text: &[u8]) -> Option<u32> {
        if text.is_empty() {
            return self.empty;
        }
        self.ids.get(text, &self.texts)
    }

    /// The text of an id.
    pub(super) fn text_of(&self, id: u32) -> Option<&str> {
        let text = self.texts.get(id);
        if text.is_empty() && self.empty != Some(id) {
            return None;
        }
        std::str::from_utf8(text).ok()
    }
}

/// Tells by Some that each text is UTF-8.
fn check_utf8(blob: &[u8], ends: &[u32]) -> Option<()> {
    let text = simdutf8::basic::from_utf8(blob).ok()?;
    (ends.iter().all(|&end| text.is_char_boundary(end as usize))).then_some(())
}

/// Where a text stands that is the one of this number.
fn range(ends: &[u32], number: usize) -> std::ops::Range<usize> {
    let start = number.checked_sub(1).map_or(0, |before| ends[before]);
    start as usize..ends[number] as usize
}

/// Lays texts out by their ids; None if two have the same, or one is too large.
fn by_id(blob: Vec<u8>, ends: Vec<u32>, ids: &[u32]) -> Option<(Vec<u8>, Vec<u32>)> {
    if ids.iter().zip(0..).all(|(&id, number)| id == number) {
        return Some((blob, ends));
    }
    let size = ids.iter().max().map_or(0, |&last| last as usize + 1);
    if size > MAX_TOKENS {
        return None;
    }
    let mut numbers = vec![NONE; size];
    for (number, &id) in ids.iter().enumerate() {
        if std::mem::replace(&mut numbers[id as usize], number as u32) != NONE {
            return None;
        }
    }
    let mut ordered = Vec::with_capacity(blob.len());
    let laid = numbers.iter().map(|&number| {
        if number != NONE {
            ordered.extend_from_slice(&blob[range(&ends, number as usize)]);
        }
        ordered.len() as u32
    });
    let ends = laid.collect();
    Some((ordered, ends))
}

/// Merges of listed texts.
#[derive(Default)]
pub(super) struct Pairs {
    /// The ids of the parts.
    pub(super) parts: Vec<[u32; 2]>,
    /// The id of the token that both parts make, or [`NONE`] if there is none.
    pub(super) joined: Vec<u32>,
}

/// The texts that merges join.
pub(super) struct MergeTexts<'a> {
    document: &'a [u8],
    /// Texts that stand in the document with escapes.
    unescaped: Vec<u8>,
    parts: Vec<[Part; 2]>,
}

/// Where a part of a merge begins, in the document or, with [`UNESCAPED`], among what had escapes, and its length.
#[derive(Clone, Copy)]
struct Part(u32, u32);

/// A document that reaches so far is not read so.
const UNESCAPED: u32 = 1 << 31;

impl<'a> MergeTexts<'a> {
    fn in_document(document: &'a [u8]) -> Self {
        Self {
            document,
            unescaped: Vec::new(),
            parts: Vec::new(),
        }
    }

    /// Reads an array of merges. Parts are not empty.
    pub(super) fn read(reader: &mut Reader<'a>, document: &'a [u8]) -> Option<Self> {
        let mut merges = Self::in_document(document);
        let mut more = reader.opens(b'[', b']')?;
        let mut around = Default::default();
        while more {
            if merges.parts.len() == MAX_TOKENS {
                return None;
            }
            let [left, right] = read_pair(reader, &mut around)?;
            let pair = [merges.keep(left)?, merges.keep(right)?];
            merges.parts.push(pair);
            more = reader.goes_on(b']')?;
        }
        Some(merges)
    }

    /// Takes merges that stand in a document.
    pub(super) fn of(counted: Counted<'a>, document: &'a [u8]) -> Option<Self> {
        let mut merges = Self::in_document(document);
        for text in counted {
            let [left, right] = split(text)?;
            if merges.parts.len() == MAX_TOKENS || left.is_empty() || right.is_empty() {
                return None;
            }
            let pair = [merges.keep(left.into())?, merges.keep(right.into())?];
            merges.parts.push(pair);
        }
        Some(merges)
    }

    fn keep(&mut self, text: Cow<'a, [u8]>) -> Option<Part> {
        let (place, mark) = match &text {
            Cow::Borrowed(text) => (text.as_ptr().addr() - self.document.as_ptr().addr(), 0),
            Cow::Owned(text) => {
                let place = self.unescaped.len();
                self.unescaped.extend_from_slice(text);
                (place, UNESCAPED)
            }
        };
        let place = u32::try_from(place).ok().filter(|&at| at < UNESCAPED)?;
        Some(Part(place | mark, u32::try_from(text.len()).ok()?))
    }

    fn get(&self, Part(place, length): Part) -> &[u8] {
        let (texts, place) = match place & UNESCAPED {
            0 => (self.document, place as usize),
            _ => (&self.unescaped[..], (place ^ UNESCAPED) as usize),
        };
        &texts[place..place + length as usize]
    }
}

impl Pairs {
    /// Finds the texts of merges among those that are listed.
    pub(super) fn find(texts: &MergeTexts<'_>, listed: &Listed, threads: usize) -> Option<Self> {
        let shares = texts
            .parts
            .chunks(texts.parts.len().div_ceil(threads).max(1));
        let found = threads::map(shares, threads, |share| {
            let mut pairs = Self {
                parts: Vec::with_capacity(share.len()),
                joined: Vec::with_capacity(share.len()),
            };
            for batch in share.chunks(TOGETHER) {
                pairs.push_all(batch, texts, listed)?;
            }
            Some(pairs)
        });
        let found = found.into_iter().reduce(|before, pairs| {
            let (mut before, pairs) = (before?, pairs?);
            before.parts.extend(pairs.parts);
            before.joined.extend(pairs.joined);
            Some(before)
        });
        found.unwrap_or_else(|| Some(Self::default()))
    }

    fn push_all(
        &mut self,
        batch: &[[Part; 2]],
        texts: &MergeTexts<'_>,
        listed: &Listed,
    ) -> Option<()> {
        let mut parts = [&[][..]; 2 * TOGETHER];
        for (text, &part) in parts.iter_mut().zip(batch.as_flattened()) {
            *text = texts.get(part);
        }
        let mut ids = [NONE; 2 * TOGETHER];
        let count = 2 * batch.len();
        (listed.ids).get_each(&parts[..count], &listed.texts, &mut ids[..count]);
        let mut both = Vec::new();
        let pairs = parts[..count].as_chunks::<2>().0.iter();
        for (&[left, right], &ids) in pairs.zip(ids.as_chunks::<2>().0) {
            if ids.contains(&NONE) {
                return None;
            }
            let is = |id: u32| listed.texts.get(id).strip_prefix(left) == Some(right);
            // Merges mostly make one token after the other, and texts differ: no need to look it up.
            let last = self.joined.last().copied().unwrap_or(NONE);
            let joined = if is(last.wrapping_add(1)) {
                last.wrapping_add(1)
            } else if is(last) {
                last
            } else {
                both.clear();
                both.extend_from_slice(left);
                both.extend_from_slice(right);
                listed.id_of(&both).unwrap_or(NONE)
            };
            self.parts.push(ids);
            self.joined.push(joined);
        }
        Some(())
    }
}

/// Goes past what `read` does and the white space behind it, by one look if it is what was there the last time.
#[inline]
fn pass<'a>(
    last: &mut &'a [u8],
    reader: &mut Reader<'a>,
    read: impl Fn(&mut Reader<'a>) -> Option<()>,
) -> Option<()> {
    if !last.is_empty() && reader.passes(last) {
        return Some(());
    }
    let start = reader.place();
    read(reader)?;
    reader.peek()?;
    *last = reader.since(start);
    Some(())
}

/// Reads a merge, `"a b"` or `["a", "b"]`; `around` is what stood around the parts of the last one.
fn read_pair<'a>(
    reader: &mut Reader<'a>,
    around: &mut [&'a [u8]; 3],
) -> Option<[Cow<'a, [u8]>; 2]> {
    let [before, between, behind] = around;
    let pair = if pass(before, reader, |reader| reader.take(b'[')).is_some() {
        let left = reader.text()?;
        pass(between, reader, |reader| reader.take(b','))?;
        let right = reader.text()?;
        pass(behind, reader, |reader| reader.take(b']'))?;
        [left, right]
    } else {
        match reader.text()? {
            Cow::Borrowed(text) => split(text)?.map(Cow::Borrowed),
            Cow::Owned(text) => split(&text)?.map(|part| Cow::Owned(part.to_vec())),
        }
    };
    pair.iter().all(|part| !part.is_empty()).then_some(pair)
}

/// The two parts of a text around its one space.
fn split(text: &[u8]) -> Option<[&[u8]; 2]> {
    let mut parts = text.split(|&byte| byte == b' ');
    let pair = [parts.next()?, parts.next()?];
    parts.next().is_none().then_some(pair)
}
