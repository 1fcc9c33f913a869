//! What an expression says: a tree of sets of characters, with what is repeated, chosen from, and asked of the
//! characters beside a place.

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

/// A set of characters.
pub(super) type Set = ClassUnicode;

/// Makes a set of ranges of characters.
pub(super) fn set_of(ranges: impl IntoIterator<Item = (char, char)>) -> Set {
    Set::new(
        ranges
            .into_iter()
            .map(|(first, last)| ClassUnicodeRange::new(first, last)),
    )
}

/// The characters that are not in a set.
pub(super) fn all_but(set: &Set) -> Set {
    let mut rest = set.clone();
    rest.negate();
    rest
}

/// Whether two sets have a character in common.
pub(super) fn meet(one: &Set, other: &Set) -> bool {
    let mut both = one.clone();
    both.intersect(other);
    !both.ranges().is_empty()
}

/// An expression, or a part of one.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Tree {
    /// One character of a set.
    One(Set),
    /// A question about the characters beside a place, which takes none.
    Beside(Beside),
    /// One after the other; of none: nothing.
    Sequence(Vec<Tree>),
    /// The first that leads to a match.
    Choice(Vec<Tree>),
    /// The same several times.
    Repeat(Box<Repeat>),
    /// A part that is never matched in another way once it was left: `(?>...)`.
    Atomic(Box<Tree>),
    /// What must, or must not, match up to a place or from there on.
    Around {
        /// Whether it looks ahead.
        ahead: bool,
        /// Whether it must not match.
        not: bool,
        /// What matches.
        body: Box<Tree>,
    },
}

/// What is repeated, and how.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Repeat {
    pub body: Tree,
    pub least: u32,
    /// None for any number.
    pub most: Option<u32>,
    pub kind: Kind,
}

/// Which number of repetitions is tried first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The largest.
    Greedy,
    /// The smallest.
    Lazy,
    /// The largest, and no other.
    Possessive,
}

/// A question about the one character before or behind a place.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Beside {
    /// Whether it is about the character behind the place.
    pub ahead: bool,
    /// The characters for which the answer is yes.
    pub set: Set,
    /// The answer where the text begins or ends.
    pub edge: bool,
    /// The answer for a line feed that ends the text, if it is another than for every line feed.
    pub last_newline: Option<bool>,
}

impl Beside {
    /// A question whose answer depends on a set alone.
    pub fn of(ahead: bool, set: Set, edge: bool) -> Self {
        Self {
            ahead,
            set,
            edge,
            last_newline: None,
        }
    }

    /// The question with the opposite answer.
    pub fn opposite(&self) -> Self {
        Self {
            ahead: self.ahead,
            set: all_but(&self.set),
            edge: !self.edge,
            last_newline: self.last_newline.map(|answer| !answer),
        }
    }

    /// The question whether one of two has the answer yes.
    pub fn or(mut self, other: &Self) -> Self {
        let of_last = |each: &Self| {
            let in_set = || meet(&each.set, &set_of([('\n', '\n')]));
            each.last_newline.unwrap_or_else(in_set)
        };
        if self.last_newline.is_some() || other.last_newline.is_some() {
            self.last_newline = Some(of_last(&self) || of_last(other));
        }
        self.set.union(&other.set);
        self.edge |= other.edge;
        self
    }
}

impl Tree {
    /// Whether it can match without any characters.
    pub fn may_be_empty(&self) -> bool {
        match self {
            Self::One(_) => false,
            Self::Beside(_) | Self::Around { .. } => true,
            Self::Sequence(parts) => parts.iter().all(Self::may_be_empty),
            Self::Choice(parts) => parts.iter().any(Self::may_be_empty),
            Self::Repeat(repeat) => repeat.least == 0 || repeat.body.may_be_empty(),
            Self::Atomic(body) => body.may_be_empty(),
        }
    }

    /// Whether it matches nothing, in every place.
    pub fn always_can_be_empty(&self) -> bool {
        match self {
            Self::One(_) | Self::Beside(_) | Self::Around { .. } => false,
            Self::Sequence(parts) => parts.iter().all(Self::always_can_be_empty),
            Self::Choice(parts) => parts.iter().any(Self::always_can_be_empty),
            Self::Repeat(repeat) => repeat.least == 0 || repeat.body.always_can_be_empty(),
            // What an atomic part leaves out may be what would have been empty.
            Self::Atomic(_) => false,
        }
    }
}
