//! The index held against the store, memory by memory: the part of `store/verify` that is memory's.
//!
//! Must not know: files.

use super::catch_up::IndexProgress;
use super::documents::memory_of;
use super::{Memory, MemoryError};
use crate::store::{Direction, Reads, StoreError};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use tiro_schema::convert::STATUS_FORGOTTEN;

/// Differences that are listed.
const PROBLEMS_MAX: usize = 100;

impl Memory {
    /// Compares the index with the store; what is wrong, in words. Blocks.
    ///
    /// # Errors
    /// The store's.
    pub fn verify_index(&self, progress: IndexProgress<'_>) -> Result<Vec<String>, MemoryError> {
        let mut problems = self.index().verify();
        let spaces = self.store().read(|tx| tx.spaces())?;
        let mut suspects = Vec::new();
        for (n, space) in (0..).zip(&spaces) {
            progress("comparing the index", n, spaces.len() as u64);
            suspects.extend(self.differences(space.id)?);
        }
        if !suspects.is_empty() {
            // Writes go on meanwhile: once this one is answered, every earlier one has reached the index.
            let _ = self.store().write_blocking::<(), StoreError, _>("wait for the index", |_| Ok(()));
            problems.extend(self.still_different(&suspects)?);
        }
        problems.truncate(PROBLEMS_MAX);
        Ok(problems)
    }

    /// Keys of a space that only one of store and index has, at a first look.
    fn differences(&self, space: u32) -> Result<Vec<u64>, MemoryError> {
        let mut held: BTreeSet<u64> = self.index().held(space).into_iter().map(|(key, _)| memory_of(key).0).collect();
        let mut different = Vec::new();
        self.store().read(|tx| {
            tx.keys_of_space(space, 0..=u64::MAX, Direction::Ascending, &mut |key, status| {
                if held.remove(&key) != (status != STATUS_FORGOTTEN) {
                    different.push(key);
                }
                Ok(ControlFlow::Continue(()))
            })
        })?;
        different.extend(held);
        Ok(different)
    }

    fn still_different(&self, suspects: &[u64]) -> Result<Vec<String>, MemoryError> {
        let index = self.index();
        let mut problems = Vec::new();
        self.store().read(|tx| {
            for key in suspects {
                let stored = tx.memory(*key)?.is_some_and(|r| r.status != STATUS_FORGOTTEN);
                match (stored, index.contains(*key).is_some()) {
                    (true, false) => problems.push(format!("memory {key} is not in the index")),
                    (false, true) => problems.push(format!("the index holds memory {key}, which the store does not show")),
                    _ => {}
                }
            }
            Ok::<_, StoreError>(())
        })?;
        Ok(problems)
    }
}
