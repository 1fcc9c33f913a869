//! What the names and the escapes of sets of characters mean, by the tables of `regex-syntax`.

use regex_syntax::hir::{Class, HirKind};
use regex_syntax::parse;

use super::tree::{Beside, Set, Tree, all_but, set_of};
use crate::error::{Result, ensure, invalid};

/// What stands in brackets, or what an escape stands for.
pub(super) enum Item {
    /// One character.
    Character(char),
    /// A class.
    Class {
        set: Set,
        /// Whether it holds the same characters where letters match in any case.
        folds_alike: bool,
    },
}

/// The set of the characters that match a character.
///
/// # Errors
/// When it is to match in any case, and is not ASCII.
pub(super) fn literal(character: char, folds: bool) -> Result<Set> {
    range(character, character, folds)
}

/// The set of the characters from one to another, and if need be of those that differ from them only in case.
///
/// # Errors
/// When they are to match in any case, and not all are ASCII.
pub(super) fn range(first: char, last: char, folds: bool) -> Result<Set> {
    let mut set = set_of([(first, last)]);
    if !folds {
        return Ok(set);
    }
    ensure!(
        last.is_ascii(),
        "the core does not run characters outside of ASCII in any case"
    );
    for letter in first..=last {
        // The module folds by a list of its own: the two letters of Turkish match the `i` of their look.
        let other = match letter {
            'k' | 'K' => '\u{212A}',
            's' | 'S' => '\u{17F}',
            'i' => '\u{130}',
            'I' => '\u{131}',
            _ => letter,
        };
        let cases = [
            letter.to_ascii_lowercase(),
            letter.to_ascii_uppercase(),
            other,
        ];
        set.union(&set_of(cases.map(|case| (case, case))));
    }
    Ok(set)
}

/// The set of an escape of one letter.
pub(super) fn shorthand(letter: char) -> Item {
    let set = known(&format!(r"\{}", letter.to_ascii_lowercase())).expect("it is a class");
    let negated = letter.is_ascii_uppercase();
    Item::Class {
        set: if negated { all_but(&set) } else { set },
        folds_alike: !negated,
    }
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

/// The categories that hold the same characters in any case.
const SAME_IN_ANY_CASE: [&str; 6] = ["L", "M", "N", "P", "S", "Z"];

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
    Ok(Item::Class {
        folds_alike: !negated && SAME_IN_ANY_CASE.contains(&name),
        set: if negated { all_but(&set) } else { set },
    })
}

/// The set that an expression of `regex-syntax` stands for, if it is one.
fn known(expression: &str) -> Option<Set> {
    match parse(expression).ok()?.into_kind() {
        HirKind::Class(Class::Unicode(set)) => Some(set),
        HirKind::Literal(literal) => {
            let text = std::str::from_utf8(&literal.0).ok()?;
            let character = text.chars().next()?;
            (text.len() == character.len_utf8()).then(|| set_of([(character, character)]))
        }
        _ => None,
    }
}
