//! The audit rows of the memory verbs: one for every space a call touched.
//!
//! Must not know: how the store keeps them.

use crate::caller::Caller;
use crate::limits::IDS_LISTED_MAX;
use crate::store::{Reads, StoreError, WriteTx};
use std::collections::BTreeMap;
use tiro_schema::record::{AuditRecord, MemoryRecord};
use uuid::Uuid;

/// A call, as its rows tell of it.
struct Told<'a> {
    caller: &'a Caller,
    method: &'a str,
    write: bool,
    at_ms: i64,
    outcome: &'a str,
    recall: Option<Uuid>,
}

/// Rows for these memories (space, key), grouped by space. The store sets number, chain, and the time of a write.
fn rows(told: &Told<'_>, touched: &[(u32, u64)]) -> Vec<AuditRecord> {
    let mut by_space: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for (space, key) in touched {
        let keys = by_space.entry(*space).or_default();
        if *key != 0 && keys.len() < IDS_LISTED_MAX {
            keys.push(*key);
        }
    }
    let row = |(space, keys)| AuditRecord {
        at_ms: told.at_ms,
        method: told.method.to_owned(),
        write: told.write,
        space,
        keys,
        actor: told.caller.actor.clone(),
        outcome: told.outcome.to_owned(),
        recall: told.recall.map(Uuid::into_bytes),
        ..AuditRecord::default()
    };
    by_space.into_iter().map(row).collect()
}

/// Adds the rows of a write to its transaction.
pub(super) fn wrote(tx: &mut WriteTx, caller: &Caller, method: &str, touched: &[(u32, u64)]) -> Result<(), StoreError> {
    wrote_as(tx, caller, method, "", touched)
}

/// The same, with what became of the call.
pub(super) fn wrote_as(
    tx: &mut WriteTx,
    caller: &Caller,
    method: &str,
    outcome: &str,
    touched: &[(u32, u64)],
) -> Result<(), StoreError> {
    let told = Told { caller, method, write: true, at_ms: tx.now_ms(), outcome, recall: None };
    for row in rows(&told, touched) {
        tx.append_audit(row)?;
    }
    Ok(())
}

/// The same for a write that is about a recall.
pub(super) fn wrote_recall(
    tx: &mut WriteTx,
    caller: &Caller,
    method: &str,
    recall: Uuid,
    touched: &[(u32, u64)],
) -> Result<(), StoreError> {
    let told = Told { caller, method, write: true, at_ms: tx.now_ms(), outcome: "", recall: Some(recall) };
    for row in rows(&told, touched) {
        tx.append_audit(row)?;
    }
    Ok(())
}

/// What an audit row names of these memories.
pub(super) fn touched<'a>(records: impl IntoIterator<Item = &'a MemoryRecord>) -> Vec<(u32, u64)> {
    records.into_iter().map(|r| (r.space, r.key)).collect()
}

impl super::Memory {
    /// Queues the rows of a read. A space that was looked into without a find is named with key 0.
    pub(super) fn audit_read(&self, caller: &Caller, method: &str, touched: &[(u32, u64)]) {
        self.queue_rows(&Told { caller, method, write: false, at_ms: self.now_ms(), outcome: "", recall: None }, touched);
    }

    /// Queues the rows of a recall, by whose id feedback names it.
    pub(super) fn audit_recall(&self, caller: &Caller, method: &str, recall: Uuid, touched: &[(u32, u64)]) {
        let at_ms = self.now_ms();
        self.queue_rows(&Told { caller, method, write: false, at_ms, outcome: "", recall: Some(recall) }, touched);
    }

    /// Queues a row about a call that did nothing, under the space it named where there is one of that name. Its words name no text.
    pub(super) fn audit_refused(&self, caller: &Caller, method: &str, write: bool, space: Option<&str>, outcome: &str) {
        let found = space.and_then(|name| self.store().read(|tx| tx.space_by_name(name)).ok().flatten());
        let told = Told { caller, method, write, at_ms: self.now_ms(), outcome, recall: None };
        self.queue_rows(&told, &[(found.map_or(0, |space| space.id), 0)]);
    }

    fn queue_rows(&self, told: &Told<'_>, touched: &[(u32, u64)]) {
        for row in rows(told, touched) {
            self.store().audit_read(row);
        }
    }

    /// Notes a call that a rule of a space forbids.
    pub fn note_denial(&self, caller: &Caller, method: &str, write: bool, space: Option<&str>, right: &str) {
        self.audit_refused(caller, method, write, space, &format!("denied: {right}"));
    }

    /// Notes a call that failed. `space` is the one its params name.
    pub fn note_failure(&self, caller: &Caller, method: &str, write: bool, space: Option<&str>, kind: &str) {
        self.audit_refused(caller, method, write, space, &format!("failed: {kind}"));
    }
}
