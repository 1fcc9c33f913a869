//! The fast steps against those of [`exact`](super::super::exact), which ask the library for each number and the
//! search for each path.

use proptest::prelude::*;

use super::super::lattices::{GONE, Lattices};
use super::super::prune::Alternative;
use super::super::scored_pieces::ScoredPieces;
use super::super::words::Words;
use super::super::{Options, exact, seeds};
use super::{TwoBest, expect, frequencies};
use crate::random::{Draw, Place};

fn draw(seed: u64) -> Draw {
    Draw::at(Place {
        seed,
        document: 0,
        offset: 0,
    })
}

fn options() -> Options {
    Options {
        single_precision: true,
        record: false,
        ..super::super::tests::options(99)
    }
}

fn counted(words: &[(String, u64)]) -> Words {
    let pieces = words.iter().map(|(word, count)| (word.as_bytes(), *count));
    Words::new(pieces, &options()).unwrap()
}

/// Tokens of which some are gone, characters among them, with scores that are drawn, or are all the same.
fn trained(words: &Words, draw: &mut Draw, equal: bool) -> (ScoredPieces<f32>, Lattices) {
    let all: ScoredPieces<f32> = seeds::find(words, &options()).unwrap();
    let mut lattices = Lattices::new(words, &all, 1).unwrap();
    let kept: Vec<usize> = (0..all.len())
        .filter(|&id| id == 0 || !draw.bits().is_multiple_of(5))
        .collect();
    let mut new_ids = vec![GONE; all.len()];
    for (new, &id) in kept.iter().enumerate() {
        new_ids[id] = new as u32;
    }
    lattices.rename(&new_ids, kept.len(), 1);
    let mut score = || match equal {
        true => -3.0,
        false => -20.0 * ((draw.bits() >> 40) as f32 / (1u64 << 24) as f32),
    };
    let pieces = kept.iter().map(|&id| (all.get(id), score()));
    (ScoredPieces::new(pieces), lattices)
}

fn bits(numbers: &[f32]) -> Vec<u32> {
    numbers.iter().map(|number| number.to_bits()).collect()
}

/// Compares all three steps; gives how many alternatives there were of the three kinds.
fn compare(pieces: &ScoredPieces<f32>, lattices: &Lattices) -> [usize; 3] {
    let expected = bits(&exact::expect(pieces, lattices));
    let best = bits(&exact::frequencies(pieces, lattices));
    for threads in [1, 2, 5] {
        assert_eq!(bits(&expect(pieces, lattices, threads)), expected);
        assert_eq!(bits(&frequencies(pieces, lattices, threads)), best);
    }
    let packing = lattices.packing();
    let mut search = TwoBest::default();
    let (mut others, mut exact_others) = (Vec::new(), Vec::new());
    let mut kinds = [0; 3];
    for shard in lattices.shards() {
        lattices.homes(shard, |home| {
            let fast = search
                .alternative(pieces, packing, home, &mut others)
                .unwrap();
            let slow = exact::alternative(pieces, packing, home, &mut exact_others).unwrap();
            assert_eq!(fast, slow);
            if slow == Alternative::Without {
                assert_eq!(others, exact_others);
            }
            kinds[slow as usize] += 1;
        });
    }
    kinds
}

proptest! {
    /// With few letters many segmentations are as good as others, or all but for rounding.
    #[test]
    fn steps_are_those_of_the_slow_way(
        words in proptest::collection::btree_map("▁?[abé]{1,12}", 1u64..9, 1..12),
        seed in 0u64..1 << 40,
        equal in proptest::bool::ANY,
    ) {
        let words: Vec<(String, u64)> = words.into_iter().collect();
        let words = counted(&words);
        let (pieces, lattices) = trained(&words, &mut draw(seed), equal);
        compare(&pieces, &lattices);
    }
}

/// So many words that there are many blocks, and sums so large that adding to them rounds.
#[test]
fn blocks_are_added_in_order() {
    let mut draw = draw(3);
    let words: std::collections::BTreeMap<String, u64> = (0..6000)
        .map(|_| {
            let letters =
                (0..draw.bits() % 14 + 1).map(|_| b"abcdeeefgh"[(draw.bits() % 10) as usize]);
            let word: String = letters.map(char::from).collect();
            (format!("▁{word}"), draw.bits() % 100_000 + 1)
        })
        .collect();
    let words = counted(&words.into_iter().collect::<Vec<_>>());
    let (pieces, lattices) = trained(&words, &mut draw, false);
    let blocks = lattices.blocks();
    assert!(blocks.len() > 4, "{}", blocks.len());
    let in_blocks = blocks.iter().flat_map(|block| block.words());
    assert!(
        in_blocks
            .map(|word| word.edges)
            .eq(lattices.words().map(|word| word.edges))
    );
    let kinds = compare(&pieces, &lattices);
    assert!(kinds.iter().all(|&kind| kind > 5), "{kinds:?}");
}
