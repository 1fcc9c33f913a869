//! Fewer pairs, so that eight classes of bytes tell them from all others.
//!
//! First bytes behind which the same may stand are one kind. While there are too many kinds, two become one, behind which stands
//! what may stand behind either: those two that lose the least by it; or one is given up, if that loses less.

use super::Rows;
use super::classes::MOST;

/// First bytes behind which the same may stand.
struct Kind {
    row: [u64; 4],
    bytes: Vec<u8>,
    /// What its first bytes are worth.
    worth: u64,
}

/// Takes pairs of at most [`MOST`] kinds of first bytes.
pub(super) fn told_apart(rows: &Rows, first: &[u64; 256], second: &[u64; 256]) -> Rows {
    let mut kinds = kinds_of(rows, first);
    let mut left: Vec<usize> = (0..kinds.len()).collect();
    let mut losses = Losses::of(&kinds, second);
    while left.len() > MOST {
        let (one, gone) = losses.least(&left);
        left.retain(|&number| number != gone);
        let row = std::mem::take(&mut kinds[gone].row);
        if one == gone {
            continue;
        }
        let (bytes, worth) = (std::mem::take(&mut kinds[gone].bytes), kinds[gone].worth);
        let kept = &mut kinds[one];
        kept.row = both(&kept.row, &row);
        kept.worth = kept.worth.saturating_add(worth);
        kept.bytes.extend(bytes);
        for &other in &left {
            losses.set(&kinds, one.min(other), one.max(other), second);
        }
    }
    let mut fewer = [[0; 4]; 256];
    for kind in &kinds {
        for &byte in &kind.bytes {
            fewer[usize::from(byte)] = kind.row;
        }
    }
    fewer
}

fn kinds_of(rows: &Rows, first: &[u64; 256]) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = Vec::new();
    for ((byte, &row), &worth) in (0..=u8::MAX).zip(rows).zip(first) {
        if row == [0; 4] {
            continue;
        }
        match kinds.iter_mut().find(|kind| kind.row == row) {
            Some(kind) => {
                kind.bytes.push(byte);
                kind.worth = kind.worth.saturating_add(worth);
            }
            None => kinds.push(Kind {
                row,
                bytes: vec![byte],
                worth,
            }),
        }
    }
    kinds
}

/// What is lost when two kinds become one, or one is given up, which stands beside itself.
struct Losses {
    kinds: usize,
    of: Vec<u128>,
}

impl Losses {
    fn of(kinds: &[Kind], second: &[u64; 256]) -> Self {
        let mut losses = Self {
            kinds: kinds.len(),
            of: vec![0; kinds.len() * kinds.len()],
        };
        for later in 0..kinds.len() {
            for one in 0..=later {
                losses.set(kinds, one, later, second);
            }
        }
        losses
    }

    fn set(&mut self, kinds: &[Kind], one: usize, later: usize, second: &[u64; 256]) {
        let kept = match one == later {
            true => [0; 4],
            false => both(&kinds[one].row, &kinds[later].row),
        };
        let loss = |kind: &Kind| {
            let lost = std::array::from_fn(|part| kind.row[part] & !kept[part]);
            u128::from(kind.worth) * u128::from(sum(&lost, second))
        };
        self.of[one * self.kinds + later] = match one == later {
            true => loss(&kinds[one]),
            false => loss(&kinds[one]) + loss(&kinds[later]),
        };
    }

    /// The two of these kinds that lose the least, the later one behind; one of them twice if it is to be given up.
    fn least(&self, left: &[usize]) -> (usize, usize) {
        let pairs = left.iter().enumerate().flat_map(|(place, &later)| {
            let before = left[..=place].iter();
            before.map(move |&one| (self.of[one * self.kinds + later], one, later))
        });
        let (_, one, later) = pairs.min().unwrap_or_default();
        (one, later)
    }
}

fn both(one: &[u64; 4], other: &[u64; 4]) -> [u64; 4] {
    std::array::from_fn(|part| one[part] & other[part])
}

/// What the bytes of a row are worth together.
fn sum(row: &[u64; 4], worth: &[u64; 256]) -> u64 {
    let is_held = |byte: &usize| row[byte / 64] >> (byte % 64) & 1 != 0;
    let held = (0..256).filter(is_held).map(|byte| worth[byte]);
    held.fold(0, u64::saturating_add)
}
