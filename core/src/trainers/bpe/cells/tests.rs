//! Cells against lists of tokens.

use proptest::prelude::*;

use super::*;

/// Pieces as lists of tokens, with how often each occurs.
type Counted = Vec<(Vec<u32>, u64)>;

fn laid_out(pieces: &Counted) -> Cells {
    let mut cells = Cells::new();
    for (piece, count) in pieces {
        cells.push(*count, |cells| cells.extend(piece)).unwrap();
    }
    cells
}

/// Every pair: left, right, count.
fn pairs_of(pieces: &Counted) -> Vec<(u32, u32, u64)> {
    let of_piece = |(piece, count): &(Vec<u32>, u64)| -> Vec<_> {
        piece
            .windows(2)
            .map(|pair| (pair[0], pair[1], *count))
            .collect()
    };
    pieces.iter().flat_map(of_piece).collect()
}

proptest! {
    #[test]
    fn merges_and_compactions_are_those_of_lists(
        mut pieces in proptest::collection::vec(
            (proptest::collection::vec(0..3_u32, 0..12), 1..4_u64), 0..8,
        ),
        steps in proptest::collection::vec((0..8_u32, 0..8_u32, any::<bool>()), 1..12),
    ) {
        let mut cells = laid_out(&pieces);
        let mut known: Vec<u32> = (0..cells.len() as u32).collect();
        for (number, &(left, right, compact)) in steps.iter().enumerate() {
            let product = 3 + number as u32;
            let mut expected = Vec::new();
            for (piece, count) in &mut pieces {
                let mut at = 0;
                while at + 1 < piece.len() {
                    if (piece[at], piece[at + 1]) == (left, right) {
                        piece[at] = product;
                        piece.remove(at + 1);
                        let before = at.checked_sub(1).map_or(SEPARATOR, |at| piece[at]);
                        let after = piece.get(at + 1).copied().unwrap_or(SEPARATOR);
                        expected.push((before, after, *count));
                    }
                    at += 1;
                }
            }
            let places: Vec<u32> =
                known.iter().copied().filter(|&place| cells.cells[place as usize] == left).collect();
            let mut found = Vec::new();
            cells.merge_all([left, right, product], &places, |around, place, count| {
                assert!(around.before == SEPARATOR || around.before_at < place);
                found.push((around.before, around.after, count));
            });
            prop_assert_eq!(found, expected);
            if compact {
                let mut told = Vec::new();
                cells.compact(|left, right, count| told.push((left, right, count)));
                prop_assert_eq!(&told, &pairs_of(&pieces));
                known = (0..cells.len() as u32).collect();
                let mut told = Vec::new();
                cells.for_each_pair(|left, right, count, place| {
                    assert!(cells.stands(left, right, place));
                    told.push((left, right, count));
                });
                prop_assert_eq!(&told, &pairs_of(&pieces));
            }
        }
    }
}

#[test]
fn every_cell_is_in_the_run_of_its_piece() {
    let mut cells = Cells::new();
    let mut expected = Vec::new();
    // Runs of one cell and of many hundreds, before and behind the borders of stretches.
    for piece in 0..600_u64 {
        let (length, count) = if piece % 97 == 0 {
            (700, 600 - piece)
        } else {
            (piece as usize % 5, (600 - piece) / 3)
        };
        let begin = cells.len();
        cells
            .push(count, |cells| cells.extend(std::iter::repeat_n(0, length)))
            .unwrap();
        expected.extend((begin..cells.len()).map(|place| (place as u32, count)));
    }
    for compacted in [false, true] {
        for (places, step) in [
            (&expected[..], 1),
            (&expected[..], 7),
            (&expected[5..], 301),
        ] {
            let some: Vec<u32> = places
                .iter()
                .step_by(step)
                .map(|&(place, _)| place)
                .collect();
            let sum: u64 = places.iter().step_by(step).map(|&(_, count)| count).sum();
            assert_eq!(cells.sum_at(&some), sum);
        }
        if !compacted {
            // No piece is left out: none is one token.
            cells.symbols().iter_mut().for_each(|symbol| {
                if *symbol != SEPARATOR {
                    *symbol = 1
                }
            });
            let mut all = Vec::new();
            cells.for_each_pair(|_, _, count, place| all.push((place, count)));
            cells.compact(|_, _, _| ());
            expected.clear();
            cells.for_each_pair(|_, _, count, place| expected.push((place, count)));
            assert_eq!(all.len(), expected.len());
        }
    }
}
