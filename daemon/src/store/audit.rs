//! The audit: rows chained by SHA-256, kept as long as the retention says, and the queue of reads that wait to be written.
//!
//! A row's chain value is `SHA-256(chain value of the row before || the row's record with zeros for its own chain value)`, the record
//! as the version has it that the row was written in. What retention takes out leaves its last chain value as checkpoint, and a row of
//! its own that says which rows went. Must not know: what the calls mean.

use super::error::StoreError;
use super::read::Reads;
use super::rows::{Direction, Rows};
use super::write_tx::WriteTx;
use super::{codec, keys, tables};
use crate::limits::*;
use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use tiro_schema::record::{ActorRecord, AuditCutRecord, AuditHeadRecord, AuditRecord, AuditRecordV1};

/// Name under which the audit tells of rows that retention took out.
pub const CUT: &str = "audit/cut";
const DAY_MS: i64 = 24 * 3_600 * 1_000;

/// How long rows are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditRetention {
    /// Rows kept; up to [`AUDIT_CUT_ROWS`] more stand until they go together.
    pub rows: u64,
    /// Whole days (UTC) a row is kept; none for any age.
    pub days: Option<u32>,
}

impl Default for AuditRetention {
    fn default() -> Self {
        AuditRetention { rows: AUDIT_ROWS_DEFAULT, days: None }
    }
}

/// Record version of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Written {
    First,
    Newest,
}

/// A row as it is read, whichever version it was written in.
pub(super) fn unseal(rows: &impl Rows, key: &[u8], value: &[u8]) -> Result<(AuditRecord, Written), StoreError> {
    let table = tables::AUDIT.as_written(value);
    if table == tables::AUDIT {
        return Ok((rows.unseal(table, key, value)?, Written::Newest));
    }
    let first: AuditRecordV1 = rows.unseal(table, key, value)?;
    Ok((first.into(), Written::First))
}

/// Chain value of a row that follows one with the value `before`.
fn chain(before: &[u8; 32], record: &AuditRecord, written: Written) -> Result<[u8; 32], StoreError> {
    let plain = AuditRecord { chain: [0; 32], ..record.clone() };
    let bytes = match written {
        Written::Newest => codec::canonical(tables::AUDIT, &plain)?,
        Written::First => {
            let AuditRecord { row, at_ms, method, write, space, keys, actor, chain, .. } = plain;
            codec::canonical(tables::AUDIT, &AuditRecordV1 { row, at_ms, method, write, space, keys, actor, chain })?
        }
    };
    let mut hash = Sha256::new();
    hash.update(before);
    hash.update(bytes);
    Ok(hash.finalize().into())
}

impl WriteTx {
    /// Appends a row to the audit; its number and chain value are set here, its keys and its outcome are bounded.
    ///
    /// # Errors
    /// The disk's.
    pub fn append_audit(&mut self, mut record: AuditRecord) -> Result<u64, StoreError> {
        record.keys.truncate(IDS_LISTED_MAX);
        let fits = |at: &usize| record.outcome.is_char_boundary(*at);
        let end = (0..=record.outcome.len().min(AUDIT_OUTCOME_BYTES_MAX)).rev().find(fits).unwrap_or(0);
        record.outcome.truncate(end);
        record.row = self.audit_head.row + 1;
        record.chain = chain(&self.audit_head.chain, &record, Written::Newest)?;
        self.put(tables::AUDIT, &keys::u64(record.row), &record)?;
        self.audit_head.row = record.row;
        self.audit_head.chain = record.chain;
        self.audit_head.first_row = self.audit_head.first_row.max(1);
        self.audit_added += 1;
        Ok(record.row)
    }

    /// Takes out what the retention says, oldest first, a bounded number of rows, and says so in a row of its own. The newest row stays.
    pub(super) fn cut_audit(&mut self) -> Result<(), StoreError> {
        let (first, kept) = (self.audit_head.first_row, (self.audit_head.row + 1).saturating_sub(self.audit_head.first_row));
        let most = (AUDIT_CUT_ROWS + self.audit_added).min(kept.saturating_sub(1));
        let over = kept.saturating_sub(self.retention.rows);
        let many = if over >= AUDIT_CUT_ROWS { over.min(most) } else { 0 };
        let many = many.max(self.outlived(first, most)?);
        if many == 0 {
            return Ok(());
        }
        for row in first..first + many {
            let record = self.kept_row(row)?;
            self.take_out(tables::AUDIT, &keys::u64(row))?;
            self.audit_head.checkpoint = record.chain;
            self.audit_head.first_row = row + 1;
        }
        let cut = AuditCutRecord { first, last: first + many - 1, hash: self.audit_head.checkpoint };
        let actor = ActorRecord {
            uid: nix::unistd::getuid().as_raw(),
            pid: nix::unistd::getpid().as_raw(),
            client: "tirod".to_owned(),
            ..ActorRecord::default()
        };
        let (at_ms, method) = (self.now_ms(), CUT.to_owned());
        self.append_audit(AuditRecord { at_ms, method, write: true, actor, cut: Some(cut), ..AuditRecord::default() })?;
        Ok(())
    }

    /// How many of the oldest rows are over the days they are kept.
    fn outlived(&self, first: u64, most: u64) -> Result<u64, StoreError> {
        let Some(days) = self.retention.days else { return Ok(0) };
        let oldest_day = self.now_ms().div_euclid(DAY_MS) - i64::from(days);
        for many in 0..most {
            if self.kept_row(first + many)?.at_ms.div_euclid(DAY_MS) >= oldest_day {
                return Ok(many);
            }
        }
        Ok(most)
    }

    fn kept_row(&self, row: u64) -> Result<AuditRecord, StoreError> {
        self.audit_row(row)?.ok_or_else(|| super::read::lost(self, tables::AUDIT, &keys::u64(row)))
    }
}

/// Follows the chain over every row kept. What is wrong, in words, each row by its number.
///
/// # Errors
/// The disk's, or `Damaged`.
pub(super) fn check_chain(rows: &impl Rows, head: &AuditHeadRecord) -> Result<Vec<String>, StoreError> {
    let mut walk =
        Walk { expected: head.first_row.max(1), before: Some(head.checkpoint), cut: None, from_first: false, faults: Vec::new() };
    rows.scan(tables::AUDIT, super::read::UNBOUNDED, Direction::Ascending, &mut |key, value| {
        let (record, written) = unseal(rows, key, value)?;
        walk.step(keys::u64_at(key, 0).unwrap_or(0), &record, written)?;
        Ok(walk.faults.len() < VERIFY_PROBLEMS_MAX)
    })?;
    Ok(walk.end(head))
}

/// A walk along the chain.
struct Walk {
    /// Number of the row that has to come.
    expected: u64,
    /// Chain value of the row before it; none where that row is missing.
    before: Option<[u8; 32]>,
    /// The newest cut that a row tells of.
    cut: Option<AuditCutRecord>,
    /// There are rows of the first record version, which told of no cuts.
    from_first: bool,
    faults: Vec<String>,
}

impl Walk {
    fn step(&mut self, place: u64, record: &AuditRecord, written: Written) -> Result<(), StoreError> {
        self.from_first |= written == Written::First;
        if place > self.expected {
            let last = place - 1;
            self.faults.push(match self.expected {
                first if first == last => format!("audit: row {first} was taken out"),
                first => format!("audit: rows {first} to {last} were taken out"),
            });
            self.before = None;
        }
        if record.row != place {
            self.faults.push(format!("audit: row {} stands in the place of row {place}", record.row));
        } else if let Some(before) = self.before
            && chain(&before, record, written)? != record.chain
        {
            self.faults.push(format!("audit: row {place} is not as it was written after the row before it"));
        }
        self.cut = record.cut.or(self.cut);
        (self.expected, self.before) = (place + 1, Some(record.chain));
        Ok(())
    }

    fn end(mut self, head: &AuditHeadRecord) -> Vec<String> {
        if self.faults.len() < VERIFY_PROBLEMS_MAX && head.row > 0 {
            if self.expected != head.row + 1 {
                let (last, newest) = (self.expected - 1, head.row);
                self.faults.push(format!("audit: it ends at row {last}; the rows up to {newest} were taken out"));
            } else if self.faults.is_empty() && self.before != Some(head.chain) {
                self.faults.push(format!("audit: row {} is not the one that was written last", head.row));
            }
            let told = self.cut.map(|cut| (cut.last, cut.hash));
            let stands = (head.first_row.max(1) - 1, head.checkpoint);
            // What was cut before rows told of it is taken as it stands, as long as none does.
            if told.is_some_and(|told| told != stands) || (told.is_none() && stands.0 > 0 && !self.from_first) {
                self.faults.push(format!("audit: the rows up to {} were taken out, and no row tells of it", stands.0));
            }
        }
        self.faults
    }
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
