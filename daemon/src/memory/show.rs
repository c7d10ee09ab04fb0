//! A stored memory as the wire shows it.
//!
//! Must not know: verbs.

use super::conflicts::open_of;
use super::resolve::id_text;
use super::times::{occurred_at, told_by, wire_told};
use crate::clock;
use crate::store::{Reads, StoreError};
use tiro_schema::convert::{self, MemoryContext, STATUS_FORGOTTEN};
use tiro_schema::record::MemoryRecord;
use tiro_schema::wire::memory::Memory as WireMemory;

/// The whole memory, with the names of its space and of the memories it is linked with.
pub(super) fn show(tx: &impl Reads, record: &MemoryRecord, space: &str) -> Result<WireMemory, StoreError> {
    let told = told_by(record);
    Ok(convert::memory(
        record,
        &MemoryContext {
            space,
            usage: tx.usage(record.key)?,
            superseded_by: linked(tx, record.superseded_by)?,
            supersedes: linked(tx, record.supersedes)?,
            conflicts: open_of(tx, record)?.iter().map(|conflict| id_text(&conflict.id)).collect(),
            occurred_at: occurred_at(record, &told),
            told: wire_told(record, &told),
            format_id: &id_text,
            format_time: &clock::format,
        },
    ))
}

/// The id of a memory that another names, unless it is forgotten.
pub(super) fn linked(tx: &impl Reads, key: Option<u64>) -> Result<Option<String>, StoreError> {
    let Some(key) = key else { return Ok(None) };
    Ok(tx.memory(key)?.filter(|r| r.status != STATUS_FORGOTTEN).map(|r| id_text(&r.id)))
}

/// The name of a space that a record names.
pub(super) fn space_name_of(tx: &impl Reads, space: u32) -> Result<String, StoreError> {
    Ok(tx.space_by_id(space)?.map(|s| s.name).unwrap_or_default())
}
