use super::lattice::UNKNOWN;
use super::tests::{all, ids, simple};
use crate::models::model::Model as _;
use crate::models::scratch::Scratch;
use crate::random::{Draw, Place, Sampling};

#[test]
fn draws_by_probability() {
    let model = simple(&[
        ("a", -1.0),
        ("aa", -1.3),
        ("b", -0.7),
        ("ab", -2.0),
        ("aab", -3.5),
    ]);
    let text = b"aaabx";
    for (alpha, nbest) in [(1.0, 0), (0.3, 0), (0.0, 0), (2.0, 0), (0.7, 3)] {
        let mut expected = all(&model, text);
        expected.sort_by(|a, b| b.1.total_cmp(&a.1));
        if nbest > 0 {
            expected.truncate(nbest);
        }
        let total: f64 = expected
            .iter()
            .map(|(_, score)| (alpha * score).exp())
            .sum();
        let draws = 20_000;
        let mut seen: std::collections::HashMap<Vec<u32>, u32> = std::collections::HashMap::new();
        let mut scratch = Scratch::default();
        let mut draw = Draw::at(Place {
            seed: 7,
            document: 0,
            offset: 0,
        });
        for _ in 0..draws {
            let mut out = Vec::new();
            let sampling = Sampling::Segmentation { alpha, nbest };
            model
                .sample_piece(text, sampling, &mut draw, &mut scratch, &mut out)
                .unwrap();
            *seen.entry(ids(&out)).or_default() += 1;
        }
        for (path, score) in expected {
            let path: Vec<u32> = path
                .iter()
                .map(|&id| if id == UNKNOWN { 0 } else { id })
                .collect();
            let share = (alpha * score).exp() / total;
            let found = f64::from(seen.remove(&path).unwrap_or(0)) / f64::from(draws);
            let deviation = (share * (1.0 - share) / f64::from(draws)).sqrt();
            assert!(
                (found - share).abs() <= 5.0 * deviation + 1e-9,
                "{alpha} {path:?} {found} {share}"
            );
        }
        assert!(seen.is_empty(), "nothing else was drawn");
    }
    let refused = |alpha| {
        let sampling = Sampling::Segmentation { alpha, nbest: 0 };
        let mut draw = Draw::at(Place {
            seed: 0,
            document: 0,
            offset: 0,
        });
        model
            .sample_piece(
                text,
                sampling,
                &mut draw,
                &mut Scratch::default(),
                &mut Vec::new(),
            )
            .is_err()
    };
    assert!(refused(f64::NAN) && refused(-1.0) && !refused(0.0));
}

/// However large alpha is, what is drawn is one of the best; at 0, or next to it, all are equal.
#[test]
fn draws_at_the_limits_of_alpha() {
    let tokens = [
        ("a", -1.0),
        ("b", -1.0),
        ("ab", -2.0),
        ("aa", -2.5),
        ("aab", -9.0),
    ];
    let model = simple(&tokens);
    let text = b"aabx";
    let found = |alpha: f64, nbest: usize| {
        let mut seen = std::collections::BTreeSet::new();
        let mut draw = Draw::at(Place {
            seed: 1,
            document: 0,
            offset: 0,
        });
        for _ in 0..200 {
            let mut out = Vec::new();
            let sampling = Sampling::Segmentation { alpha, nbest };
            let mut scratch = Scratch::default();
            model
                .sample_piece(text, sampling, &mut draw, &mut scratch, &mut out)
                .unwrap();
            seen.insert(ids(&out));
        }
        seen.into_iter().collect::<Vec<_>>()
    };
    // "a b" and "ab" weigh the same, and both are best.
    let best = vec![vec![1, 1, 2, 0], vec![1, 3, 0]];
    for alpha in [1e3, 1e300, 1e307, 1e308, f64::MAX] {
        assert_eq!(found(alpha, 0), best, "{alpha}");
        assert_eq!(found(alpha, 3), best, "{alpha} of 3");
    }
    let mut every: Vec<Vec<u32>> = all(&model, text)
        .into_iter()
        .map(|(path, _)| path)
        .collect();
    every.iter_mut().flatten().for_each(|id| {
        if *id == UNKNOWN {
            *id = 0;
        }
    });
    every.sort();
    for alpha in [0.0, -0.0, f64::from_bits(1), f64::MIN_POSITIVE] {
        assert_eq!(found(alpha, 0), every, "{alpha}");
        assert_eq!(found(alpha, 1024), every, "{alpha} of 1024");
    }
}

/// Scores whose sums overflow leave every segmentation as good as the best.
#[test]
fn draws_where_scores_overflow() {
    for score in [-1.7e308, 1.7e308] {
        let model = simple(&[("a", score), ("b", score)]);
        let mut out = Vec::new();
        let mut draw = Draw::at(Place {
            seed: 1,
            document: 0,
            offset: 0,
        });
        let sampling = Sampling::Segmentation {
            alpha: 1e308,
            nbest: 0,
        };
        let mut scratch = Scratch::default();
        model
            .sample_piece(b"abab", sampling, &mut draw, &mut scratch, &mut out)
            .unwrap();
        assert_eq!(ids(&out), [1, 2, 1, 2], "{score}");
    }
}
