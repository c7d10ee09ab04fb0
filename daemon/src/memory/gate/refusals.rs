//! Counts of what was not kept, by space and reason, since the daemon started. Not durable.
//!
//! Must not know: the texts.

use crate::limits::GATE_SPACES_COUNTED_MAX;
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap};

/// The counts.
#[derive(Default)]
pub(in crate::memory) struct Refusals {
    by_space: Mutex<HashMap<String, BTreeMap<String, u64>>>,
}

impl Refusals {
    /// Counts one. Reasons are those of the gate and the kinds of secrets: few.
    pub fn count(&self, space: &str, reason: &str) {
        let mut by_space = self.by_space.lock();
        if !by_space.contains_key(space) && by_space.len() >= GATE_SPACES_COUNTED_MAX {
            return;
        }
        *by_space.entry(space.to_owned()).or_default().entry(reason.to_owned()).or_default() += 1;
    }

    /// Counts of a space, by reason.
    pub fn of(&self, space: &str) -> BTreeMap<String, u64> {
        self.by_space.lock().get(space).cloned().unwrap_or_default()
    }
}
