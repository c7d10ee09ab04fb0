//! When to try again, and how long to wait: pure, seeded. It must not know clocks or sockets.

use crate::limits;

/// Exponential back-off with seeded jitter.
#[derive(Debug, Clone)]
pub struct Backoff {
    /// Most retries after the first attempt.
    pub retries_max: u32,
    /// Wait before the first retry, milliseconds.
    pub base_ms: u64,
    /// Longest wait of our own choosing, milliseconds.
    pub cap_ms: u64,
    /// Longest wait a server may ask for, milliseconds; what asks for more fails at once.
    pub retry_after_cap_ms: u64,
    state: u64,
}

impl Backoff {
    /// The default waits with a seed for the jitter.
    pub fn new(seed: u64) -> Backoff {
        Backoff {
            retries_max: limits::MODEL_RETRIES_MAX,
            base_ms: limits::MODEL_BACKOFF_BASE_MS,
            cap_ms: limits::MODEL_BACKOFF_CAP_MS,
            retry_after_cap_ms: limits::MODEL_RETRY_AFTER_MS_MAX,
            state: seed,
        }
    }

    /// The wait before retry number `retry` (from 1), or `None` if there shall be none.
    /// The server's own wish wins over the exponential wait, up to its cap.
    pub fn delay_ms(&mut self, retry: u32, retry_after_ms: Option<u64>) -> Option<u64> {
        if retry > self.retries_max {
            return None;
        }
        let exponential = self.base_ms.saturating_mul(1 << (retry - 1).min(16)).min(self.cap_ms);
        let jittered = exponential / 2 + self.next() % (exponential / 2).max(1);
        match retry_after_ms {
            Some(asked) if asked > self.retry_after_cap_ms => None,
            Some(asked) => Some(asked.max(jittered.min(self.base_ms))),
            None => Some(jittered),
        }
    }

    /// SplitMix64 (Steele, Lea and Flood 2014).
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    // LOOP-5, A8
    #[test]
    fn waits_grow_are_seeded_and_end() {
        let mut a = Backoff::new(7);
        let mut b = Backoff::new(7);
        let waits: Vec<_> = (1..=4).map(|n| a.delay_ms(n, None)).collect();
        assert_eq!(waits, (1..=4).map(|n| b.delay_ms(n, None)).collect::<Vec<_>>());
        assert_eq!(waits[3], None);
        for (n, wait) in waits[..3].iter().enumerate() {
            let full = a.base_ms << n;
            assert!((full / 2..full).contains(&wait.unwrap()), "retry {n}: {wait:?}");
        }
    }

    // LOOP-5, A8
    #[test]
    fn the_servers_wish_counts_up_to_its_cap() {
        let mut backoff = Backoff::new(1);
        assert_eq!(backoff.delay_ms(1, Some(9_000)), Some(9_000));
        assert_eq!(backoff.delay_ms(1, Some(backoff.retry_after_cap_ms + 1)), None);
        assert!(backoff.delay_ms(1, Some(0)).unwrap() > 0);
    }
}
