//! Where a text can be cut into words before any stage has seen it.
//!
//! Words are what a memory is worth asking for: a word's tokens are the same wherever it stands, so they
//! are found once. What makes that true is worked out here from the stages and the model, by trying the
//! stages on short texts where that says more than their names do. A word has the blanks before it.

mod shapes;

use shapes::{between_letters, mapped, marks, runs_shrink, words};
use unicode_normalization::char::{canonical_combining_class, decompose_canonical};

use crate::boundaries::pairs::Places;
use crate::boundaries::seams::{Border, Joints};
use crate::boundaries::stages::Shape;
use crate::models::model::Model;
use crate::normalize::Context;
use crate::split::stage::Pieces;
use crate::stages::Stages;
use crate::text::read_char;

/// A word ends before this byte if the one before it is [`SETTLED`]; of several only the first.
pub const BLANK: u8 = 1;
/// This byte is a word by itself, but for blanks before it.
pub const ALONE: u8 = 1 << 1;
/// Nothing behind this byte changes what becomes of it, if a blank follows.
pub const SETTLED: u8 = 1 << 2;

/// A letter of ASCII.
pub const LETTER: u8 = 1 << 3;
/// A word ends before this byte behind any [`LETTER`], if a blank or a [`SETTLED`] byte follows.
pub const CLOSES: u8 = 1 << 4;
/// A word ends behind this byte before any [`LETTER`] that is followed so.
pub const OPENS: u8 = 1 << 5;

/// The mark that stands for a blank.
pub const MARK: &[u8] = "\u{2581}".as_bytes();

/// The inside of a text that was cut before and behind.
pub const INSIDE: Context = Context {
    continued: true,
    first: false,
};

/// How text is cut into words.
#[derive(Debug)]
pub struct Plan {
    /// What each byte is: a sum of this module's constants.
    pub classes: [u8; 256],
    /// Whether blanks leave no trace, so that a word is the same with one before it and without.
    pub blanks_go: bool,
    /// Whether the beginning of a text is handled otherwise than what follows.
    pub begins: bool,
    /// What each byte becomes in a word of such bytes, if that is another byte; 0: not known.
    pub becomes: [u8; 256],
    /// What blanks before such a word become.
    pub lead: Lead,
    /// How characters outside ASCII can be words by themselves.
    pub characters: Apart,
    /// Where a word can be cut further.
    pub joints: Option<Joints>,
    /// Whether marks in the text are what blanks become, so that no word ends with one.
    pub given_marks: bool,
    /// Whether a word can be taken window by window, see `windows`.
    pub by_windows: bool,
    /// Whether of a long run of spaces a few are as good as all, see `shrink`.
    pub runs_shrink: bool,
    /// Whether what is not known goes through the stages as a text does where nothing is known of words: of its pieces,
    /// some may be known.
    pub by_pieces: bool,
    /// Where words end, if not where `classes` say so.
    pub places: Option<Places>,
}

/// What blanks before a word become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lead {
    /// Nothing.
    Nothing,
    /// All of them a mark.
    OneMark,
    /// Each a mark.
    Marks,
}

/// Which characters outside ASCII are words by themselves.
#[derive(Debug)]
pub enum Apart {
    /// None.
    Never,
    /// Those that the stages cut off on both sides.
    ByStages,
    /// Those that are part of no token but their own.
    ByModel,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            classes: [0; 256],
            blanks_go: false,
            begins: false,
            becomes: [0; 256],
            lead: Lead::Nothing,
            characters: Apart::Never,
            joints: None,
            given_marks: false,
            by_windows: false,
            runs_shrink: false,
            by_pieces: false,
            places: None,
        }
    }
}

impl Plan {
    /// Works a plan out. None if the stages or the model allow none.
    pub fn new(stages: &Stages, model: &dyn Model) -> Option<Self> {
        let shape = stages.answers().shape();
        if model.fuses().is_some() || model.reads_bytes() && shape != Shape::CutAtSpaces {
            return None;
        }
        let plan = match shape {
            Shape::Unknown => None,
            Shape::CutAtSpaces => {
                return Some(Self {
                    places: stages.places(),
                    ..between_letters()
                });
            }
            Shape::Words => Some(words(stages)),
            Shape::MappedWords => mapped(stages, None),
            shape @ (Shape::Marks | Shape::MappedMarks) => {
                let seams = model.seams();
                if !matches!(seams.border, Some(Border::Before('\u{2581}'))) {
                    return None;
                }
                match shape {
                    Shape::Marks if model.carrying().is_none() => {
                        let plan = marks(stages, seams.joints);
                        Some(Self {
                            by_windows: plan.lead == Lead::Marks && model.neighbours_tell(),
                            ..plan
                        })
                    }
                    _ => mapped(stages, seams.joints),
                }
            }
        };
        plan.map(|plan| Self {
            runs_shrink: runs_shrink(stages, plan.lead),
            ..plan
        })
    }

    /// Where a word can be cut next: behind a character that ends after `from`. Only bytes that stay as
    /// they are part words, for the model sees others than those in the text.
    pub fn joint(&self, text: &[u8], from: usize, end: usize) -> Option<usize> {
        let joints = self.joints.as_ref()?;
        let mut left = None;
        let mut at = from;
        while at < end {
            let (character, length) = read_char(&text[..end], at);
            let stays = self.classes[usize::from(text[at])] & SETTLED != 0;
            let right = character.filter(|character| stays && !is_mark(*character));
            if let (Some(left), Some(right)) = (left, right)
                && joints.parts(left, right)
                && self.is_steady(text.get(at + length))
            {
                return Some(at);
            }
            left = right;
            at += length;
        }
        None
    }

    /// Whether what stands before a byte, or the end of a text, becomes nothing else because of it.
    fn is_steady(&self, next: Option<&u8>) -> bool {
        next.is_none_or(|&next| self.classes[usize::from(next)] & (SETTLED | BLANK) != 0)
    }

    /// Writes what the model sees of a word inside a text, and says whether that is known without the
    /// stages: it is if the word has only bytes behind its blanks that become known ones.
    pub fn write(&self, word: &[u8], out: &mut Vec<u8>) -> bool {
        if !word.is_ascii() {
            return false;
        }
        let is_blank = |byte: &&u8| self.classes[usize::from(**byte)] == BLANK;
        let blanks = word.iter().take_while(is_blank).count();
        out.clear();
        let marks = match self.lead {
            Lead::Nothing => 0,
            Lead::OneMark => blanks.min(1),
            Lead::Marks => blanks,
        };
        (0..marks).for_each(|_| out.extend_from_slice(MARK));
        let written = out.len();
        let rest = &word[blanks..];
        out.extend(rest.iter().map(|&byte| self.becomes[usize::from(byte)]));
        !rest.is_empty() && !out[written..].contains(&0)
    }

    /// Marks where words can be cut further between letters and other characters of ASCII.
    fn with_signs(mut self) -> Self {
        let Some(joints) = &self.joints else {
            return self;
        };
        let letters = || (b'A'..=b'Z').chain(b'a'..=b'z');
        let classes = self.classes;
        let is_settled = |byte: u8| classes[usize::from(byte)] & SETTLED != 0;
        if !letters().all(is_settled) {
            return self;
        }
        for byte in (0..0x80).filter(|&byte| is_settled(byte) && !byte.is_ascii_alphabetic()) {
            let parts = |left: u8, right: u8| joints.parts(char::from(left), char::from(right));
            if letters().all(|letter| parts(letter, byte)) {
                self.classes[usize::from(byte)] |= CLOSES;
            }
            if letters().all(|letter| parts(byte, letter)) {
                self.classes[usize::from(byte)] |= OPENS;
            }
        }
        for letter in letters() {
            self.classes[usize::from(letter)] |= LETTER;
        }
        self
    }

    /// Whether a character that is no blank, and outside ASCII, is a word by itself. A mark never is: it
    /// may be taken for one that stands for a blank, and be left out at the end of a word.
    pub fn stands_alone(&self, character: char, stages: &Stages) -> bool {
        match &self.characters {
            Apart::ByModel if is_mark(character) => false,
            Apart::Never => false,
            Apart::ByModel => {
                let joints = self.joints.as_ref();
                joints.is_some_and(|joints| joints.stands_alone(character))
            }
            Apart::ByStages => {
                let mut starts = true; // no mark whose place among others is to be found
                decompose_canonical(character, |part| {
                    starts &= canonical_combining_class(part) == 0;
                });
                let inside = format!("a{character}a");
                starts && is_cut_off(&pieces(stages, inside.as_bytes()))
            }
        }
    }
}

fn is_mark(character: char) -> bool {
    character == '\u{2581}'
}

/// The pieces of a short text.
fn pieces(stages: &Stages, text: &[u8]) -> Vec<Vec<u8>> {
    let mut pieces = Pieces::default();
    pieces.text.reset(text, false);
    let done = stages
        .normalize(&mut pieces.text, INSIDE)
        .and_then(|()| stages.pre_tokenize(&mut pieces, INSIDE));
    match done {
        Ok(()) => pieces
            .ranges
            .iter()
            .map(|range| pieces.text.bytes()[range.clone()].to_vec())
            .collect(),
        Err(_) => Vec::new(),
    }
}

/// Whether what stands between two letters is cut off from both.
fn is_cut_off(pieces: &[Vec<u8>]) -> bool {
    pieces.len() > 1
        && pieces.first().is_some_and(|piece| piece == b"a")
        && pieces.last() == pieces.first()
}
