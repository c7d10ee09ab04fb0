//! Reads of memories, spaces and the ledgers, the same in a read transaction and inside a write.
//!
//! Must not know: what callers do with them; how rows lie on disk ([`Rows`]). Sessions: `read_session.rs`.

use super::error::StoreError;
use super::keys;
use super::rows::{Direction, Rows};
use super::{codec, tables};
use std::ops::{Bound, ControlFlow, RangeInclusive};
use tiro_schema::record::{
    AuditHeadRecord, AuditRecord, IdempotencyRecord, MemoryRecord, OutboxRecord, SpaceRecord, StoreRecord, UseRecord,
    VectorRecord,
};

/// Memories of a space by status.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SpaceCounts {
    /// Counts by status code, see `convert::STATUS_*`.
    pub by_status: [u64; 4],
}

impl SpaceCounts {
    /// Memories that are not forgotten.
    pub fn shown(&self) -> u64 {
        self.by_status[..3].iter().sum()
    }
}

/// Reads of memories, spaces and ledgers. Every error is the disk's or `Damaged`.
#[allow(clippy::missing_errors_doc)]
pub trait Reads: Rows + Sized {
    /// The current version of a memory, forgotten ones too.
    fn memory(&self, key: u64) -> Result<Option<MemoryRecord>, StoreError> {
        let Some(version) = self.memory_current_version(key)? else { return Ok(None) };
        let found = self.memory_version(key, version)?;
        found.map(Some).ok_or_else(|| lost(self, tables::MEMORIES, &keys::u64_u32(key, version)))
    }

    /// Number of the current version.
    fn memory_current_version(&self, key: u64) -> Result<Option<u32>, StoreError> {
        self.record(tables::MEMORY_CURRENT, &keys::u64(key))
    }

    /// One version of a memory.
    fn memory_version(&self, key: u64, version: u32) -> Result<Option<MemoryRecord>, StoreError> {
        self.record(tables::MEMORIES, &keys::u64_u32(key, version))
    }

    /// Every version of a memory, oldest first.
    fn memory_versions(&self, key: u64) -> Result<Vec<MemoryRecord>, StoreError> {
        let mut versions = Vec::new();
        let (from, to) = (keys::u64_u32(key, 0), keys::u64_u32(key, u32::MAX));
        let bounds = (Bound::Included(&from[..]), Bound::Included(&to[..]));
        self.scan(tables::MEMORIES, bounds, Direction::Ascending, &mut |key, value| {
            versions.push(self.unseal(tables::MEMORIES, key, value)?);
            Ok(true)
        })?;
        Ok(versions)
    }

    /// Key of the memory with this id.
    fn key_of_id(&self, id: &[u8; 16]) -> Result<Option<u64>, StoreError> {
        self.record(tables::MEMORY_IDS, id)
    }

    /// Ids and keys of at most `max` memories whose id starts with these hexadecimal digits (hyphens are skipped).
    fn keys_by_id_prefix(&self, prefix: &str, max: usize) -> Result<Vec<([u8; 16], u64)>, StoreError> {
        ids_by_prefix(self, tables::MEMORY_IDS, prefix, max)
    }

    /// Key of the memory of a space with this fingerprint.
    fn key_by_fingerprint(&self, space: u32, fingerprint: [u8; 16]) -> Result<Option<u64>, StoreError> {
        self.record(tables::FINGERPRINTS, &keys::u32_16(space, &fingerprint))
    }

    /// Vectors stored with a version, by passage. Give a record's `vector_version`.
    fn vectors(&self, key: u64, version: u32) -> Result<Vec<Vec<f32>>, StoreError> {
        let mut vectors = Vec::new();
        let (from, to) = (keys::passage(key, version, 0), keys::passage(key, version, u16::MAX));
        let bounds = (Bound::Included(&from[..]), Bound::Included(&to[..]));
        self.scan(tables::VECTORS, bounds, Direction::Ascending, &mut |key, value| {
            let record: VectorRecord = self.unseal(tables::VECTORS, key, value)?;
            vectors.push(record.values);
            Ok(true)
        })?;
        Ok(vectors)
    }

    /// The vector of one passage of a memory's current text; none where there is none. Reads no record of a memory never changed.
    fn current_vector(&self, key: u64, passage: u16) -> Result<Option<Vec<f32>>, StoreError> {
        let version = match self.memory_current_version(key)? {
            None => return Ok(None),
            Some(1) => 1,
            Some(version) => self.memory_version(key, version)?.map_or(version, |record| record.vector_version),
        };
        let record: Option<VectorRecord> = self.record(tables::VECTORS, &keys::passage(key, version, passage))?;
        Ok(record.map(|record| record.values).filter(|values| !values.is_empty()))
    }

    /// Use statistics; zeros when it was never used.
    fn usage(&self, key: u64) -> Result<UseRecord, StoreError> {
        Ok(self.record(tables::USAGE, &keys::u64(key))?.unwrap_or_default())
    }

    /// The space with this name.
    fn space_by_name(&self, name: &str) -> Result<Option<SpaceRecord>, StoreError> {
        let id: Option<u32> = self.record(tables::SPACE_NAMES, name.as_bytes())?;
        let Some(id) = id else { return Ok(None) };
        let found = self.space_by_id(id)?;
        found.map(Some).ok_or_else(|| lost(self, tables::SPACES, &keys::u32(id)))
    }

    /// The space with this id.
    fn space_by_id(&self, id: u32) -> Result<Option<SpaceRecord>, StoreError> {
        self.record(tables::SPACES, &keys::u32(id))
    }

    /// Every space, by id.
    fn spaces(&self) -> Result<Vec<SpaceRecord>, StoreError> {
        let mut spaces = Vec::new();
        self.scan(tables::SPACES, UNBOUNDED, Direction::Ascending, &mut |key, value| {
            spaces.push(self.unseal(tables::SPACES, key, value)?);
            Ok(true)
        })?;
        Ok(spaces)
    }

    /// Keys and status codes of the memories of a space, in key order, until `visit` breaks.
    fn keys_of_space(
        &self,
        space: u32,
        keys: RangeInclusive<u64>,
        direction: Direction,
        visit: &mut dyn FnMut(u64, u8) -> Result<ControlFlow<()>, StoreError>,
    ) -> Result<(), StoreError> {
        let (from, to) = (keys::u32_u64(space, *keys.start()), keys::u32_u64(space, *keys.end()));
        let bounds = (Bound::Included(&from[..]), Bound::Included(&to[..]));
        self.scan(tables::MEMORY_SPACES, bounds, direction, &mut |key, value| {
            let status = self.unseal(tables::MEMORY_SPACES, key, value)?;
            let memory = part(self, keys::u64_at(key, 4), tables::MEMORY_SPACES, key)?;
            Ok(visit(memory, status)?.is_continue())
        })
    }

    /// Current versions of the memories of a space, forgotten ones too, in key order, until `visit` breaks.
    fn memories_of_space(
        &self,
        space: u32,
        keys: RangeInclusive<u64>,
        direction: Direction,
        visit: &mut dyn FnMut(MemoryRecord) -> Result<ControlFlow<()>, StoreError>,
    ) -> Result<(), StoreError> {
        self.keys_of_space(space, keys, direction, &mut |key, _| {
            let record = self.memory(key)?.ok_or_else(|| lost(self, tables::MEMORY_CURRENT, &keys::u64(key)))?;
            visit(record)
        })
    }

    /// Current versions of all memories from this key on, forgotten ones too, until `visit` breaks.
    fn all_memories(
        &self,
        from: u64,
        visit: &mut dyn FnMut(MemoryRecord) -> Result<ControlFlow<()>, StoreError>,
    ) -> Result<(), StoreError> {
        let from = keys::u64(from);
        let bounds = (Bound::Included(&from[..]), Bound::Unbounded);
        self.scan(tables::MEMORY_CURRENT, bounds, Direction::Ascending, &mut |key, value| {
            let version = self.unseal(tables::MEMORY_CURRENT, key, value)?;
            let memory = part(self, keys::u64_at(key, 0), tables::MEMORY_CURRENT, key)?;
            let found = self.memory_version(memory, version)?;
            let record = found.ok_or_else(|| lost(self, tables::MEMORIES, &keys::u64_u32(memory, version)))?;
            Ok(visit(record)?.is_continue())
        })
    }

    /// How many memories a space has, by status. Reads its index rows, not its records.
    fn counts(&self, space: u32) -> Result<SpaceCounts, StoreError> {
        let mut counts = SpaceCounts::default();
        self.keys_of_space(space, 0..=u64::MAX, Direction::Ascending, &mut |_, status| {
            if let Some(count) = counts.by_status.get_mut(usize::from(status)) {
                *count += 1;
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(counts)
    }

    /// At most `max` rows of the outbox after a sequence, oldest first.
    fn outbox_after(&self, seq: u64, max: usize) -> Result<Vec<(u64, OutboxRecord)>, StoreError> {
        let from = keys::u64(seq);
        let rows = self.rows(tables::OUTBOX, (Bound::Excluded(&from), Bound::Unbounded), Direction::Ascending, max)?;
        rows.iter()
            .map(|(key, value)| {
                let record = self.unseal(tables::OUTBOX, key, value)?;
                Ok((part(self, keys::u64_at(key, 0), tables::OUTBOX, key)?, record))
            })
            .collect()
    }

    /// Bytes kept under a setting's name.
    fn setting(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.record(tables::SETTINGS, name.as_bytes())
    }

    /// The answer kept under an idempotency key, unless it has lapsed by `now_ms`. `hash` is over scope and key.
    fn idempotency(&self, hash: &[u8; 32], now_ms: i64) -> Result<Option<IdempotencyRecord>, StoreError> {
        let found: Option<IdempotencyRecord> = self.record(tables::IDEMPOTENCY, hash)?;
        Ok(found.filter(|record| record.expires_at_ms > now_ms))
    }

    /// One row of the audit.
    fn audit_row(&self, row: u64) -> Result<Option<AuditRecord>, StoreError> {
        let key = keys::u64(row);
        let Some(value) = self.row(tables::AUDIT, &key)? else { return Ok(None) };
        super::audit::unseal(self, &key, &value).map(|(record, _)| Some(record))
    }

    /// Where the audit stands.
    fn audit_head(&self) -> Result<AuditHeadRecord, StoreError> {
        Ok(self.record(tables::SETTINGS, tables::SETTING_AUDIT.as_bytes())?.unwrap_or_default())
    }

    /// At most `max` rows of the audit before a row, newest first. `u64::MAX` starts at the newest.
    fn audit(&self, before_row: u64, max: usize) -> Result<Vec<AuditRecord>, StoreError> {
        let to = keys::u64(before_row);
        let rows = self.rows(tables::AUDIT, (Bound::Unbounded, Bound::Excluded(&to)), Direction::Descending, max)?;
        rows.iter().map(|(key, value)| super::audit::unseal(self, key, value).map(|(record, _)| record)).collect()
    }

    /// The newest `max` rows of the audit before a row that pass, newest first. Walks back over all rows in between.
    fn audit_where(
        &self,
        before_row: u64,
        max: usize,
        pass: &mut dyn FnMut(&AuditRecord) -> bool,
    ) -> Result<Vec<AuditRecord>, StoreError> {
        let mut found = Vec::new();
        let to = keys::u64(before_row);
        let bounds = (Bound::Unbounded, Bound::Excluded(&to[..]));
        self.scan(tables::AUDIT, bounds, Direction::Descending, &mut |key, value| {
            if found.len() < max {
                let (record, _) = super::audit::unseal(self, key, value)?;
                if pass(&record) {
                    found.push(record);
                }
            }
            Ok(found.len() < max)
        })?;
        Ok(found)
    }

    /// The same, of the calls that named one space.
    fn audit_by_space(&self, space: u32, before_row: u64, max: usize) -> Result<Vec<AuditRecord>, StoreError> {
        self.audit_where(before_row, max, &mut |record| record.space == space)
    }

    /// The same, of the calls that touched or showed one memory.
    fn audit_by_key(&self, key: u64, before_row: u64, max: usize) -> Result<Vec<AuditRecord>, StoreError> {
        self.audit_where(before_row, max, &mut |record| record.keys.contains(&key))
    }

    /// Identity of the store.
    fn store_record(&self) -> Result<Option<StoreRecord>, StoreError> {
        self.record(tables::SETTINGS, tables::SETTING_STORE.as_bytes())
    }

    /// Newest sequence handed out.
    fn newest_seq(&self) -> Result<u64, StoreError> {
        Ok(self.record(tables::SETTINGS, tables::SETTING_SEQ.as_bytes())?.unwrap_or(0))
    }
}

impl<T: Rows> Reads for T {}

/// No bounds.
pub(super) const UNBOUNDED: (Bound<&[u8]>, Bound<&[u8]>) = (Bound::Unbounded, Bound::Unbounded);

/// A row that another row points to is not there.
pub(super) fn lost(rows: &impl Rows, table: tables::Table, key: &[u8]) -> StoreError {
    rows.note(codec::damaged(table, key, "another row points here, and there is none"))
}

/// A part of a key.
pub(super) fn part<T>(rows: &impl Rows, part: Option<T>, table: tables::Table, key: &[u8]) -> Result<T, StoreError> {
    part.ok_or_else(|| rows.note(codec::damaged(table, key, "the key is too short")))
}

/// Ids that start with these hexadecimal digits.
pub(super) fn ids_by_prefix(
    rows: &impl Rows,
    table: tables::Table,
    prefix: &str,
    max: usize,
) -> Result<Vec<([u8; 16], u64)>, StoreError> {
    let digits: Vec<u32> = match prefix.chars().filter(|c| *c != '-').map(|c| c.to_digit(16)).collect() {
        Some(digits) => digits,
        None => return Ok(Vec::new()),
    };
    if digits.len() > 32 {
        return Ok(Vec::new());
    }
    let edge = |fill: u32| {
        let mut id = [0_u8; 16];
        for (place, byte) in id.iter_mut().enumerate() {
            let digit = |at: usize| digits.get(at).copied().unwrap_or(fill);
            *byte = u8::try_from(digit(2 * place) << 4 | digit(2 * place + 1)).unwrap_or(u8::MAX);
        }
        id
    };
    let (from, to) = (edge(0), edge(15));
    let found = rows.rows(table, (Bound::Included(&from), Bound::Included(&to)), Direction::Ascending, max)?;
    found
        .iter()
        .map(|(id, value)| {
            let key = rows.unseal(table, id, value)?;
            Ok((part(rows, keys::bytes_at(id, 0), table, id)?, key))
        })
        .collect()
}
