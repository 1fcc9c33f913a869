//! A binary heap of numbered items that can be changed and taken out where they stand.
//!
//! The order is given with each call, so that it may look things up. It may only depend on what the
//! items hold and what never changes: an item's place is right until it is set anew.

/// Not in the heap.
const ABSENT: u32 = u32::MAX;

/// Holds at most one item of each number; the first in order is at hand.
#[derive(Debug)]
pub struct Ranking<T> {
    items: Vec<(u32, T)>,
    /// Where each number's item stands.
    places: Vec<u32>,
}

impl<T> Default for Ranking<T> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            places: Vec::new(),
        }
    }
}

impl<T> Ranking<T> {
    /// The number and item that is first in order.
    pub fn first(&self) -> Option<(u32, &T)> {
        self.items.first().map(|(number, item)| (*number, item))
    }

    /// Adds a number's item, or changes it. Complexity: logarithmic.
    pub fn set(&mut self, number: u32, item: T, before: impl Fn(&T, &T) -> bool) {
        if self.places.len() <= number as usize {
            self.places.resize(number as usize + 1, ABSENT);
        }
        let place = match self.places[number as usize] {
            ABSENT => {
                self.items.push((number, item));
                self.items.len() - 1
            }
            place => {
                self.items[place as usize].1 = item;
                place as usize
            }
        };
        self.settle(place, &before);
    }

    /// Takes a number's item out, if it is there. Complexity: logarithmic.
    pub fn remove(&mut self, number: u32, before: impl Fn(&T, &T) -> bool) {
        let Some(&place) = self.places.get(number as usize) else {
            return;
        };
        if place == ABSENT {
            return;
        }
        self.items.swap_remove(place as usize);
        self.places[number as usize] = ABSENT;
        if (place as usize) < self.items.len() {
            self.settle(place as usize, &before);
        }
    }

    /// Moves the item at a place up or down to where it belongs.
    fn settle(&mut self, mut at: usize, before: &impl Fn(&T, &T) -> bool) {
        while at > 0 {
            let parent = (at - 1) / 2;
            if !before(&self.items[at].1, &self.items[parent].1) {
                break;
            }
            self.swap(at, parent);
            at = parent;
        }
        loop {
            let mut child = 2 * at + 1;
            if child + 1 < self.items.len()
                && before(&self.items[child + 1].1, &self.items[child].1)
            {
                child += 1;
            }
            if child >= self.items.len() || !before(&self.items[child].1, &self.items[at].1) {
                break;
            }
            self.swap(at, child);
            at = child;
        }
        self.places[self.items[at].0 as usize] = at as u32;
    }

    /// Changes two places; that of the item from `at` is written when it has come to rest.
    fn swap(&mut self, at: usize, other: usize) {
        self.items.swap(at, other);
        self.places[self.items[at].0 as usize] = at as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_first_at_hand_through_changes() {
        let mut ranking = Ranking::default();
        let mut model = std::collections::BTreeMap::new();
        let mut state = 1_u64;
        for _ in 0..5000 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1);
            let (number, value) = ((state >> 33) as u32 % 60, state >> 50);
            if value % 3 == 0 {
                ranking.remove(number, |a, b| a < b);
                model.remove(&number);
            } else {
                ranking.set(number, (value, number), |a, b| a < b);
                model.insert(number, (value, number));
            }
            let first = ranking.first().map(|(number, &item)| (number, item));
            let least = model.values().min().map(|&item| (item.1, item));
            assert_eq!(first, least);
        }
        ranking.remove(1000, |a, b| a < b);
    }
}
