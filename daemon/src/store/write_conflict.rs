//! Writes of conflicts between memories.
//!
//! Must not know: when two memories are in conflict.

use super::error::StoreError;
use super::write_tx::WriteTx;
use super::{keys, tables};
use tiro_schema::record::ConflictRecord;

impl WriteTx {
    /// Writes a conflict, new or changed, and what finds it by its memories.
    ///
    /// # Errors
    /// The disk's.
    pub fn put_conflict(&mut self, conflict: &ConflictRecord) -> Result<(), StoreError> {
        self.put(tables::CONFLICTS, &keys::u32_u64(conflict.space, conflict.key), conflict)?;
        for memory in [conflict.first, conflict.second] {
            self.put(tables::CONFLICT_MEMORIES, &keys::u64_u64(memory, conflict.key), &conflict.space)?;
        }
        Ok(())
    }
}
