//! Which of many texts another one begins with.
//!
//! The texts are sorted: those that share a beginning stand together, and each byte that is read narrows them down.
//! Complexity: for each byte of the longest beginning that any of them shares with the text, a binary search.

/// Texts, none twice, none empty.
#[derive(Debug, Default)]
pub(crate) struct Prefixes(Vec<Vec<u8>>);

impl Prefixes {
    /// Takes texts; empty ones are left out.
    pub fn new(texts: impl IntoIterator<Item = Vec<u8>>) -> Self {
        let mut texts: Vec<_> = texts.into_iter().filter(|text| !text.is_empty()).collect();
        texts.sort_unstable();
        texts.dedup();
        Self(texts)
    }

    /// The texts, sorted.
    pub fn texts(&self) -> &[Vec<u8>] {
        &self.0
    }

    /// The length of the longest text that another one begins with.
    pub fn longest(&self, text: &[u8]) -> Option<usize> {
        let mut walk = self.walk(text);
        walk.by_ref().last()
    }

    /// Whether another text begins with one of `least` bytes or more, or ends inside of one.
    pub fn reaches(&self, text: &[u8], least: usize) -> bool {
        let mut walk = self.walk(text);
        walk.any(|length| length >= least) || walk.ends_inside()
    }

    fn walk<'a>(&'a self, text: &'a [u8]) -> Walk<'a> {
        Walk {
            left: &self.0,
            text,
            read: 0,
        }
    }
}

/// The lengths of the texts that another one begins with, ascending.
struct Walk<'a> {
    /// Those that share what is read.
    left: &'a [Vec<u8>],
    text: &'a [u8],
    read: usize,
}

impl Walk<'_> {
    /// Whether the text ended before it was clear that none of those that are left is its beginning.
    fn ends_inside(&self) -> bool {
        self.read == self.text.len() && self.left.iter().any(|left| left.len() > self.read)
    }
}

impl Iterator for Walk<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        while let Some(&byte) = self.text.get(self.read)
            && !self.left.is_empty()
        {
            // One that ends here stands first, and is left behind.
            let next = |text: &Vec<u8>| text.get(self.read).copied();
            let from = self.left.partition_point(|text| next(text) < Some(byte));
            let to = self.left.partition_point(|text| next(text) <= Some(byte));
            self.left = &self.left[from..to];
            self.read += 1;
            if self
                .left
                .first()
                .is_some_and(|text| text.len() == self.read)
            {
                return Some(self.read);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts() -> impl Strategy<Value = Vec<Vec<u8>>> {
        prop::collection::vec("[ab]{0,5}".prop_map(String::into_bytes), 0..8)
    }

    proptest! {
        #[test]
        fn is_what_trying_all_of_them_gives(texts in texts(), text in "[abc]{0,8}", least in 0_usize..7) {
            let text = text.as_bytes();
            let all: Vec<_> = texts.iter().filter(|each| !each.is_empty()).collect();
            let longest = all.iter().filter(|each| text.starts_with(each)).map(|each| each.len()).max();
            let reaches = all.iter().any(|each| {
                text.starts_with(each) && each.len() >= least
                    || each.starts_with(text) && each.len() > text.len()
            });
            let prefixes = Prefixes::new(texts.clone());
            prop_assert_eq!(prefixes.longest(text), longest);
            prop_assert_eq!(prefixes.reaches(text, least), reaches);
        }
    }
}
