//! Tables of rewriting rules: for each of many short texts, what comes in its place.
//!
//! The layout is SentencePiece's: u32 length of a trie in bytes, the trie (`double_array`), and the
//! replacements, each closed by NUL, to which the trie's values are offsets.

mod at_space;

use unicode_segmentation::UnicodeSegmentation;

use super::changes::Changes;
use super::double_array::DoubleArray;
use crate::error::{Result, invalid};
use crate::text::prefixes::Prefixes;
use crate::text::{Rewriter, character_len};

/// A table that is read.
#[derive(Debug)]
pub(super) struct Charsmap {
    trie: DoubleArray,
    replacements: String,
    /// Whether a rule begins with this byte.
    begins: [bool; 256],
    /// The bytes that a rule may hold behind its beginning.
    inside: [bool; 256],
    /// Whether a text that is left as it is holds a space.
    keeps_space: bool,
    /// Texts that are left as they are.
    kept: Prefixes,
    /// Whether one of those begins with this byte.
    kept_begins: [bool; 256],
    /// Whether extra blanks are left out, see [`Charsmap::leave_extra_out`].
    leaves_extra_out: bool,
}

impl Charsmap {
    /// Reads a table. None if it is empty: nothing changes.
    ///
    /// # Errors
    /// When it is shorter than it says, or replacements are not UTF-8.
    pub(super) fn read(bytes: &[u8]) -> Result<Option<Self>> {
        if bytes.is_empty() {
            return Ok(None);
        }
        let invalid = |what: &str| invalid!("the table of a normalizer {what}");
        let (length, rest) = bytes
            .split_first_chunk()
            .ok_or_else(|| invalid("is cut off"))?;
        let (trie, replacements) = rest
            .split_at_checked(u32::from_le_bytes(*length) as usize)
            .ok_or_else(|| invalid("is shorter than it says"))?;
        let replacements = str::from_utf8(replacements)
            .map_err(|_| invalid("puts in what is not UTF-8"))?
            .to_owned();
        let trie = DoubleArray::read(trie);
        let mut begins = [false; 256];
        for byte in 1..=255 {
            begins[usize::from(byte)] = trie.begins(byte);
        }
        Ok(Some(Self {
            inside: trie.inside(),
            keeps_space: false,
            trie,
            replacements,
            begins,
            kept: Prefixes::default(),
            kept_begins: [false; 256],
            leaves_extra_out: false,
        }))
    }

    /// A table without rules.
    pub(super) fn empty() -> Result<Option<Self>> {
        Self::read(&[0; 4])
    }

    /// Leaves these texts as they are, wherever the rules come to one: of several the longest.
    pub(super) fn keep(&mut self, texts: &[String]) {
        self.kept = Prefixes::new(texts.iter().map(|text| text.as_bytes().to_vec()));
        for text in self.kept.texts() {
            self.kept_begins[usize::from(text[0])] = true;
            self.keeps_space |= text.contains(&b' ');
        }
    }

    /// Whether several blanks stand side by side in what a rule puts in, or in a text that is left as it is. Those are no
    /// extra blanks to SentencePiece, see [`Charsmap::leave_extra_out`].
    pub(super) fn has_runs(&self) -> bool {
        let is_run = |pair: &[u8]| pair == b"  ";
        let kept = self.kept.texts().iter();
        let mut texts = kept
            .map(Vec::as_slice)
            .chain([self.replacements.as_bytes()]);
        texts.any(|text| text.windows(2).any(is_run))
    }

    /// From now on, what a rule puts in, a text that is left, and a character lose the blanks that they begin with behind
    /// one of them that ends with a blank: these are the extra blanks of SentencePiece. Blanks inside of them stay.
    pub(super) fn leave_extra_out(&mut self) {
        self.leaves_extra_out = true;
    }

    /// Whether it leaves them out.
    pub(super) fn leaves_extra_out(&self) -> bool {
        self.leaves_extra_out
    }

    /// Writes a table of rules, ascending by what they replace, none twice.
    ///
    /// # Errors
    /// When there are too many.
    pub(super) fn compile(rules: &[(&str, &str)]) -> Result<Vec<u8>> {
        let mut places: std::collections::BTreeMap<&str, u32> =
            rules.iter().map(|&(_, with)| (with, 0)).collect();
        let mut replacements = String::new();
        for (with, place) in &mut places {
            *place = replacements.len() as u32;
            replacements.push_str(with);
            replacements.push('\0');
        }
        let entries: Vec<_> = rules
            .iter()
            .map(|(what, with)| (what.as_bytes(), places[with]))
            .collect();
        let trie = DoubleArray::build(&entries)?.write();
        Ok([
            &(trie.len() as u32).to_le_bytes()[..],
            &trie,
            replacements.as_bytes(),
        ]
        .concat())
    }

    /// Whether a byte can only be the beginning of a rule.
    pub(super) fn only_begins(&self, byte: u8) -> bool {
        !self.inside[usize::from(byte)]
    }

    /// The texts that are left as they are.
    pub(super) fn kept(&self) -> &[Vec<u8>] {
        self.kept.texts()
    }

    /// Rewrites by the longest rule that applies, from left to right. What is put in stands for all that
    /// it replaces.
    pub(super) fn write(&self, old: &[u8], new: &mut Rewriter<'_>) {
        if self.leaves_extra_out {
            return self.write_without_extra(old, new);
        }
        let mut start = 0;
        let mut at = 0;
        while at < old.len() {
            let (length, with) = self.first(&old[at..]);
            if let Some(with) = with {
                new.keep(start..at);
                new.replace(at..at + length, with.as_bytes());
                start = at + length;
            }
            at += length;
        }
        new.keep(start..old.len());
    }

    /// What a text begins with: how long that is, and what a rule puts in its place.
    #[inline]
    fn first(&self, text: &[u8]) -> (usize, Option<&str>) {
        if self.kept_begins[usize::from(text[0])]
            && let Some(kept) = self.kept.longest(text)
        {
            return (kept, None);
        }
        if self.begins[usize::from(text[0])] {
            let rules = self.trie.prefixes(text);
            let longest = rules
                .filter_map(|(length, value)| Some((length, self.replacement(value)?)))
                .last();
            if let Some((length, with)) = longest {
                return (length, Some(with));
            }
        }
        (character_len(text, 0), None)
    }

    fn write_without_extra(&self, old: &[u8], new: &mut Rewriter<'_>) {
        let mut behind_blank = false;
        let mut at = 0;
        while at < old.len() {
            let (length, with) = self.first(&old[at..]);
            let part = with.map_or(&old[at..at + length], str::as_bytes);
            let blanks = part.iter().take_while(|&&byte| byte == b' ').count();
            let extra = if behind_blank { blanks } else { 0 };
            match with {
                Some(with) => new.replace(at..at + length, &with.as_bytes()[extra..]),
                None => new.keep(at + extra..at + length),
            }
            if extra < part.len() {
                behind_blank = part.ends_with(b" ");
            }
            at += length;
        }
    }

    /// Rewrites as Hugging Face's `Precompiled`: a grapheme cluster of less than six bytes becomes, as
    /// a whole, what the shortest rule makes of its beginning; else each of its characters does by
    /// itself. So CR LF becomes one space and not two, and an accent may get lost.
    pub(super) fn write_graphemes(&self, old: &[u8], new: &mut Rewriter<'_>) {
        let mut writer = GraphemeWriter {
            changes: Changes::new(old, new),
            last: None,
        };
        let mut end = 0;
        for chunk in old.utf8_chunks() {
            let mut rest = chunk.valid();
            while !rest.is_empty() {
                // Each but the last of a plain run is a cluster by itself. With the last one the way
                // of clusters goes on, up to the next run that is worth leaving it for.
                let plain = self.plain(rest);
                if plain > 0 {
                    writer.flush();
                    writer
                        .changes
                        .keep_to(end + chunk.valid().len() - rest.len() + plain);
                    rest = &rest[plain..];
                }
                let run = self.until_plain(rest);
                self.rewrite_clusters(&rest[..run], &mut writer);
                rest = &rest[run..];
            }
            end += chunk.valid().len() + chunk.invalid().len();
            if !chunk.invalid().is_empty() {
                writer.flush();
                writer.changes.keep_to(end);
            }
        }
        writer.flush();
    }

    /// The bytes of all but the last of the plain characters that a text begins with and that no rule
    /// is for.
    fn plain(&self, text: &str) -> usize {
        let bytes = text.as_bytes();
        let (mut last, mut at) = (0, 0);
        while let Some(length) = is_plain(&bytes[at..])
            && self.shortest(&text[at..at + length]).is_none()
        {
            last = at;
            at += length;
        }
        last
    }

    /// Where the next run of plain characters begins behind the first character and a plain one: a
    /// cluster ends there, for between two of them one always does.
    fn until_plain(&self, text: &str) -> usize {
        let bytes = text.as_bytes();
        let mut behind_plain = false;
        for (at, _) in text.char_indices() {
            let plain = is_plain(&bytes[at..]).is_some();
            if at > 0 && behind_plain && plain && self.plain(&text[at..]) > 0 {
                return at;
            }
            behind_plain = plain;
        }
        text.len()
    }

    /// Rewrites cluster by cluster.
    fn rewrite_clusters(&self, text: &str, writer: &mut GraphemeWriter<'_, '_>) {
        for grapheme in text.graphemes(true) {
            match self.shortest(grapheme).filter(|_| grapheme.len() < 6) {
                Some(with) => writer.replace(grapheme, with),
                None => self.rewrite_characters(grapheme, writer),
            }
        }
    }

    fn rewrite_characters(&self, grapheme: &str, writer: &mut GraphemeWriter<'_, '_>) {
        for (at, character) in grapheme.char_indices() {
            let own = &grapheme[at..at + character.len_utf8()];
            match self.shortest(own) {
                Some(with) => writer.replace(own, with),
                None => writer.write(character, 0),
            }
        }
    }

    /// What the shortest rule that a text begins with puts in its place.
    fn shortest(&self, text: &str) -> Option<&str> {
        if !self.begins[usize::from(*text.as_bytes().first()?)] {
            return None;
        }
        let (_, value) = self.trie.prefixes(text.as_bytes()).next()?;
        self.replacement(value)
    }

    fn replacement(&self, value: usize) -> Option<&str> {
        let rest = self.replacements.get(value..)?;
        Some(rest.split_once('\0').map_or(rest, |(with, _)| with))
    }
}

/// The length of the character that a text begins with, if it is one of those that no cluster has
/// several of: visible ones of ASCII, the space, and the two large blocks of Han.
#[inline]
fn is_plain(text: &[u8]) -> Option<usize> {
    match text {
        [b' '..=b'~', ..] => Some(1),
        [0xE3, 0x90..=0xBF, _, ..] | [0xE4, 0x00..=0xB6 | 0xB8.., _, ..] => Some(3),
        [0xE5..=0xE9, _, _, ..] => Some(3),
        _ => None,
    }
}

/// Writes replacements with the numbers that Hugging Face gives them.
struct GraphemeWriter<'a, 'b> {
    changes: Changes<'a, 'b>,
    /// The last character, to whose number what is left out behind it is added.
    last: Option<(char, isize)>,
}

impl GraphemeWriter<'_, '_> {
    fn replace(&mut self, what: &str, with: &str) {
        let (old, new) = (what.chars().count(), with.chars().count());
        for (number, character) in with.chars().enumerate() {
            self.write(character, isize::from(number >= old));
        }
        let removed = old.saturating_sub(new);
        match &mut self.last {
            Some((_, change)) => *change -= removed as isize,
            // Hugging Face's forgets what it leaves out at the beginning, and its offsets are too low
            // by as much in all that follows.
            None => (0..removed).for_each(|_| self.changes.skip()),
        }
    }

    fn write(&mut self, character: char, change: isize) {
        self.flush();
        self.last = Some((character, change));
    }

    fn flush(&mut self) {
        if let Some((character, change)) = self.last.take() {
            self.changes.put(character, change);
        }
    }
}

#[cfg(test)]
mod tests;
