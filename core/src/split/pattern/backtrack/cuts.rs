//! Where a text can be cut without changing any piece, as far as the steps of an expression show it.
//!
//! Two characters decide, `a` before the cut and `b` behind it. The cut is safe if (1) no path takes `a` and then `b`, in a
//! match or in what it looks ahead for, (2) each question that can be asked behind `a` about the next character has the
//! same answer for `b` and for the text's end, (3) a match surely begins at `b`, whatever follows, (4) each question about
//! the character before has the same answer for `a` and for the text's beginning, and nothing else looks back.
//!
//! Whatever is tried from before the cut and comes to it has just taken `a`. By (1) it takes nothing there, with `b` or without,
//! and by (2) goes on alike: what is before the cut is matched as if the text ended there, and no match crosses it. By (3) a
//! piece begins there, and by (4) it and all that follow are as at a text's beginning.

use super::super::safe::SafePairs;
use super::code::{Code, Mask, Node, Question, Step};

/// Finds the pairs; `numbers` is how many the alphabet has, and `newline` that of a line feed.
pub(super) fn safe_pairs(code: &Code, sets: &[Mask], numbers: usize, newline: u8) -> SafePairs {
    let looks_back = code.steps.iter().any(|step| {
        matches!(
            step,
            Step::Take { back: true, .. } | Step::Run { back: true, .. }
        )
    });
    let mut pairs = vec![vec![false; numbers]; numbers];
    if looks_back {
        return SafePairs::of(pairs);
    }
    let begins = surely_begins(code, sets);
    let asks_for_last = code
        .questions
        .iter()
        .any(|each| each.last_newline.is_some());
    let own_place = |number: u8| !(asks_for_last && number == newline);
    for (before, row) in pairs.iter_mut().enumerate() {
        let before = before as u8;
        let alike =
            |each: &Question| each.ahead || sets[each.set as usize].has(before) == each.edge;
        if !own_place(before) || !code.questions.iter().all(alike) {
            continue;
        }
        let behind = Behind::new(code, sets, before);
        for (number, safe) in row.iter_mut().enumerate() {
            let number = number as u8;
            *safe = own_place(number) && begins.has(number) && behind.ends_before(number, sets);
        }
    }
    SafePairs::of(pairs)
}

/// What can follow a character on any path.
struct Behind<'c> {
    taken: Vec<u32>,
    asked: Vec<&'c Question>,
}

impl<'c> Behind<'c> {
    fn new(code: &'c Code, sets: &[Mask], before: u8) -> Self {
        let mut behind = Self {
            taken: Vec::new(),
            asked: Vec::new(),
        };
        let mut seen = vec![false; code.steps.len()];
        let mut open: Vec<Node> = Vec::new();
        for (node, step) in code.steps.iter().enumerate() {
            match *step {
                Step::Take { set, next, .. } if sets[set as usize].has(before) => open.push(next),
                Step::Run { set, .. } if sets[set as usize].has(before) => open.push(node as Node),
                _ => {}
            }
        }
        while let Some(node) = open.pop() {
            if std::mem::replace(&mut seen[node as usize], true) {
                continue;
            }
            match &code.steps[node as usize] {
                Step::Take { set, .. } => behind.taken.push(*set),
                Step::Run { set, next, .. } => {
                    behind.taken.push(*set);
                    open.push(*next);
                }
                Step::Fork(ways) => open.extend(ways.iter().map(|way| way.next)),
                Step::Ask { question, next } => {
                    behind.asked.push(&code.questions[*question as usize]);
                    open.push(*next);
                }
                Step::Atomic { body, next } | Step::Around { body, next, .. } => {
                    open.extend([*body, *next]);
                }
                // Behind the body of an atomic group goes on what stands behind the group.
                Step::Done => open.extend(code.steps.iter().filter_map(|step| match step {
                    Step::Atomic { next, .. } => Some(*next),
                    _ => None,
                })),
            }
        }
        behind.taken.sort_unstable();
        behind.taken.dedup();
        behind
    }

    /// Whether all that comes to a character stops at it as at the end of the text.
    fn ends_before(&self, number: u8, sets: &[Mask]) -> bool {
        let takes = self.taken.iter().any(|&set| sets[set as usize].has(number));
        let alike =
            |each: &&Question| !each.ahead || sets[each.set as usize].has(number) == each.edge;
        !takes && self.asked.iter().all(alike)
    }
}

/// The characters with which a match surely begins, whatever stands beside them.
fn surely_begins(code: &Code, sets: &[Mask]) -> Mask {
    let count = code.steps.len();
    let (mut always, mut begins) = (vec![false; count], vec![Mask::default(); count]);
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for (node, step) in code.steps.iter().enumerate() {
            let goes_on = |next: &Node| always[*next as usize];
            let (matches, mask) = match step {
                Step::Done => (true, Mask::ALL),
                Step::Take { set, next, .. } if goes_on(next) => (false, sets[*set as usize]),
                Step::Run { next, .. } if goes_on(next) => (true, Mask::ALL),
                Step::Run {
                    next, gives: true, ..
                } => (false, begins[*next as usize]),
                Step::Fork(ways) => (
                    ways.iter().any(|way| goes_on(&way.next)),
                    ways.iter()
                        .map(|way| begins[way.next as usize])
                        .fold(Mask::default(), Mask::or),
                ),
                _ => (false, Mask::default()),
            };
            changed |= (always[node], begins[node]) != (matches, mask);
            (always[node], begins[node]) = (matches, mask);
        }
    }
    begins[code.start as usize]
}
