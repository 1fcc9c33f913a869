//! A binary heap whose order among equals is the one of C++'s standard library.
//!
//! Where several segmentations have the same score, that order decides which comes first, so the n-best
//! search asks for it. The largest comes first.

use super::real::Real;

/// A priority and a number.
pub type Ordered<T> = (T, u32);

/// Adds an item.
pub fn push<T: Real>(heap: &mut Vec<Ordered<T>>, priority: T, number: u32) {
    heap.push((priority, number));
    let last = heap.len() - 1;
    rise(heap, last, (priority, number));
}

/// Takes an item with the largest priority.
pub fn pop<T: Real>(heap: &mut Vec<Ordered<T>>) -> Option<Ordered<T>> {
    let last = heap.pop()?;
    let Some(&top) = heap.first() else {
        return Some(last);
    };
    // The hole at the top sinks to the bottom along the larger children; the last item rises from there.
    let length = heap.len();
    let mut hole = 0;
    let mut child = 2;
    while child < length {
        if heap[child].0 < heap[child - 1].0 {
            child -= 1;
        }
        heap[hole] = heap[child];
        hole = child;
        child = 2 * (child + 1);
    }
    if child == length {
        heap[hole] = heap[child - 1];
        hole = child - 1;
    }
    rise(heap, hole, last);
    Some(top)
}

fn rise<T: Real>(heap: &mut [Ordered<T>], mut hole: usize, item: Ordered<T>) {
    while hole > 0 {
        let parent = (hole - 1) / 2;
        if heap[parent].0 < item.0 {
            heap[hole] = heap[parent];
            hole = parent;
        } else {
            break;
        }
    }
    heap[hole] = item;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn gives_all_in_order(priorities in proptest::collection::vec(0u8..20, 0..200)) {
            let mut heap = Vec::new();
            for (number, &priority) in priorities.iter().enumerate() {
                push(&mut heap, f32::from(priority), number as u32);
            }
            let mut expected: Vec<f32> = priorities.iter().map(|&p| f32::from(p)).collect();
            expected.sort_by(|a, b| b.total_cmp(a));
            let found: Vec<f32> = std::iter::from_fn(|| pop(&mut heap)).map(|(p, _)| p).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
