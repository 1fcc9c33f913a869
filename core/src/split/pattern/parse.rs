//! Reads an expression in the dialect of Python's `regex` module, as far as its meaning is known to be the same here.
//!
//! Whatever is not certain is refused: a refused expression is slower, a misread one is wrong. Refused are what is
//! no expression at all, what refers to other parts (groups by number, calls, conditions), what takes a text in another
//! way (`\K`, `\G`, fuzzy matching, options other than `i`, `m` and `s`), and spellings that nobody needs.
//!
//! Length: it is one grammar, whose rules call each other.

use std::iter::Peekable;
use std::str::Chars;

use super::sets::{self, Item};
use super::tree::{Beside, Kind, Repeat, Set, Tree, all_but, set_of};
use crate::error::{Error, Result, ensure, invalid};

/// How deep groups may stand in each other.
const DEEPEST: usize = 50;
/// The largest count of a repetition.
const LARGEST_COUNT: u32 = 10_000;

/// The options that are on in a part of an expression.
#[derive(Clone, Copy, Debug, Default)]
struct Options {
    /// `i`: letters match in any case.
    folds: bool,
    /// `m`: `^` and `$` are at every line.
    lines: bool,
    /// `s`: the dot matches line feeds.
    dot_all: bool,
}

impl Options {
    /// Turns an option on or off, if there is one of the name.
    fn set(&mut self, letter: char, on: bool) -> Option<()> {
        *match letter {
            'i' => &mut self.folds,
            'm' => &mut self.lines,
            's' => &mut self.dot_all,
            _ => return None,
        } = on;
        Some(())
    }
}

/// An expression that was read.
#[derive(Debug)]
pub(super) struct Parsed {
    pub tree: Tree,
    /// Whether letters match in any case that not every engine folds alike.
    pub folds_its_way: bool,
}

/// Reads an expression.
///
/// # Errors
/// Says what of it is refused.
pub(super) fn parse(pattern: &str) -> Result<Parsed> {
    let mut parser = Parser {
        rest: pattern.chars().peekable(),
        depth: 0,
        folds_its_way: false,
    };
    let mut options = Options::default();
    // Options for all of it stand at its beginning, and nowhere else.
    if let Some((letters, rest)) = pattern
        .strip_prefix("(?")
        .and_then(|after| after.split_once(')'))
        && !letters.is_empty()
        && letters
            .chars()
            .all(|letter| options.set(letter, true).is_some())
    {
        parser.rest = rest.chars().peekable();
    } else {
        options = Options::default();
    }
    let tree = parser.choice(options)?;
    ensure!(
        parser.rest.next().is_none(),
        "an expression closes a group that is not open"
    );
    Ok(Parsed {
        tree,
        folds_its_way: parser.folds_its_way,
    })
}

struct Parser<'a> {
    rest: Peekable<Chars<'a>>,
    depth: usize,
    folds_its_way: bool,
}

fn refused(what: &str) -> Error {
    invalid!("the core does not run {what} in an expression")
}

fn only_or(mut parts: Vec<Tree>, many: fn(Vec<Tree>) -> Tree) -> Tree {
    match parts.len() {
        1 => parts.remove(0),
        _ => many(parts),
    }
}

impl Parser<'_> {
    fn take(&mut self, wanted: char) -> bool {
        self.rest.next_if_eq(&wanted).is_some()
    }

    /// Takes a word, if it stands here.
    fn take_all(&mut self, wanted: &str) -> bool {
        let mut rest = self.rest.clone();
        let stands = wanted.chars().all(|c| rest.next() == Some(c));
        if stands {
            self.rest = rest;
        }
        stands
    }

    fn next(&mut self) -> Result<char> {
        let next = self.rest.next();
        next.ok_or_else(|| invalid!("an expression ends too early"))
    }

    /// Takes what stands up to a character, and the character.
    fn take_up_to(&mut self, last: char) -> Result<String> {
        let mut taken = String::new();
        loop {
            match self.next()? {
                c if c == last => return Ok(taken),
                c => taken.push(c),
            }
        }
    }

    fn choice(&mut self, options: Options) -> Result<Tree> {
        let mut alternatives = vec![self.sequence(options)?];
        while self.take('|') {
            alternatives.push(self.sequence(options)?);
        }
        Ok(only_or(alternatives, Tree::Choice))
    }

    fn sequence(&mut self, options: Options) -> Result<Tree> {
        let mut parts = Vec::new();
        while let Some(&next) = self.rest.peek()
            && !matches!(next, '|' | ')')
        {
            let part = self.part(options)?;
            parts.push(self.repeated(part)?);
        }
        Ok(only_or(parts, Tree::Sequence))
    }

    /// Reads what a repetition could follow.
    fn part(&mut self, options: Options) -> Result<Tree> {
        let newline = set_of([('\n', '\n')]);
        let beside = |ahead, set| Tree::Beside(Beside::of(ahead, set, true));
        Ok(match self.next()? {
            '(' => self.group(options)?,
            '[' => Tree::One(self.brackets(options)?),
            '.' if options.dot_all => Tree::One(all_but(&Set::empty())),
            '.' => Tree::One(all_but(&newline)),
            '^' if options.lines => beside(false, newline),
            '^' => beside(false, Set::empty()),
            '$' if options.lines => beside(true, newline),
            '$' => Tree::Beside(Beside {
                last_newline: Some(true),
                ..Beside::of(true, Set::empty(), true)
            }),
            '\\' if self.take('A') => beside(false, Set::empty()),
            '\\' if self.take('Z') => beside(true, Set::empty()),
            '\\' if self.take('b') => sets::word_boundary(true),
            '\\' if self.take('B') => sets::word_boundary(false),
            '\\' => Tree::One(match self.escape()? {
                Item::Character(c) => self.range(c, c, options)?,
                Item::Class(class) => {
                    self.folds_its_way |= options.folds && !class.same_in_any_case;
                    class.alone(options.folds)?
                }
            }),
            '*' | '+' | '?' => return Err(refused("a repetition of nothing")),
            '{' => return Err(refused("a brace that counts nothing")),
            c => Tree::One(self.range(c, c, options)?),
        })
    }

    /// The characters that match those from one to another.
    fn range(&mut self, first: char, last: char, options: Options) -> Result<Set> {
        self.folds_its_way |= options.folds && !last.is_ascii();
        sets::range(first, last, options.folds)
    }

    /// Reads a group, behind its parenthesis.
    fn group(&mut self, options: Options) -> Result<Tree> {
        self.depth += 1;
        ensure!(
            self.depth <= DEEPEST,
            "an expression has more than {DEEPEST} groups in each other"
        );
        let around = |ahead, not| {
            move |body| Tree::Around {
                ahead,
                not,
                body: Box::new(body),
            }
        };
        let mut inside = options;
        let wrapped: Option<Box<dyn Fn(Tree) -> Tree>> = if !self.take('?') || self.take(':') {
            None
        } else if self.take('>') {
            Some(Box::new(|body| Tree::Atomic(Box::new(body))))
        } else if self.take('=') {
            Some(Box::new(around(true, false)))
        } else if self.take('!') {
            Some(Box::new(around(true, true)))
        } else if self.take_all("<=") {
            Some(Box::new(around(false, false)))
        } else if self.take_all("<!") {
            Some(Box::new(around(false, true)))
        } else if self.take('<') || self.take_all("P<") {
            let name = self.take_up_to('>')?;
            let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
            let goes_on = |c: char| c.is_ascii_alphanumeric() || c == '_';
            ensure!(
                begins && name.chars().all(goes_on),
                "a group has no proper name"
            );
            None
        } else {
            inside = self.options(options)?;
            None
        };
        let body = self.choice(inside)?;
        ensure!(self.take(')'), "an expression leaves a group open");
        self.depth -= 1;
        Ok(match wrapped {
            Some(wrap) => wrap(body),
            None => body,
        })
    }

    /// Reads the options of a group, and the colon behind them.
    fn options(&mut self, mut options: Options) -> Result<Options> {
        let mut on = true;
        for (number, letter) in self.take_up_to(':')?.chars().enumerate() {
            if letter == '-' && on && number > 0 {
                on = false;
            } else {
                options
                    .set(letter, on)
                    .ok_or_else(|| refused("such a group"))?;
            }
        }
        Ok(options)
    }

    /// Reads how often a part is repeated, if it is.
    fn repeated(&mut self, body: Tree) -> Result<Tree> {
        let (least, most) = match self.rest.peek() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => (0, Some(0)),
            _ => return Ok(body),
        };
        let (least, most) = match self.next()? {
            '{' => counts(&self.take_up_to('}')?)?,
            _ => (least, most),
        };
        let kind = match self.rest.peek() {
            Some('?') => Kind::Lazy,
            Some('+') => Kind::Possessive,
            _ => Kind::Greedy,
        };
        if kind != Kind::Greedy {
            self.rest.next();
        }
        ensure!(
            !matches!(self.rest.peek(), Some('*' | '+' | '?' | '{')),
            "an expression repeats a repetition"
        );
        // What becomes of an empty repetition differs between engines.
        let looks = matches!(body, Tree::Beside(_) | Tree::Around { .. });
        if looks || most != Some(1) && body.may_be_empty() {
            return Err(refused("a repetition of what may be empty"));
        }
        Ok(Tree::Repeat(Box::new(Repeat {
            body,
            least,
            most,
            kind,
        })))
    }

    /// Reads a set, behind its bracket. Sets in sets and what is done with two sets are refused: other engines have
    /// them, and to the `regex` module they are characters.
    fn brackets(&mut self, options: Options) -> Result<Set> {
        let negated = self.take('^');
        let mut set = Set::empty();
        let mut first = None;
        let mut count = 0;
        loop {
            let item = match self.next()? {
                ']' if count > 0 => break,
                '[' => return Err(refused("a set in a set")),
                c @ ('&' | '-' | '~') if self.rest.peek() == Some(&c) => {
                    return Err(refused("an operation of sets"));
                }
                '\\' => self.escape()?,
                c => Item::Character(c),
            };
            count += 1;
            let goes_on = self.rest.peek() == Some(&'-') && !self.take_all_but_last("-]");
            match item {
                Item::Class(_) if goes_on => {
                    return Err(refused("a range that begins with a class"));
                }
                // It stands alone if nothing follows.
                Item::Class(class) if count == 1 => first = Some(class),
                Item::Class(class) => {
                    self.folds_its_way |= options.folds;
                    set.union(&class.among_others(options.folds)?);
                }
                Item::Character(begin) if goes_on => {
                    self.rest.next();
                    let end = match self.next()? {
                        '[' => return Err(refused("a set in a set")),
                        '-' => return Err(refused("an operation of sets")),
                        '\\' => self.escape()?,
                        c => Item::Character(c),
                    };
                    let Item::Character(end) = end else {
                        return Err(refused("a range that ends with a class"));
                    };
                    ensure!(begin <= end, "a range ends before it begins");
                    set.union(&self.range(begin, end, options)?);
                }
                Item::Character(c) => set.union(&self.range(c, c, options)?),
            }
        }
        if let Some(class) = first {
            self.folds_its_way |= options.folds;
            set.union(&match count {
                1 => class.alone(options.folds)?,
                _ => class.among_others(options.folds)?,
            });
        }
        Ok(match negated {
            true => all_but(&set),
            false => set,
        })
    }

    /// Whether a word stands here, of which nothing is taken.
    fn take_all_but_last(&self, wanted: &str) -> bool {
        let mut rest = self.rest.clone();
        wanted.chars().all(|c| rest.next() == Some(c))
    }

    /// Reads an escape, behind its backslash.
    fn escape(&mut self) -> Result<Item> {
        let number = |digits: String| {
            let wanted = u32::from_str_radix(&digits, 16)
                .ok()
                .filter(|_| digits.chars().all(|digit| digit.is_ascii_hexdigit()));
            let found = wanted.and_then(char::from_u32);
            found.ok_or_else(|| invalid!("an expression has an escape that is no character"))
        };
        Ok(match self.next()? {
            't' => Item::Character('\t'),
            'n' => Item::Character('\n'),
            'r' => Item::Character('\r'),
            'f' => Item::Character('\x0C'),
            'v' => Item::Character('\x0B'),
            'a' => Item::Character('\x07'),
            'x' => Item::Character(number(self.some(2)?)?),
            'u' => Item::Character(number(self.some(4)?)?),
            'U' => Item::Character(number(self.some(8)?)?),
            letter @ ('s' | 'S' | 'd' | 'D' | 'w' | 'W') => sets::shorthand(letter),
            letter @ ('p' | 'P') => {
                let mut name = match self.take('{') {
                    true => self.take_up_to('}')?,
                    false => self.some(1)?,
                };
                let mut negated = letter == 'P';
                if name.starts_with('^') {
                    negated = !negated;
                    name.remove(0);
                }
                sets::property(&name, negated)?
            }
            c if c.is_ascii_punctuation() || c == ' ' => Item::Character(c),
            c => return Err(invalid!("the core does not run the escape \\{c}")),
        })
    }

    /// Takes so many characters.
    fn some(&mut self, count: usize) -> Result<String> {
        (0..count).map(|_| self.next()).collect()
    }
}

/// Reads what stands in the braces of a repetition.
fn counts(written: &str) -> Result<(u32, Option<u32>)> {
    let number = |digits: &str| {
        let all = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
        let number = digits
            .parse()
            .ok()
            .filter(|&number| all && number <= LARGEST_COUNT);
        number.ok_or_else(|| refused("such a count of a repetition"))
    };
    let (least, most) = match written.split_once(',') {
        None => (number(written)?, Some(number(written)?)),
        Some((least, "")) => (number(least)?, None),
        Some(("", most)) => (0, Some(number(most)?)),
        Some((least, most)) => (number(least)?, Some(number(most)?)),
    };
    ensure!(
        most.is_none_or(|most| least <= most && most > 0),
        "a repetition has no number that it can be repeated"
    );
    Ok((least, most))
}
