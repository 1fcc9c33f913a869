//! The symbols that merges begin with: bytes or characters, with what is written around them.

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use super::cells::SEPARATOR;
use super::options::{Decoration, Options};
use crate::error::{Result, invalid};
use crate::text::character_len;

/// A byte that is no symbol, or a form of a symbol that was not met yet.
const NO_SYMBOL: u32 = u32::MAX;

/// Ids of tokens by their text.
pub type Ids = HashMap<Vec<u8>, u32, RandomState>;

/// From pieces to symbols.
pub enum Alphabet {
    /// The cell of each byte, when nothing is written around symbols.
    Bytes(Box<[u32; 256]>),
    /// Everything else.
    Spelt(Box<Spelling>),
}

impl Alphabet {
    /// Takes the symbols that the options name; `ids` are those of the initial tokens.
    ///
    /// # Errors
    /// Names a token that is no symbol.
    pub fn new(options: &Options, ids: &Ids) -> Result<Self> {
        let plain = !options.by_character
            && options.decoration == Decoration::default()
            && options.boundary_mark.is_empty();
        let mut symbols = Vec::with_capacity(options.symbols.len());
        for &id in &options.symbols {
            let token = options.initial.get(id as usize);
            match token.filter(|token| token.len() == 1 || (!plain && !token.is_empty())) {
                Some(token) => symbols.push((token, id)),
                None => return Err(invalid!("the initial token {id} is no symbol")),
            }
        }
        if plain {
            let outside = if options.unknown_separates {
                SEPARATOR
            } else {
                NO_SYMBOL
            };
            let mut bytes = Box::new([outside; 256]);
            for (token, id) in symbols {
                bytes[token[0] as usize] = id;
            }
            return Ok(Self::Bytes(bytes));
        }
        Ok(Self::Spelt(Box::new(Spelling {
            by_character: options.by_character,
            unknown_separates: options.unknown_separates,
            decoration: options.decoration.clone(),
            mark: options.boundary_mark.clone(),
            alphabet: symbols
                .into_iter()
                .map(|(token, _)| (token.clone(), [NO_SYMBOL; 4]))
                .collect(),
            ids: ids.clone(),
            initial: options.initial.len() as u32,
            added: Vec::new(),
            units: Vec::new(),
        })))
    }

    /// Appends the symbols of a piece. A separator stands for a boundary mark; for what is outside the alphabet
    /// too, or nothing.
    pub fn lay_out(&mut self, piece: &[u8], cells: &mut Vec<u32>) {
        match self {
            Self::Bytes(ids) => cells.extend(
                piece
                    .iter()
                    .map(|&byte| ids[byte as usize])
                    .filter(|&id| id != NO_SYMBOL),
            ),
            Self::Spelt(spelling) => spelling.lay_out(piece, cells),
        }
    }
}

/// Spells pieces with decorated symbols.
pub struct Spelling {
    by_character: bool,
    unknown_separates: bool,
    decoration: Decoration,
    mark: Vec<u8>,
    /// The ids of each symbol's forms: index 1 is the first in a piece, 2 the last, 3 both.
    alphabet: HashMap<Vec<u8>, [u32; 4], RandomState>,
    ids: Ids,
    initial: u32,
    /// Forms that no initial token is, in the order in which they were met; numbered behind those.
    added: Vec<Vec<u8>>,
    /// Where the units of the present piece lie; None for a mark.
    units: Vec<Option<(usize, usize)>>,
}

impl Spelling {
    fn lay_out(&mut self, piece: &[u8], cells: &mut Vec<u32>) {
        let mut units = std::mem::take(&mut self.units);
        units.clear();
        let mut at = 0;
        while at < piece.len() {
            if !self.mark.is_empty() && piece[at..].starts_with(&self.mark) {
                units.push(None);
                at += self.mark.len();
                continue;
            }
            let length = if self.by_character {
                character_len(piece, at)
            } else {
                1
            };
            units.push(Some((at, at + length)));
            at += length;
        }
        let first = units.iter().position(Option::is_some);
        let last = units.iter().rposition(Option::is_some);
        for (place, unit) in units.iter().enumerate() {
            match unit {
                None => cells.push(SEPARATOR),
                Some((start, end)) => {
                    let (first, last) = (first == Some(place), last == Some(place));
                    let outside = self.unknown_separates.then_some(SEPARATOR);
                    cells.extend(self.form(&piece[*start..*end], first, last).or(outside));
                    if last && self.decoration.separate_suffix {
                        let suffix = self.decoration.suffix.clone();
                        cells.push(self.id_of(suffix));
                    }
                }
            }
        }
        self.units = units;
    }

    /// The id of a symbol in its place; None if it is outside the alphabet.
    fn form(&mut self, unit: &[u8], first: bool, last: bool) -> Option<u32> {
        let form = usize::from(first) + 2 * usize::from(last);
        let known = self.alphabet.get(unit)?[form];
        if known != NO_SYMBOL {
            return Some(known);
        }
        let Decoration {
            prefix,
            suffix,
            separate_suffix,
        } = &self.decoration;
        let mut text = Vec::new();
        if !first {
            text.extend_from_slice(prefix);
        }
        text.extend_from_slice(unit);
        if last && !separate_suffix {
            text.extend_from_slice(suffix);
        }
        let id = self.id_of(text);
        if let Some(forms) = self.alphabet.get_mut(unit) {
            forms[form] = id;
        }
        Some(id)
    }

    fn id_of(&mut self, text: Vec<u8>) -> u32 {
        let next = self.initial + self.added.len() as u32;
        let id = *self.ids.entry(text.clone()).or_insert(next);
        if id == next {
            self.added.push(text);
        }
        id
    }

    /// Gives the forms that became tokens, sorted, so that their ids do not depend on the order of the
    /// text; and renumbers the cells by that.
    pub fn settle(self, cells: &mut [u32]) -> Vec<Vec<u8>> {
        let mut order: Vec<usize> = (0..self.added.len()).collect();
        order.sort_unstable_by_key(|&met| &self.added[met]);
        let mut renumbered = vec![0; order.len()];
        for (place, &met) in order.iter().enumerate() {
            renumbered[met] = self.initial + place as u32;
        }
        for cell in cells {
            if *cell != SEPARATOR && *cell >= self.initial {
                *cell = renumbered[(*cell - self.initial) as usize];
            }
        }
        let mut added = self.added;
        added.sort_unstable();
        added
    }
}
