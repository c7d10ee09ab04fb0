//! The audit rows of the memory verbs: one for every space a call touched.
//!
//! Must not know: how the store keeps them.

use crate::caller::Caller;
use crate::limits::IDS_LISTED_MAX;
use crate::store::{StoreError, WriteTx};
use std::collections::BTreeMap;
use tiro_schema::record::{AuditRecord, MemoryRecord};

/// Rows for these memories (space, key), grouped by space. The store sets number, chain, and the time of a write.
fn rows(caller: &Caller, method: &str, write: bool, at_ms: i64, touched: &[(u32, u64)]) -> Vec<AuditRecord> {
    let mut by_space: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for (space, key) in touched {
        let keys = by_space.entry(*space).or_default();
        if *key != 0 && keys.len() < IDS_LISTED_MAX {
            keys.push(*key);
        }
    }
    let row = |(space, keys)| AuditRecord {
        at_ms,
        method: method.to_owned(),
        write,
        space,
        keys,
        actor: caller.actor.clone(),
        ..AuditRecord::default()
    };
    by_space.into_iter().map(row).collect()
}

/// Adds the rows of a write to its transaction.
pub(super) fn wrote(tx: &mut WriteTx, caller: &Caller, method: &str, touched: &[(u32, u64)]) -> Result<(), StoreError> {
    let at_ms = tx.now_ms();
    for row in rows(caller, method, true, at_ms, touched) {
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
        for row in rows(caller, method, false, self.now_ms(), touched) {
            self.store().audit_read(row);
        }
    }
}
