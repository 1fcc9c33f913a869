//! The fewest tokens of a word whose tokens have marks: of WordPiece, and of BPE with an end of words.
//!
//! Source: Schmidt et al., "Tokenization Is More Than Compression", arXiv:2402.18376 (PathPiece); over the units of
//! `marks`, so that a token with a prefix never begins a word, and one with a suffix always ends it. First of all as few
//! units as possible are unknown, then there are as few tokens as possible; of several such ways the last token is the
//! longest, and so on towards the beginning. Vocabularies without marks go through `unigram` with equal scores, which finds
//! the same.
//!
//! Complexity: linear in the word times the tokens that begin at one place.

use serde::Deserialize;

use super::automaton::{Automaton, ROOT};
use super::marks::Marks;
use super::model::{Found, Model, check_unknown};
use super::scratch::Scratch;
use crate::error::{Error, Result};
use crate::memory::asking::room_for;
use crate::tables::TokenTable;

/// What a unit without a token costs: more than any number of tokens.
const UNKNOWN: u64 = 1 << 32;

/// What the model is told besides its tables.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The token for what is unknown; without it that is left out.
    pub unk_id: Option<u32>,
    /// Whether neighbouring unknown units become one token.
    pub fuse_unk: bool,
    /// Written at the end of a word.
    pub end_of_word_suffix: String,
    /// Whether the suffix is a unit by itself, or belongs to the last character.
    pub separate_suffix: bool,
    /// Written before a token that does not begin a word.
    pub continuing_subword_prefix: String,
    /// As in WordPiece, a word with more characters is one unknown token, so is one that cannot be spelt, and a word may begin
    /// with a token that is spelt with the prefix, if that is in the text. Without it each unknown unit is a token.
    pub max_input_chars_per_word: Option<usize>,
}

/// A model that takes the fewest tokens.
#[derive(Debug)]
pub struct FewestTokens {
    tokens: TokenTable<'static>,
    settings: Settings,
    /// Of the tokens from their ends.
    reversed: Automaton,
}

/// The best way up to a place in a word.
#[derive(Clone, Copy, Debug)]
struct Way {
    cost: u64,
    /// Where its last token begins.
    from: u32,
    /// That token; None: its one unit is unknown.
    id: Option<u32>,
}

impl FewestTokens {
    /// Builds a model; of equal tokens the last one counts.
    ///
    /// # Errors
    /// When the unknown token's id is too large.
    pub fn new(tokens: TokenTable<'static>, settings: Settings) -> Result<Self> {
        check_unknown(settings.unk_id)?;
        let marks = settings.marks();
        let mut spelt: Vec<(u32, Vec<u32>)> = Vec::new();
        for (id, text) in tokens.iter() {
            spelt.push((id, marks.token(text)));
            if settings.max_input_chars_per_word.is_some() && marks.has_prefix(text) {
                spelt.push((id, marks.beginning(text)));
            }
        }
        let last_first = spelt.into_iter().rev().map(|(id, mut units)| {
            units.reverse();
            (id, units)
        });
        Ok(Self {
            reversed: Automaton::new(last_first),
            tokens,
            settings,
        })
    }

    /// Finds the best way up to each place in a word, the beginning first.
    fn ways(&self, word: &[u32]) -> Result<Vec<Way>> {
        let (mut longest, mut ways) = (Vec::new(), Vec::new());
        if !room_for(&mut longest, word.len()) || !room_for(&mut ways, word.len() + 1) {
            return Err(Error::Memory(
                "there is no memory for the ways to cut a word".to_owned(),
            ));
        }
        // The node of the longest token that begins at each unit, or the root.
        longest.resize(word.len(), ROOT);
        let mut node = ROOT;
        for (place, &unit) in longest.iter_mut().zip(word).rev() {
            node = self.reversed.step(node, unit);
            *place = self.reversed.longest_word(node);
        }
        let none = Way {
            cost: u64::MAX,
            from: 0,
            id: None,
        };
        ways.resize(word.len() + 1, none);
        ways[0].cost = 0;
        for (at, &node) in longest.iter().enumerate() {
            let before = ways[at].cost;
            let mut offer = |length: usize, cost: u64, id: Option<u32>| {
                let way = &mut ways[at + length];
                // Of equals the first, whose last token is the longest.
                if before + cost < way.cost {
                    let from = at as u32;
                    let cost = before + cost;
                    *way = Way { cost, from, id };
                }
            };
            offer(1, UNKNOWN, None);
            let mut node = node;
            while node != ROOT {
                offer(self.reversed.depth(node), 1, self.reversed.token(node));
                node = self.reversed.longest_word(self.reversed.failure(node));
            }
        }
        Ok(ways)
    }
}

impl Settings {
    fn marks(&self) -> Marks<'_> {
        Marks::new(
            &self.end_of_word_suffix,
            self.separate_suffix,
            &self.continuing_subword_prefix,
        )
    }
}

impl Model for FewestTokens {
    fn tokens(&self) -> &TokenTable<'static> {
        &self.tokens
    }

    /// Nothing is joined across pieces.
    fn fuses(&self) -> Option<u32> {
        None
    }

    fn encode_piece(&self, piece: &[u8], _: &mut Scratch, out: &mut Vec<Found>) -> Result<()> {
        let Settings {
            unk_id,
            fuse_unk,
            max_input_chars_per_word: limit,
            ..
        } = self.settings;
        let (word, starts) = self.settings.marks().word(piece);
        let is_long = limit.is_some_and(|limit| starts.len() > limit);
        let ways = if is_long {
            Vec::new()
        } else {
            self.ways(&word)?
        };
        let is_unknown = |way: &Way| way.cost >= UNKNOWN;
        if is_long || limit.is_some() && ways.last().is_some_and(is_unknown) {
            out.extend(unk_id.map(|id| Found {
                id,
                start: 0,
                end: piece.len() as u32,
            }));
            return Ok(());
        }
        // The suffix stands for nothing in the piece.
        let offset = |place: usize| starts.get(place).map_or(piece.len() as u32, |&start| start);
        let before = out.len();
        let mut end = word.len();
        let mut follows_unknown = false; // from the end on: what was pushed last is the unknown token
        while end > 0 {
            let Way { from, id, .. } = ways[end];
            let from = from as usize;
            let fused = id.is_none() && fuse_unk && follows_unknown;
            follows_unknown = id.is_none() && unk_id.is_some();
            if fused && let Some(last) = out[before..].last_mut() {
                last.start = offset(from);
            } else {
                out.extend(id.or(unk_id).map(|id| Found {
                    id,
                    start: offset(from),
                    end: offset(end),
                }));
            }
            end = from;
        }
        out[before..].reverse();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::model::tests::tokens_of;
    use crate::models::word_piece::WordPiece;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    const UNK: u32 = 99;

    fn suffixed(separate_suffix: bool) -> Settings {
        Settings {
            unk_id: Some(UNK),
            end_of_word_suffix: "$".to_owned(),
            separate_suffix,
            ..Settings::default()
        }
    }

    fn word_pieces(limit: usize) -> Settings {
        Settings {
            unk_id: Some(UNK),
            continuing_subword_prefix: "#".to_owned(),
            max_input_chars_per_word: Some(limit),
            ..Settings::default()
        }
    }

    fn found(tokens: &[&[u8]], settings: Settings, piece: &str) -> Vec<(u32, u32, u32)> {
        let model = FewestTokens::new(TokenTable::of(tokens).unwrap(), settings).unwrap();
        let found = tokens_of(&model, piece.as_bytes());
        found.iter().map(|f| (f.id, f.start, f.end)).collect()
    }

    #[test]
    fn a_short_first_token_may_be_better() {
        let tokens: [&[u8]; 5] = [b"abc", b"a", b"#d", b"#bcd", b"#e"];
        let expected = [(1, 0, 1), (3, 1, 4), (4, 4, 5)];
        assert_eq!(found(&tokens, word_pieces(5), "abcde"), expected);
        assert_eq!(found(&tokens, word_pieces(4), "abcde"), [(UNK, 0, 5)]);
        assert_eq!(found(&tokens, word_pieces(5), "abx"), [(UNK, 0, 3)]);
        // As it does in WordPiece, a text that has the prefix begins with a token that has it.
        assert_eq!(
            found(&tokens, word_pieces(5), "#de"),
            [(2, 0, 2), (4, 2, 3)]
        );
    }

    #[test]
    fn a_suffix_ends_words_only() {
        let tokens: [&[u8]; 4] = ["a".as_bytes(), "é$".as_bytes(), "aé".as_bytes(), b"$"];
        assert_eq!(
            found(&tokens, suffixed(false), "aé"),
            [(0, 0, 1), (1, 1, 3)]
        );
        assert_eq!(found(&tokens, suffixed(true), "aé"), [(0, 0, 1), (1, 1, 3)]);
        assert_eq!(found(&tokens, suffixed(false), "a"), [(UNK, 0, 1)]);
        assert_eq!(found(&tokens, suffixed(true), "a"), [(0, 0, 1), (3, 1, 1)]);
        assert_eq!(
            found(&tokens[..1], suffixed(true), "a"),
            [(0, 0, 1), (UNK, 1, 1)]
        );
    }

    #[test]
    fn unknown_units_are_fused_if_asked() {
        let tokens: [&[u8]; 1] = [b"a"];
        let apart = Settings {
            unk_id: Some(UNK),
            ..Settings::default()
        };
        let fused = Settings {
            fuse_unk: true,
            ..apart.clone()
        };
        let left_out = Settings::default();
        let whole = [(UNK, 0, 1), (UNK, 1, 3), (0, 3, 4), (UNK, 4, 5)];
        assert_eq!(found(&tokens, apart, "xéay"), whole);
        let once = [(UNK, 0, 3), (0, 3, 4), (UNK, 4, 5)];
        assert_eq!(found(&tokens, fused, "xéay"), once);
        assert_eq!(found(&tokens, left_out, "xéay"), [(0, 3, 4)]);
    }

    /// The fewest (unknown units, tokens) by trying everything.
    fn least(units: &[u32], tokens: &BTreeSet<Vec<u32>>) -> (u32, u32) {
        if units.is_empty() {
            return (0, 0);
        }
        let ends = (1..=units.len()).filter(|&end| tokens.contains(&units[..end]));
        let known = ends.map(|end| {
            let (unknown, count) = least(&units[end..], tokens);
            (unknown, count + 1)
        });
        let (unknown, count) = least(&units[1..], tokens);
        known.chain([(unknown + 1, count)]).min().unwrap()
    }

    proptest! {
        #[test]
        fn there_is_no_better_way(
            words in proptest::collection::btree_set("#?[abé]{1,3}\\$?", 1..10),
            piece in "[abé]{1,8}",
            separate in any::<bool>(),
        ) {
            let settings = Settings { continuing_subword_prefix: "#".to_owned(), ..suffixed(separate) };
            let marks = settings.marks();
            let spelt = words.iter().map(|word| marks.token(word.as_bytes())).collect();
            let expected = least(&marks.word(piece.as_bytes()).0, &spelt);
            let tokens: Vec<&[u8]> = words.iter().map(String::as_bytes).collect();
            let ids: Vec<u32> = found(&tokens, settings, &piece).iter().map(|found| found.0).collect();
            let unknown = ids.iter().filter(|&&id| id == UNK).count();
            prop_assert_eq!((unknown as u32, (ids.len() - unknown) as u32), expected);
        }

        #[test]
        fn word_piece_never_needs_fewer(
            words in proptest::collection::btree_set("#{0,2}[ab]{1,3}", 1..10),
            piece in "[ab#]{1,8}",
        ) {
            let tokens: Vec<&[u8]> = words.iter().map(String::as_bytes).collect();
            let table = || TokenTable::of(&tokens).unwrap();
            let greedy = WordPiece::new(table(), UNK, "#", 6).unwrap();
            let greedy = tokens_of(&greedy, piece.as_bytes());
            let fewest = found(&tokens, word_pieces(6), &piece);
            let is_unknown = greedy[0].id == UNK;
            prop_assert!(is_unknown || fewest.len() <= greedy.len());
            prop_assert!(is_unknown || fewest[0].0 != UNK);
        }
    }
}
