//! Writes an expression without what only a backtracking engine can run, where that says the same.
//!
//! What is left asks at most for the one character beside a place, so that an automaton which looks one character
//! ahead runs it. Each rewriting here has its proof beside it; what none of them fits is refused. In the proofs, what
//! *follows* a part is the rest of the expression, a *run* of a set is as many of its characters as stand there, and
//! engines try the ways to match in order and take the first that leads to a match of all.

use super::tree::{Beside, Kind, Repeat, Set, Tree, all_but, meet};
use crate::error::{Result, ensure, invalid};

/// Of so many alternatives, each is compared with each other.
const MOST_COMPARED: usize = 64;

/// Rewrites an expression.
///
/// # Errors
/// When none of the rewritings fits a part of it.
pub(super) fn reduce(tree: Tree) -> Result<Tree> {
    rewrite(tree, true)
}

/// Rewrites a part; `last` says that nothing follows it.
fn rewrite(tree: Tree, last: bool) -> Result<Tree> {
    Ok(match tree {
        Tree::One(_) | Tree::Beside(_) => tree,
        Tree::Sequence(parts) => {
            let count = parts.len();
            let each = |(number, part)| rewrite(part, last && number + 1 == count);
            Tree::Sequence(
                parts
                    .into_iter()
                    .enumerate()
                    .map(each)
                    .collect::<Result<_>>()?,
            )
        }
        Tree::Choice(parts) => {
            let each = |part| rewrite(part, last);
            Tree::Choice(parts.into_iter().map(each).collect::<Result<_>>()?)
        }
        Tree::Around { ahead, not, body } => {
            let found = beside(ahead, &body);
            let found = found
                .ok_or_else(|| invalid!("an expression looks around for more than a character"))?;
            Tree::Beside(if not { found.opposite() } else { found })
        }
        // Where nothing follows, the first way to match a part leads to a match of all, and no other one is tried.
        Tree::Atomic(body) if last => rewrite(*body, true)?,
        Tree::Atomic(body) => {
            let committed = committed(&rewrite(*body, false)?);
            committed.ok_or_else(|| {
                invalid!("an expression has an atomic group of which too little is known")
            })?
        }
        Tree::Repeat(repeat) => {
            let Repeat {
                body,
                least,
                most,
                kind,
            } = *repeat;
            let mut repeat = Repeat {
                body: rewrite(body, last && most == Some(1))?,
                least,
                most,
                kind,
            };
            if kind == Kind::Possessive && last {
                repeat.kind = Kind::Greedy; // as above
            }
            if repeat.kind == Kind::Possessive && begins_with(&repeat.body).is_none() {
                repeat.kind = Kind::Greedy;
                let committed = committed(&Tree::Repeat(Box::new(repeat)));
                committed.ok_or_else(|| {
                    invalid!("an expression has a possessive part of which too little is known")
                })?
            } else {
                Tree::Repeat(Box::new(repeat))
            }
        }
    })
}

/// The question that a look-around asks, if it depends on one character: whether a body matches that begins (behind
/// the place) or ends (before it) with a character of a set, and besides matches nothing if it has to.
fn beside(ahead: bool, body: &Tree) -> Option<Beside> {
    match body {
        Tree::One(set) => Some(Beside::of(ahead, set.clone(), false)),
        Tree::Beside(question) => (question.ahead == ahead).then(|| question.clone()),
        Tree::Choice(parts) => {
            let mut questions = parts.iter().map(|part| beside(ahead, part));
            let first = questions.next()??;
            questions.try_fold(first, |all, question| Some(all.or(&question?)))
        }
        Tree::Sequence(parts) => {
            let (nearest, others) = match ahead {
                true => parts.split_first()?,
                false => parts.split_last()?,
            };
            let others_match = others.iter().all(Tree::always_can_be_empty);
            others_match.then(|| beside(ahead, nearest)).flatten()
        }
        Tree::Repeat(repeat) if repeat.least == 1 && repeat.kind != Kind::Possessive => {
            beside(ahead, &repeat.body)
        }
        Tree::Repeat(_) | Tree::Atomic(_) | Tree::Around { .. } => None,
    }
}

/// An expression of what is left that matches as an atomic group of this one: in its first way, or not at all.
fn committed(tree: &Tree) -> Option<Tree> {
    if has_one_way(tree) {
        return Some(tree.clone());
    }
    match tree {
        // The first way is the longest one up to the run's end, or the shortest.
        Tree::Repeat(repeat) if begins_with(&repeat.body).is_some() => {
            let mut repeat = repeat.clone();
            match repeat.kind {
                Kind::Greedy => repeat.kind = Kind::Possessive,
                Kind::Lazy => repeat.most = Some(repeat.least),
                Kind::Possessive => {}
            }
            Some(Tree::Repeat(repeat))
        }
        Tree::Sequence(parts) => committed_sequence(parts),
        // At most one of them matches, and that in its first way.
        Tree::Choice(parts) if are_apart(parts) => parts
            .iter()
            .map(committed)
            .collect::<Option<_>>()
            .map(Tree::Choice),
        _ => None,
    }
}

/// If each part but the last has one way to match, then only the last one has several, and its first way that
/// matches is that of all. A part whose repetitions begin with no character that what follows begins with has one
/// way, too: with fewer repetitions than the run has, one of those characters would follow.
fn committed_sequence(parts: &[Tree]) -> Option<Tree> {
    let (last, before) = parts.split_last()?;
    let mut written = Vec::with_capacity(parts.len());
    for (number, part) in before.iter().enumerate() {
        if has_one_way(part) {
            written.push(part.clone());
            continue;
        }
        let Tree::Repeat(repeat) = part else {
            return None;
        };
        let body = begins_with(&repeat.body)?;
        let follows = first_of(&parts[number + 1..])?;
        if repeat.most.is_some() || meet(&body, &follows) {
            return None;
        }
        written.push(Tree::Repeat(Box::new(Repeat {
            kind: Kind::Possessive,
            ..(**repeat).clone()
        })));
    }
    written.push(committed(last)?);
    Some(Tree::Sequence(written))
}

/// The characters at which a part matches that has one way to match, and matches if and only if one of them stands
/// there. Repeating it possessively is then repeating it up to where none of them stands.
pub(super) fn begins_with(tree: &Tree) -> Option<Set> {
    let never_fails = |part: &Tree| match part {
        Tree::Repeat(repeat) => {
            repeat.least == 0
                && repeat.kind == Kind::Possessive
                && begins_with(&repeat.body).is_some()
        }
        _ => false,
    };
    match tree {
        Tree::One(set) => Some(set.clone()),
        Tree::Sequence(parts) => {
            let (first, others) = parts.split_first()?;
            others
                .iter()
                .all(never_fails)
                .then(|| begins_with(first))
                .flatten()
        }
        _ => None,
    }
}

/// Whether there is at most one way to match in each place.
fn has_one_way(tree: &Tree) -> bool {
    match tree {
        Tree::One(_) | Tree::Beside(_) => true,
        Tree::Sequence(parts) => parts.iter().all(has_one_way),
        Tree::Choice(parts) => are_apart(parts) && parts.iter().all(has_one_way),
        Tree::Repeat(repeat) => {
            has_one_way(&repeat.body)
                && (repeat.most == Some(repeat.least) || repeat.kind == Kind::Possessive)
        }
        Tree::Atomic(_) | Tree::Around { .. } => false,
    }
}

/// Whether no two of some parts match in the same place, because they ask for different characters somewhere.
fn are_apart(parts: &[Tree]) -> bool {
    if parts.len() > MOST_COMPARED {
        return false;
    }
    let sets: Vec<Vec<Set>> = parts.iter().map(leading).collect();
    sets.iter().enumerate().all(|(number, one)| {
        let differ = |other: &Vec<Set>| one.iter().zip(other).any(|(one, other)| !meet(one, other));
        sets[..number].iter().all(differ)
    })
}

/// The sets of the first characters of what a part matches, as many as are known.
fn leading(tree: &Tree) -> Vec<Set> {
    match tree {
        Tree::One(set) => vec![set.clone()],
        Tree::Sequence(parts) => {
            let mut sets = Vec::new();
            for part in parts {
                sets.extend(leading(part));
                if !matches!(part, Tree::One(_)) {
                    break;
                }
            }
            sets
        }
        Tree::Repeat(repeat) if repeat.least > 0 => {
            leading(&repeat.body).into_iter().take(1).collect()
        }
        _ => Vec::new(),
    }
}

/// All characters that what parts match can begin with; None if they may match nothing.
fn first_of(parts: &[Tree]) -> Option<Set> {
    let mut found = Set::empty();
    for part in parts {
        let (set, may_be_empty) = first(part)?;
        found.union(&set);
        if !may_be_empty {
            return Some(found);
        }
    }
    None
}

fn first(tree: &Tree) -> Option<(Set, bool)> {
    Some(match tree {
        Tree::One(set) => (set.clone(), false),
        Tree::Beside(_) => (Set::empty(), true),
        Tree::Sequence(parts) => match first_of(parts) {
            Some(set) => (set, false),
            None => {
                let mut all = Set::empty();
                for part in parts {
                    all.union(&first(part)?.0);
                }
                (all, true)
            }
        },
        Tree::Choice(parts) => {
            let (mut all, mut empty) = (Set::empty(), false);
            for part in parts {
                let (set, may_be_empty) = first(part)?;
                all.union(&set);
                empty |= may_be_empty;
            }
            (all, empty)
        }
        Tree::Repeat(repeat) => {
            let (set, empty) = first(&repeat.body)?;
            (set, empty || repeat.least == 0)
        }
        Tree::Atomic(_) | Tree::Around { .. } => return None,
    })
}

/// The question that ends a possessive repetition: whether no more of it stands there.
///
/// # Errors
/// When it is not known what stands there.
pub(super) fn ends_run(body: &Tree) -> Result<Beside> {
    let set = begins_with(body);
    ensure!(set.is_some(), "a possessive part is not known to end");
    let set = set.unwrap_or_else(Set::empty);
    Ok(Beside::of(true, all_but(&set), true))
}
