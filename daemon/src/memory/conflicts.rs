//! `memory/conflicts`: the open conflicts of a space, both sides whole.
//!
//! A conflict is open while nobody resolved it and both memories are current: it closes by itself when one is forgotten, archived or
//! superseded, and opens again when that is undone. Must not know: how a contradiction is found.

use super::cursor::{Binding, page_limit};
use super::draft::space_name;
use super::resolve::{id_text, resolve, whole_id};
use super::show::{show, space_name_of};
use super::{Memory, MemoryError};
use crate::caller::Caller;
use crate::clock;
use crate::limits::{
    CANDIDATES_LISTED_MAX, CONFLICTS_PER_MEMORY_MAX, ID_PREFIX_CHARS_MIN, PAGE_ITEMS_DEFAULT, PAGE_ITEMS_MAX, PAGE_SCAN_MAX,
};
use crate::store::{ConflictReads, Reads, StoreError, WriteTx};
use std::ops::ControlFlow;
use tiro_schema::convert::{CONFLICT_OPEN, STATUS_ACTIVE, conflict_reason_code, conflict_reason_of};
use tiro_schema::record::{ConflictRecord, MemoryRecord};
use tiro_schema::wire::memory::{Conflict, ConflictReason, ConflictsParams, ConflictsResult};
use uuid::Uuid;

const METHOD: &str = "memory/conflicts";

impl Memory {
    /// A page of the open conflicts of a space, or of those that name one memory.
    ///
    /// # Errors
    /// `Invalid`, `NotFound`, `Ambiguous`, and the store's.
    pub async fn conflicts(&self, caller: &Caller, params: ConflictsParams) -> Result<ConflictsResult, MemoryError> {
        if params.id.is_some() && params.space.is_some() {
            return Err(MemoryError::invalid("space", "goes without id"));
        }
        let limit = page_limit(params.limit, PAGE_ITEMS_DEFAULT, PAGE_ITEMS_MAX)?;
        let space = space_name("space", params.space.as_deref())?;
        let binding = Binding::of(METHOD, &(&space, &params.id));
        let after = binding.place(params.cursor.as_deref())?;
        let caller = caller.clone();
        self.blocking(move |memory| {
            let (page, touched) = memory.store().read(|tx| {
                let found = match &params.id {
                    Some(id) => {
                        let record = resolve(tx, id, "id")?;
                        let open =
                            open_of(tx, &record)?.into_iter().filter(|c| after.is_none_or(|after| c.key > after)).collect();
                        Found { conflicts: open, next: None, space: record.space }
                    }
                    None => match tx.space_by_name(&space)? {
                        Some(space) => open_in(tx, space.id, after, limit)?,
                        None => return Ok((ConflictsResult { items: Vec::new(), next_cursor: None }, Vec::new())),
                    },
                };
                let mut items = Vec::with_capacity(found.conflicts.len());
                let mut touched = vec![(found.space, 0)];
                for conflict in found.conflicts.iter().take(limit) {
                    items.extend(shown(tx, conflict)?);
                    touched.extend([(conflict.space, conflict.first), (conflict.space, conflict.second)]);
                }
                Ok::<_, MemoryError>((ConflictsResult { items, next_cursor: found.next.map(|key| binding.cursor(key)) }, touched))
            })?;
            memory.audit_read(&caller, METHOD, &touched);
            Ok(page)
        })
        .await
    }
}

/// Open conflicts, and where to go on.
struct Found {
    conflicts: Vec<ConflictRecord>,
    next: Option<u64>,
    space: u32,
}

fn open_in(tx: &impl ConflictReads, space: u32, after: Option<u64>, limit: usize) -> Result<Found, StoreError> {
    let mut found = Found { conflicts: Vec::new(), next: None, space };
    let (mut scanned, mut last) = (0_usize, None);
    tx.conflicts_of_space(space, after, &mut |conflict| {
        if found.conflicts.len() == limit || scanned >= PAGE_SCAN_MAX {
            found.next = last;
            return Ok(ControlFlow::Break(()));
        }
        scanned += 1;
        last = Some(conflict.key);
        if is_open(tx, &conflict)? {
            found.conflicts.push(conflict);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}

/// Whether nobody resolved it and both memories are current.
pub(super) fn is_open(tx: &impl Reads, conflict: &ConflictRecord) -> Result<bool, StoreError> {
    let current = |key| Ok::<_, StoreError>(tx.memory(key)?.is_some_and(|record| record.status == STATUS_ACTIVE));
    Ok(conflict.state == CONFLICT_OPEN && current(conflict.first)? && current(conflict.second)?)
}

/// The open conflicts that name a memory, oldest first.
pub(super) fn open_of(tx: &impl Reads, record: &MemoryRecord) -> Result<Vec<ConflictRecord>, StoreError> {
    let mut open = Vec::new();
    if record.status != STATUS_ACTIVE {
        return Ok(open);
    }
    for conflict in tx.conflicts_of_memory(record.key, CONFLICTS_PER_MEMORY_MAX)? {
        if is_open(tx, &conflict)? {
            open.push(conflict);
        }
    }
    Ok(open)
}

/// Writes an open conflict between a memory that was there and one that came later.
pub(super) fn open_conflict(
    tx: &mut WriteTx,
    first: &MemoryRecord,
    second: &MemoryRecord,
    reason: ConflictReason,
) -> Result<ConflictRecord, StoreError> {
    let key = tx.next_seq();
    let mut id = *Uuid::new_v4().as_bytes();
    // The place of the row stands in the id, behind the characters that people type.
    id[4..8].copy_from_slice(&first.space.to_be_bytes());
    id[8..].copy_from_slice(&key.to_be_bytes());
    let conflict = ConflictRecord {
        key,
        id,
        space: first.space,
        first: first.key,
        second: second.key,
        state: CONFLICT_OPEN,
        reason: conflict_reason_code(reason),
        opened_at_ms: tx.now_ms(),
        resolved_at_ms: None,
        resolved_seq: 0,
    };
    tx.put_conflict(&conflict)?;
    Ok(conflict)
}

/// The conflict of an id, resolved ones too; none when there is none.
pub(super) fn conflict_of_id(tx: &impl ConflictReads, id: &[u8; 16]) -> Result<Option<ConflictRecord>, StoreError> {
    let part = |from: usize| id[from..].iter().take(8).fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte));
    let space = u32::try_from(part(0) & u64::from(u32::MAX)).unwrap_or(0);
    Ok(tx.conflict(space, part(8))?.filter(|conflict| conflict.id == *id))
}

/// The conflict of an id, or of a prefix that fits one open conflict.
pub(super) fn resolve_conflict_id(tx: &impl Reads, text: &str) -> Result<ConflictRecord, MemoryError> {
    let text = text.trim();
    let not_found = || MemoryError::NoConflict { id: text.chars().take(64).collect() };
    if let Some(id) = whole_id(text) {
        return conflict_of_id(tx, &id)?.ok_or_else(not_found);
    }
    let wanted: String = text.chars().filter(|c| *c != '-').map(|c| c.to_ascii_lowercase()).collect();
    if wanted.len() < ID_PREFIX_CHARS_MIN || !wanted.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Err(MemoryError::invalid(
            "id",
            format!("a conflict's id, or its first {ID_PREFIX_CHARS_MIN} characters or more"),
        ));
    }
    let mut found = Vec::new();
    for space in tx.spaces()? {
        let mut scanned = 0_usize;
        tx.conflicts_of_space(space.id, None, &mut |conflict| {
            scanned += 1;
            if Uuid::from_bytes(conflict.id).simple().to_string().starts_with(&wanted) && is_open(tx, &conflict)? {
                found.push(conflict);
            }
            Ok(if scanned < PAGE_SCAN_MAX { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        })?;
    }
    match found.len() {
        1 => found.pop().ok_or_else(not_found),
        0 => Err(not_found()),
        _ => Err(MemoryError::Ambiguous {
            prefix: text.to_owned(),
            candidates: found.iter().take(CANDIDATES_LISTED_MAX).map(|conflict| id_text(&conflict.id)).collect(),
        }),
    }
}

fn shown(tx: &impl Reads, conflict: &ConflictRecord) -> Result<Option<Conflict>, StoreError> {
    let (Some(first), Some(second)) = (tx.memory(conflict.first)?, tx.memory(conflict.second)?) else { return Ok(None) };
    let space = space_name_of(tx, conflict.space)?;
    Ok(Some(Conflict {
        id: id_text(&conflict.id),
        reason: conflict_reason_of(conflict.reason).unwrap_or_default().into(),
        opened_at: clock::format(conflict.opened_at_ms, None),
        first: show(tx, &first, &space)?,
        second: show(tx, &second, &space)?,
        space,
    }))
}
