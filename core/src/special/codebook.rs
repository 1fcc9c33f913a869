//! Words of a fixed width between two tags, looked up as they are: DNA in text.
//!
//! A stretch begins behind an opening tag and ends before the first closing one, or with the text. Its
//! ASCII letters count as capitals; it is cut every `width` bytes, and what is left over at its end is
//! filled up. A word that is not in the book is the unknown one. Tags are tokens too.

use foldhash::fast::RandomState;
use hashbrown::HashMap;
use memchr::memmem::{Finder, find, rfind};

use crate::error::{Result, ensure, invalid};
use crate::special::segment::Segment;

/// Text that is a token wherever it stands for one.
#[derive(Clone, Debug)]
pub struct Tag {
    /// The text.
    pub content: Vec<u8>,
    /// The token's id.
    pub id: u32,
}

/// What stretches between tags become.
#[derive(Debug)]
pub struct Codebook {
    open: Tag,
    close: Tag,
    opens: Finder<'static>,
    unknown_id: u32,
    width: usize,
    fill: u8,
    words: HashMap<Vec<u8>, u32, RandomState>,
}

impl Codebook {
    /// Compiles a book.
    ///
    /// # Errors
    /// Says that a tag or a word cannot be.
    pub fn new(
        open: Tag,
        close: Tag,
        unknown_id: u32,
        width: usize,
        fill: u8,
        words: impl IntoIterator<Item = (Vec<u8>, u32)>,
    ) -> Result<Self> {
        ensure!(
            !open.content.is_empty() && !close.content.is_empty() && width != 0,
            "a codebook needs two tags, and words of at least a byte"
        );
        let words: HashMap<_, _, _> = words.into_iter().collect();
        if let Some(word) = words.keys().find(|word| word.len() != width) {
            let found = word.len();
            return Err(invalid!(
                "a word of a codebook has {found} bytes, and not {width}"
            ));
        }
        Ok(Self {
            opens: Finder::new(&open.content).into_owned(),
            open,
            close,
            unknown_id,
            width,
            fill,
            words,
        })
    }

    /// Calls `each` for each stretch of text outside of the tags, and for each tag and word.
    ///
    /// # Errors
    /// The first error that the callback gives.
    pub fn segments(&self, text: &[u8], mut each: impl FnMut(Segment) -> Result<()>) -> Result<()> {
        let mut at = 0;
        while let Some(found) = self.opens.find(&text[at..]) {
            let start = at + found;
            if at < start {
                each(Segment::Text {
                    start: at,
                    end: start,
                })?;
            }
            let begin = start + self.open.content.len();
            each(Segment::Special {
                id: self.open.id,
                start,
                end: begin,
            })?;
            let close = find(&text[begin..], &self.close.content).map(|found| begin + found);
            let end = close.unwrap_or(text.len());
            self.words_of(&text[begin..end], |word| each(word.moved(begin)))?;
            at = end;
            if let Some(start) = close {
                at += self.close.content.len();
                each(Segment::Special {
                    id: self.close.id,
                    start,
                    end: at,
                })?;
            }
        }
        if at < text.len() {
            each(Segment::Text {
                start: at,
                end: text.len(),
            })?;
        }
        Ok(())
    }

    /// Calls `each` for each word of a stretch; the last stands for what there is of it.
    fn words_of(&self, stretch: &[u8], mut each: impl FnMut(Segment) -> Result<()>) -> Result<()> {
        let mut word = Vec::with_capacity(self.width);
        for (number, part) in stretch.chunks(self.width).enumerate() {
            word.clear();
            word.extend(part.iter().map(u8::to_ascii_uppercase));
            word.resize(self.width, self.fill);
            let start = number * self.width;
            each(Segment::Special {
                id: self.words.get(&word).copied().unwrap_or(self.unknown_id),
                start,
                end: start + part.len(),
            })?;
        }
        Ok(())
    }

    /// Whether a tag may go on across a cut, also past the end of the text, or ends at it.
    pub(crate) fn tag_reaches(&self, text: &[u8], cut: usize) -> bool {
        [&self.open.content, &self.close.content]
            .into_iter()
            .any(|tag| {
                let seen_from = |start: usize| &text[start..text.len().min(start + tag.len())];
                (1..=tag.len().min(cut)).any(|before| tag.starts_with(seen_from(cut - before)))
            })
    }

    /// Where the last opening tag begins behind which a text is open at its end; None if it is not.
    ///
    /// What a text that a special token ends leaves open, it does not know.
    pub(crate) fn open_at_end(&self, text: &[u8]) -> Option<usize> {
        let start = rfind(text, &self.open.content)?;
        let behind = start + self.open.content.len();
        find(&text[behind..], &self.close.content)
            .is_none()
            .then_some(start)
    }

    /// The length of an opening tag.
    pub(crate) fn open_len(&self) -> usize {
        self.open.content.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn book() -> Codebook {
        let tag = |content: &[u8], id| Tag {
            content: content.to_vec(),
            id,
        };
        let words = [(b"AAC".to_vec(), 3), (b"GAA".to_vec(), 4)];
        Codebook::new(tag(b"<d>", 0), tag(b"</d>", 1), 2, 3, b'A', words).unwrap()
    }

    fn found(text: &[u8]) -> Vec<(Option<u32>, usize, usize)> {
        let mut all = Vec::new();
        book()
            .segments(text, |segment| {
                all.push(match segment {
                    Segment::Text { start, end } => (None, start, end),
                    Segment::Special { id, start, end } => (Some(id), start, end),
                });
                Ok(())
            })
            .unwrap();
        all
    }

    #[test]
    fn words_stand_between_tags() {
        let all = found(b"aac<d>aacgaxg</d>AAC");
        let words = [(Some(3), 6, 9), (Some(2), 9, 12), (Some(4), 12, 13)];
        assert_eq!(all[..2], [(None, 0, 3), (Some(0), 3, 6)]);
        assert_eq!(all[2..5], words);
        assert_eq!(all[5..], [(Some(1), 13, 17), (None, 17, 20)]);
    }

    #[test]
    fn what_is_not_closed_goes_to_the_end() {
        assert_eq!(found(b"<d>aac"), [(Some(0), 0, 3), (Some(3), 3, 6)]);
        assert_eq!(found(b"</d>x"), [(None, 0, 5)]);
        assert_eq!(found(b"<d>"), [(Some(0), 0, 3)]);
        assert_eq!(found(b""), []);
        let twice = found(b"<d><d></d></d>");
        let inner = [(Some(0), 0, 3), (Some(2), 3, 6), (Some(1), 6, 10)];
        assert_eq!(twice[..3], inner, "a tag inside is a word");
        assert_eq!(twice[3..], [(None, 10, 14)]);
    }

    #[test]
    fn it_knows_what_is_open() {
        let book = book();
        assert_eq!(book.open_at_end(b"a <d>aa c"), Some(2));
        assert_eq!(book.open_at_end(b"a <d>aa</d> c"), None);
        assert_eq!(book.open_at_end(b"a </d> c"), None);
        assert!(book.tag_reaches(b"a<d>c", 2));
        assert!(book.tag_reaches(b"a<d>c", 4), "it ends there");
        assert!(book.tag_reaches(b"a</", 2), "it may go on");
        assert!(!book.tag_reaches(b"a<d>c", 1));
        assert!(!book.tag_reaches(b"a<d>c", 5));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let tag = |content: &[u8]| Tag {
            content: content.to_vec(),
            id: 0,
        };
        assert!(Codebook::new(tag(b""), tag(b"x"), 2, 3, b'A', []).is_err());
        assert!(Codebook::new(tag(b"x"), tag(b"x"), 2, 0, b'A', []).is_err());
        assert!(Codebook::new(tag(b"x"), tag(b"x"), 2, 3, b'A', [(b"AA".to_vec(), 1)]).is_err());
    }
}
