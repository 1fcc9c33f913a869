//! The rules of SentencePiece's named normalizations, made from Unicode's data.
//!
//! A table of rules rewrites text in one pass, so it cannot order marks: it holds every character that
//! a normalization changes, and every sequence that it composes in canonical order. What rules of
//! fewer characters do alike is left out. The data are Unicode 16.0's, whatever compiled this.

use std::collections::{BTreeSet, HashMap};

use foldhash::fast::RandomState;
use unicode_normalization::{IsNormalized, is_nfkd_quick};

use super::categories::UNICODE_16;
use super::charsmap::Charsmap;
use super::form::Form;
use crate::error::{Result, invalid};

type Rules = HashMap<String, String, RandomState>;

const NFC: Form = Form {
    compatible: false,
    composed: true,
    known: &UNICODE_16,
};
const NFKC: Form = Form {
    compatible: true,
    ..NFC
};
const NFKD: Form = Form {
    composed: false,
    ..NFKC
};

/// What [`build`] gives for `nmt_nfkc`, which is what almost everybody asks for: half a second's work.
const NMT_NFKC: &[u8] = include_bytes!("nmt_nfkc.charsmap");

/// Gives the table of a named normalization: `identity` (an empty table), `nfkc`, `nmt_nfkc`, and each
/// of these two with `_cf`, which folds case as well.
///
/// # Errors
/// When there is none of this name.
pub fn charsmap(name: &str) -> Result<Vec<u8>> {
    match name {
        "nmt_nfkc" => Ok(NMT_NFKC.to_vec()),
        _ => build(name),
    }
}

fn build(name: &str) -> Result<Vec<u8>> {
    let (for_translation, fold) = match name {
        "identity" => return Ok(Vec::new()),
        "nfkc" => (false, false),
        "nfkc_cf" => (false, true),
        "nmt_nfkc" => (true, false),
        "nmt_nfkc_cf" => (true, true),
        _ => {
            return Err(invalid!(
                "there are no rules called {name:?}: there are identity, nfkc, nfkc_cf, nmt_nfkc and nmt_nfkc_cf"
            ));
        }
    };
    let mut rules = without_redundant(composing());
    if for_translation {
        handle_blanks(&mut rules);
        rules = without_redundant(rules);
    }
    if fold {
        fold_case(&mut rules);
        rules = without_redundant(rules);
    }
    let mut rules: Vec<_> = rules
        .iter()
        .map(|(what, with)| (&**what, &**with))
        .collect();
    rules.sort_unstable();
    Charsmap::compile(&rules)
}

/// The table of these rules, ascending by what they replace.
#[cfg(test)]
pub(crate) fn table_of(rules: &[(&str, &str)]) -> Vec<u8> {
    Charsmap::compile(rules).unwrap()
}

/// Every character but NUL, which no rule can hold.
fn all_characters() -> impl Iterator<Item = char> {
    ('\u{1}'..=char::MAX).filter(|&character| UNICODE_16.contains(character))
}

/// The rules of NFKC: of characters, and of sequences that compose.
fn composing() -> Rules {
    let mut rules = Rules::default();
    // Which characters decompose to one character, and what the others decompose to.
    let mut alike: HashMap<char, Vec<char>> = HashMap::new();
    let mut sequences: BTreeSet<String> = BTreeSet::new();
    let mut own = [0; 4];
    let settled = |character: &char| is_nfkd_quick([*character].into_iter()) == IsNormalized::Yes;
    for character in all_characters().filter(|character| !settled(character)) {
        let own = &*character.encode_utf8(&mut own);
        let decomposed = NFKD.of(own);
        let composed = NFKC.of(own);
        if composed != own {
            rules.insert(own.to_owned(), composed);
        }
        let mut parts = decomposed.chars();
        match (parts.next(), parts.next()) {
            (Some(only), None) => alike.entry(only).or_default().push(character),
            _ => {
                sequences.insert(decomposed);
            }
        }
    }
    for sequence in sequences {
        let composed = NFC.of(&sequence);
        if composed == sequence {
            continue;
        }
        for spelling in spellings(&sequence, &alike) {
            if spelling != composed {
                rules.insert(spelling, composed.clone());
            }
        }
    }
    rules
}

/// All sequences of characters of which each decomposes to one of the given sequence.
fn spellings(sequence: &str, alike: &HashMap<char, Vec<char>>) -> Vec<String> {
    let mut spellings = vec![String::new()];
    for part in sequence.chars() {
        let others = alike.get(&part).map_or(&[][..], Vec::as_slice);
        spellings = spellings
            .iter()
            .flat_map(|begun| {
                std::iter::once(&part).chain(others).map(move |&next| {
                    let mut longer = begun.clone();
                    longer.push(next);
                    longer
                })
            })
            .collect();
    }
    spellings
}

/// Adds what machine translation wants: blanks of all kinds become spaces, and control characters go.
fn handle_blanks(rules: &mut Rules) {
    let removed = ('\u{1}'..='\u{8}')
        .chain(['\u{B}'])
        .chain('\u{E}'..='\u{1F}')
        .chain(['\u{7F}', '\u{8F}', '\u{9F}']);
    rules.extend(removed.map(|character| (character.into(), String::new())));
    let blanks = [
        '\t', '\n', '\u{C}', '\r', '\u{61C}', '\u{1680}', '\u{200B}', '\u{200C}', '\u{200E}',
        '\u{200F}', '\u{2028}', '\u{2029}', '\u{2581}', '\u{FEFF}', '\u{FFFD}',
    ];
    rules.extend(blanks.map(|character| (character.into(), " ".to_owned())));
    // Japanese uses the fullwidth tilde for another thing than the tilde.
    rules.remove("\u{FF5E}");
}

/// Folds the case of all results, and of all characters that had no rule.
fn fold_case(rules: &mut Rules) {
    for with in rules.values_mut() {
        *with = with.chars().map(folded).collect();
    }
    for character in all_characters() {
        let with = folded(character);
        if with != character {
            rules.entry(character.into()).or_insert_with(|| with.into());
        }
    }
}

/// Folds the case of a character to one character (Unicode's simple case folding).
///
/// That is the lower case of its upper case wherever both are one character, but in Cherokee, whose
/// small letters came later, so that case folds to the capitals, and of the dotless i.
fn folded(character: char) -> char {
    if character == 'ı' || !UNICODE_16.contains(character) {
        return character;
    }
    let capital = only(character.to_uppercase()).unwrap_or(character);
    match capital {
        '\u{13A0}'..='\u{13F5}' => capital,
        _ => only(capital.to_lowercase())
            .filter(|&small| UNICODE_16.contains(small))
            .unwrap_or(character),
    }
}

fn only(mut characters: impl ExactSizeIterator<Item = char>) -> Option<char> {
    (characters.len() == 1).then(|| characters.next())?
}

/// Leaves out each rule for which rules of fewer characters do the same.
fn without_redundant(rules: Rules) -> Rules {
    let mut by_length: Vec<Vec<(String, String)>> = Vec::new();
    for (what, with) in rules {
        let length = what.chars().count();
        by_length.resize_with(by_length.len().max(length), Vec::new);
        by_length[length - 1].push((what, with));
    }
    let mut kept = Rules::default();
    for rules in by_length {
        let needed: Vec<_> = rules
            .into_iter()
            .filter(|(what, with)| what.chars().count() == 1 || apply(&kept, what) != *with)
            .collect();
        kept.extend(needed);
    }
    kept
}

/// Rewrites by the longest rules, none of which is for all of the text.
fn apply(rules: &Rules, text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let longest = rest.char_indices().rev().find_map(|(at, last)| {
            let end = at + last.len_utf8();
            Some((end, rules.get(&rest[..end])?))
        });
        let end = match longest {
            Some((end, with)) => {
                out.push_str(with);
                end
            }
            None => {
                out.push(first);
                first.len_utf8()
            }
        };
        rest = &rest[end..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_that_is_kept_is_the_one_that_is_built() {
        let built = build("nmt_nfkc").unwrap();
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/src/normalize/nmt_nfkc.charsmap"
        );
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(path, &built).unwrap();
        }
        assert!(built == NMT_NFKC, "UPDATE_GOLDEN=1 writes {path} anew");
    }

    #[test]
    fn folds_case_to_one_character() {
        let found: String = "AÉßẞſKςΣİıᎠꭰꮿᏸᏰǄთᲗᾀᾈ".chars().map(folded).collect();
        assert_eq!(found, "aéßßskσσİıᎠᎠᏯᏰᏰǆთთᾀᾀ");
    }

    #[test]
    fn leaves_redundant_rules_out() {
        let rules = [
            ("a", "b"),
            ("aa", "bb"),
            ("ab", "c"),
            ("abaa", "cbb"),
            ("é", "e"),
        ];
        let rules = rules.map(|(what, with)| (what.to_owned(), with.to_owned()));
        let left = without_redundant(Rules::from_iter(rules));
        let mut left: Vec<_> = left.keys().collect();
        left.sort_unstable();
        assert_eq!(left, ["a", "ab", "é"]);
    }
}
