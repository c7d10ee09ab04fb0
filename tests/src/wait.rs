//! Waiting for a condition, with a deadline.
//!
//! Must not know: the conditions.

use std::time::{Duration, Instant};

/// Time everything gets that should be quick, on a machine that is not.
pub const DEADLINE: Duration = Duration::from_secs(30);

/// Looks again and again until `look` finds something; panics with `what` at the deadline.
pub fn wait_for<T>(what: &str, deadline: Duration, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + deadline;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "waited {deadline:?} in vain for {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}
