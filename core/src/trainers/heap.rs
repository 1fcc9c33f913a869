//! Binary heaps whose order is given with each call, so that it may look things up.
//!
//! A [`Heap`] is brought up to date only where it is looked at: its items may be out of date, but never
//! too far back. A [`Ranking`] is right at any time, and each of its items can be changed where it stands.

/// Not in a ranking.
const ABSENT: u32 = u32::MAX;

/// What items are ordered by, and what they are worth now.
pub trait Order<T> {
    /// Whether an item is taken before another.
    fn is_before(&self, item: &T, other: &T) -> bool;

    /// An item as it is now; None if it is to be taken no more.
    fn update(&mut self, item: &T) -> Option<T>;
}

/// Holds items; the first in order is taken first.
#[derive(Debug)]
pub struct Heap<T>(Vec<T>);

impl<T: PartialEq> Heap<T> {
    /// Orders items. Complexity: linear.
    pub fn from_items(items: Vec<T>, order: &impl Order<T>) -> Self {
        let mut heap = Self(items);
        for at in (0..heap.0.len() / 2).rev() {
            heap.sink(at, order);
        }
        heap
    }

    /// Adds an item. Complexity: logarithmic.
    pub fn push(&mut self, item: T, order: &impl Order<T>) {
        self.0.push(item);
        let last = self.0.len() - 1;
        rise(&mut self.0, last, |a, b| order.is_before(a, b), |_, _| ());
    }

    /// Takes the item that is the first in order now. As items are worth ever less after they were added, none is
    /// overlooked.
    pub fn pop(&mut self, order: &mut impl Order<T>) -> Option<T> {
        loop {
            let last = self.0.len().checked_sub(1)?;
            let known = self.0.swap_remove(0);
            if last > 0 {
                self.sink(0, order);
            }
            match order.update(&known) {
                Some(now) if now == known => return Some(now),
                Some(now) => self.push(now, order),
                None => {}
            }
        }
    }

    fn sink(&mut self, at: usize, order: &impl Order<T>) {
        sink(&mut self.0, at, |a, b| order.is_before(a, b), |_, _| ());
    }
}

/// Holds at most one item of each number; the first in order is at hand. The order may only depend on what the items
/// hold and on what never changes.
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
    fn settle(&mut self, at: usize, before: &impl Fn(&T, &T) -> bool) {
        let Self { items, places } = self;
        let before = |a: &(u32, T), b: &(u32, T)| before(&a.1, &b.1);
        let mut moved = |&(number, _): &(u32, T), at| places[number as usize] = at as u32;
        let at = rise(items, at, before, &mut moved);
        let at = sink(items, at, before, &mut moved);
        moved(&items[at], at);
    }
}

/// Moves the item at a place up to where it belongs, which is returned; `moved` gets each item that makes room.
#[inline]
fn rise<T>(
    items: &mut [T],
    mut at: usize,
    before: impl Fn(&T, &T) -> bool,
    mut moved: impl FnMut(&T, usize),
) -> usize {
    while at > 0 {
        let parent = (at - 1) / 2;
        if !before(&items[at], &items[parent]) {
            break;
        }
        items.swap(at, parent);
        moved(&items[at], at);
        at = parent;
    }
    at
}

/// Moves the item at a place down, as [`rise`] moves it up.
#[inline]
fn sink<T>(
    items: &mut [T],
    mut at: usize,
    before: impl Fn(&T, &T) -> bool,
    mut moved: impl FnMut(&T, usize),
) -> usize {
    loop {
        let mut child = 2 * at + 1;
        if child + 1 < items.len() && before(&items[child + 1], &items[child]) {
            child += 1;
        }
        if child >= items.len() || !before(&items[child], &items[at]) {
            return at;
        }
        items.swap(at, child);
        moved(&items[at], at);
        at = child;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers, the largest first, each worth at most so much now.
    struct Capped(u64);

    impl Order<u64> for Capped {
        fn is_before(&self, item: &u64, other: &u64) -> bool {
            item > other
        }

        fn update(&mut self, item: &u64) -> Option<u64> {
            (*item > 0).then_some(*item.min(&self.0))
        }
    }

    #[test]
    fn gives_items_in_order_and_as_they_are_now() {
        let numbers: Vec<u64> = (1..500_u64)
            .map(|n| n.wrapping_mul(0x9E37_79B9) % 1009)
            .collect();
        let (early, late) = numbers.split_at(200);
        let mut order = Capped(u64::MAX);
        let mut heap = Heap::from_items(early.to_vec(), &order);
        for &number in late {
            heap.push(number, &order);
        }
        let mut sorted: Vec<u64> = numbers.into_iter().filter(|&number| number > 0).collect();
        sorted.sort_unstable_by(|a, b| b.cmp(a));
        for (place, &number) in sorted.iter().enumerate() {
            if place == 100 {
                order = Capped(500);
            }
            assert_eq!(heap.pop(&mut order), Some(number.min(order.0)));
        }
        assert_eq!(heap.pop(&mut order), None);
    }

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
