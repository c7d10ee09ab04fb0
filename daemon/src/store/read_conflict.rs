//! Reads of conflicts between memories.
//!
//! Must not know: when two memories are in conflict.

use super::error::StoreError;
use super::read::part;
use super::rows::{Direction, Rows};
use super::{keys, tables};
use std::ops::{Bound, ControlFlow};
use tiro_schema::record::ConflictRecord;

/// Reads of conflicts. Every error is the disk's or `Damaged`.
#[allow(clippy::missing_errors_doc)]
pub trait ConflictReads: Rows + Sized {
    /// One conflict of a space.
    fn conflict(&self, space: u32, key: u64) -> Result<Option<ConflictRecord>, StoreError> {
        self.record(tables::CONFLICTS, &keys::u32_u64(space, key))
    }

    /// Conflicts of a space after a key, oldest first, until `visit` breaks.
    fn conflicts_of_space(
        &self,
        space: u32,
        after: Option<u64>,
        visit: &mut dyn FnMut(ConflictRecord) -> Result<ControlFlow<()>, StoreError>,
    ) -> Result<(), StoreError> {
        let (from, to) = (keys::u32_u64(space, after.map_or(0, |key| key.saturating_add(1))), keys::u32_u64(space, u64::MAX));
        let bounds = (Bound::Included(&from[..]), Bound::Included(&to[..]));
        self.scan(tables::CONFLICTS, bounds, Direction::Ascending, &mut |key, value| {
            Ok(visit(self.unseal(tables::CONFLICTS, key, value)?)?.is_continue())
        })
    }

    /// Every conflict that names a memory, open or not, oldest first, at most `max`.
    fn conflicts_of_memory(&self, memory: u64, max: usize) -> Result<Vec<ConflictRecord>, StoreError> {
        let (from, to) = (keys::u64_u64(memory, 0), keys::u64_u64(memory, u64::MAX));
        let rows = self.rows(
            tables::CONFLICT_MEMORIES,
            (Bound::Included(&from[..]), Bound::Included(&to[..])),
            Direction::Ascending,
            max,
        )?;
        let mut found = Vec::with_capacity(rows.len());
        for (row, value) in rows {
            let space: u32 = self.unseal(tables::CONFLICT_MEMORIES, &row, &value)?;
            let key = part(self, keys::u64_at(&row, 8), tables::CONFLICT_MEMORIES, &row)?;
            found.extend(self.conflict(space, key)?);
        }
        Ok(found)
    }

    /// How many conflicts there ever were.
    fn conflict_count(&self) -> Result<u64, StoreError> {
        self.row_count(tables::CONFLICTS)
    }
}

impl<T: Rows> ConflictReads for T {}
