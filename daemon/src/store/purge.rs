//! Purges as the store keeps them: what was asked for, which memories it names, and the removal of all rows of one.
//!
//! Must not know: what is derived from the store, backups, the order of the steps.

use super::error::StoreError;
use super::models::ModelReads;
use super::read::{Reads, UNBOUNDED, part};
use super::read_conflict::ConflictReads;
use super::rows::{Direction, Rows};
use super::write_tx::WriteTx;
use super::{keys, tables};
use crate::limits::PURGE_RECEIPTS_MAX;
use std::collections::HashSet;
use std::ops::Bound;
use tiro_schema::record::{IdempotencyRecord, MemoryRecord, PurgeRecord, PurgedRecord};

/// Keys of answers, and the place to go on at; none at the end.
pub type AnswersFound = (Vec<[u8; 32]>, Option<[u8; 32]>);

/// Reads of purges. Every error is the disk's or `Damaged`.
#[allow(clippy::missing_errors_doc)]
pub trait PurgeReads: Reads {
    /// One purge.
    fn purge(&self, key: u64) -> Result<Option<PurgeRecord>, StoreError> {
        self.record(tables::PURGES, &keys::u64(key))
    }

    /// At most `max` purges before a key, newest first.
    fn purges_before(&self, before: u64, max: usize) -> Result<Vec<PurgeRecord>, StoreError> {
        let to = keys::u64(before);
        let rows = self.rows(tables::PURGES, (Bound::Unbounded, Bound::Excluded(&to)), Direction::Descending, max)?;
        rows.iter().map(|(key, value)| self.unseal(tables::PURGES, key, value)).collect()
    }

    /// The purge that a memory fell to, or will.
    fn purged(&self, id: &[u8; 16]) -> Result<Option<PurgedRecord>, StoreError> {
        self.record(tables::PURGED, id)
    }

    /// At most `max` ids of a purge's memories after one, in order.
    fn purged_by(&self, purge: u64, after: Option<[u8; 16]>, max: usize) -> Result<Vec<[u8; 16]>, StoreError> {
        let (from, to) = (keys::u64_16(purge, &after.unwrap_or_default()), keys::u64_16(purge, &[0xFF; 16]));
        let from = if after.is_some() { Bound::Excluded(&from[..]) } else { Bound::Included(&from[..]) };
        let rows = self.rows(tables::PURGED_BY, (from, Bound::Included(&to)), Direction::Ascending, max)?;
        rows.iter().map(|(key, _)| part(self, keys::bytes_at(key, 8), tables::PURGED_BY, key)).collect()
    }

    /// Keys of all memories that were purged and of which a receipt is kept.
    fn purged_keys(&self) -> Result<HashSet<u64>, StoreError> {
        let mut found = HashSet::new();
        self.scan(tables::PURGED, UNBOUNDED, Direction::Ascending, &mut |key, value| {
            let record: PurgedRecord = self.unseal(tables::PURGED, key, value)?;
            found.insert(record.key);
            Ok(true)
        })?;
        Ok(found)
    }

    /// Keys of the answers kept under idempotency keys that name one of these memories, from a place on: at most `max` rows are read.
    fn answers_naming(
        &self,
        after: Option<[u8; 32]>,
        max: usize,
        names: &dyn Fn(&str) -> bool,
    ) -> Result<AnswersFound, StoreError> {
        let from = after.as_ref().map_or(Bound::Unbounded, |after| Bound::Excluded(&after[..]));
        let rows = self.rows(tables::IDEMPOTENCY, (from, Bound::Unbounded), Direction::Ascending, max)?;
        let (mut found, mut last) = (Vec::new(), None);
        for (key, value) in &rows {
            let record: IdempotencyRecord = self.unseal(tables::IDEMPOTENCY, key, value)?;
            let hash = part(self, keys::bytes_at(key, 0), tables::IDEMPOTENCY, key)?;
            last = Some(hash);
            if names(&record.result_json) {
                found.push(hash);
            }
        }
        Ok((found, last.filter(|_| rows.len() == max)))
    }
}

impl<T: Rows> PurgeReads for T {}

impl WriteTx {
    /// Writes a purge. Receipts over the limit go, the oldest first, some at a time.
    ///
    /// # Errors
    /// The disk's.
    pub fn put_purge(&mut self, purge: &PurgeRecord) -> Result<(), StoreError> {
        self.put(tables::PURGES, &keys::u64(purge.key), purge)?;
        let over = self.row_count(tables::PURGES)?.saturating_sub(PURGE_RECEIPTS_MAX);
        if over > 0 {
            let oldest = self.rows(tables::PURGES, UNBOUNDED, Direction::Ascending, 1)?;
            for (key, value) in oldest {
                let old: PurgeRecord = self.unseal(tables::PURGES, &key, &value)?;
                let ids = self.purged_by(old.key, None, crate::limits::PURGE_STEP_MEMORIES)?;
                for id in &ids {
                    self.take_out(tables::PURGED, id)?;
                    self.take_out(tables::PURGED_BY, &keys::u64_16(old.key, id))?;
                }
                if ids.len() < crate::limits::PURGE_STEP_MEMORIES {
                    self.take_out(tables::PURGES, &key)?;
                }
            }
        }
        Ok(())
    }

    /// Notes that a memory is to go with a purge: from now on it cannot come back.
    ///
    /// # Errors
    /// The disk's.
    pub fn mark_purged(&mut self, purge: u64, record: &MemoryRecord) -> Result<(), StoreError> {
        let row = PurgedRecord { purge, key: record.key, space: record.space, hidden_at_ms: record.recorded_at_ms };
        self.put(tables::PURGED, &record.id, &row)?;
        self.put(tables::PURGED_BY, &keys::u64_16(purge, &record.id), &())
    }

    /// Takes out every row of a memory: all versions, pointers, vectors of all models, use, feedback, conflicts. `fingerprints` are those of its
    /// texts. Rows of the audit and of the outbox hold its key alone and stay.
    ///
    /// # Errors
    /// The disk's.
    pub fn remove_memory(&mut self, record: &MemoryRecord, fingerprints: &[[u8; 16]]) -> Result<(), StoreError> {
        let key = record.key;
        for fingerprint in fingerprints {
            self.remove_fingerprint(record.space, *fingerprint, key)?;
        }
        for conflict in self.conflicts_of_memory(key, usize::MAX)? {
            self.take_out(tables::CONFLICTS, &keys::u32_u64(conflict.space, conflict.key))?;
            for memory in [conflict.first, conflict.second] {
                self.take_out(tables::CONFLICT_MEMORIES, &keys::u64_u64(memory, conflict.key))?;
            }
        }
        let (from, to) = (keys::passage(key, 0, 0), keys::passage(key, u32::MAX, u16::MAX));
        self.take_out_range(tables::VECTORS, (Bound::Included(&from), Bound::Included(&to)), usize::MAX)?;
        for (model, _) in self.embedders()? {
            let (from, to) = (keys::model_passage(model, key, 0, 0), keys::model_passage(model, key, u32::MAX, u16::MAX));
            self.take_out_range(tables::MODEL_VECTORS, (Bound::Included(&from), Bound::Included(&to)), usize::MAX)?;
        }
        self.take_out(tables::USAGE, &keys::u64(key))?;
        self.take_out(tables::FEEDBACK, &keys::u64(key))?;
        self.take_out(tables::MEMORY_SPACES, &keys::u32_u64(record.space, key))?;
        self.take_out(tables::MEMORY_CURRENT, &keys::u64(key))?;
        self.take_out(tables::MEMORY_IDS, &record.id)?;
        let (from, to) = (keys::u64_u32(key, 0), keys::u64_u32(key, u32::MAX));
        self.take_out_range(tables::MEMORIES, (Bound::Included(&from), Bound::Included(&to)), usize::MAX)?;
        Ok(())
    }

    /// Takes out the answer kept under an idempotency key. `hash` is over scope and key.
    ///
    /// # Errors
    /// The disk's.
    pub fn remove_idempotency(&mut self, hash: &[u8; 32]) -> Result<(), StoreError> {
        let Some(kept) = self.record::<IdempotencyRecord>(tables::IDEMPOTENCY, hash)? else { return Ok(()) };
        self.take_out(tables::IDEMPOTENCY_EXPIRY, &keys::time_32(kept.expires_at_ms, hash))?;
        self.take_out(tables::IDEMPOTENCY, hash)?;
        Ok(())
    }
}
