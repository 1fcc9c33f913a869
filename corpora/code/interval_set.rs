//! A set of `u32` values stored as sorted, non-overlapping ranges.
//!
//! Inserting neighbouring ranges merges them, so a long run of consecutive
//! identifiers costs just one entry. Build with `rustc interval_set.rs`.

use std::fmt;

/// An inclusive range; `lo <= hi` always holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    lo: u32,
    hi: u32,
}

#[derive(Default, Debug, PartialEq, Eq)]
pub struct IntervalSet {
    spans: Vec<Span>,
}

#[derive(Debug, PartialEq, Eq)]
pub enum ParseError {
    Empty,
    BadNumber(String),
    Reversed { lo: u32, hi: u32 },
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParseError::Empty => write!(f, "empty item"),
            ParseError::BadNumber(s) => write!(f, "not a number: {s:?}"),
            ParseError::Reversed { lo, hi } => write!(f, "{lo} is greater than {hi}"),
        }
    }
}

impl std::error::Error for ParseError {}

impl IntervalSet {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds every value from `lo` to `hi`, both included.
    pub fn insert(&mut self, lo: u32, hi: u32) {
        assert!(lo <= hi, "reversed range");
        // First span that touches or follows the new one.
        let start = self
            .spans
            .partition_point(|s| s.hi.saturating_add(1) < lo);
        let mut end = start;
        let mut merged = Span { lo, hi };
        while end < self.spans.len() && self.spans[end].lo <= hi.saturating_add(1) {
            merged.lo = merged.lo.min(self.spans[end].lo);
            merged.hi = merged.hi.max(self.spans[end].hi);
            end += 1;
        }
        self.spans.splice(start..end, std::iter::once(merged));
    }

    pub fn contains(&self, value: u32) -> bool {
        let i = self.spans.partition_point(|s| s.hi < value);
        self.spans.get(i).map_or(false, |s| s.lo <= value)
    }

    /// Number of values, as `u64` because a full set would overflow `u32`.
    pub fn len(&self) -> u64 {
        self.spans.iter().map(|s| u64::from(s.hi - s.lo) + 1).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Reads text such as `1-4,9,12-13`.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let number = |s: &str| {
            s.trim()
                .parse::<u32>()
                .map_err(|_| ParseError::BadNumber(s.to_string()))
        };
        let mut set = Self::new();
        for item in text.split(',') {
            if item.trim().is_empty() {
                return Err(ParseError::Empty);
            }
            let (lo, hi) = match item.split_once('-') {
                Some((a, b)) => (number(a)?, number(b)?),
                None => {
                    let n = number(item)?;
                    (n, n)
                }
            };
            if lo > hi {
                return Err(ParseError::Reversed { lo, hi });
            }
            set.insert(lo, hi);
        }
        Ok(set)
    }
}

impl fmt::Display for IntervalSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, s) in self.spans.iter().enumerate() {
            if i > 0 {
                f.write_str(",")?;
            }
            if s.lo == s.hi {
                write!(f, "{}", s.lo)?;
            } else {
                write!(f, "{}-{}", s.lo, s.hi)?;
            }
        }
        Ok(())
    }
}

fn main() {
    let text = std::env::args().nth(1).unwrap_or_else(|| "7,1-3,4,10-12".into());
    match IntervalSet::parse(&text) {
        Ok(set) => println!("{set} holds {} values; 5 in it? {}", set.len(), set.contains(5)),
        Err(e) => {
            eprintln!("error: {e}");
            std::process::exit(2);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_merge() {
        let set = IntervalSet::parse("7,1-3,4").unwrap();
        assert_eq!(set.to_string(), "1-4,7");
        assert_eq!(set.len(), 5);
    }

    #[test]
    fn reversed_is_refused() {
        let wanted = ParseError::Reversed { lo: 9, hi: 2 };
        assert_eq!(IntervalSet::parse("9-2"), Err(wanted));
    }
}
