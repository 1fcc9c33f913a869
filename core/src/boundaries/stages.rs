//! Where a text can be cut before its normalizers and pre-tokenizers run.
//!
//! In what follows, f is a stage, and f(x + y) = f(x) + f(y) means that the parts, the later one handled as one that goes
//! on from an earlier part, become what the text becomes. The place that all of them are asked about is the one before
//! a space that stands between two ASCII letters: x ends with a letter, y begins with a space and a letter.

use super::seams::Border;
use crate::text::{begin_of_last, read_char};

/// What a stage does where a text is cut before a space that stands between two ASCII letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtSpace {
    /// f(x + y) = f(x) + f(y), and a piece always ends there.
    Ends,
    /// f(x + y) = f(x) + f(y) but for one piece that is in two parts if it goes on across the place; and the place stays:
    /// behind an ASCII letter, before a space and a letter. So the next stage is asked the same question.
    Stays,
    /// f(x + y) = f(x) + f(y), but something else may stand at the place: nothing is known of what later stages do there.
    Changes,
    /// What becomes of a part depends on the other.
    Unknown,
}

/// What a normalizer does to a text as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rewriting {
    /// Rewrites each character by itself, but for the order of the marks behind one: f(x + y) = f(x) + f(y) if y begins with
    /// no combining mark. A blank stays a blank, or goes.
    Characters,
    /// Rewrites each character with the combining marks behind it by itself; the same holds.
    Sequences,
    /// Writes each space as a mark (U+2581) and nothing else.
    Marks,
    /// The same, or all of a run of spaces as one mark; it may put a mark at the beginning, and takes spaces away there and
    /// at the end.
    SpaceMarks,
    /// Puts something at the beginning of a text that does not go on from another, and nothing else.
    Before,
    /// By a table of rules, from left to right; what rules look at is asked of the table.
    Rules,
    /// By a table of rules, each cluster of characters by itself.
    ClusterRules,
    /// Nothing is claimed.
    Anything,
}

/// What a normalizer does to the stretches of a text that begin with its runs of spaces, if U+2581 is not in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfStretches {
    /// Rewrites each stretch by itself, and leaves the spaces that it begins with; it puts in no mark (U+2581).
    Apart,
    /// Writes each run of spaces as one mark, also where there is none at the beginning, and takes those at the end away.
    Marks,
    /// Nothing is claimed.
    Unknown,
}

/// What a pre-tokenizer does, for those who cut before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cutting {
    /// Before a space between two letters.
    pub at_space: AtSpace,
    /// Whether what it does to a piece depends on how the piece begins; if not, it only knows that it begins.
    pub looks_at_start: bool,
    /// Whether spaces may be something else in its pieces.
    pub rewrites_spaces: bool,
    /// How it cuts, as far as somebody relies on it.
    pub at: At,
}

/// At what a pre-tokenizer cuts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// At white space, which goes, and around punctuation, as BERT does.
    WordsAndPunctuation,
    /// At white space, which goes.
    WhiteSpace,
    /// At white space, which goes, and between word characters and others.
    Words,
    /// At each character.
    Characters,
    /// At each space, which becomes a mark before the piece; `always` if this is U+2581 and every piece gets one.
    Spaces {
        /// Whether each piece has the mark U+2581 before it, also the first.
        always: bool,
    },
    /// Before each mark U+2581.
    Marks,
    /// Nothing is claimed.
    Anything,
}

impl At {
    /// The blanks before each of which every piece ends, whatever stands around.
    fn blanks(self) -> Option<&'static [u8]> {
        match self {
            Self::WordsAndPunctuation | Self::WhiteSpace | Self::Words | Self::Characters => {
                Some(b" \t\n\r")
            }
            Self::Spaces { .. } => Some(b" "),
            Self::Marks | Self::Anything => None,
        }
    }
}

/// The blanks before each of which a text can be cut, whatever stands around.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blanks {
    /// Those bytes.
    pub bytes: &'static [u8],
    /// Only where the text has no mark (U+2581): at its end one would be taken for a space.
    pub without_marks: bool,
}

impl Blanks {
    /// Whether a text can be cut there.
    #[must_use]
    pub fn allow(self, text: &[u8]) -> bool {
        !self.without_marks || memchr::memmem::find(text, "\u{2581}".as_bytes()).is_none()
    }
}

/// What is known of the stages as a whole, so that words can be told apart before they run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// Nothing.
    #[default]
    Unknown,
    /// Each character is rewritten by itself, but for the order of the marks behind one; then text is cut
    /// at white space, which goes, and around punctuation.
    Words,
    /// Each space becomes a mark (U+2581), or all of a run together one; a mark may be put at the
    /// beginning. Nothing else is rewritten and nothing is cut.
    Marks,
    /// A table of rules runs before that.
    MappedMarks,
    /// A table of rules runs over clusters of characters; then text is cut at white space, and each word
    /// gets a mark.
    MappedWords,
    /// Nothing, but a text can be cut before a space between two ASCII letters, and a piece ends there.
    CutAtSpaces,
}

impl Shape {
    /// The shape of stages that do this, in this order.
    fn of(rewriting: &[Rewriting], at: &[At]) -> Self {
        use Rewriting::{Before, Characters, ClusterRules, Marks, Rules, SpaceMarks};
        let all_of = |wanted: &[Rewriting]| rewriting.iter().all(|each| wanted.contains(each));
        if at == [At::WordsAndPunctuation] && all_of(&[Characters]) {
            Self::Words
        } else if at.is_empty()
            && (rewriting == [SpaceMarks] || all_of(&[Marks, Before]) && rewriting.contains(&Marks))
        {
            Self::Marks
        } else if at.is_empty() && rewriting == [Rules, SpaceMarks] {
            Self::MappedMarks
        } else if at == [At::WhiteSpace, At::Spaces { always: true }] && rewriting == [ClusterRules]
        {
            Self::MappedWords
        } else {
            Self::Unknown
        }
    }
}

/// For which models a text can be cut before a space between two ASCII letters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Cuts {
    /// For no model.
    #[default]
    Never,
    /// For those whose tokens never go on before a mark: the text is one piece, in which each space is such a mark.
    AtMarks,
    /// For all: a piece ends there.
    Always,
}

/// The answers of all stages, put together.
#[derive(Clone, Copy, Debug, Default)]
pub struct Answers {
    cuts: Cuts,
    blanks: Option<Blanks>,
    shape: Shape,
}

impl Answers {
    /// Puts the answers of stages together, each list in the order of the stages.
    #[must_use]
    pub fn of(
        normalizers: &[(AtSpace, Rewriting)],
        stretches: &[OfStretches],
        pre_tokenizers: &[Cutting],
    ) -> Self {
        let rewriting: Vec<Rewriting> = normalizers.iter().map(|&(_, does)| does).collect();
        let at: Vec<At> = pre_tokenizers.iter().map(|cutting| cutting.at).collect();
        let cuts = cuts(normalizers, pre_tokenizers);
        let shape = match (Shape::of(&rewriting, &at), cuts) {
            (Shape::Unknown, Cuts::Always) => Shape::CutAtSpaces,
            (shape, Cuts::Always | Cuts::AtMarks | Cuts::Never) => shape,
        };
        Self {
            cuts,
            blanks: blanks(&rewriting, &at).or_else(|| blanks_of_marks(stretches, &at)),
            shape,
        }
    }

    /// What is known of all stages together.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The blanks before each of which a text can be cut, whatever stands around, and the parts go through the stages as
    /// in [`Answers::safe_cut`]; None if not all of that is known of these stages.
    #[must_use]
    pub fn blanks(&self) -> Option<Blanks> {
        self.blanks
    }

    /// The last offset at which a text can be cut, whatever follows, and each part go through the stages by itself (the
    /// later one as one that goes on); 0 when there is none.
    #[must_use]
    pub fn safe_cut(&self, text: &[u8]) -> usize {
        match self.cuts {
            Cuts::Always => last_between_letters(text),
            Cuts::Never | Cuts::AtMarks => 0,
        }
    }

    /// The same for the stages and a model behind them, of which `border` says where no token goes on, and `fuses`
    /// whether tokens of different pieces become one: then what a part becomes depends on the one before.
    #[must_use]
    pub fn safe_cut_for(&self, border: Option<Border>, fuses: bool, text: &[u8]) -> usize {
        match (self.cuts, fuses, border) {
            (Cuts::Always, false, None | Some(Border::Before(_) | Border::After(_))) => {
                last_between_letters(text)
            }
            (Cuts::AtMarks, false, Some(Border::Before(_))) => last_between_visible(text),
            (Cuts::AtMarks, false, None | Some(Border::After(_)))
            | (Cuts::Never, false, _)
            | (Cuts::Never | Cuts::AtMarks | Cuts::Always, true, _) => 0,
        }
    }
}

/// A normalizer asks what the one before it left at the place, so all must leave the place but for those that make marks
/// of spaces and put something at the beginning: what one of these makes of the place no other one looks at.
fn cuts(normalizers: &[(AtSpace, Rewriting)], pre_tokenizers: &[Cutting]) -> Cuts {
    let stays = |(at, _): &(AtSpace, Rewriting)| match at {
        AtSpace::Ends | AtSpace::Stays => true,
        AtSpace::Changes | AtSpace::Unknown => false,
    };
    let is_known = |(at, _): &(AtSpace, Rewriting)| match at {
        AtSpace::Ends | AtSpace::Stays | AtSpace::Changes => true,
        AtSpace::Unknown => false,
    };
    let marks = |(_, does): &(AtSpace, Rewriting)| match does {
        Rewriting::Marks | Rewriting::SpaceMarks => true,
        Rewriting::Before
        | Rewriting::Characters
        | Rewriting::Sequences
        | Rewriting::Rules
        | Rewriting::ClusterRules
        | Rewriting::Anything => false,
    };
    if normalizers.iter().all(stays) && allow_cuts(pre_tokenizers) {
        Cuts::Always
    } else if pre_tokenizers.is_empty()
        && normalizers.iter().any(marks)
        && (normalizers.iter()).all(|each| marks(each) || each.1 == Rewriting::Before)
        && normalizers.iter().all(is_known)
    {
        Cuts::AtMarks
    } else {
        Cuts::Never
    }
}

/// Tells whether a text can be cut before a space that stands between two ASCII letters, and the parts
/// go through these pre-tokenizers each for itself.
///
/// Some stage must cut there anyway, and those before it must not mind. Those after it are given its
/// pieces one by one and never see across; only what a piece at the beginning of a text begins with
/// must still be the space, where a stage asks for that.
#[must_use]
pub fn allow_cuts(stages: &[Cutting]) -> bool {
    let passes = |stage: &&Cutting| match stage.at_space {
        AtSpace::Stays => true,
        AtSpace::Ends | AtSpace::Changes | AtSpace::Unknown => false,
    };
    let before = stages.iter().take_while(passes).count();
    let Some((first, after)) = stages[before..].split_first() else {
        return false;
    };
    let rewritten = stages[before..]
        .iter()
        .position(|stage| stage.rewrites_spaces);
    let asked = after.iter().rposition(|stage| stage.looks_at_start);
    let space_is_kept = match (rewritten, asked) {
        // `after` begins one stage later.
        (Some(rewritten), Some(asked)) => asked < rewritten,
        // No stage writes spaces differently, or none asks what a piece begins with.
        (None, Some(_) | None) | (Some(_), None) => true,
    };
    first.at_space == AtSpace::Ends && space_is_kept
}

/// The blanks before which every piece ends, after normalizers that look at no blank and across none: what
/// they do to a character depends on combining marks behind it at most, and a blank stands alone.
fn blanks(rewriting: &[Rewriting], at: &[At]) -> Option<Blanks> {
    let looks_at_none = |does: &Rewriting| match does {
        Rewriting::Characters | Rewriting::Sequences => true,
        Rewriting::Marks
        | Rewriting::SpaceMarks
        | Rewriting::Before
        | Rewriting::Rules
        | Rewriting::ClusterRules
        | Rewriting::Anything => false,
    };
    match at {
        [only] if rewriting.iter().all(looks_at_none) => only.blanks().map(|bytes| Blanks {
            bytes,
            without_marks: false,
        }),
        [] | [_] | [_, _, ..] => None,
    }
}

/// The space, where each run of them becomes one mark, and a piece begins with it: nothing is a mark in a piece but its
/// beginning, so that what a stretch becomes does not depend on what stands around it.
fn blanks_of_marks(stretches: &[OfStretches], at: &[At]) -> Option<Blanks> {
    let marks = |each: &&OfStretches| **each == OfStretches::Marks;
    let known = stretches.iter().all(|&each| each != OfStretches::Unknown);
    (known && stretches.iter().filter(marks).count() == 1 && at == [At::Marks]).then_some(Blanks {
        bytes: b" ",
        without_marks: true,
    })
}

/// The last space between two ASCII letters; 0 when there is none.
fn last_between_letters(text: &[u8]) -> usize {
    (1..text.len().saturating_sub(1))
        .rev()
        .find(|&at| {
            text[at] == b' '
                && text[at - 1].is_ascii_alphabetic()
                && text[at + 1].is_ascii_alphabetic()
        })
        .unwrap_or(0)
}

/// The last space between two characters of which neither is white space or a mark; 0 when there is none. Stages that make
/// marks and nothing else leave both as they are, like letters.
fn last_between_visible(text: &[u8]) -> usize {
    let is_visible = |character: Option<char>| {
        character.is_some_and(|character| !character.is_whitespace() && character != '\u{2581}')
    };
    let is_between = |&at: &usize| {
        let (left, _) = read_char(&text[..at], begin_of_last(text, at));
        is_visible(left) && is_visible(read_char(text, at + 1).0)
    };
    let inside = text.len().saturating_sub(1);
    memchr::memrchr_iter(b' ', &text[..inside])
        .take_while(|&at| at > 0)
        .find(is_between)
        .unwrap_or(0)
}
