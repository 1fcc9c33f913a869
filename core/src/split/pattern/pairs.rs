//! Two ASCII characters at a step: what the table says of one and then of the other, laid out for both together.
//!
//! What takes longest in reading a text by a table is waiting for a cell that says which row is next. A cell for two
//! characters is waited for half as often.

use std::array::from_fn;

use super::alphabet::Alphabet;
use super::automaton::{Automaton, CUTS, FAILS, MATCHES, STATE};

/// The most cells there may be.
const MOST_CELLS: usize = 1 << 16;

/// So far to the right, the lowest bit says that nothing goes on with one of the two characters.
const FAILS_OF_TWO: u32 = 31;
const FAILS_IN_TWO: u32 = 1 << FAILS_OF_TWO;
/// So far to the right, the lowest bit says that a match ends before the first character, and the next one that one does before
/// the second.
const MATCHES_OF_TWO: u32 = 29;
/// The same of pieces.
const CUTS_OF_TWO: u32 = 27;
/// What of a cell is the next row.
const ROW: u32 = (1 << CUTS_OF_TWO) - 1;

/// So many characters are read at once.
pub(super) const AT_ONCE: usize = 8;

/// No more pieces than that end in so many characters, as a rule.
const MOSTLY: usize = AT_ONCE / 2;

/// How many of eight bits are set, and their places. Of so few bits, looking them up takes half a nanosecond a byte of text less
/// than finding them one by one, as the scanners do.
static PLACES: [(usize, [u8; AT_ONCE]); 256] = {
    let mut all = [(0, [0; AT_ONCE]); 256];
    let mut bits = 0;
    while bits < all.len() {
        let (found, places) = &mut all[bits];
        let mut place = 0;
        while place < AT_ONCE {
            if bits >> place & 1 == 1 {
                places[*found] = place as u8;
                *found += 1;
            }
            place += 1;
        }
        bits += 1;
    }
    all
};

/// A search for one match: what is read, and where the last match ends.
pub(super) struct Search {
    pub state: usize,
    pub place: usize,
    pub last: usize,
}

/// A table for two characters.
#[derive(Debug)]
pub(super) struct Pairs {
    /// Of an ASCII character: its number among theirs, as that of the first of two and of the second.
    first: [u16; 256],
    second: [u16; 256],
    /// For each state a row of cells by two characters.
    cells: Vec<u32>,
    /// How far rows are apart, in the table and here, as powers of two.
    stride: u32,
    own_stride: u32,
}

impl Pairs {
    /// Lays pairs out; None if there would be too many.
    pub fn new(alphabet: &Alphabet, automaton: &Automaton) -> Option<Self> {
        let ascii: [u8; 128] = from_fn(|byte| alphabet.of_byte(byte as u8));
        let mut numbers = ascii.to_vec();
        numbers.sort_unstable();
        numbers.dedup();
        let bits = numbers.len().next_power_of_two().trailing_zeros();
        let stride = automaton.stride.trailing_zeros();
        let states = automaton.cells.len() >> stride;
        if states << (2 * bits) > MOST_CELLS {
            return None;
        }
        let mut cells = Vec::with_capacity(states << (2 * bits));
        for state in 0..states {
            let row = cells.len();
            cells.resize(row + (1 << (2 * bits)), FAILS_IN_TWO);
            for (first, &one) in numbers.iter().enumerate() {
                for (second, &two) in numbers.iter().enumerate() {
                    cells[row + (first << bits | second)] =
                        of_two(automaton, state << stride, (one, two), 2 * bits);
                }
            }
        }
        let number_of = |byte: usize| {
            let number = ascii.get(byte)?;
            numbers.binary_search(number).ok()
        };
        let second = from_fn(|byte| number_of(byte).unwrap_or_default() as u16);
        Some(Self {
            first: second.map(|number| number << bits),
            second,
            cells,
            stride,
            own_stride: 2 * bits,
        })
    }

    /// Goes on with a search up to a place near `end`, as long as there are ASCII characters with which all goes on, room for
    /// ends, and a match not `far` behind. Writes the ends of pieces, and gives their number.
    #[inline]
    pub fn pass(
        &self,
        text: &[u8],
        end: usize,
        far: usize,
        search: &mut Search,
        room: &mut [usize],
    ) -> usize {
        let mut row = (search.state >> self.stride) << self.own_stride;
        let (mut place, mut last, mut found) = (search.place, search.last, 0);
        while place + AT_ONCE <= end && place - last <= far {
            let (Some(eight), Some(slots)) = (
                text[place..].first_chunk::<AT_ONCE>(),
                room[found..].first_chunk_mut::<AT_ONCE>(),
            ) else {
                break;
            };
            if !eight.is_ascii() {
                break;
            }
            let cells = self.read(row, eight);
            let all = |at: u32, bits: u32| {
                let [one, two, three, four] = cells.map(|cell| cell >> at & bits);
                one | two << 2 | three << 4 | four << 6
            };
            if all(FAILS_OF_TWO, 1) != 0 {
                break;
            }
            let cuts = all(CUTS_OF_TWO, 3);
            let (count, places) = &PLACES[cuts as usize];
            let mut write = |from: usize| {
                for (slot, &at) in slots[from..from + MOSTLY].iter_mut().zip(&places[from..]) {
                    *slot = place + usize::from(at);
                }
            };
            write(0);
            if *count > MOSTLY {
                write(MOSTLY);
            }
            found += count;
            last = match all(MATCHES_OF_TWO, 3).checked_ilog2() {
                Some(at) => place + at as usize,
                None => last,
            };
            row = (cells[AT_ONCE / 2 - 1] & ROW) as usize;
            place += AT_ONCE;
        }
        *search = Search {
            state: (row >> self.own_stride) << self.stride,
            place,
            last,
        };
        found
    }

    /// Reads four times two characters from a row on: their cells. What comes behind a cell that fails means nothing.
    #[inline(always)]
    fn read(&self, row: usize, eight: &[u8; AT_ONCE]) -> [u32; AT_ONCE / 2] {
        let pair = |at: usize| {
            let (one, two) = (usize::from(eight[at]), usize::from(eight[at + 1]));
            usize::from(self.first[one] | self.second[two])
        };
        // Not in a loop: the row stays in a register.
        let next = |cell: u32, at: usize| self.cells[(cell & ROW) as usize + pair(at)];
        let one = self.cells[row + pair(0)];
        let two = next(one, 2);
        let three = next(two, 4);
        let four = next(three, 6);
        [one, two, three, four]
    }
}

/// What the table says of two characters in a state.
fn of_two(automaton: &Automaton, state: usize, (one, two): (u8, u8), own_stride: u32) -> u32 {
    let read = |state: usize, number: u8| automaton.cells[state + usize::from(number)];
    let first = read(state, one);
    if first & FAILS != 0 {
        return FAILS_IN_TWO;
    }
    let second = read((first & STATE) as usize, two);
    if second & FAILS != 0 {
        return FAILS_IN_TWO;
    }
    let stride = automaton.stride.trailing_zeros();
    let mut cell = ((second & STATE) >> stride) << own_stride;
    for (holds, bit) in [
        (first & MATCHES != 0, 1 << MATCHES_OF_TWO),
        (second & MATCHES != 0, 2 << MATCHES_OF_TWO),
        (first & CUTS != 0, 1 << CUTS_OF_TWO),
        (second & CUTS != 0, 2 << CUTS_OF_TWO),
    ] {
        cell |= if holds { bit } else { 0 };
    }
    cell
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::super::tests::{ends, expressions};
    use super::super::{Pattern, Way};

    const UNITS: [&str; 16] = [
        "a",
        "b",
        "ab",
        "s",
        "A",
        "1",
        "12",
        " ",
        "  ",
        "\n",
        "!",
        "'s",
        "é",
        "aaaaaaaaaaaa",
        " a b a b a b",
        "word wor",
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(600))]

        #[test]
        fn two_at_a_step_cut_as_one(
            expression in expressions(),
            units in prop::collection::vec(select(&UNITS[..]), 0..60),
        ) {
            let Ok(mut pattern) = Pattern::new(&expression) else {
                return Ok(());
            };
            let text = units.concat();
            let rooms = [1, 8, 11, 64];
            let found = rooms.map(|room| ends(&pattern, text.as_bytes(), room));
            let Way::Table(table) = &mut pattern.way else {
                return Ok(());
            };
            table.pairs = None;
            let expected = ends(&pattern, text.as_bytes(), 64);
            for found in &found {
                prop_assert_eq!(found, &expected, "{}", expression);
            }
        }
    }

    #[test]
    fn patterns_in_use_are_laid_out() {
        for expression in [
            r" ?\p{L}+| ?\p{N}{1,2}| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
            r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
            r##"[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"##,
        ] {
            let Way::Table(table) = Pattern::new(expression).unwrap().way else {
                panic!("{expression} is backtracked");
            };
            assert!(table.pairs.is_some(), "{expression}");
        }
    }
}
