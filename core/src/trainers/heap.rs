//! A binary heap whose order is given with each call, so that it may look things up.

/// Holds items; the first in order is taken first.
#[derive(Debug)]
pub struct Heap<T>(Vec<T>);

impl<T> Heap<T> {
    /// Orders items. Complexity: linear.
    pub fn from_items(items: Vec<T>, before: impl Fn(&T, &T) -> bool) -> Self {
        let mut heap = Self(items);
        for at in (0..heap.0.len() / 2).rev() {
            heap.sink(at, &before);
        }
        heap
    }

    /// Adds an item.
    pub fn push(&mut self, item: T, before: impl Fn(&T, &T) -> bool) {
        self.0.push(item);
        let mut at = self.0.len() - 1;
        while at > 0 {
            let parent = (at - 1) / 2;
            if !before(&self.0[at], &self.0[parent]) {
                break;
            }
            self.0.swap(at, parent);
            at = parent;
        }
    }

    /// Takes the first item.
    pub fn pop(&mut self, before: impl Fn(&T, &T) -> bool) -> Option<T> {
        let last = self.0.len().checked_sub(1)?;
        self.0.swap(0, last);
        let item = self.0.pop();
        self.sink(0, &before);
        item
    }

    fn sink(&mut self, mut at: usize, before: &impl Fn(&T, &T) -> bool) {
        loop {
            let mut child = 2 * at + 1;
            if child >= self.0.len() {
                return;
            }
            if child + 1 < self.0.len() && before(&self.0[child + 1], &self.0[child]) {
                child += 1;
            }
            if !before(&self.0[child], &self.0[at]) {
                return;
            }
            self.0.swap(at, child);
            at = child;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_items_in_order() {
        let numbers: Vec<u64> = (1..500_u64)
            .map(|n| n.wrapping_mul(0x9E37_79B9) % 1009)
            .collect();
        let (early, late) = numbers.split_at(200);
        let mut heap = Heap::from_items(early.to_vec(), |a, b| a < b);
        for &number in late {
            heap.push(number, |a, b| a < b);
        }
        let mut taken = Vec::new();
        while let Some(number) = heap.pop(|a, b| a < b) {
            taken.push(number);
        }
        let mut sorted = numbers;
        sorted.sort_unstable();
        assert_eq!(taken, sorted);
    }
}
