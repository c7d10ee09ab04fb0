//! The audit: rows chained by SHA-256, kept up to a limit, and the queue of reads that wait to be written.
//!
//! A row's chain value is `SHA-256(chain value of the row before || the row's record with zeros for its own chain value)`. What
//! retention takes out leaves its last chain value as checkpoint. Must not know: what the calls mean.

use super::error::StoreError;
use super::read::Reads;
use super::rows::{Direction, Rows};
use super::write_tx::WriteTx;
use super::{codec, keys, tables};
use crate::limits::{AUDIT_QUEUE_MAX, AUDIT_ROWS_MAX, AUDIT_TRIM_ROWS_MAX, IDS_LISTED_MAX};
use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use tiro_schema::record::{AuditHeadRecord, AuditRecord};

/// Chain value of a row that follows one with the value `before`.
fn chain(before: &[u8; 32], record: &AuditRecord) -> Result<[u8; 32], StoreError> {
    let plain = AuditRecord { chain: [0; 32], ..record.clone() };
    let mut hash = Sha256::new();
    hash.update(before);
    hash.update(codec::canonical(tables::AUDIT, &plain)?);
    Ok(hash.finalize().into())
}

impl WriteTx {
    /// Appends a row to the audit; its number and chain value are set here, its keys are bounded.
    ///
    /// # Errors
    /// The disk's.
    pub fn append_audit(&mut self, mut record: AuditRecord) -> Result<u64, StoreError> {
        record.keys.truncate(IDS_LISTED_MAX);
        record.row = self.audit_head.row + 1;
        record.chain = chain(&self.audit_head.chain, &record)?;
        self.put(tables::AUDIT, &keys::u64(record.row), &record)?;
        self.audit_head.row = record.row;
        self.audit_head.chain = record.chain;
        self.audit_head.first_row = self.audit_head.first_row.max(1);
        self.audit_changed = true;
        Ok(record.row)
    }

    /// Takes out some rows over the limit of the audit.
    pub(super) fn trim_audit(&mut self) -> Result<(), StoreError> {
        let kept = self.audit_head.row + 1 - self.audit_head.first_row.min(self.audit_head.row + 1);
        for _ in 0..kept.saturating_sub(AUDIT_ROWS_MAX).min(AUDIT_TRIM_ROWS_MAX) {
            let row = self.audit_head.first_row;
            let record = self.audit_row(row)?;
            let record = record.ok_or_else(|| super::read::lost(self, tables::AUDIT, &keys::u64(row)))?;
            self.take_out(tables::AUDIT, &keys::u64(row))?;
            self.audit_head.checkpoint = record.chain;
            self.audit_head.first_row = row + 1;
            self.audit_changed = true;
        }
        Ok(())
    }
}

/// Follows the chain over every row kept. The first fault found, in words.
///
/// # Errors
/// The disk's, or `Damaged`.
pub(super) fn check_chain(rows: &impl Rows, head: &AuditHeadRecord) -> Result<Option<String>, StoreError> {
    let (mut expected, mut before, mut fault) = (head.first_row.max(1), head.checkpoint, None);
    rows.scan(tables::AUDIT, super::read::UNBOUNDED, Direction::Ascending, &mut |key, value| {
        let record: AuditRecord = rows.unseal(tables::AUDIT, key, value)?;
        if record.row != expected || record.chain != chain(&before, &record)? {
            fault = Some(format!("audit: row {} does not follow the row before it", record.row));
            return Ok(false);
        }
        (expected, before) = (expected + 1, record.chain);
        Ok(true)
    })?;
    if fault.is_none() && head.row > 0 && (expected != head.row + 1 || before != head.chain) {
        fault = Some(format!("audit: ends at row {} instead of {}", expected - 1, head.row));
    }
    Ok(fault)
}

/// Reads that wait to be written to the audit.
#[derive(Default)]
pub(super) struct AuditQueue {
    rows: Mutex<VecDeque<AuditRecord>>,
    dropped: AtomicU64,
}

impl AuditQueue {
    /// Adds a row; the oldest gives way when the queue is full.
    pub(super) fn push(&self, record: AuditRecord) {
        let mut rows = self.rows.lock();
        if rows.len() >= AUDIT_QUEUE_MAX {
            rows.pop_front();
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
        rows.push_back(record);
    }

    /// Takes all that wait.
    pub(super) fn take(&self) -> VecDeque<AuditRecord> {
        std::mem::take(&mut *self.rows.lock())
    }

    /// Puts back what could not be written, before what came since.
    pub(super) fn put_back(&self, mut taken: VecDeque<AuditRecord>) {
        let mut rows = self.rows.lock();
        taken.append(&mut rows);
        while taken.len() > AUDIT_QUEUE_MAX {
            taken.pop_front();
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
        *rows = taken;
    }

    /// Rows that wait, and rows dropped since the start.
    pub(super) fn counts(&self) -> (usize, u64) {
        (self.rows.lock().len(), self.dropped.load(Ordering::Relaxed))
    }
}
