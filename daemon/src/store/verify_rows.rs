//! The pointers from one table to another, checked.
//!
//! Must not know: checksums (checked before), the index.

use super::error::StoreError;
use super::keys;
use super::purge::PurgeReads;
use super::read::{Reads, UNBOUNDED};
use super::read_session::SessionReads;
use super::rows::{Direction, ReadTx, Rows};
use super::tables::{self, Table};
use crate::limits::VERIFY_PROBLEMS_MAX;
use tiro_schema::record::{
    ConflictRecord, IdempotencyRecord, MemoryRecord, OutboxRecord, PurgedRecord, SessionRecord, SpaceRecord, TurnRecord,
};

/// A check of pointers under way.
pub(super) struct Cross<'a> {
    pub(super) view: &'a ReadTx,
    pub(super) problems: Vec<String>,
}

/// Visits every row of a table.
type Visit<'a> = &'a mut dyn FnMut(&mut Cross<'_>, &[u8], &[u8]) -> Result<(), StoreError>;

impl<'a> Cross<'a> {
    pub(super) fn new(view: &'a ReadTx) -> Self {
        Cross { view, problems: Vec::new() }
    }

    fn expect(&mut self, holds: bool, problem: impl FnOnce() -> String) {
        if !holds && self.problems.len() < VERIFY_PROBLEMS_MAX {
            self.problems.push(problem());
        }
    }

    fn each(&mut self, table: Table, cancelled: &dyn Fn() -> bool, visit: Visit<'_>) -> Result<(), StoreError> {
        let view = self.view;
        view.scan(table, UNBOUNDED, Direction::Ascending, &mut |key, value| {
            visit(self, key, value)?;
            if cancelled() { Err(StoreError::Interrupted) } else { Ok(true) }
        })
    }

    fn same_count(&mut self, one: Table, other: Table) -> Result<(), StoreError> {
        let (a, b) = (self.view.row_count(one)?, self.view.row_count(other)?);
        self.expect(a == b, || format!("{} has {a} rows, {} has {b}", one.name, other.name));
        Ok(())
    }

    /// Memories, their indexes, vectors and spaces. Gives key and status of every memory.
    pub(super) fn memories(&mut self, cancelled: &dyn Fn() -> bool) -> Result<Vec<(u64, u8)>, StoreError> {
        let newest = self.view.newest_seq()?;
        let (mut all, mut versions) = (Vec::new(), 0);
        self.each(tables::MEMORY_CURRENT, cancelled, &mut |cross, key, value| {
            let version: u32 = cross.view.unseal(tables::MEMORY_CURRENT, key, value)?;
            versions += u64::from(version);
            let key = keys::u64_at(key, 0).unwrap_or(0);
            match cross.view.memory_version(key, version)? {
                Some(record) => {
                    cross.memory(key, version, newest, &record)?;
                    all.push((key, record.status));
                }
                None => cross.expect(false, || format!("memory {key}: its current version {version} is missing")),
            }
            Ok(())
        })?;
        let rows = self.view.row_count(tables::MEMORIES)?;
        self.expect(rows == versions, || format!("memories has {rows} versions, the current ones say {versions}"));
        self.same_count(tables::MEMORY_IDS, tables::MEMORY_CURRENT)?;
        self.same_count(tables::MEMORY_SPACES, tables::MEMORY_CURRENT)?;
        self.fingerprints(cancelled)?;
        self.vectors(cancelled)?;
        self.spaces(cancelled)?;
        Ok(all)
    }

    fn memory(&mut self, key: u64, version: u32, newest: u64, record: &MemoryRecord) -> Result<(), StoreError> {
        let view = self.view;
        self.expect(record.key == key && record.version == version, || format!("memory {key}: another memory's record"));
        self.expect(key <= newest && record.seq <= newest, || format!("memory {key}: newer than the store's sequence"));
        self.expect(view.key_of_id(&record.id)? == Some(key), || format!("memory {key}: not found by its id"));
        let status: Option<u8> = view.record(tables::MEMORY_SPACES, &keys::u32_u64(record.space, key))?;
        self.expect(status == Some(record.status), || format!("memory {key}: its space has it as {status:?}"));
        self.expect(view.space_by_id(record.space)?.is_some(), || format!("memory {key}: its space is missing"));
        if record.vector_count > 0 {
            let found = view.vectors(key, record.vector_version)?.len();
            self.expect(found == usize::from(record.vector_count), || {
                format!("memory {key}: {found} vectors instead of {}", record.vector_count)
            });
        }
        Ok(())
    }

    fn fingerprints(&mut self, cancelled: &dyn Fn() -> bool) -> Result<(), StoreError> {
        self.each(tables::FINGERPRINTS, cancelled, &mut |cross, row, value| {
            let (space, key) = (keys::u32_at(row, 0), cross.view.unseal(tables::FINGERPRINTS, row, value)?);
            let owner = cross.view.memory(key)?.map(|memory| memory.space);
            cross.expect(owner.is_some() && owner == space, || {
                format!("a fingerprint names memory {key}, which is not in its space")
            });
            Ok(())
        })
    }

    fn vectors(&mut self, cancelled: &dyn Fn() -> bool) -> Result<(), StoreError> {
        self.each(tables::VECTORS, cancelled, &mut |cross, row, _| {
            let (key, version) = (keys::u64_at(row, 0).unwrap_or(0), keys::u32_at(row, 8).unwrap_or(0));
            let current = cross.view.memory_current_version(key)?;
            cross.expect(current.is_some_and(|current| version <= current), || {
                format!("a vector belongs to version {version} of memory {key}, which there is not")
            });
            Ok(())
        })?;
        self.each(tables::MODEL_VECTORS, cancelled, &mut |cross, row, _| {
            let (model, key) = (keys::u32_at(row, 0).unwrap_or(0), keys::u64_at(row, 4).unwrap_or(0));
            let current = cross.view.memory_current_version(key)?;
            let known = cross.view.row(tables::EMBEDDERS, &keys::u32(model))?.is_some();
            cross.expect(
                known && current.is_some_and(|current| keys::u32_at(row, 12).is_some_and(|version| version <= current)),
                || format!("a vector of model {model} belongs to memory {key}, and there is no such model, memory or version"),
            );
            Ok(())
        })?;
        self.each(tables::USAGE, cancelled, &mut |cross, row, _| {
            let key = keys::u64_at(row, 0).unwrap_or(0);
            let known = cross.view.memory_current_version(key)?.is_some();
            cross.expect(known, || format!("uses are counted of memory {key}, which there is not"));
            Ok(())
        })?;
        self.each(tables::FEEDBACK, cancelled, &mut |cross, row, _| {
            let key = keys::u64_at(row, 0).unwrap_or(0);
            let known = cross.view.memory_current_version(key)?.is_some();
            cross.expect(known, || format!("feedback is about memory {key}, which there is not"));
            Ok(())
        })
    }

    fn spaces(&mut self, cancelled: &dyn Fn() -> bool) -> Result<(), StoreError> {
        self.each(tables::SPACES, cancelled, &mut |cross, row, value| {
            let space: SpaceRecord = cross.view.unseal(tables::SPACES, row, value)?;
            let found: Option<u32> = cross.view.record(tables::SPACE_NAMES, space.name.as_bytes())?;
            cross.expect(found == Some(space.id) && keys::u32_at(row, 0) == found, || {
                format!("space {}: not found by its name", space.id)
            });
            Ok(())
        })?;
        self.each(tables::SPACE_RULES, cancelled, &mut |cross, row, _| {
            let space = keys::u32_at(row, 0).unwrap_or(0);
            let known = cross.view.space_by_id(space)?.is_some();
            cross.expect(known, || format!("there are rules of space {space}, which there is not"));
            Ok(())
        })?;
        self.same_count(tables::SPACE_NAMES, tables::SPACES)
    }

    /// Sessions, messages, turns and events.
    pub(super) fn sessions(&mut self, cancelled: &dyn Fn() -> bool) -> Result<(), StoreError> {
        self.each(tables::SESSIONS, cancelled, &mut |cross, row, value| {
            let session: SessionRecord = cross.view.unseal(tables::SESSIONS, row, value)?;
            let key = keys::u64_at(row, 0).unwrap_or(0);
            let by_id: Option<u64> = cross.view.record(tables::SESSION_IDS, &session.id)?;
            let in_space = cross.view.row(tables::SESSION_SPACES, &keys::u32_u64(session.space, key))?.is_some();
            cross.expect(session.key == key && by_id == Some(key) && in_space, || {
                format!("session {key}: not found by its id and space")
            });
            Ok(())
        })?;
        self.same_count(tables::SESSION_IDS, tables::SESSIONS)?;
        self.same_count(tables::SESSION_SPACES, tables::SESSIONS)?;
        self.each(tables::TURNS, cancelled, &mut |cross, row, value| {
            let turn: TurnRecord = cross.view.unseal(tables::TURNS, row, value)?;
            let place = keys::session_turn(turn.session, turn.created_at_ms, &turn.id);
            let placed = cross.view.row(tables::SESSION_TURNS, &place)?.is_some();
            let owned = cross.view.session(turn.session)?.is_some();
            cross.expect(placed && owned, || format!("a turn of session {} is not found there", turn.session));
            Ok(())
        })?;
        self.same_count(tables::SESSION_TURNS, tables::TURNS)?;
        for table in [tables::MESSAGES, tables::EVENTS] {
            let mut last = None;
            self.each(table, cancelled, &mut |cross, row, _| {
                let session = keys::u64_at(row, 0);
                if session != last {
                    last = session;
                    let known = cross.view.session(session.unwrap_or(0))?.is_some();
                    cross.expect(known, || format!("{} has rows of a session that there is not", table.name));
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Conflicts and the memories they name.
    pub(super) fn conflicts(&mut self, cancelled: &dyn Fn() -> bool) -> Result<(), StoreError> {
        self.each(tables::CONFLICTS, cancelled, &mut |cross, row, value| {
            let conflict: ConflictRecord = cross.view.unseal(tables::CONFLICTS, row, value)?;
            let key = keys::u32_u64(conflict.space, conflict.key);
            let mut named = row == key;
            for memory in [conflict.first, conflict.second] {
                let space: Option<u32> = cross.view.record(tables::CONFLICT_MEMORIES, &keys::u64_u64(memory, conflict.key))?;
                let known = cross.view.memory_current_version(memory)?.is_some();
                named &= known && space == Some(conflict.space);
            }
            cross.expect(named, || format!("conflict {}: not found by its memories", conflict.key));
            Ok(())
        })?;
        let (conflicts, named) = (self.view.row_count(tables::CONFLICTS)?, self.view.row_count(tables::CONFLICT_MEMORIES)?);
        self.expect(named == conflicts * 2, || format!("{conflicts} conflicts name {named} memories instead of two each"));
        Ok(())
    }

    /// Outbox and idempotency keys.
    pub(super) fn ledgers(&mut self, cancelled: &dyn Fn() -> bool) -> Result<(), StoreError> {
        // The rows of a purged memory stand until they are trimmed: an index that is behind learns from them that it is gone.
        let purged = self.view.purged_keys()?;
        self.each(tables::OUTBOX, cancelled, &mut |cross, row, value| {
            let (seq, outbox) = (keys::u64_at(row, 0), cross.view.unseal::<OutboxRecord>(tables::OUTBOX, row, value)?);
            let version = cross.view.memory_version(outbox.key, outbox.version)?;
            // A row is written with its version, or later, when something else about the memory changed: its use.
            cross.expect(version.is_some_and(|record| Some(record.seq) <= seq) || purged.contains(&outbox.key), || {
                format!("outbox row {seq:?} is not about version {} of memory {}", outbox.version, outbox.key)
            });
            Ok(())
        })?;
        self.each(tables::IDEMPOTENCY, cancelled, &mut |cross, row, value| {
            let kept: IdempotencyRecord = cross.view.unseal(tables::IDEMPOTENCY, row, value)?;
            let hash = keys::bytes_at::<32>(row, 0).unwrap_or_default();
            let swept = cross.view.row(tables::IDEMPOTENCY_EXPIRY, &keys::time_32(kept.expires_at_ms, &hash))?.is_some();
            cross.expect(swept, || "an idempotency key would never lapse".to_owned());
            Ok(())
        })?;
        self.same_count(tables::IDEMPOTENCY_EXPIRY, tables::IDEMPOTENCY)?;
        self.each(tables::PURGED, cancelled, &mut |cross, id, value| {
            let record: PurgedRecord = cross.view.unseal(tables::PURGED, id, value)?;
            let id = keys::bytes_at::<16>(id, 0).unwrap_or_default();
            let listed = cross.view.row(tables::PURGED_BY, &keys::u64_16(record.purge, &id))?.is_some();
            let known = cross.view.purge(record.purge)?.is_some();
            cross.expect(listed && known, || format!("a memory fell to purge {}, which does not list it", record.purge));
            Ok(())
        })?;
        self.same_count(tables::PURGED_BY, tables::PURGED)
    }
}
