//! The k best of a stream of scores. It must not know what is scored.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// One scored slot; the worst is the greatest, so that a max-heap gives it up first.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Scored {
    slot: u32,
    score: f32,
}

impl Eq for Scored {}

impl Ord for Scored {
    /// Lower scores are greater; among equal scores, later slots are greater.
    fn cmp(&self, other: &Self) -> Ordering {
        other.score.total_cmp(&self.score).then(self.slot.cmp(&other.slot))
    }
}

impl PartialOrd for Scored {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Keeps the `k` best, ties by the lower slot.
#[derive(Debug)]
pub(super) struct Top {
    k: usize,
    heap: BinaryHeap<Scored>,
}

impl Top {
    pub(super) fn new(k: usize) -> Self {
        Self { k, heap: BinaryHeap::with_capacity(k.saturating_add(1).min(4096)) }
    }

    /// What a score has to reach to be worth offering.
    pub(super) fn bar(&self) -> f32 {
        match self.heap.peek() {
            Some(worst) if self.heap.len() >= self.k => worst.score,
            _ => f32::NEG_INFINITY,
        }
    }

    pub(super) fn offer(&mut self, slot: u32, score: f32) {
        let new = Scored { slot, score };
        if self.heap.len() < self.k {
            self.heap.push(new);
        } else if let Some(mut worst) = self.heap.peek_mut()
            && new < *worst
        {
            *worst = new;
        }
    }

    /// Best first.
    pub(super) fn into_sorted(self) -> Vec<(u32, f32)> {
        self.heap.into_sorted_vec().into_iter().map(|scored| (scored.slot, scored.score)).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn equals_sorting(scores in proptest::collection::vec(-3_i32..3, 0..40), k in 0_usize..12) {
            let mut top = Top::new(k);
            let mut all: Vec<(u32, f32)> = scores.iter().enumerate().map(|(slot, &score)| (slot as u32, score as f32)).collect();
            for &(slot, score) in all.iter().rev() {
                if score >= top.bar() {
                    top.offer(slot, score);
                }
            }
            all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            all.truncate(k);
            prop_assert_eq!(top.into_sorted(), all);
        }
    }
}
