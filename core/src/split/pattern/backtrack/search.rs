//! Takes the steps of an expression, and goes back to the last open way where one fails.

use super::super::alphabet::Alphabet;
use super::Backtracker;
use super::code::{END, Mask, Node, Question, Step};
use super::tried::{Frame, Tried};

impl Alphabet {
    /// The number of the character at an offset; at the end of the text the one for that.
    #[inline(always)]
    fn number(&self, text: &[u8], at: usize) -> u8 {
        match at < text.len() {
            true => self.read(text, at).0,
            false => END,
        }
    }

    /// The number of the character that ends at a place behind the beginning, and where it begins.
    fn read_back(&self, text: &[u8], end: usize) -> (u8, usize) {
        let byte = text[end - 1];
        if byte.is_ascii() {
            return (self.of_byte(byte), end - 1);
        }
        for at in end.saturating_sub(4)..end - 1 {
            let (number, length) = self.read(&text[..end], at);
            if length > 1 && at + length == end {
                return (number, at);
            }
        }
        (self.of_byte(byte), end - 1)
    }
}

/// Where the search stands: a step and a place.
type Here = (Node, usize);

/// A search in a text.
struct Search<'a> {
    engine: &'a Backtracker,
    text: &'a [u8],
    tried: &'a mut Tried,
    remembers: bool,
}

impl Backtracker {
    /// Where the first match ends that begins at a place, if there is one. It must not end at `barred`.
    pub(super) fn match_at(
        &self,
        text: &[u8],
        begin: usize,
        barred: Option<usize>,
        tried: &mut Tried,
    ) -> Option<usize> {
        let start = self.code.start;
        if !self.code.first[start as usize].has(self.alphabet.number(text, begin)) {
            return None;
        }
        tried.frames.clear();
        tried.bodies.clear();
        let mut search = Search {
            engine: self,
            text,
            remembers: tried.step(0),
            tried,
        };
        let mut here = Some((start, begin));
        loop {
            here = match here {
                Some((node, at)) => {
                    search.remembers = search.tried.step(1);
                    match search.take(node, at) {
                        Ok(here) => here,
                        Err(end) if Some(end) == barred => None,
                        Err(end) => return Some(end),
                    }
                }
                None => Some(search.go_back()?),
            };
        }
    }
}

impl Search<'_> {
    /// Takes a step, and gives where that leads; None if it fails. When all is matched, that is the error.
    #[inline]
    fn take(&mut self, node: Node, at: usize) -> Result<Option<Here>, usize> {
        let engine = self.engine;
        Ok(match &engine.code.steps[node as usize] {
            &Step::Take { set, back, next } => {
                let set = &engine.sets[set as usize];
                self.one(set, back, at).map(|at| (next, at))
            }
            Step::Run { .. } => self.run(node, at),
            Step::Fork(_) => {
                if self.remembers {
                    if self.tried.has_failed(node, at) {
                        return Ok(None);
                    }
                    self.tried.frames.push(Frame::Failed {
                        node,
                        from: at,
                        to: at,
                    });
                }
                self.fork(node, 0, at)
            }
            &Step::Ask { question, next } => {
                let question = &engine.code.questions[question as usize];
                self.answer(question, at).then_some((next, at))
            }
            &(Step::Atomic { body, .. } | Step::Around { body, .. }) => {
                if self.remembers
                    && let Some(result) = self.tried.result(node, at)
                {
                    return Ok(self.behind(node, at, result));
                }
                self.tried.bodies.push(self.tried.frames.len());
                self.tried.frames.push(Frame::Body { opener: node, at });
                Some((body, at))
            }
            Step::Done => match self.tried.bodies.pop() {
                None => return Err(at),
                Some(place) => {
                    let body = self.tried.frames[place].clone();
                    self.tried.frames.truncate(place);
                    match body {
                        Frame::Body { opener, at: from } => self.leave(opener, from, Some(at)),
                        _ => None,
                    }
                }
            },
        })
    }

    /// Goes back to the last way that is open; None if there is none.
    fn go_back(&mut self) -> Option<Here> {
        loop {
            self.remembers = self.tried.step(1);
            let found = match self.tried.frames.pop()? {
                Frame::Way { fork, way, at } => self.fork(fork, way as usize, at),
                Frame::Run { run, nearest, at } => self.give_back(run, nearest, at),
                Frame::Body { opener, at } => {
                    self.tried.bodies.pop();
                    self.leave(opener, at, None)
                }
                Frame::Failed { node, from, to } => {
                    self.tried.fail(node, from, to);
                    None
                }
            };
            if found.is_some() {
                return found;
            }
        }
    }

    /// Leaves a body that matched up to a place, or did not.
    fn leave(&mut self, opener: Node, from: usize, result: Option<usize>) -> Option<Here> {
        if self.remembers {
            self.tried.set_result(opener, from, result);
        }
        self.behind(opener, from, result)
    }

    /// Where an atomic group or a look-around leads to, by what its body matched.
    fn behind(&self, opener: Node, from: usize, result: Option<usize>) -> Option<Here> {
        match self.engine.code.steps[opener as usize] {
            Step::Atomic { next, .. } => result.map(|end| (next, end)),
            Step::Around { not, next, .. } => (result.is_none() == not).then_some((next, from)),
            _ => None,
        }
    }

    /// Goes on with a way of a fork, or with the first one behind it that may match.
    #[inline]
    fn fork(&mut self, fork: Node, from: usize, at: usize) -> Option<Here> {
        let Step::Fork(ways) = &self.engine.code.steps[fork as usize] else {
            return None;
        };
        let number = self.engine.alphabet.number(self.text, at);
        let mut open = (from..).zip(&ways[from..]);
        let (_, way) = open.find(|(_, way)| way.first.has(number))?;
        if let Some((other, _)) = open.find(|(_, way)| way.first.has(number)) {
            let way = other as u32;
            self.tried.frames.push(Frame::Way { fork, way, at });
        }
        Some((way.next, at))
    }

    /// Takes a character of a set, and gives where it ends.
    #[inline(always)]
    fn one(&self, set: &Mask, back: bool, at: usize) -> Option<usize> {
        let alphabet = &self.engine.alphabet;
        if back {
            let (number, begin) = (at > 0).then(|| alphabet.read_back(self.text, at))?;
            return set.has(number).then_some(begin);
        }
        let (number, length) = (at < self.text.len()).then(|| alphabet.read(self.text, at))?;
        set.has(number).then_some(at + length)
    }

    /// Takes a run of characters.
    fn run(&mut self, node: Node, from: usize) -> Option<Here> {
        let Step::Run {
            set,
            most,
            gives,
            back,
            next,
        } = self.engine.code.steps[node as usize]
        else {
            return None;
        };
        if self.remembers && self.tried.has_failed(node, from) {
            return None;
        }
        let set = &self.engine.sets[set as usize];
        let endless = most == usize::MAX;
        let (mut at, mut count) = (from, 0);
        while count < most
            && let Some(end) = self.one(set, back, at)
        {
            if self.remembers && endless {
                if gives && self.tried.has_failed(node, end) {
                    break;
                }
                if !gives && let Some(end) = self.tried.end_of_run(node, end) {
                    at = end;
                    break;
                }
            }
            at = end;
            count += 1;
        }
        self.remembers = self.tried.step(count);
        if !gives {
            if self.remembers && endless {
                self.tried.set_end_of_run(node, from, at);
            }
            return Some((next, at));
        }
        if self.remembers {
            let to = if endless { at } else { from };
            self.tried.frames.push(Frame::Failed { node, from, to });
        }
        self.give_back(node, from, at)
    }

    /// Ends a run at a place, or nearer, where what follows may match.
    #[inline]
    fn give_back(&mut self, run: Node, nearest: usize, mut at: usize) -> Option<Here> {
        let Step::Run { back, next, .. } = self.engine.code.steps[run as usize] else {
            return None;
        };
        let first = &self.engine.code.first[next as usize];
        let alphabet = &self.engine.alphabet;
        let mut given = 0;
        let found = loop {
            let fits = first.has(alphabet.number(self.text, at));
            let here = at;
            if at != nearest {
                at = match back {
                    true => at + alphabet.read(self.text, at).1,
                    false => alphabet.read_back(self.text, at).1,
                };
            }
            if fits {
                if here != nearest {
                    self.tried.frames.push(Frame::Run { run, nearest, at });
                }
                break Some((next, here));
            }
            if here == nearest {
                break None;
            }
            given += 1;
        };
        self.remembers = self.tried.step(given);
        found
    }

    /// The answer to a question.
    fn answer(&self, question: &Question, at: usize) -> bool {
        let (text, alphabet) = (self.text, &self.engine.alphabet);
        let number = match question.ahead {
            true if at == text.len() => return question.edge,
            true => alphabet.read(text, at).0,
            false if at == 0 => return question.edge,
            false => alphabet.read_back(text, at).0,
        };
        if at + 1 == text.len()
            && text[at] == b'\n'
            && question.ahead
            && let Some(answer) = question.last_newline
        {
            return answer;
        }
        self.engine.sets[question.set as usize].has(number)
    }
}
