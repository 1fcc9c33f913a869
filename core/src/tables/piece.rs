//! From the bytes of a token to its id.

use std::borrow::Cow;

use crate::error::{Result, ensure};
use crate::tables::{MAX_TOKENS, NONE, TokenTable};

/// An open-addressing table of ids; the bytes stay in the [`TokenTable`]. A slot holds some bits of
/// the hash above the id, so that bytes are hardly ever compared in vain.
///
/// The hash is fixed, so that a build script and the module agree. Somebody who writes a vocabulary
/// to collide can make it slow, hence the limit on probes and on runs of taken slots in [`PieceTable::build`].
#[derive(Clone, Debug)]
pub struct PieceTable<'a> {
    slots: Cow<'a, [u32]>,
}

/// More steps than a table at half load ever needs; a vocabulary that does was written to collide.
const MAX_PROBES: usize = 512;

const ID: u32 = MAX_TOKENS as u32 - 1;
/// The top bit stays free, so that no entry is [`NONE`].
const TAG: u32 = !ID >> 1 & !ID;

/// The bits of a hash that stand above an id: its upper ones, as the lower ones choose the slot.
#[inline]
fn tag(hash: u64) -> u32 {
    (hash >> 32) as u32 & TAG
}

impl<'a> PieceTable<'a> {
    /// Builds the table of all tokens.
    ///
    /// # Errors
    /// Names two ids with the same bytes, or a vocabulary made to collide.
    pub fn build(tokens: &TokenTable<'_>) -> Result<Self> {
        Self::build_of(tokens, tokens.iter().map(|(id, _)| id))
    }

    /// Builds the table of some of the tokens.
    ///
    /// # Errors
    /// As [`PieceTable::build`].
    pub fn build_of(
        tokens: &TokenTable<'_>,
        ids: impl Iterator<Item = u32> + Clone,
    ) -> Result<Self> {
        let count = ids.clone().count();
        let mut slots = vec![NONE; (count * 2).next_power_of_two().max(16)];
        let mask = slots.len() - 1;
        for id in ids {
            let bytes = tokens.get(id);
            let hash = hash(bytes);
            let mut slot = hash as usize & mask;
            let mut probes = 0;
            while slots[slot] != NONE {
                let other = slots[slot] & ID;
                ensure!(
                    slots[slot] & TAG != tag(hash) || tokens.get(other) != bytes,
                    "ids {other} and {id} are the same bytes"
                );
                slot = (slot + 1) & mask;
                probes += 1;
                ensure!(
                    probes <= MAX_PROBES,
                    "the vocabulary's tokens collide beyond all chance"
                );
            }
            slots[slot] = tag(hash) | id;
        }
        ensure!(
            longest_run(&slots, |&slot| slot != NONE) <= MAX_PROBES,
            "the vocabulary's tokens collide beyond all chance"
        );
        Ok(Self {
            slots: Cow::Owned(slots),
        })
    }

    /// Trusts an array that [`PieceTable::slots`] gave.
    #[must_use]
    pub const fn from_static(slots: &'a [u32]) -> Self {
        Self {
            slots: Cow::Borrowed(slots),
        }
    }

    /// The array itself, for a build script to write down.
    #[must_use]
    pub fn slots(&self) -> &[u32] {
        &self.slots
    }

    /// The id of a token, or None.
    #[inline]
    #[must_use]
    pub fn get(&self, bytes: &[u8], tokens: &TokenTable<'_>) -> Option<u32> {
        let mask = self.slots.len() - 1;
        let hash = hash(bytes);
        let mut slot = hash as usize & mask;
        loop {
            let entry = self.slots[slot];
            if entry == NONE {
                return None;
            }
            if entry & TAG == tag(hash) && tokens.get(entry & ID) == bytes {
                return Some(entry & ID);
            }
            slot = (slot + 1) & mask;
        }
    }

    /// The ids of several tokens, [`NONE`] for what is none: no look-up waits for the one before.
    pub fn get_each(&self, texts: &[impl AsRef<[u8]>], tokens: &TokenTable<'_>, ids: &mut [u32]) {
        const TOGETHER: usize = 64;
        let mut hashes = [0; TOGETHER];
        for (texts, ids) in texts.chunks(TOGETHER).zip(ids.chunks_mut(TOGETHER)) {
            for (hash_of, text) in hashes.iter_mut().zip(texts) {
                *hash_of = hash(text.as_ref());
            }
            for (id, &hash) in ids.iter_mut().zip(&hashes) {
                *id = self.slots[hash as usize & (self.slots.len() - 1)];
            }
            for (id, &hash) in ids.iter_mut().zip(&hashes) {
                if *id & TAG != tag(hash) || *id == NONE {
                    *id = probe(&self.slots, hash);
                }
            }
            for (id, text) in ids.iter_mut().zip(texts) {
                let text = text.as_ref();
                *id = match *id {
                    NONE => NONE,
                    entry if tokens.get(entry & ID) == text => entry & ID,
                    _ => self.get(text, tokens).unwrap_or(NONE),
                };
            }
        }
    }
}

/// How many slots side by side are taken at most, where the last one stands beside the first: what is in no slot is looked for
/// in all of them. At least one is free.
pub(super) fn longest_run<T>(slots: &[T], is_taken: impl Fn(&T) -> bool) -> usize {
    let mut runs = slots.split(|slot| !is_taken(slot)).map(<[T]>::len);
    let first = runs.next().unwrap_or_default();
    let (longest, last) = runs.fold((first, 0), |(longest, _), run| (run.max(longest), run));
    longest.max(first + last)
}

/// The first entry from a slot on that may be of a hash, or [`NONE`].
#[inline]
fn probe(slots: &[u32], hash: u64) -> u32 {
    let mask = slots.len() - 1;
    let mut slot = hash as usize & mask;
    while slots[slot] != NONE && slots[slot] & TAG != tag(hash) {
        slot = (slot + 1) & mask;
    }
    slots[slot]
}

/// Hashes bytes eight at a time, multiplying and folding; the length is part of it.
#[inline]
#[must_use]
fn hash(bytes: &[u8]) -> u64 {
    const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut state = bytes.len() as u64;
    if bytes.len() < 8 {
        return fold(state ^ short_word(bytes), MULTIPLIER);
    }
    let word = |at: usize| {
        let word = bytes.get(at..at + 8).and_then(|word| word.try_into().ok());
        u64::from_le_bytes(word.unwrap_or_default())
    };
    let last = bytes.len() - 8;
    for at in (0..last).step_by(8) {
        state = fold(state ^ word(at), MULTIPLIER);
    }
    // Overlaps what came before, which is faster than to fill up.
    fold(state ^ word(last), MULTIPLIER)
}

/// Up to seven bytes as one word; with the length, no two inputs give the same.
#[inline]
fn short_word(bytes: &[u8]) -> u64 {
    let u32_at = |at: usize| {
        let word = bytes.get(at..at + 4).and_then(|word| word.try_into().ok());
        u64::from(u32::from_le_bytes(word.unwrap_or_default()))
    };
    match *bytes {
        [] => 0,
        [one] => u64::from(one),
        [one, two] => u64::from(one) | u64::from(two) << 8,
        [one, two, three] => u64::from(one) | u64::from(two) << 8 | u64::from(three) << 16,
        _ => u32_at(0) | u32_at(bytes.len() - 4) << 32,
    }
}

/// The two halves of a 128-bit product, xored.
#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_each_token_and_nothing_else() {
        let tokens: Vec<Vec<u8>> = (0..2000_u32).map(|n| n.to_string().into_bytes()).collect();
        let table = TokenTable::of(&tokens).unwrap();
        let pieces = PieceTable::build(&table).unwrap();
        for (id, token) in tokens.iter().enumerate() {
            assert_eq!(pieces.get(token, &table), Some(id as u32));
        }
        for absent in ["", "2000", "x", "00", "123456789012345678901234567890"] {
            assert_eq!(pieces.get(absent.as_bytes(), &table), None);
        }
    }

    #[test]
    fn several_look_ups_are_one_after_the_other() {
        let tokens: Vec<Vec<u8>> = (0..3000_u32)
            .map(|n| (n * 7).to_string().into_bytes())
            .collect();
        let table = TokenTable::of(&tokens).unwrap();
        let pieces = PieceTable::build(&table).unwrap();
        let texts: Vec<Vec<u8>> = (0..21_000_u32)
            .map(|n| n.to_string().into_bytes())
            .collect();
        for count in [0, 1, 63, 64, 65, texts.len()] {
            let mut ids = vec![0; count];
            pieces.get_each(&texts[..count], &table, &mut ids);
            let one_by_one = texts[..count]
                .iter()
                .map(|text| pieces.get(text, &table).unwrap_or(NONE));
            assert!(one_by_one.eq(ids));
        }
    }

    /// Tokens whose homes stand side by side: each is found at once, and what is none only behind all of them.
    #[test]
    fn refuses_tokens_that_leave_no_slot_free_between_them() {
        let slots = 1 << 15;
        let mut by_home: Vec<Option<Vec<u8>>> = vec![None; slots];
        for number in 0..1_000_000_u32 {
            let token = number.to_string().into_bytes();
            by_home[hash(&token) as usize & (slots - 1)].get_or_insert(token);
        }
        for (from, beside, is_right) in [
            (9000, 400, true),
            (9000, 600, false),
            (slots - 300, 500, true),
            (slots - 300, 600, false),
        ] {
            let side_by_side = from..from + beside;
            let far_apart = (from + beside + 9..).step_by(3);
            let homes = side_by_side.chain(far_apart).take(slots / 4 + 1);
            let tokens: Vec<Vec<u8>> = homes
                .map(|home| by_home[home % slots].clone().unwrap())
                .collect();
            let table = TokenTable::of(&tokens).unwrap();
            let built = PieceTable::build(&table);
            assert_eq!(built.is_ok(), is_right, "{from} {beside}");
        }
    }

    /// Tokens as people may number them.
    #[test]
    fn takes_vocabularies_with_a_structure() {
        let letters = || b'a'..=b'z';
        let words = letters().flat_map(|a| {
            letters().flat_map(move |b| {
                letters().flat_map(move |c| letters().map(move |d| vec![a, b, c, d]))
            })
        });
        let characters = ('\u{100}'..='\u{2ffff}').map(|character| character.to_string().into());
        let counted = |step: u64| (1..100_000).map(move |n| (n * step).to_be_bytes().to_vec());
        let vocabularies: [Vec<Vec<u8>>; 6] = [
            words.collect(),
            characters.collect(),
            (0..300_000)
                .map(|n| format!("<extra_{n}>").into())
                .collect(),
            counted(1).collect(),
            counted(1 << 32 | 1).collect(),
            (1..4000).map(|length| vec![b' '; length]).collect(),
        ];
        for tokens in vocabularies {
            let table = TokenTable::of(&tokens).unwrap();
            assert!(PieceTable::build(&table).is_ok(), "{:?}", tokens[0]);
        }
    }

    #[test]
    fn refuses_the_same_token_twice() {
        let table = TokenTable::new(b"abab"[..].into(), vec![2, 4].into()).unwrap();
        assert_eq!(
            PieceTable::build(&table).unwrap_err().to_string(),
            "ids 0 and 1 are the same bytes"
        );
    }
}
