//! What the names and the escapes of sets of characters mean, by the tables of `regex-syntax`.

use regex_syntax::hir::{self, HirKind};
use regex_syntax::parse;

use super::tree::{Beside, Set, Tree, all_but, meet, set_of};
use crate::error::{Result, ensure, invalid};

/// What stands in brackets, or what an escape stands for.
pub(super) enum Item {
    /// One character.
    Character(char),
    /// The characters of a class, or all others.
    Class(Class),
}

/// The categories that are about the case of letters.
const CASES: [&str; 3] = [r"\p{Lu}", r"\p{Ll}", r"\p{Lt}"];

/// A class of characters, by its name.
pub(super) struct Class {
    set: Set,
    negated: bool,
    /// Whether it is about the case of letters, but no category.
    of_case: bool,
    /// Whether it has the same characters in any case, and for every engine.
    pub same_in_any_case: bool,
}

impl Class {
    fn of(&self, set: Set) -> Set {
        match self.negated {
            true => all_but(&set),
            false => set,
        }
    }

    /// The characters that match it where it stands alone.
    ///
    /// In any case, the classes of upper, lower and title case become that of all three, and all others stay as they are.
    ///
    /// # Errors
    /// When it is another property of case, in any case.
    pub fn alone(self, folds: bool) -> Result<Set> {
        if folds && self.is_one_case() {
            let mut all = Set::empty();
            for each in CASES.iter().filter_map(|name| known(name)) {
                all.union(&each);
            }
            return Ok(self.of(all));
        }
        ensure!(
            !(folds && self.of_case),
            "the core does not run this class in any case"
        );
        let set = self.set.clone();
        Ok(self.of(set))
    }

    fn is_one_case(&self) -> bool {
        let mut cases = CASES.iter().filter_map(|name| known(name));
        cases.any(|each| each == self.set)
    }

    /// The characters that match it where others stand beside it in brackets.
    ///
    /// # Errors
    /// When it is a property of case, or the opposite of one, in any case.
    pub fn among_others(self, folds: bool) -> Result<Set> {
        ensure!(
            !(folds && (self.of_case || self.negated && self.is_one_case())),
            "the core does not run this class in any case"
        );
        let mut set = self.set.clone();
        if folds {
            in_any_case(&mut set)?;
        }
        Ok(self.of(set))
    }
}

/// Adds what differs from the characters of a set only in case.
fn in_any_case(set: &mut Set) -> Result<()> {
    let given = set.clone();
    let folded = set.try_case_fold_simple();
    ensure!(folded.is_ok(), "the core has no table of cases");
    // The module folds by a list of its own: the two letters of Turkish match the `i` of their look.
    for (letter, other) in [('i', '\u{130}'), ('I', '\u{131}')] {
        for (one, added) in [(letter, other), (other, letter)] {
            if meet(&given, &set_of([(one, one)])) {
                set.union(&set_of([(added, added)]));
            }
        }
    }
    Ok(())
}

/// The set of the characters from one to another, and if need be of those that differ from them only in case.
///
/// # Errors
/// When there is no table of cases.
pub(super) fn range(first: char, last: char, folds: bool) -> Result<Set> {
    let mut set = set_of([(first, last)]);
    if folds {
        in_any_case(&mut set)?;
    }
    Ok(set)
}

/// The set of an escape of one letter.
pub(super) fn shorthand(letter: char) -> Item {
    let set = known(&format!(r"\{}", letter.to_ascii_lowercase())).expect("it is a class");
    Item::Class(Class {
        set,
        negated: letter.is_ascii_uppercase(),
        of_case: false,
        same_in_any_case: letter.is_ascii_lowercase(),
    })
}

/// `\b`, or `\B`.
pub(super) fn word_boundary(is_one: bool) -> Tree {
    let word = known(r"\w").expect("it is a class");
    let before = Beside::of(false, word.clone(), false);
    let behind = Beside::of(true, word, false);
    let sides = match is_one {
        true => [
            (before.clone(), behind.opposite()),
            (before.opposite(), behind),
        ],
        false => [
            (before.clone(), behind.clone()),
            (before.opposite(), behind.opposite()),
        ],
    };
    Tree::Choice(
        sides
            .map(|(one, other)| Tree::Sequence(vec![Tree::Beside(one), Tree::Beside(other)]))
            .into(),
    )
}

/// What else is known by a name alone, and has the same characters for the module.
const OTHERS: [&str; 5] = [
    "alphabetic",
    "emoji",
    "lowercase",
    "uppercase",
    "white_space",
];

/// The set of `\p{NAME}`: a general category, a script, or another property.
///
/// # Errors
/// When the name is none, or may mean something else to the module.
pub(super) fn property(name: &str, negated: bool) -> Result<Item> {
    let plain = |text: &str| {
        text.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let keys = ["gc", "general_category", "sc", "script"];
    let of = |name: &str| known(&format!(r"\p{{{name}}}"));
    let set = match name.split_once('=') {
        Some((key, value)) if plain(value) && keys.contains(&key.to_ascii_lowercase().as_str()) => {
            of(name)
        }
        None if plain(name) => ["gc", "sc"]
            .iter()
            .find_map(|key| of(&format!("{key}={name}")))
            .or_else(|| {
                OTHERS
                    .contains(&name.to_ascii_lowercase().as_str())
                    .then(|| of(name))?
            }),
        _ => None,
    };
    let set = set.ok_or_else(|| invalid!("the core does not know the property {name:?}"))?;
    Ok(Item::Class(Class {
        set,
        negated,
        same_in_any_case: !negated && ["L", "M", "N", "P", "S", "Z"].contains(&name),
        of_case: ["lowercase", "uppercase"].contains(&name.to_ascii_lowercase().as_str()),
    }))
}

/// The set that an expression of `regex-syntax` stands for, if it is one.
fn known(expression: &str) -> Option<Set> {
    match parse(expression).ok()?.into_kind() {
        HirKind::Class(hir::Class::Unicode(set)) => Some(set),
        HirKind::Literal(literal) => {
            let text = std::str::from_utf8(&literal.0).ok()?;
            let character = text.chars().next()?;
            (text.len() == character.len_utf8()).then(|| set_of([(character, character)]))
        }
        _ => None,
    }
}
