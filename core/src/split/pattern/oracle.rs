//! A backtracking engine that walks through an expression as it was read: the oracle of the automata.
//!
//! It tries the ways to match in order, as the dialect has them, and knows nothing of tables or alphabets.

use super::tree::{Kind, Repeat, Set, Tree};

/// Where a match of a tree ends that begins at a place, if there is one.
pub(super) fn match_at(tree: &Tree, text: &[char], at: usize) -> Option<usize> {
    match_if(tree, text, at, |_| true)
}

/// The same of the first match whose end is as wanted.
fn match_if(
    tree: &Tree,
    text: &[char],
    at: usize,
    wanted: impl Fn(usize) -> bool,
) -> Option<usize> {
    let mut end = None;
    tried(tree, text, at, &mut |reached| {
        end = wanted(reached).then_some(reached);
        end.is_some()
    });
    end
}

/// The end of each piece, by number of characters: of matches, and of what lies between them. Behind an empty match,
/// the next one in the same place is not empty.
pub(super) fn split(tree: &Tree, text: &[char]) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let mut later = at + 1..text.len();
        at = match match_if(tree, text, at, |end| end > at) {
            Some(end) => end,
            None => later
                .find(|&begin| match_at(tree, text, begin).is_some())
                .unwrap_or(text.len()),
        };
        ends.push(at);
    }
    ends
}

fn holds(set: &Set, character: char) -> bool {
    set.ranges()
        .iter()
        .any(|range| (range.start()..=range.end()).contains(&character))
}

/// Tries the ways to match from a place on, in order, until one leads to a match of what follows: `follows` says so.
fn tried(tree: &Tree, text: &[char], at: usize, follows: &mut dyn FnMut(usize) -> bool) -> bool {
    match tree {
        Tree::One(set) => text.get(at).is_some_and(|&c| holds(set, c)) && follows(at + 1),
        Tree::Beside(beside) => {
            let near = if beside.ahead {
                text.get(at)
            } else {
                text[..at].last()
            };
            let is_last = beside.ahead && at + 1 == text.len();
            let answer = match near {
                None => beside.edge,
                Some('\n') if is_last && beside.last_newline.is_some() => {
                    beside.last_newline == Some(true)
                }
                Some(&c) => holds(&beside.set, c),
            };
            answer && follows(at)
        }
        Tree::Sequence(parts) => in_sequence(parts, text, at, follows),
        Tree::Choice(parts) => parts.iter().any(|part| tried(part, text, at, follows)),
        Tree::Repeat(repeat) if repeat.kind == Kind::Possessive => {
            let mut greedy = repeat.clone();
            greedy.kind = Kind::Greedy;
            match_at(&Tree::Repeat(greedy), text, at).is_some_and(follows)
        }
        Tree::Repeat(repeat) => repeated(repeat, 0, text, at, follows),
        Tree::Atomic(body) => match_at(body, text, at).is_some_and(follows),
        Tree::Around {
            ahead: true,
            not,
            body,
        } => match_at(body, text, at).is_some() != *not && follows(at),
        Tree::Around { not, body, .. } => {
            let ends_here = |begin| tried(body, text, begin, &mut |reached| reached == at);
            (0..=at).any(ends_here) != *not && follows(at)
        }
    }
}

fn in_sequence(
    parts: &[Tree],
    text: &[char],
    at: usize,
    follows: &mut dyn FnMut(usize) -> bool,
) -> bool {
    match parts.split_first() {
        None => follows(at),
        Some((first, rest)) => tried(first, text, at, &mut |reached| {
            in_sequence(rest, text, reached, follows)
        }),
    }
}

fn repeated(
    repeat: &Repeat,
    done: u32,
    text: &[char],
    at: usize,
    follows: &mut dyn FnMut(usize) -> bool,
) -> bool {
    let may_stop = done >= repeat.least;
    let may_go_on = repeat.most.is_none_or(|most| done < most);
    if repeat.kind == Kind::Lazy && may_stop && follows(at) {
        return true;
    }
    let again = may_go_on
        && tried(&repeat.body, text, at, &mut |reached| {
            repeated(repeat, done + 1, text, reached, follows)
        });
    again || repeat.kind == Kind::Greedy && may_stop && follows(at)
}
