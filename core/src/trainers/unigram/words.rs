//! The text that a unigram model is trained on: different words with their counts.

use foldhash::fast::RandomState;
use hashbrown::{HashMap, HashSet};
use memchr::memmem::Finder;

use super::Options;
use crate::count::Counts;
use crate::error::{Result, ensure};
use crate::text::{characters, read_char};
use crate::threads;
use crate::trainers::letters::{self, Letter};
use crate::trainers::valid_piece::{BOUNDARY, LEFT_OUT, MARK, Rules};
use crate::trainers::word_cuts::WordCuts;

/// What stands for a character that is left out: a byte that no character has.
const GAP: u8 = 0xFF;
/// A longer word is cut, in characters. Nobody writes one; text without any blank has some.
const LONGEST: usize = 4096;
/// A thread is worth so many sentences.
const STRETCH: usize = 4096;
/// What follows a word: several things.
pub const MANY: u32 = u32::MAX;

/// What follows a sentence: in all the same.
const END: u32 = 0;
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
        if options.single_precision {
            let mut buffer = [0; 4];
            let left_out = Finder::new(LEFT_OUT.encode_utf8(&mut buffer));
            let usable = pieces.filter(|(piece, _)| left_out.find(piece).is_none());
            return Self::of_sentences(&usable.collect::<Vec<_>>(), options);
        }
        let chosen = choose_characters(letters::of(pieces.clone()), options);
        let cuts = WordCuts::new(chosen.iter().map(|&(c, _)| c), options.rules, LONGEST);
        // What follows a word that occurs once is its own, and not that of another one with the same end.
        let next = |place: usize, count| match count {
            1 => OWN.saturating_add(place as u32),
            _ => MANY,
        };
        Self::sorted(&cuts.words(pieces)?, next, chosen)
    }

    /// Counts the words of sentences, a stretch of them on each thread.
    fn of_sentences(sentences: &[(&[u8], u64)], options: &Options) -> Result<Self> {
        let stretch = (sentences.len().div_ceil(options.threads.max(1))).max(STRETCH);
        let stretches = || sentences.chunks(stretch);
        let letters = threads::map(stretches(), options.threads, |sentences| {
            letters::of(sentences.iter().copied())
        });
        let chosen = choose_characters(letters.into_iter().flatten(), options);
        let is_chosen: HashSet<char, RandomState> = chosen.iter().map(|&(c, _)| c).collect();
        let collected = threads::map(stretches(), options.threads, |sentences| {
            let mut collector = Collector::default();
            collector.add_all(sentences, &is_chosen, options.rules)?;
            Ok(collector)
        });
        let mut collected = collected.into_iter();
        let mut all = collected.next().transpose()?.unwrap_or_default();
        for others in collected {
            all.merge(others?)?;
        }
        let Collector { counts, next } = all;
        Self::sorted(&counts, |place, _| next[place], chosen)
    }

    /// Sorts words that are counted; `next` says what follows one, by its place among all and its count.
    fn sorted(
        counts: &Counts,
        next: impl Fn(usize, u64) -> u32,
        characters: Vec<(char, u64)>,
    ) -> Result<Self> {
        let bytes: usize = counts.iter().map(|(word, _)| word.len()).sum();
        ensure!(
            bytes < u32::MAX as usize,
            "there is too much text to train on at once: 4 GiB of different words"
        );
        let mut order: Vec<_> = counts.iter().enumerate().collect();
        order.sort_unstable_by(|(_, a), (_, b)| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        let mut words = Self {
            characters,
            ..Self::default()
        };
        for (place, (word, count)) in order {
            words.blob.extend_from_slice(word);
            words.ends.push(words.blob.len());
            words.counts.push(count);
            words.next.push(next(place, count));
        }
        Ok(words)
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

/// The characters that have tokens, of those that occur; a character may be given several times.
fn choose_characters(
    letters: impl IntoIterator<Item = (char, Letter)>,
    options: &Options,
) -> Vec<(char, u64)> {
    // The line of sentences keeps some characters for itself.
    let is_usable = |c: char| !(options.single_precision && matches!(c, '\0' | ' '));
    let mut counts: HashMap<char, (bool, u64), RandomState> = HashMap::default();
    for character in options.required.chars().filter(|&c| is_usable(c)) {
        counts.entry(character).or_default().0 = true;
    }
    let mut all = 0u64;
    for (character, letter) in letters {
        if is_usable(character) {
            let (_, count) = counts.entry(character).or_default();
            *count = count.saturating_add(letter.count);
            all += letter.count;
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

/// Words while they are counted.
struct Collector {
    counts: Counts,
    /// What follows each.
    next: Vec<u32>,
}

impl Default for Collector {
    fn default() -> Self {
        Self {
            counts: Counts::new(usize::MAX),
            next: Vec::new(),
        }
    }
}

impl Collector {
    /// Adds the words of sentences, with gaps for the characters that are left out.
    fn add_all(
        &mut self,
        sentences: &[(&[u8], u64)],
        is_chosen: &HashSet<char, RandomState>,
        rules: Rules,
    ) -> Result<()> {
        let mut buffer = Vec::new();
        for &(sentence, count) in sentences {
            buffer.clear();
            for (at, bytes) in characters(sentence) {
                match read_char(sentence, at).0 {
                    Some(character) if is_chosen.contains(&character) => {
                        buffer.extend_from_slice(bytes);
                    }
                    _ => buffer.push(GAP),
                }
            }
            if rules.split_by_whitespace {
                self.add_split(&buffer, count, rules)?;
            } else {
                self.add(&buffer, count, END)?;
            }
        }
        Ok(())
    }

    /// Adds the words of another. What follows a word in both is several things if it is not the same, whichever
    /// of them is asked first.
    fn merge(&mut self, other: Self) -> Result<()> {
        for ((word, count), next) in other.counts.iter().zip(other.next) {
            self.add(word, count, next)?;
        }
        Ok(())
    }

    fn add(&mut self, word: &[u8], count: u64, next: u32) -> Result<()> {
        if let Some(place) = self.counts.add_at(word, count)? {
            match self.next.get_mut(place) {
                None => self.next.push(next),
                Some(known) if *known != next => *known = MANY,
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// Splits a sentence before its marks (or after them) and adds the words.
    fn add_split(&mut self, sentence: &[u8], count: u64, rules: Rules) -> Result<()> {
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
        self.add(&sentence[start..], count, END)
    }
}
