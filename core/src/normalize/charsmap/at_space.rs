//! What a table does where a text is cut before a space between two letters.

use super::Charsmap;
use crate::boundaries::stages::AtSpace;

impl Charsmap {
    /// What rules do where a text is cut before a space between two letters. None looks across if a space can only begin
    /// one, and no text with a space is left as it is.
    pub(in crate::normalize) fn at_space(&self) -> AtSpace {
        let space = usize::from(b' ');
        if self.inside[space] || self.keeps_space || self.leaves_extra_out {
            AtSpace::Unknown
        } else if self.leaves_letters() {
            AtSpace::Stays
        } else {
            AtSpace::Changes
        }
    }

    /// Whether no rule holds a space and none puts a mark (U+2581) in, so that what stands between runs of spaces is
    /// rewritten by itself, and they stay.
    pub(in crate::normalize) fn stays_inside_words(&self) -> bool {
        let space = usize::from(b' ');
        let holds_space =
            self.begins[space] || self.inside[space] || self.keeps_space || self.leaves_extra_out;
        !(holds_space || self.replacements.contains('\u{2581}'))
    }

    /// Whether a blank stays one or becomes a space, whatever stands behind it, and what stands there in ASCII is rewritten
    /// as if the blank were not there.
    pub(in crate::normalize) fn leaves_blank(&self, blank: u8) -> bool {
        let put_in = |value: usize| self.replacement(value).unwrap_or_default();
        let alone = self.trie.prefixes(&[blank]).next();
        let values = self.trie.values_behind(blank);
        alone.is_none_or(|(_, value)| put_in(value) == " ")
            && (1..0x80).all(|next| !self.trie.goes_on(blank, next))
            && values.is_some_and(|all| all.into_iter().all(|value| put_in(value).starts_with(' ')))
    }

    /// What rules for clusters do there: one ends between a letter and a space, whatever the rules are.
    pub(in crate::normalize) fn at_space_of_graphemes(&self) -> AtSpace {
        // The few characters that make a cluster with what follows them; a rule may leave that out.
        const PREPENDED: [std::ops::RangeInclusive<char>; 16] = [
            '\u{600}'..='\u{605}',
            '\u{6DD}'..='\u{6DD}',
            '\u{70F}'..='\u{70F}',
            '\u{890}'..='\u{891}',
            '\u{8E2}'..='\u{8E2}',
            '\u{D4E}'..='\u{D4E}',
            '\u{110BD}'..='\u{110BD}',
            '\u{110CD}'..='\u{110CD}',
            '\u{111C2}'..='\u{111C3}',
            '\u{113D1}'..='\u{113D1}',
            '\u{1193F}'..='\u{1193F}',
            '\u{11941}'..='\u{11941}',
            '\u{11A3A}'..='\u{11A3A}',
            '\u{11A84}'..='\u{11A89}',
            '\u{11D46}'..='\u{11D46}',
            '\u{11F02}'..='\u{11F02}',
        ];
        let mut prepended = PREPENDED.into_iter().flatten();
        if self.leaves_letters() && prepended.all(|c| self.shortest(&c.to_string()).is_none()) {
            AtSpace::Stays
        } else {
            AtSpace::Changes
        }
    }

    /// Whether a space and ASCII letters stay what they are: rules can only begin with a letter, and what they put in
    /// its place begins with one; those that a space begins are for no single space and for none before a letter.
    fn leaves_letters(&self) -> bool {
        let letters = || (b'A'..=b'z').filter(u8::is_ascii_alphabetic);
        let mut after_space = letters().map(|letter| self.trie.prefixes(&[b' ', letter]).next());
        letters().all(|letter| !self.inside[usize::from(letter)])
            && after_space.all(|rule| rule.is_none())
            && letters().all(|letter| self.makes_letters(letter))
    }

    /// Whether all rules that a letter begins put a letter first, and the one for it alone an ASCII letter last.
    fn makes_letters(&self, letter: u8) -> bool {
        let put_in = |value: usize| self.replacement(value).unwrap_or_default();
        let alone = self.trie.prefixes(&[letter]).next();
        self.trie.values_behind(letter).is_some_and(|values| {
            (values.into_iter()).all(|value| put_in(value).starts_with(char::is_alphabetic))
        }) && alone.is_none_or(|(_, value)| {
            put_in(value).ends_with(|last: char| last.is_ascii_alphabetic())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rules: &[(&str, &str)]) -> Charsmap {
        let bytes = Charsmap::compile(rules).unwrap();
        Charsmap::read(&bytes).unwrap().unwrap()
    }

    #[test]
    fn a_rule_that_looks_across_a_space_forbids_cuts() {
        use AtSpace::{Changes, Stays, Unknown};
        for (rule, expected) in [
            (("a b", "c"), Unknown),
            (("a ", "c"), Unknown),
            ((" a", "c"), Changes),
            ((" ", "c"), Changes),
            (("a", "1"), Changes),
            (("a", "b1"), Changes),
            (("a\u{301}", ""), Changes),
            ((".a", "."), Changes),
            (("a\u{301}", "á"), Stays),
            (("A", "a"), Stays),
            ((".", ""), Stays),
            ((" \u{301}", "c"), Stays),
        ] {
            assert_eq!(table(&[rule]).at_space(), expected, "{rule:?}");
        }
        for (rule, expected) in [
            ((" ", "b"), false),
            ((" ", " b"), false),
            ((" ", ""), false),
            ((" a", " b"), false),
            ((" é", "b"), false),
            ((" \u{301}", " ´"), true),
            ((" ", " "), true),
            (("a", "b"), true),
        ] {
            assert_eq!(table(&[rule]).leaves_blank(b' '), expected, "{rule:?}");
        }
        // Clusters end there in any case.
        assert_eq!(table(&[("a b", "c")]).at_space_of_graphemes(), Changes);
        assert_eq!(table(&[("™", "TM")]).at_space_of_graphemes(), Stays);
        assert_eq!(table(&[("\u{600}", "")]).at_space_of_graphemes(), Changes);
    }
}
