//! Scaffold-BPE (Lian et al. 2024, arXiv:2404.17808): a token that others are made of, and that stands more rarely on its
//! own than what comes next, is a *scaffold*. Merges go on with it, but it is not in the vocabulary.
//!
//! What comes next is the most frequent pair, or the scaffold that stands more often: that one is first put back into the
//! vocabulary. In the end those that are scaffolds are taken back, the longest first, so that each becomes its parts.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::candidates::ByCount;
use super::{SPLIT, Trainer};
use crate::error::Result;

/// The scaffolds, by (how often it stands in the corpus, id); some may be out of date.
pub(super) type Scaffolds = BinaryHeap<(u64, Reverse<u32>)>;

impl Trainer {
    /// Puts a scaffold back, or merges the next pair and sees whether its parts are scaffolds now; false if there is none.
    pub(super) fn build(&mut self) -> Result<bool> {
        let next = self.next_count();
        if let Some((_, token)) = self
            .most_used()
            .filter(|&(uses, _)| uses >= next.max(self.minimum))
        {
            self.scaffolds.pop();
            self.learnt[token as usize].is_present = true;
            self.size += 1;
            return Ok(true);
        }
        let Some([left, right]) = self.best() else {
            return Ok(false);
        };
        let times = self.merge(left, right)?;
        let parts = [left, right];
        for part in parts {
            self.learnt[part as usize].uses -= times;
        }
        for part in parts {
            let own = &self.learnt[part as usize];
            if !own.is_present {
                self.scaffolds.push((own.uses, Reverse(part)));
            }
        }
        let most_used = self.most_used().map_or(0, |(uses, _)| uses);
        let next = self.next_count().max(most_used);
        for part in parts {
            let own = &mut self.learnt[part as usize];
            if own.parents.is_some() && own.is_present && own.uses < next {
                own.is_present = false;
                self.size -= 1;
                self.scaffolds.push((own.uses, Reverse(part)));
            }
        }
        Ok(true)
    }

    /// How often the pair occurs that would be merged next.
    fn next_count(&mut self) -> u64 {
        let Some(next) = self.first() else {
            return 0;
        };
        let order = ByCount {
            pairs: &self.corpus.pairs,
            minimum: self.minimum,
        };
        self.heap.push(next, &order);
        next.count
    }

    /// The scaffold that stands most often in the corpus, of several the one of the lowest id, and how often.
    fn most_used(&mut self) -> Option<(u64, u32)> {
        while let Some(&(uses, Reverse(token))) = self.scaffolds.peek() {
            let own = &self.learnt[token as usize];
            if !own.is_present && own.uses == uses {
                return Some((uses, token));
            }
            self.scaffolds.pop();
        }
        None
    }

    /// Takes all scaffolds back.
    pub(super) fn demolish(&mut self) {
        let mut scaffolds: Vec<u32> = std::mem::take(&mut self.scaffolds)
            .into_iter()
            .map(|(_, Reverse(token))| token)
            .filter(|&token| !self.learnt[token as usize].is_present)
            .collect();
        scaffolds
            .sort_by_key(|&token| (Reverse(self.corpus.tokens.lengths[token as usize]), token));
        scaffolds.dedup();
        for token in scaffolds {
            self.events.push([token, SPLIT, SPLIT]);
            let uses = std::mem::take(&mut self.learnt[token as usize].uses);
            for part in self.parts(token) {
                self.learnt[part as usize].uses += uses;
            }
        }
    }
}
