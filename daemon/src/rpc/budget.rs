//! A count of bytes shared by all connections, so that many large lines or answers at once cannot take the daemon's memory.
//!
//! Must not know: what the bytes are.

use crate::limits::FRAME_BYTES_FREE;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes that may still be held.
pub struct Budget {
    left: AtomicUsize,
}

/// Bytes that one holder has taken; given back when it is dropped.
pub struct Share {
    budget: Arc<Budget>,
    bytes: usize,
}

impl Budget {
    /// With all of `bytes` left.
    pub fn of(bytes: usize) -> Arc<Self> {
        Arc::new(Budget { left: AtomicUsize::new(bytes) })
    }

    fn take(&self, bytes: usize) -> bool {
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes)).is_ok()
    }
}

impl Share {
    /// A share of nothing yet.
    pub fn of(budget: &Arc<Budget>) -> Self {
        Share { budget: budget.clone(), bytes: 0 }
    }

    /// Makes the share fit a holder of `bytes`, of which [`FRAME_BYTES_FREE`] are free. False when there are not enough left.
    pub fn resize(&mut self, bytes: usize) -> bool {
        let wanted = bytes.saturating_sub(FRAME_BYTES_FREE);
        if wanted > self.bytes {
            if !self.budget.take(wanted - self.bytes) {
                return false;
            }
        } else {
            self.budget.left.fetch_add(self.bytes - wanted, Ordering::Relaxed);
        }
        self.bytes = wanted;
        true
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.resize(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::FRAMES_BYTES_TOTAL_MAX;

    #[test]
    fn a_share_is_refused_when_nothing_is_left_and_given_back_when_dropped() {
        // API-3, C7
        let budget = Budget::of(FRAMES_BYTES_TOTAL_MAX);
        let mut all = Share::of(&budget);
        assert!(all.resize(FRAMES_BYTES_TOTAL_MAX + FRAME_BYTES_FREE));
        let mut small = Share::of(&budget);
        assert!(small.resize(FRAME_BYTES_FREE));
        assert!(!small.resize(FRAME_BYTES_FREE + 1));
        drop(all);
        assert!(small.resize(FRAME_BYTES_FREE + 1));
        drop(small);
        assert_eq!(budget.left.load(Ordering::Relaxed), FRAMES_BYTES_TOTAL_MAX);
    }
}
