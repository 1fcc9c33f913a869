//! A list of events, replayed once: what it says of each pair and each token, and that it contradicts nothing.

use crate::error::{Result, ensure, invalid};
use crate::tables::{NONE, PairTable, TokenTable};
use crate::text::characters;

/// What stands for the right part and the product of an event that takes a token apart.
pub const SPLIT: u32 = NONE;
/// How often a list may merge one pair, and how many parts it may make of each character of a piece. Lists that were
/// learnt stay below a tenth of that; without a bound, one written for it could keep a short piece busy for hours.
pub const MOST_ANEW: usize = 64;
/// Parts that all splits may have together.
const MOST_PARTS: usize = 1 << 26;

/// Several lists of numbers, one behind the other.
#[derive(Debug, Default)]
pub struct Lists {
    ends: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    /// Groups (list, number) entries; numbers stay in their order.
    fn group(count: usize, entries: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        // Each list's end is first where it begins, and goes on with each of its numbers.
        let mut ends = vec![0; count + 1];
        entries
            .clone()
            .for_each(|(list, _)| ends[list as usize + 1] += 1);
        (0..count).for_each(|list| ends[list + 1] += ends[list]);
        let mut items = vec![0; ends[count] as usize];
        for (list, number) in entries {
            let end = &mut ends[list as usize];
            items[*end as usize] = number;
            *end += 1;
        }
        ends.pop();
        Self { ends, items }
    }

    /// Closes a list at the end, made of the numbers that were added since.
    fn close(&mut self) {
        self.ends.push(self.items.len() as u32);
    }

    /// One of the lists.
    #[inline]
    pub fn get(&self, list: u32) -> &[u32] {
        let list = list as usize;
        let start = if list == 0 { 0 } else { self.ends[list - 1] };
        &self.items[start as usize..self.ends[list] as usize]
    }

    /// Where each list ends.
    #[cfg(feature = "python")]
    pub fn ends(&self) -> &[u32] {
        &self.ends
    }

    /// All numbers.
    #[cfg(feature = "python")]
    pub fn items(&self) -> &[u32] {
        &self.items
    }
}

/// What a list of events says.
#[derive(Debug)]
pub struct History {
    /// A pair -> its list in `merging`.
    pub pairs: PairTable<'static>,
    /// The events that merge each pair, ascending.
    pub merging: Lists,
    /// The events that take each token apart, ascending.
    pub splitting: Lists,
    /// What each split makes, by its number among the splits.
    pub parts: Lists,
    /// By id, how many symbols a token is made of.
    pub widths: Vec<u32>,
    /// By id, whether a token is taken apart, and not made again.
    pub removed: Vec<bool>,
}

impl History {
    /// Replays events, (left, right, product) or (token, [`SPLIT`], [`SPLIT`]); the last [`SPLIT`] of each becomes the
    /// number of the split.
    ///
    /// A symbol (a character, or a byte if `byte_level`) is there from the beginning, any other token once it is made.
    ///
    /// # Errors
    /// A sentence that names the first event that cannot be, counted from 1.
    pub fn replay(
        tokens: &TokenTable<'_>,
        events: &mut [[u32; 3]],
        byte_level: bool,
    ) -> Result<Self> {
        let width = |id| match byte_level {
            true => tokens.get(id).len() as u32,
            false => characters(tokens.get(id)).count() as u32,
        };
        let widths: Vec<u32> = (0..tokens.len() as u32).map(width).collect();
        check(tokens, &widths, events)?;
        let merges = || numbered(events).filter(|(_, event)| event[1] != SPLIT);
        let mut pairs: Vec<[u32; 2]> = merges()
            .map(|(_, [left, right, _])| [left, right])
            .collect();
        pairs.sort_unstable();
        pairs.dedup();
        let entries = pairs.iter().enumerate();
        let entries = entries.map(|(at, &[left, right])| (left, right, at as u32));
        let table = PairTable::build(entries)?;
        let of_pair = |[left, right, _]: [u32; 3]| table.get(left, right);
        let merging = Lists::group(
            pairs.len(),
            merges().map(|(at, event)| (of_pair(event), at)),
        );
        if let Some(often) = (0..pairs.len()).find(|&at| merging.get(at as u32).len() > MOST_ANEW) {
            let [left, right] = pairs[often];
            let times = merging.get(often as u32).len();
            return Err(invalid!(
                "{times} events merge ids {left} and {right}, and {MOST_ANEW} may"
            ));
        }
        let splits = numbered(events).filter(|(_, event)| event[1] == SPLIT);
        let splitting = Lists::group(tokens.len(), splits.map(|(at, event)| (event[0], at)));
        let (parts, removed) = presence(events, &widths)?;
        Ok(Self {
            pairs: table,
            merging,
            splitting,
            parts,
            widths,
            removed,
        })
    }

    /// The first of the events that merge two neighbours which is not before another.
    #[inline]
    pub fn next_merge(&self, left: u32, right: u32, from: u32) -> Option<u32> {
        match self.pairs.get(left, right) {
            NONE => None,
            pair => first_from(self.merging.get(pair), from),
        }
    }

    /// The same of those that take a token apart.
    #[inline]
    pub fn next_split(&self, token: u32, from: u32) -> Option<u32> {
        first_from(self.splitting.get(token), from)
    }
}

#[inline]
fn first_from(events: &[u32], from: u32) -> Option<u32> {
    let at = events.partition_point(|&event| event < from);
    events.get(at).copied()
}

fn numbered(events: &[[u32; 3]]) -> impl Iterator<Item = (u32, [u32; 3])> + Clone {
    (0..).zip(events.iter().copied())
}

/// Checks each event by itself.
fn check(tokens: &TokenTable<'_>, widths: &[u32], events: &[[u32; 3]]) -> Result<()> {
    ensure!(
        events.len() < NONE as usize,
        "there are more than 2^32 events"
    );
    for (at, &[left, right, product]) in events.iter().enumerate() {
        let number = at + 1;
        let ids = [left, right, product];
        let named = &ids[..if right == SPLIT { 1 } else { 3 }];
        if let Some(id) = named.iter().find(|&&id| tokens.get(id).is_empty()) {
            return Err(invalid!("event {number} names id {id}, which no token has"));
        }
        if right == SPLIT {
            ensure!(
                product == SPLIT,
                "event {number} takes id {left} apart and names a product, {product}"
            );
            continue;
        }
        let [text, head, tail] = [product, left, right].map(|id| tokens.get(id));
        ensure!(
            text.strip_prefix(head) == Some(tail),
            "event {number} joins ids {left} and {right} to {product}, whose text is not theirs joined"
        );
        let [whole, before, after] = [product, left, right].map(|id| widths[id as usize]);
        ensure!(
            whole == before + after,
            "event {number} joins ids {left} and {right}, which are parts of a character"
        );
    }
    Ok(())
}

/// Goes through the events, with the tokens that are absent at each, and gives the parts of each split, and what is
/// taken apart in the end.
fn presence(events: &mut [[u32; 3]], widths: &[u32]) -> Result<(Lists, Vec<bool>)> {
    let mut absent: Vec<bool> = widths.iter().map(|&width| width != 1).collect();
    let mut removed = vec![false; widths.len()];
    let mut first = vec![[NONE; 2]; widths.len()];
    let mut parts = Lists::default();
    let mut waiting = Vec::new();
    for (at, event) in events.iter_mut().enumerate() {
        let number = at + 1;
        let [left, right, product] = *event;
        let missing = |id: u32| absent[id as usize];
        if right != SPLIT {
            if let Some(id) = [left, right].into_iter().find(|&id| missing(id)) {
                return Err(invalid!(
                    "event {number} merges id {id}, which is not there at that time"
                ));
            }
            absent[product as usize] = false;
            removed[product as usize] = false;
            let first = &mut first[product as usize];
            if first[0] == NONE {
                *first = [left, right];
            }
            continue;
        }
        ensure!(
            !missing(left),
            "event {number} takes id {left} apart, which is not there at that time"
        );
        ensure!(
            first[left as usize][0] != NONE,
            "event {number} takes id {left} apart, which no event has made"
        );
        absent[left as usize] = true;
        removed[left as usize] = true;
        event[2] = parts.ends.len() as u32;
        waiting.push(left);
        while let Some(id) = waiting.pop() {
            if absent[id as usize] {
                let [left, right] = first[id as usize];
                waiting.extend([right, left]);
            } else {
                parts.items.push(id);
            }
        }
        ensure!(
            parts.items.len() <= MOST_PARTS,
            "events 1 to {number} take tokens apart into more than {MOST_PARTS} parts"
        );
        parts.close();
    }
    Ok((parts, removed))
}
