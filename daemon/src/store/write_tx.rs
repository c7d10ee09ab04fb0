//! A write: what a job may change, inside the one open write transaction.
//!
//! Must not know: who else is in the transaction, when it is committed. Sessions: `write_session.rs`, audit: `audit.rs`.

use super::audit::AuditRetention;
use super::codec::Checks;
use super::error::{StoreError, engine};
use super::read::Reads;
use super::rewrite::Place;
use super::rows::{Direction, Row, Rows, collect, guarded};
use super::tables::{SETTING_AUDIT, SETTING_SEQ, Table};
use super::{codec, keys, tables};
use crate::limits::{IDEMPOTENCY_SWEEP_ROWS_MAX, KEY_KEPT_MS, WRITE_GATHERED_BYTES_MAX};
use redb::{ReadableTableMetadata, WriteTransaction};
use serde::Serialize;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Bound;
use tiro_schema::convert::STATUS_FORGOTTEN;
use tiro_schema::record::{AuditHeadRecord, IdempotencyRecord, MemoryRecord, OutboxRecord, SpaceRecord, UseRecord, VectorRecord};

/// Something to do once the transaction is committed.
pub(super) type Hook = Box<dyn FnOnce() + Send>;

/// The open write transaction, as a job sees it. Reads see what was written before in it.
pub struct WriteTx {
    transaction: WriteTransaction,
    gathered: RefCell<Gathered>,
    checks: Checks,
    now_ms: i64,
    seq: u64,
    seq_stored: u64,
    changes: u64,
    failure: RefCell<Option<StoreError>>,
    pub(super) audit_head: AuditHeadRecord,
    /// Rows appended to the audit.
    pub(super) audit_added: u64,
    pub(super) retention: AuditRetention,
    hooks: Vec<Hook>,
    /// Rows touched, while somebody wants to know.
    touched: Option<Vec<Place>>,
}

/// Rows written and not yet in their tables. They go there sorted, with one opening of the table: that is most of what writing many small
/// rows costs.
#[derive(Default)]
struct Gathered {
    /// By the table's tag.
    rows: BTreeMap<u8, BTreeMap<Vec<u8>, Vec<u8>>>,
    bytes: usize,
}

/// Where a transaction stood before a job.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    seq: u64,
    changes: u64,
    hooks: usize,
}

impl WriteTx {
    /// Opens the view of a transaction just begun.
    pub(super) fn new(
        transaction: WriteTransaction,
        checks: Checks,
        now_ms: i64,
        retention: AuditRetention,
    ) -> Result<Self, StoreError> {
        let mut tx = WriteTx {
            transaction,
            gathered: RefCell::new(Gathered::default()),
            checks,
            now_ms,
            seq: 0,
            seq_stored: 0,
            changes: 0,
            failure: RefCell::new(None),
            audit_head: AuditHeadRecord::default(),
            audit_added: 0,
            retention,
            hooks: Vec::new(),
            touched: None,
        };
        tx.seq_stored = tx.newest_seq()?;
        tx.seq = tx.seq_stored;
        tx.audit_head = Reads::audit_head(&tx)?;
        Ok(tx)
    }

    /// Unix milliseconds when the transaction was begun; the same for every job in it.
    pub fn now_ms(&self) -> i64 {
        self.now_ms
    }

    /// The newest sequence, those handed out in this transaction included.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// Hands out the next sequence.
    pub fn next_seq(&mut self) -> u64 {
        self.seq += 1;
        self.seq
    }

    /// Runs on the writer's thread once the transaction is committed, before any of its jobs is answered, in order.
    /// Forgotten when the transaction is taken back and run again.
    pub fn after_commit(&mut self, hook: Hook) {
        self.hooks.push(hook);
    }

    pub(super) fn mark(&self) -> Mark {
        Mark { seq: self.seq, changes: self.changes, hooks: self.hooks.len() }
    }

    /// True when something was written since the mark.
    pub(super) fn changed_since(&self, mark: Mark) -> bool {
        self.changes != mark.changes
    }

    /// Whether rows touched are noted.
    pub(super) fn note_touched(&mut self, wanted: bool) {
        self.touched = wanted.then(Vec::new);
    }

    /// The rows touched so far.
    pub(super) fn take_touched(&mut self) -> Vec<Place> {
        self.touched.take().unwrap_or_default()
    }

    fn touch(&mut self, table: Table, key: &[u8]) {
        if let Some(touched) = &mut self.touched {
            touched.push((table.tag, key.to_vec()));
        }
    }

    /// Takes back what a job that wrote nothing did.
    pub(super) fn reset_to(&mut self, mark: Mark) {
        self.seq = mark.seq;
        self.hooks.truncate(mark.hooks);
    }

    /// The first error of the disk since the transaction was begun: it cannot be committed any more.
    pub(super) fn failure(&self) -> Option<StoreError> {
        self.failure.borrow().clone()
    }

    /// Writes what the transaction keeps about itself. True when there is something to commit.
    pub(super) fn finish(&mut self) -> Result<bool, StoreError> {
        if self.changes == 0 {
            return Ok(false);
        }
        self.sweep_idempotency()?;
        self.cut_audit()?;
        if self.seq != self.seq_stored {
            self.put(tables::SETTINGS, SETTING_SEQ.as_bytes(), &self.seq.clone())?;
        }
        if self.audit_added > 0 {
            self.put(tables::SETTINGS, SETTING_AUDIT.as_bytes(), &self.audit_head.clone())?;
        }
        self.place_all()?;
        Ok(true)
    }

    /// Newest sequence and hooks of a transaction that is about to be committed.
    pub(super) fn into_parts(self) -> (WriteTransaction, u64, Vec<Hook>) {
        (self.transaction, self.seq, self.hooks)
    }

    fn noted<R>(&self, result: Result<R, StoreError>) -> Result<R, StoreError> {
        result.map_err(|error| self.note(error))
    }

    /// Writes a record.
    pub(super) fn put<R: Serialize + ?Sized>(&mut self, table: Table, key: &[u8], record: &R) -> Result<(), StoreError> {
        let bytes = codec::seal(table, key, record)?;
        self.touch(table, key);
        self.changes += 1;
        let mut gathered = self.gathered.borrow_mut();
        gathered.bytes += key.len() + bytes.len();
        gathered.rows.entry(table.tag).or_default().insert(key.to_vec(), bytes);
        let is_full = gathered.bytes > WRITE_GATHERED_BYTES_MAX;
        drop(gathered);
        if is_full { self.place_all() } else { Ok(()) }
    }

    /// Puts what was gathered for a table into it.
    fn place(&self, table: Table) -> Result<(), StoreError> {
        let Some(rows) = self.gathered.borrow_mut().rows.remove(&table.tag) else { return Ok(()) };
        self.noted(guarded(|| {
            let mut opened = self.transaction.open_table(table.definition()).map_err(engine)?;
            for (key, bytes) in &rows {
                opened.insert(key.as_slice(), bytes.as_slice()).map_err(engine)?;
            }
            Ok(())
        }))
    }

    /// The same for every table.
    fn place_all(&self) -> Result<(), StoreError> {
        for table in tables::ALL {
            self.place(*table)?;
        }
        self.gathered.borrow_mut().bytes = 0;
        Ok(())
    }

    /// Takes a row out. True when it was there.
    pub(super) fn take_out(&mut self, table: Table, key: &[u8]) -> Result<bool, StoreError> {
        self.place(table)?;
        let result = guarded(|| {
            let mut opened = self.transaction.open_table(table.definition()).map_err(engine)?;
            Ok(opened.remove(key).map_err(engine)?.is_some())
        });
        let was_there = self.noted(result)?;
        self.touch(table, key);
        self.changes += u64::from(was_there);
        Ok(was_there)
    }

    /// Takes out at most `max` rows between the bounds, smallest first, and gives their keys.
    pub(super) fn take_out_range(
        &mut self,
        table: Table,
        bounds: (Bound<&[u8]>, Bound<&[u8]>),
        max: usize,
    ) -> Result<Vec<Vec<u8>>, StoreError> {
        let rows = self.rows(table, bounds, Direction::Ascending, max)?;
        let keys: Vec<Vec<u8>> = rows.into_iter().map(|(key, _)| key).collect();
        for key in &keys {
            self.take_out(table, key)?;
        }
        Ok(keys)
    }

    /// Writes a version of a memory: its row, the pointer to the current version, the id and space indexes, and the outbox row of
    /// `record.seq`. `vectors` are its passages' and are kept under `record.vector_version`.
    ///
    /// # Errors
    /// `Invalid` when the version exists or is not the next one, or an id has another key; the disk's.
    pub fn put_memory(&mut self, record: &MemoryRecord, vectors: Option<&[Vec<f32>]>) -> Result<(), StoreError> {
        let current = self.memory_current_version(record.key)?;
        if record.version != current.unwrap_or(0) + 1 {
            return Err(StoreError::Invalid(format!(
                "version {} of memory {} does not follow {}",
                record.version,
                record.key,
                current.unwrap_or(0)
            )));
        }
        if let Some(current) = current {
            let before = self.memory_version(record.key, current)?;
            if let Some(before) = before.filter(|before| before.space != record.space) {
                self.take_out(tables::MEMORY_SPACES, &keys::u32_u64(before.space, record.key))?;
            }
        } else {
            if self.key_of_id(&record.id)?.is_some() {
                return Err(StoreError::Invalid(format!("the id of memory {} is taken", record.key)));
            }
            self.put(tables::MEMORY_IDS, &record.id, &record.key)?;
        }
        self.put(tables::MEMORIES, &keys::u64_u32(record.key, record.version), record)?;
        self.put(tables::MEMORY_CURRENT, &keys::u64(record.key), &record.version)?;
        self.put(tables::MEMORY_SPACES, &keys::u32_u64(record.space, record.key), &record.status)?;
        if let Some(vectors) = vectors {
            self.put_vectors(record.key, record.vector_version, vectors)?;
        }
        let outbox = OutboxRecord { key: record.key, version: record.version, remove: record.status == STATUS_FORGOTTEN };
        self.put(tables::OUTBOX, &keys::u64(record.seq), &outbox)
    }

    /// Notes that something about a memory besides its versions changed, for whatever is derived from the store and was not running.
    ///
    /// # Errors
    /// The disk's.
    pub fn note_in_outbox(&mut self, record: &MemoryRecord) -> Result<(), StoreError> {
        let seq = self.next_seq();
        let outbox = OutboxRecord { key: record.key, version: record.version, remove: record.status == STATUS_FORGOTTEN };
        self.put(tables::OUTBOX, &keys::u64(seq), &outbox)
    }

    /// Writes the vectors of a version's passages, in the place of what stood there.
    ///
    /// # Errors
    /// The disk's.
    pub fn put_vectors(&mut self, key: u64, version: u32, vectors: &[Vec<f32>]) -> Result<(), StoreError> {
        for (passage, values) in vectors.iter().enumerate() {
            let passage =
                u16::try_from(passage).map_err(|_| StoreError::Invalid(format!("memory {key} has too many passages")))?;
            let record = VectorRecord { values: values.clone() };
            self.put(tables::VECTORS, &keys::passage(key, version, passage), &record)?;
        }
        Ok(())
    }

    /// Marks the memory of a space that has this fingerprint.
    ///
    /// # Errors
    /// The disk's.
    pub fn put_fingerprint(&mut self, space: u32, fingerprint: [u8; 16], key: u64) -> Result<(), StoreError> {
        self.put(tables::FINGERPRINTS, &keys::u32_16(space, &fingerprint), &key)
    }

    /// Takes the mark away if it is this memory's.
    ///
    /// # Errors
    /// The disk's.
    pub fn remove_fingerprint(&mut self, space: u32, fingerprint: [u8; 16], key: u64) -> Result<(), StoreError> {
        if self.key_by_fingerprint(space, fingerprint)? == Some(key) {
            self.take_out(tables::FINGERPRINTS, &keys::u32_16(space, &fingerprint))?;
        }
        Ok(())
    }

    /// Writes a memory's use statistics.
    ///
    /// # Errors
    /// The disk's.
    pub fn put_usage(&mut self, key: u64, usage: &UseRecord) -> Result<(), StoreError> {
        self.put(tables::USAGE, &keys::u64(key), usage)
    }

    /// The space with this name, made when there is none.
    ///
    /// # Errors
    /// The disk's.
    pub fn ensure_space(&mut self, name: &str, now_ms: i64) -> Result<SpaceRecord, StoreError> {
        if let Some(space) = self.space_by_name(name)? {
            return Ok(space);
        }
        let last = self.rows(tables::SPACES, super::read::UNBOUNDED, Direction::Descending, 1)?;
        let id = last.first().and_then(|(key, _)| keys::u32_at(key, 0)).unwrap_or(0) + 1;
        let space = SpaceRecord { id, name: name.to_owned(), created_at_ms: now_ms, redact_secrets: false };
        self.put(tables::SPACE_NAMES, name.as_bytes(), &id)?;
        self.put(tables::SPACES, &keys::u32(id), &space)?;
        Ok(space)
    }

    /// Writes a space's members, its name too.
    ///
    /// # Errors
    /// The disk's.
    pub fn put_space(&mut self, space: &SpaceRecord) -> Result<(), StoreError> {
        if let Some(before) = self.space_by_id(space.id)?.filter(|before| before.name != space.name) {
            self.take_out(tables::SPACE_NAMES, before.name.as_bytes())?;
        }
        self.put(tables::SPACE_NAMES, space.name.as_bytes(), &space.id)?;
        self.put(tables::SPACES, &keys::u32(space.id), space)
    }

    /// Writes bytes under a setting's name. The names in `tables` are the store's own.
    ///
    /// # Errors
    /// The disk's.
    pub fn put_setting(&mut self, name: &str, value: &[u8]) -> Result<(), StoreError> {
        if [tables::SETTING_STORE, SETTING_SEQ, SETTING_AUDIT].contains(&name) {
            return Err(StoreError::Invalid(format!("the setting {name} is the store's own")));
        }
        self.put(tables::SETTINGS, name.as_bytes(), value)
    }

    /// Keeps an answer under an idempotency key for seven days. `hash` is over scope and key; `expires_at_ms` is set here.
    ///
    /// # Errors
    /// The disk's.
    pub fn put_idempotency(&mut self, hash: &[u8; 32], body_hash: [u8; 32], result_json: String) -> Result<(), StoreError> {
        let lapsed: Option<IdempotencyRecord> = self.record(tables::IDEMPOTENCY, hash)?;
        if let Some(lapsed) = lapsed {
            self.take_out(tables::IDEMPOTENCY_EXPIRY, &keys::time_32(lapsed.expires_at_ms, hash))?;
        }
        let expires_at_ms = self.now_ms.saturating_add(KEY_KEPT_MS);
        let record = IdempotencyRecord { body_hash, result_json, expires_at_ms };
        self.put(tables::IDEMPOTENCY_EXPIRY, &keys::time_32(expires_at_ms, hash), &())?;
        self.put(tables::IDEMPOTENCY, hash, &record)
    }

    /// Takes out some idempotency keys that have lapsed.
    fn sweep_idempotency(&mut self) -> Result<(), StoreError> {
        let now = keys::time(self.now_ms);
        let bounds = (Bound::Unbounded, Bound::Excluded(&now[..]));
        for key in self.take_out_range(tables::IDEMPOTENCY_EXPIRY, bounds, IDEMPOTENCY_SWEEP_ROWS_MAX)? {
            if let Some(hash) = keys::bytes_at::<32>(&key, 8) {
                self.take_out(tables::IDEMPOTENCY, &hash)?;
            }
        }
        Ok(())
    }

    /// Takes out at most `max` outbox rows up to a sequence. True when there may be more.
    pub(super) fn trim_outbox(&mut self, upto: u64, max: usize) -> Result<bool, StoreError> {
        let upto = keys::u64(upto);
        let bounds = (Bound::Unbounded, Bound::Included(&upto[..]));
        Ok(self.take_out_range(tables::OUTBOX, bounds, max)?.len() == max)
    }
}

impl Rows for WriteTx {
    fn row(&self, table: Table, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        if let Some(bytes) = self.gathered.borrow().rows.get(&table.tag).and_then(|rows| rows.get(key)) {
            return Ok(Some(bytes.clone()));
        }
        self.noted(guarded(|| {
            let opened = self.transaction.open_table(table.definition()).map_err(engine)?;
            let value = redb::ReadableTable::get(&opened, key).map_err(engine)?;
            Ok(value.map(|value| value.value().to_vec()))
        }))
    }

    fn rows(
        &self,
        table: Table,
        bounds: (Bound<&[u8]>, Bound<&[u8]>),
        direction: Direction,
        max: usize,
    ) -> Result<Vec<Row>, StoreError> {
        self.place(table)?;
        self.noted(guarded(|| {
            let opened = self.transaction.open_table(table.definition()).map_err(engine)?;
            collect(&opened, bounds, direction, max)
        }))
    }

    fn row_count(&self, table: Table) -> Result<u64, StoreError> {
        self.place(table)?;
        self.noted(guarded(|| {
            let opened = self.transaction.open_table(table.definition()).map_err(engine)?;
            opened.len().map_err(engine)
        }))
    }

    fn checks(&self) -> Checks {
        self.checks
    }

    fn note(&self, error: StoreError) -> StoreError {
        if error.is_storage() {
            self.failure.borrow_mut().get_or_insert_with(|| error.clone());
        }
        error
    }
}
