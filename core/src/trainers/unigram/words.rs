//! The text that a unigram model is trained on: different words with their counts.

use std::collections::HashMap;
use std::hash::BuildHasher as _;

use foldhash::fast::RandomState;
use hashbrown::HashTable;

use super::Options;
use crate::error::{Error, Result};
use crate::text::{character_len, characters, read_char};
use crate::trainers::valid_piece::{BOUNDARY, Class, LEFT_OUT, MARK, Rules, class_of};

/// What stands for a character that is left out: a byte that no character has.
const GAP: u8 = 0xFF;
/// A longer word is cut, in characters. Nobody writes one; text without any blank has some.
const LONGEST: usize = 4096;
/// What follows a word: several things.
pub const MANY: u32 = u32::MAX;

/// From here on: a word that occurs once, with a number of its own. Below are characters.
const OWN: u32 = 1 << 21;

/// The first byte of a character in UTF-8. The original's suffix tree is one of bytes: characters that
/// begin with the same byte count as one where it asks whether different things follow.
pub fn first_byte(character: char) -> u8 {
    character.encode_utf8(&mut [0; 4]).as_bytes()[0]
}

/// Words, most frequent first, and among equals by their bytes.
#[derive(Debug, Default)]
pub struct Words {
    blob: Vec<u8>,
    ends: Vec<usize>,
    counts: Vec<u64>,
    /// What follows each: a number for it, or [`MANY`].
    next: Vec<u32>,
    /// Characters that must have tokens, with their counts: the required, then the most frequent first.
    pub characters: Vec<(char, u64)>,
}

impl Words {
    /// Counts words and chooses the characters that have tokens.
    ///
    /// # Errors
    /// When there is too much text.
    pub fn new<'a>(
        pieces: impl Iterator<Item = (&'a [u8], u64)> + Clone,
        options: &Options,
    ) -> Result<Self> {
        let sentences = options.single_precision;
        let usable = pieces.filter(|(piece, _)| !sentences || !has(piece, LEFT_OUT));
        let chosen = choose_characters(usable.clone(), options);
        let classes = Classes::new(&chosen);
        let mut collector = Collector::default();
        let mut buffer = Vec::new();
        for (piece, count) in usable {
            match sentences {
                true => {
                    buffer.clear();
                    for (at, bytes) in characters(piece) {
                        match classes.get(piece, at) {
                            Some(_) => buffer.extend_from_slice(bytes),
                            None => buffer.push(GAP),
                        }
                    }
                    // All sentences end in the same way.
                    if options.rules.split_by_whitespace {
                        collector.add_split(&buffer, count, 0, options.rules)?;
                    } else {
                        collector.add(&buffer, count, 0)?;
                    }
                }
                false => collector.add_joined(piece, count, &classes, options.rules)?,
            }
        }
        Ok(collector.finish(chosen))
    }

    /// How many different words there are.
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// The bytes and the count of a word.
    #[inline]
    pub fn get(&self, number: usize) -> (&[u8], u64) {
        let start = if number == 0 {
            0
        } else {
            self.ends[number - 1]
        };
        (&self.blob[start..self.ends[number]], self.counts[number])
    }

    /// What follows a word: a number for it, or [`MANY`].
    pub fn next(&self, number: usize) -> u32 {
        self.next[number]
    }

    /// The numbers of the words in one of so many parts of about as many bytes.
    pub fn range(&self, part: usize, parts: usize) -> std::ops::Range<usize> {
        let border = |part: usize| {
            let bytes = self.blob.len() as u128 * part as u128 / parts as u128;
            match part == parts {
                true => self.len(),
                false => self.ends.partition_point(|&end| end as u128 <= bytes),
            }
        };
        border(part)..border(part + 1)
    }

    /// Bytes of all words together.
    pub fn total_bytes(&self) -> usize {
        self.blob.len()
    }
}

fn has(piece: &[u8], character: char) -> bool {
    let mut buffer = [0; 4];
    let bytes = character.encode_utf8(&mut buffer).as_bytes();
    piece.windows(bytes.len()).any(|window| window == bytes)
}

/// The characters that have tokens.
fn choose_characters<'a>(
    pieces: impl Iterator<Item = (&'a [u8], u64)>,
    options: &Options,
) -> Vec<(char, u64)> {
    let mut counts: HashMap<char, (bool, u64)> = HashMap::new();
    // The line of sentences keeps some characters for itself.
    let is_usable = |c: char| !(options.single_precision && matches!(c, '\0' | ' '));
    for character in options.required.chars().filter(|&c| is_usable(c)) {
        counts.entry(character).or_default().0 = true;
    }
    let mut ascii = [0u64; 128];
    let mut all = 0u64;
    for (piece, count) in pieces {
        for (at, bytes) in characters(piece) {
            if bytes[0] < 0x80 {
                ascii[bytes[0] as usize] += count;
            } else if let (Some(character), _) = read_char(piece, at) {
                counts.entry(character).or_default().1 += count;
                all += count;
            }
        }
    }
    for (byte, &count) in ascii.iter().enumerate() {
        let character = char::from(byte as u8);
        if count > 0 && is_usable(character) {
            counts.entry(character).or_default().1 += count;
            all += count;
        }
    }
    let mut sorted: Vec<(char, bool, u64)> = counts
        .into_iter()
        .map(|(character, (required, count))| (character, required, count))
        .collect();
    sorted.sort_unstable_by_key(|&(character, required, count)| {
        (!required, std::cmp::Reverse(count), character)
    });
    let mut covered = 0;
    let mut chosen = Vec::new();
    for (character, required, count) in sorted {
        // In f32, as whoever chose the usual values did.
        let coverage = (covered as f64 / all as f64) as f32;
        let is_enough = coverage >= options.character_coverage as f32;
        // The original counts on among the required, and may leave some of them out.
        if is_enough && (options.single_precision || !required) {
            break;
        }
        covered += count;
        if !options.single_precision || character != BOUNDARY {
            chosen.push((character, count));
        }
    }
    // From here on those that are required count as others do.
    chosen.sort_unstable_by_key(|&(character, count)| (std::cmp::Reverse(count), character));
    chosen
}

/// The classes of the characters that have tokens.
struct Classes {
    ascii: [Option<Class>; 128],
    others: HashMap<char, Class, RandomState>,
}

impl Classes {
    fn new(chosen: &[(char, u64)]) -> Self {
        let mut classes = Self {
            ascii: [None; 128],
            others: HashMap::default(),
        };
        for &(character, _) in chosen {
            let class = class_of(character);
            match classes.ascii.get_mut(character as usize) {
                Some(place) => *place = Some(class),
                None => {
                    classes.others.insert(character, class);
                }
            }
        }
        classes
    }

    /// The class of the character at a place of a text, if it has a token.
    #[inline]
    fn get(&self, text: &[u8], at: usize) -> Option<Class> {
        match self.ascii.get(text[at] as usize) {
            Some(&class) => class,
            None => self.others.get(&read_char(text, at).0?).copied(),
        }
    }
}

/// Words while they are counted.
#[derive(Default)]
struct Collector {
    blob: Vec<u8>,
    ends: Vec<usize>,
    counts: Vec<u64>,
    next: Vec<u32>,
    table: HashTable<u32>,
    /// Random; no result depends on it.
    hasher: RandomState,
}

impl Collector {
    fn word(blob: &[u8], ends: &[usize], place: u32) -> std::ops::Range<usize> {
        let place = place as usize;
        let start = if place == 0 { 0 } else { ends[place - 1] };
        debug_assert!(ends[place] <= blob.len());
        start..ends[place]
    }

    fn add(&mut self, word: &[u8], count: u64, next: u32) -> Result<()> {
        if word.is_empty() {
            return Ok(());
        }
        let Self {
            blob,
            ends,
            counts,
            next: nexts,
            table,
            hasher,
        } = self;
        let hash = hasher.hash_one(word);
        let found = table.find(hash, |&place| &blob[Self::word(blob, ends, place)] == word);
        if let Some(&place) = found {
            let place = place as usize;
            counts[place] = counts[place].saturating_add(count);
            if nexts[place] != next {
                nexts[place] = MANY;
            }
            return Ok(());
        }
        if blob.len() + word.len() >= u32::MAX as usize {
            return Err(Error::Invalid(
                "there is too much text to train on at once: 4 GiB of different words".to_owned(),
            ));
        }
        let place = counts.len() as u32;
        blob.extend_from_slice(word);
        ends.push(blob.len());
        counts.push(count);
        nexts.push(next);
        table.insert_unique(hash, place, |&place| {
            hasher.hash_one(&blob[Self::word(blob, ends, place)])
        });
        Ok(())
    }

    /// Cuts a piece where no token goes on, and adds the words. Characters that are left out are no part
    /// of any.
    fn add_joined(&mut self, piece: &[u8], count: u64, classes: &Classes, rules: Rules) -> Result<()> {
        let (mut start, mut length, mut last) = (0, 0, Class::Never);
        let mut at = 0;
        while at < piece.len() {
            let class = classes.get(piece, at).unwrap_or(Class::Never);
            if length == LONGEST || !rules.may_join(last, class) {
                self.add_word(&piece[start..at], count)?;
                (start, length) = (at, 0);
            }
            at += character_len(piece, at);
            if class == Class::Never {
                start = at;
            } else {
                length += 1;
            }
            last = class;
        }
        self.add_word(&piece[start..], count)
    }

    /// Adds a word whose end is followed by something of its own if it occurs once.
    fn add_word(&mut self, word: &[u8], count: u64) -> Result<()> {
        let next = match count {
            // No two words have the same number, so that those that share an end have many.
            1 => OWN.saturating_add(self.counts.len() as u32),
            _ => MANY,
        };
        self.add(word, count, next)
    }

    /// Splits a sentence before its marks (or after them) and adds the words.
    fn add_split(&mut self, sentence: &[u8], count: u64, own: u32, rules: Rules) -> Result<()> {
        let mut mark = [0; 4];
        let mark = MARK.encode_utf8(&mut mark).as_bytes();
        let mut start = 0;
        let mut after_mark = false;
        for (at, character) in characters(sentence) {
            let is_mark = character == mark;
            let cuts = match (
                rules.treat_whitespace_as_suffix,
                rules.allow_whitespace_only_pieces,
            ) {
                (false, false) => is_mark,
                (false, true) => is_mark && !after_mark,
                (true, false) => after_mark,
                (true, true) => after_mark && !is_mark,
            };
            if cuts && at > start {
                let next = read_char(sentence, at).0.unwrap_or(LEFT_OUT);
                let next = u32::from(first_byte(next));
                self.add(&sentence[start..at], count, next)?;
                start = at;
            }
            after_mark = is_mark;
        }
        self.add(&sentence[start..], count, own)
    }

    fn finish(self, characters: Vec<(char, u64)>) -> Words {
        let mut order: Vec<u32> = (0..self.counts.len() as u32).collect();
        let word = |place: u32| &self.blob[Self::word(&self.blob, &self.ends, place)];
        order.sort_unstable_by(|&a, &b| {
            let counts = self.counts[b as usize].cmp(&self.counts[a as usize]);
            counts.then_with(|| word(a).cmp(word(b)))
        });
        let mut words = Words {
            characters,
            ..Words::default()
        };
        for place in order {
            words.blob.extend_from_slice(word(place));
            words.ends.push(words.blob.len());
            words.counts.push(self.counts[place as usize]);
            words.next.push(self.next[place as usize]);
        }
        words
    }
}
