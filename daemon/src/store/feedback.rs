//! Rows of feedback: what was said of memories.
//!
//! Must not know: what follows from it.

use super::error::StoreError;
use super::read::{UNBOUNDED, part};
use super::rows::{Direction, Rows};
use super::write_tx::WriteTx;
use super::{keys, tables};
use tiro_schema::record::FeedbackRecord;

/// Reads of feedback. Every error is the disk's or `Damaged`.
#[allow(clippy::missing_errors_doc)]
pub trait FeedbackReads: Rows + Sized {
    /// What was said of a memory.
    fn feedback(&self, key: u64) -> Result<Option<FeedbackRecord>, StoreError> {
        self.record(tables::FEEDBACK, &keys::u64(key))
    }

    /// The same of every memory, by key.
    fn all_feedback(&self, visit: &mut dyn FnMut(u64, FeedbackRecord)) -> Result<(), StoreError> {
        self.scan(tables::FEEDBACK, UNBOUNDED, Direction::Ascending, &mut |key, value| {
            let record = self.unseal(tables::FEEDBACK, key, value)?;
            visit(part(self, keys::u64_at(key, 0), tables::FEEDBACK, key)?, record);
            Ok(true)
        })
    }
}

impl<T: Rows> FeedbackReads for T {}

impl WriteTx {
    /// Writes what was said of a memory.
    ///
    /// # Errors
    /// The disk's.
    pub fn put_feedback(&mut self, key: u64, record: &FeedbackRecord) -> Result<(), StoreError> {
        self.put(tables::FEEDBACK, &keys::u64(key), record)
    }
}
